import sys
import types

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from run_folders import add_arrays, bytes_of, make_run
from safetensors.torch import save_file

from labkit.runs import RunError, read_embeddings, read_projection, read_samples
from labkit.runs.project import pca, project, stratified
from labkit.runs.read import read_run


@pytest.fixture
def calls(monkeypatch):
    """A stand-in for umap-learn, whose first use takes a minute: records how it is called."""
    seen = []

    class UMAP:
        def __init__(self, **options):
            self.options = options

        def fit_transform(self, rows):
            seen.append((self.options, rows))
            print("chatter")
            return rows[:, :2] * 2

    module = types.ModuleType("umap")
    module.UMAP, module.__version__ = UMAP, "0"
    monkeypatch.setitem(sys.modules, "umap", module)
    return seen


def test_both_projections_are_written_with_ids_and_parameters(tmp_path, calls, capsys):
    run = read_run(add_arrays(make_run(tmp_path), n=40, d=8))
    written = project(run, seed=3)
    assert list(written) == ["pca", "umap"]
    pca_frame, umap_frame = read_projection(run, "pca"), read_projection(run, "umap")
    for frame in (pca_frame, umap_frame):
        assert frame["id"].tolist() == [f"sample-{i:03}" for i in range(40)]
        assert np.isfinite(frame[["x", "y"]].to_numpy()).all()
    assert pca_frame.attrs["parameters"]["method"] == "pca"
    assert len(pca_frame.attrs["parameters"]["explained_variance_ratio"]) == 2
    parameters = umap_frame.attrs["parameters"]
    assert (parameters["metric"], parameters["seed"], parameters["points"], parameters["of"]) == ("cosine", 3, 40, 40)
    ((options, rows),) = calls
    assert (options["metric"], options["random_state"]) == ("cosine", 3)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(40), abs=1e-5)
    told = capsys.readouterr()
    assert told.out == ""
    assert "UMAP of 40 points" in told.err


def test_pca_keeps_the_widest_directions_of_the_normalised_rows(tmp_path):
    run = read_run(add_arrays(make_run(tmp_path), n=60, d=6))
    project(run, ["pca"])
    rows = torch.nn.functional.normalize(read_embeddings(run), dim=1).double()
    spread = torch.linalg.svdvals(rows - rows.mean(0))[:2].numpy()
    points = read_projection(run, "pca")[["x", "y"]].to_numpy()
    assert np.linalg.norm(points, axis=0) == pytest.approx(spread, rel=1e-3)


def test_pca_has_one_sign_whatever_the_order_of_rows():
    rows = np.random.default_rng(0).standard_normal((50, 5)).astype(np.float32) * [5, 3, 1, 1, 1]
    order = np.random.default_rng(1).permutation(50)
    assert pca(rows)[0][order] == pytest.approx(pca(rows[order])[0], abs=1e-3)


def test_the_same_run_gives_the_same_files(tmp_path):
    run = read_run(add_arrays(make_run(tmp_path), n=700, d=600))
    project(run, ["pca"])
    before = bytes_of(run.path)
    project(run, ["pca"])
    assert bytes_of(run.path) == before


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_few_dimensions_get_no_umap_but_a_message(tmp_path, dim, calls, capsys):
    run = read_run(add_arrays(make_run(tmp_path), n=20, d=dim, classes=2))
    assert list(project(run)) == ["pca"]
    assert calls == []
    assert "look at the embedding itself" in capsys.readouterr().err
    assert (read_projection(run, "pca")["y"] == 0).all() == (dim == 1)


def test_few_points_get_no_umap_but_a_message(tmp_path, calls, capsys):
    run = read_run(add_arrays(make_run(tmp_path), n=15, d=8))
    assert list(project(run)) == ["pca"]
    assert calls == []
    assert "needs more than 15" in capsys.readouterr().err


def test_umap_sees_an_even_subset_and_pca_all(tmp_path, calls):
    run = read_run(add_arrays(make_run(tmp_path), n=200, d=8, classes=5))
    project(run, max_points=50)
    umap_frame = read_projection(run, "umap")
    assert len(read_projection(run, "pca")) == 200
    assert umap_frame.attrs["parameters"]["of"] == 200
    numbers = umap_frame["id"].str[-3:].astype(int)
    assert np.bincount(numbers % 5).tolist() == [10] * 5
    rows = torch.nn.functional.normalize(read_embeddings(run), dim=1).numpy()
    assert calls[0][1] == pytest.approx(rows[numbers])  # ids and rows belong together


def test_a_label_of_two_splits_is_two_classes(tmp_path, calls):
    folder = add_arrays(make_run(tmp_path), n=100, d=8, classes=2)
    samples = read_samples(read_run(folder))
    samples["split"] = ["train"] * 80 + ["test"] * 20
    samples.to_parquet(folder / "samples.parquet", index=False)
    project(read_run(folder), ["umap"], max_points=50)
    kept = samples[samples["id"].isin(read_projection(read_run(folder), "umap")["id"])]
    assert kept.groupby(["split", "label"]).size().tolist() == [5, 5, 20, 20]


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.integers(0, 6), min_size=1, max_size=80).map(np.array),
    count=st.integers(1, 90),
    seed=st.integers(0, 5),
)
def test_a_stratified_subset_is_even_and_repeatable(labels, count, seed):
    rows = stratified(labels, count, seed)
    assert len(rows) == min(count, len(labels))
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert rows.tolist() == stratified(labels, count, seed).tolist()
    classes, sizes = np.unique(labels, return_counts=True)
    taken = np.array([(labels[rows] == label).sum() for label in classes])
    if count >= len(classes):
        assert taken.min() >= 1
        share = taken / sizes
        assert (share[:, None] <= share[None, :] + 1 / sizes[:, None] + 1 / sizes[None, :] + 1e-9).all()
    else:
        assert taken.max() <= 1


def test_runs_that_cannot_be_projected_say_why(tmp_path):
    folder = make_run(tmp_path)
    with pytest.raises(RunError, match="embeddings.safetensors is missing"):
        project(read_run(folder))
    run = read_run(add_arrays(folder, n=20))
    with pytest.raises(ValueError, match="methods must be one of 'pca', 'umap'; got 'tsne'"):
        project(run, ["tsne"])
    with pytest.raises(RunError, match="max_points must be above 15"):
        project(run, max_points=3)
    for rows, said in (
        (torch.full((20, 8), torch.nan), "NaN"),
        (torch.ones(19, 8), "19 embeddings but 20 samples"),
    ):
        save_file({"embeddings": rows}, folder / "embeddings.safetensors")
        with pytest.raises(RunError, match=said):
            project(run)
    two = read_run(add_arrays(make_run(tmp_path, "two-s0"), n=2))
    with pytest.raises(RunError, match="at least 3"):
        project(two)
    assert not (folder / "projections").exists()


def test_rows_of_zeros_do_no_harm(tmp_path):
    folder = add_arrays(make_run(tmp_path), n=20)
    save_file({"embeddings": torch.zeros(20, 8)}, folder / "embeddings.safetensors")
    with np.errstate(invalid="ignore"):
        project(read_run(folder), ["pca"])
    assert (read_projection(read_run(folder), "pca")[["x", "y"]] == 0).all().all()
