"""Train: opens in every situation, tells wrong settings before anything starts, and shows what the queue does."""

import json
import os
from pathlib import Path

import pytest

from labkit.losses import CATALOG
from labkit.runs.presets import EMBEDDING, WORDS, preset_names
from labkit.runs.variant import Variant
from labkit.surrogates.word_config import ARMS
from labkit.training import queue as queue_of_runs
from labkit.training.config import BASELINES
from labkit.training.job import Job
from labkit.training.waiting import changing, read_queue


@pytest.fixture
def started(monkeypatch):
    """Nothing is started; the folders for which a worker was asked are listed."""
    asked = []
    monkeypatch.setattr(queue_of_runs, "go_on", asked.append)
    return asked


@pytest.fixture
def root(tmp_path):
    return tmp_path / "runs"


def errors(opened):
    return " ".join(each.value.replace("\\", "") for each in opened.error)


def test_the_page_opens_and_says_what_would_be_typed(page, situation, started):
    opened = page("train")
    assert not opened.exception
    assert opened.code[0].value.startswith("python -m labkit train toy --loss pnp-dq --seed 0")
    assert not opened.button(key="start").disabled
    if situation in ("none", "one"):
        assert "Nothing is training or waiting" in opened.info[0].value
    assert not started


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_recorded_runs_are_never_written_to(page):
    opened = page("train")
    assert str(Path("runs").resolve()) in opened.caption[0].value.replace("\\", "")
    assert "data/runs" not in opened.code[0].value


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_start_puts_one_run_a_seed_into_the_queue_once(page, root, started):
    opened = page("train", preset="toy", loss="smooth-ap", seeds="0, 2", settings="steps=30")
    assert opened.button(key="start").label == "Start 2 runs"
    opened.button(key="start").click().run()
    opened.button(key="start").click().run()
    assert not opened.exception
    assert "not started twice" in opened.info[0].value
    assert [entry.run for entry in read_queue(root).entries] == [
        "toy_smooth-ap_steps=30_s0",
        "toy_smooth-ap_steps=30_s2",
    ]
    assert started[0] == root
    assert not opened.warning
    os.utime(root / "queue.json", (0, 0))  # long ago, and no worker came
    opened.run()
    assert "stands still" in opened.warning[0].value
    opened.button(key="go-on").click().run()
    assert not opened.exception
    assert len(started) == 3
    opened.button(key="remove-2").click().run()
    assert not opened.exception
    assert [entry.run for entry in read_queue(root).entries] == ["toy_smooth-ap_steps=30_s0"]


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_changed_inputs_become_settings(page):
    opened = page("train", loss="pnp-dq")
    opened.number_input(key="toy.train.steps").set_value(50).run()
    opened.number_input(key="toy.pnp-dq.tau").set_value(0.02).run()
    opened.selectbox(key="toy.pnp-dq.convention").select("official").run()
    assert "--set steps=50 tau=0.02 convention=official" in opened.code[0].value
    opened.selectbox(key="loss").select("mpa").run()
    assert not opened.exception
    assert "--loss mpa --seed 0 --set steps=50" in opened.code[0].value
    assert opened.number_input(key="toy.mpa.centers").value == 10


@pytest.mark.parametrize("situation", ["none"], indirect=True)
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"settings": "tua=0.1"}, "did you mean tau?"),
        ({"settings": "tau=-1"}, "tau"),
        ({"settings": "tau=fast"}, "tau"),
        ({"settings": "steps=many"}, "train.steps must be a whole number"),
        ({"settings": "nothing"}, "KEY=VALUE"),
        ({"settings": "'half"}, "No closing quotation"),
        ({"settings": "model.dim=x"}, "model.dim"),
        ({"settings": "data.name=<b>"}, "data.name must be one of"),
        ({"settings": "--resume=/etc"}, "no setting"),
        ({"seeds": "one"}, "Seeds are whole numbers"),
        ({"seeds": "-1"}, "Seeds must be from 0 to 4,294,967,295"),
        ({"seeds": "0 4294967296"}, "Seeds must be from 0 to 4,294,967,295"),
        ({"settings": "lr=-1"}, "optimizer.lr must be 0 or above"),
        ({"settings": "train.steps=0"}, "train.steps must be from 1 to 10,000,000"),
        ({"settings": "batch.classes=-3"}, "batch.classes must be from 1 to 100,000"),
        ({"settings": "lr=1 optimizer.lr=2"}, "optimizer.lr twice"),
        ({"seeds": " ".join(map(str, range(30)))}, "At most 20 seeds"),
    ],
)
def test_a_wrong_setting_is_told_and_nothing_can_start(page, root, started, query, said):
    opened = page("train", **query)
    assert not opened.exception
    told = errors(opened) + " ".join(each.value.replace("\\", "") for each in opened.warning)
    assert said in told
    assert opened.button(key="start").disabled
    assert not started
    assert not root.joinpath("queue.json").exists()


