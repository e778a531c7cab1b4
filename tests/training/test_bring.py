"""Embeddings of one's own become a run; what cannot be used is refused by the array's name, and nothing is written."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from PIL import Image

from labkit import metrics
from labkit.explorers.embedding import explorer_data
from labkit.runs import RunError, read_projection, read_samples
from labkit.runs.retrieval import per_query, read_points
from labkit.training import bring as module
from labkit.training.bring import bring


@pytest.fixture
def arrays():
    random = np.random.default_rng(0)
    labels = np.array(["bee", "ant"])[np.arange(40) % 2]
    return {"embeddings": random.standard_normal((40, 6)) + 2 * (labels == "ant")[:, None], "labels": labels}


def saved(tmp_path, **arrays):
    path = tmp_path / "My file.npz"
    np.savez(path, **arrays)
    return path


def test_it_is_a_run_like_any_other(tmp_path, arrays):
    images = np.zeros((40, 8, 8, 3), np.uint8) + np.arange(40, dtype=np.uint8)[:, None, None, None] * 6
    run = bring(saved(tmp_path, **arrays, images=images), tmp_path / "runs", "Birds & co")
    assert not run.problems
    assert (run.id, run.preset, run.status) == ("birds-co_my-file_s0", "birds-co", "finished")
    _, numbers = np.unique(arrays["labels"], return_inverse=True)
    wanted = metrics.evaluate(torch.tensor(arrays["embeddings"]).float(), torch.tensor(numbers), (1,))
    assert run.value("R@1") == pytest.approx(wanted["R@1"])
    assert set(read_samples(run)["class_name"]) == {"ant", "bee"}
    assert len(read_projection(run, "pca")) == 40
    data = explorer_data(run, "pca")
    assert (data.cells >= 0).all()
    sheet = data.sheet.open()
    for row in (3, 30):
        left, upper, right, lower = data.sheet.box(int(data.cells[row]))
        assert sheet.getpixel(((left + right) // 2, (upper + lower) // 2))[0] == pytest.approx(row * 6, abs=12)
    assert len(per_query(read_points(run))) == 40
    assert bring(tmp_path / "My file.npz", tmp_path / "runs", "Birds & co").id == "birds-co_my-file_s0-2"


def test_pictures_of_a_folder_by_their_names_or_in_order(tmp_path, arrays):
    folder = tmp_path / "pictures"
    folder.mkdir()
    names = [f"{i:02}.png" for i in range(40)]
    for name in names:
        Image.new("RGB", (5, 9), "red").save(folder / name)
    run = bring(saved(tmp_path, **arrays, files=np.array(names[::-1])), tmp_path / "runs", images=folder)
    assert run.has("sprites.webp")
    (folder / names[0]).unlink()
    with pytest.raises(RunError, match="files"):
        bring(saved(tmp_path, **arrays, files=np.array(names)), tmp_path / "other", images=folder)
    with pytest.raises(RunError, match="39 pictures for 40 embeddings"):
        bring(saved(tmp_path, **arrays), tmp_path / "other", images=folder)
    with pytest.raises(RunError, match="files"):
        bring(saved(tmp_path, **arrays, files=np.array(["../x.npz"] * 40)), tmp_path / "other", images=folder)
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"embeddings": np.zeros(40)}, "embeddings must be numbers"),
        ({"embeddings": np.full((40, 2), np.nan)}, "embeddings: row 0"),
        ({"embeddings": np.zeros((40, 5000), np.float16)}, "embeddings: at most"),
        ({"embeddings": np.array([["a"] * 3] * 40)}, "embeddings must be numbers"),
        ({"labels": np.zeros(39, int)}, "labels must have one entry"),
        ({"labels": np.zeros(40)}, "labels must be whole numbers or names"),
        ({"labels": np.array([{}] * 40, object)}, "labels cannot be read"),
        ({"ids": np.zeros(40, int)}, "ids must be"),
        ({"images": np.zeros((40, 4, 4))}, "images must be uint8"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, arrays, changes, named):
    with pytest.raises(RunError, match=named):
        bring(saved(tmp_path, **(arrays | changes)), tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def test_files_that_are_none(tmp_path, arrays, monkeypatch):
    (tmp_path / "no.npz").write_bytes(b"PK\x03\x04nothing")
    for path, said in ((tmp_path / "no.npz", "not a whole"), (tmp_path / "gone.npz", "no file")):
        with pytest.raises(RunError, match=said):
            bring(path, tmp_path / "runs")
    with pytest.raises(RunError, match="lacks the array labels"):
        bring(saved(tmp_path, embeddings=arrays["embeddings"]), tmp_path / "runs")
    monkeypatch.setattr(module, "MOST_BYTES", 100)
    with pytest.raises(RunError, match="over the limit"):
        bring(saved(tmp_path, **arrays), tmp_path / "runs")


def test_of_many_some_are_measured_and_that_is_said(tmp_path, arrays, monkeypatch):
    monkeypatch.setattr(module, "MEASURED", 20)
    run = bring(saved(tmp_path, **arrays), tmp_path / "runs")
    assert "20 of the 40 items" in json.loads(run.file("notes.json").read_text())["note"]
    assert len(read_samples(run)) == 40


def test_the_command_imports_and_tells_what_is_wrong(tmp_path, arrays):
    def command(*words):
        line = [sys.executable, "-m", "labkit", "runs", "import", *words, "--runs", str(tmp_path / "runs")]
        return subprocess.run(line, capture_output=True, text=True)

    done = command(str(saved(tmp_path, **arrays)), "--methods", "pca")
    assert done.returncode == 0
    assert "my-file_my-file_s0" in done.stdout
    done = command(str(saved(tmp_path, **(arrays | {"labels": np.array([None] * 40)}))))
    assert done.returncode
    assert "labels cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
