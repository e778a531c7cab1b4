"""The film of a run holds what its files hold, and says of every frame what the library says."""

import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from labkit import metrics
from labkit.base.paths import RECORDED
from labkit.metrics.nearest import circular_variance
from labkit.runs import RunError, read_frames
from labkit.runs.film import Film, read_film
from labkit.runs.read import read_run

TOY = RECORDED / "toy-ring" / "toy_pnp-dq_layout=ring_s0"
FASHION = RECORDED / "fashion-3d" / "fashion-mnist-3d_sgsl_label_smoothing=0.0_s0"
OMNIGLOT = RECORDED / "omniglot" / "omniglot_pnp-dq_s0"


def some_film(dim, classes=12, points=60, frames=4):
    random = np.random.default_rng(0)
    labels = (np.arange(points) % classes).astype(np.int32)
    parts = tuple("test" if i < 48 else "train" for i in range(points))
    labels = np.where(np.arange(points) < 48, labels, labels + classes).astype(np.int32)
    names = tuple(f"name {k}" for k in range(2 * classes))
    return Film(
        "some", random.normal(size=(frames, points, dim)).astype(np.float32), (0, 1, 5, 9), labels, names, parts
    )


@pytest.mark.parametrize(
    ("path", "kind", "splits"), [(TOY, "circles", ["train", "test"]), (FASHION, "sphere", ["test"])]
)
def test_a_film_holds_every_frame_and_what_the_library_says_of_it(path, kind, splits):
    film = read_film(read_run(path))
    frames, steps = read_frames(read_run(path))
    assert film.kind == kind
    assert list(film.splits) == (["train", "test"] if kind == "circles" else ["test"])
    assert film.steps == tuple(steps.tolist())
    np.testing.assert_array_equal(film.frames, frames.numpy())
    np.testing.assert_allclose(film.places, torch.nn.functional.normalize(frames.double(), dim=2).numpy())
    test, labels = torch.from_numpy(film.unseen), torch.from_numpy(film.labels).long()
    for number in (0, 20, -1):
        exact, row = frames[number].double(), film.table[number]
        values = metrics.evaluate(exact[test], labels[test], ks=(1,), progress=False)
        assert row["R@1 of test (%)"] == pytest.approx(100 * values["R@1"], abs=0.06)
        assert film.recall(number) == pytest.approx(values["R@1"], abs=6e-4)
        if kind == "sphere":
            assert row["CSC"] == pytest.approx(metrics.csc(exact, labels), abs=0.006)


def test_a_run_without_frames_shows_its_last_embeddings(tmp_path):
    run = read_run(shutil.copytree(FASHION, tmp_path / FASHION.name))
    (run.path / "frames.safetensors").unlink()
    assert read_film(run, "one").steps == (0,)
    assert read_film(run, "one").title == "one"
    assert read_film(read_run(OMNIGLOT)) is None


def test_frames_of_other_samples_are_refused(tmp_path):
    run = read_run(shutil.copytree(TOY, tmp_path / TOY.name))
    samples = pd.read_parquet(run.path / "samples.parquet")
    samples.iloc[:-1].to_parquet(run.path / "samples.parquet")
    with pytest.raises(RunError, match="600 points but 599 samples"):
        read_film(run)


def test_more_than_three_dimensions_become_their_main_directions():
    film = some_film(8)
    assert film.kind == "plane"
    assert film.places.shape == (4, 60, 2)
    assert np.abs(film.places).max() == pytest.approx(1)
    last = film.places[-1][film.unseen]
    spread = np.cov(last.T)
    assert spread[0, 1] == pytest.approx(0, abs=1e-6)
    variances = np.linalg.eigvalsh(np.cov(film.unit[-1][film.unseen].T))
    assert spread[0, 0] / spread[1, 1] == pytest.approx(variances[-1] / variances[-2])  # and it is not stretched


def test_the_variance_is_that_of_the_training_classes():
    film = some_film(2, classes=2)
    own = [film.unit[1][film.labels == label] for label in (2, 3)]
    assert film.variance(1) == pytest.approx(np.mean([circular_variance(rows) for rows in own]))
    assert circular_variance(np.array([[1.0, 0.0], [1.0, 0.0]])) == pytest.approx(0)
    assert circular_variance(np.array([[1.0, 0.0], [-1.0, 0.0]])) == pytest.approx(1)


def test_some_samples_are_of_the_first_classes_and_evenly_drawn():
    film = some_film(3)
    rows = film.some(per_class=2, classes=3)
    assert sorted(set(film.labels[rows].tolist())) == [0, 1, 2, 12, 13, 14]
    assert np.bincount(film.labels[rows])[:3].tolist() == [2, 2, 2]
    assert {0, 36} <= set(rows.tolist())  # the first and the last of class 0
    assert set(film.numbers[rows].tolist()) == {0, 1, 2}  # training class 0 looks as unseen class 0 does