@pytest.mark.parametrize("situation", ["none"], indirect=True)
@pytest.mark.parametrize("preset", ["omniglot", "cub"])
def test_missing_data_are_told_with_the_command_that_repairs_it(page, monkeypatch, tmp_path, preset):
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("labkit.base.paths.SYSTEM", tmp_path)
    opened = page("train", preset=preset)
    assert "not found" in opened.warning[0].value
    assert opened.code[0].value == f"python -m labkit data get {preset}"
    assert opened.button(key="start").disabled


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_every_preset_and_every_loss_has_its_inputs(page):
    opened = page("train")
    for preset in preset_names(EMBEDDING, WORDS):
        opened.selectbox(key="preset").select(preset).run()
        assert not opened.exception
    for loss in ARMS:
        opened = page("train", preset="words", loss=loss)
        assert not opened.exception
        assert not opened.error
        assert opened.code[0].value.startswith(f"python -m labkit train words --loss {loss} --seed 0")
    opened.selectbox(key="preset").select("toy").run()
    for loss in [*CATALOG, *BASELINES]:
        opened.selectbox(key="loss").select(loss).run()
        assert not opened.exception
        assert not opened.error
        assert f"--loss {loss}" in opened.code[0].value


@pytest.mark.parametrize("situation", ["one"], indirect=True)
def test_unfinished_runs_can_be_resumed_and_their_log_is_text(page, root, started):
    (folder,) = root.iterdir()
    info = json.loads((folder / "run.json").read_text()) | {"status": "failed", "error": "<b>**no**"}
    (folder / "run.json").write_text(json.dumps(info))
    (folder / "summary.json").unlink()
    (folder / "log.txt").write_text("<script>alert(1)</script>\n")
    opened = page("train")
    assert not opened.exception
    assert opened.code[-1].value == "<script>alert(1)</script>"
    assert "\\<b\\>" in opened.error[0].value
    opened.button(key=f"resume-{folder.name}").click().run()
    assert not opened.exception
    (entry,) = read_queue(root).entries
    assert (entry.run, entry.resume) == (folder.name, True)
    assert started == [root]


@pytest.mark.parametrize("situation", ["one"], indirect=True)
def test_a_finished_run_of_the_queue_shows_result_curves_and_embedding(page, root):
    (folder,) = root.iterdir()
    with changing(root) as queue:
        queue.add(Job("toy", "pnp-dq"), resume=folder.name).state = "ended"
    opened = page("train")
    assert not opened.exception
    assert "Test classes: **R@1" in " ".join(each.value.replace("\\", "") for each in opened.markdown)
    assert opened.session_state["moving.view"] == {"step": None, "turn": 45, "tilt": 35}  # the film is there
    assert any("Showing 4 of 4 unseen classes, as directions." in caption.value for caption in opened.caption)
    opened.button(key="clear").click().run()
    assert not opened.exception
    assert read_queue(root).entries == []
    assert (folder / "run.json").exists()


@pytest.mark.parametrize("situation", ["none"], indirect=True)
@pytest.mark.parametrize("content", ["{", '{"entries": [7]}'])
def test_a_broken_queue_is_told_and_kept(page, root, content):
    (root / "queue.json").write_text(content)
    opened = page("train")
    assert not opened.exception
    assert "queue.json" in errors(opened)
    opened.button(key="start").click().run()
    assert not opened.exception
    assert (root / "queue.json").read_text() == content


LOSS = """
import torch
open(__file__ + ".mark", "a").write("it ran")
class Mine(torch.nn.Module):
    def __init__(self, weight=1.0):
        super().__init__()
        self.weight = weight
    def forward(self, embeddings, labels):
        return self.weight * embeddings.square().mean()
"""


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_a_loss_in_a_file_of_ones_own_is_read_and_started_but_not_run_here(page, root, started, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(LOSS)
    opened = page("train", loss="FILE.py:NAME", own=f"{file}:Mine", settings="weight=2.0")
    assert opened.text_input(key="own").value == ""  # a link runs no file
    assert opened.button(key="start").disabled
    opened.text_input(key="own").input(f"{file}:Mine").run()
    assert not opened.exception
    assert f"--loss {file}:Mine --seed 0 --set weight=2.0" in opened.code[0].value
    opened.button(key="start").click().run()
    assert [entry.run for entry in read_queue(root).entries] == [
        Variant("toy", f"{file}:Mine", {"weight": 2.0}).run_id(0)
    ]
    for typed, said in ((f"{file}:Other", "has no 'Other'"), ("none.py:A", "no file none.py"), ("pnp", "FILE.py:NAME")):
        opened.text_input(key="own").input(typed).run()
        assert not opened.exception
        assert said in errors(opened)
        assert opened.button(key="start").disabled
    assert not (tmp_path / "mine.py.mark").exists()


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_a_device_can_be_chosen(page, root, started):
    opened = page("train", device="cpu")
    assert opened.selectbox(key="device").options[:2] == ["auto", "cpu"]
    assert opened.code[0].value.endswith("--seed 0 --device cpu") or "--device cpu --runs" in opened.code[0].value
    opened.button(key="start").click().run()
    assert read_queue(root).entries[0].job.device == "cpu"
    assert page("train", device="cuda:9").selectbox(key="device").value == "auto"
