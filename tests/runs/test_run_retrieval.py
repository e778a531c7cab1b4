"""Retrieval among recorded points, against plain numpy loops, with ties, singletons, other splits and broken files."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import save_file

from labkit.base.paths import RECORDED
from labkit.runs import RunError, find_runs, open_run, read_embeddings, read_run, read_samples
from labkit.runs.retrieval import KS, Points, find, per_query, read_points, same_data

RECORDED_RUNS = ("omniglot_pnp-dq_s0", "emoji_untrained_s0", "toy_pnp-ib_layout=random_s0")


def make(labels, d=3, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(len(labels), d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    ids = tuple(f"s{i}" for i in range(len(labels)))
    return Points(x, np.array(labels), ids, tuple(f"c{y}" for y in labels), len(labels), None)


def naive(x, y, query):
    """Order, ranks of positives and metrics of one query, from the definitions."""
    s = np.round(x @ x[query], 10)
    order = [int(i) for i in sorted(range(len(x)), key=lambda i: (-s[i], i)) if i != query]
    hit = [bool(y[i] == y[query]) for i in order]
    ranks = [place + 1 for place, one in enumerate(hit) if one]
    values = {"AP": np.mean([(n + 1) / rank for n, rank in enumerate(ranks)])}
    for k in KS:
        values[f"R@{k}"] = float(ranks[0] <= k)
        best = sum(1 / np.log2(1 + place) for place in range(1, min(k, len(ranks)) + 1))
        values[f"nDCG@{k}"] = sum(1 / np.log2(1 + rank) for rank in ranks if rank <= k) / best
    return order, ranks, values


def check(points, queries):
    x, y = points.unit, points.labels
    table = per_query(points).set_index("id")
    for query in queries:
        order, ranks, values = naive(x, y, query)
        found = find(points, query)
        assert found.order.tolist() == order
        assert found.ranks == ranks
        row = table.loc[points.ids[query]]
        assert row["first positive"] == ranks[0]
        for name, value in values.items():
            assert found.metrics[name] == pytest.approx(value, abs=1e-12)
            assert row[name] == pytest.approx(value, abs=1e-12)


def test_shuffled_classes_of_unequal_size():
    check(make([0, 1, 0, 2, 1, 1, 0, 2, 1, 0, 0, 3, 3]), range(13))


def test_queries_are_compared_with_the_gallery_alone():
    points = make([0, 1, 2, 3, 1, 0, 1, 2, 0, 9, 2], seed=3)
    split = replace(points, queries=4)
    table = per_query(split).set_index("id")
    assert list(table.index) == ["s0", "s1", "s2"]  # the fourth has no positive in the gallery
    for query in range(3):
        alone = np.array([query, *range(4, 11)])
        order, ranks, values = naive(points.unit[alone], points.labels[alone], 0)
        found = find(split, query)
        assert found.order.tolist() == [int(alone[i]) for i in order]
        assert found.ranks == ranks
        assert table.loc[f"s{query}", "first positive"] == ranks[0]
        assert found.metrics == pytest.approx(table.loc[f"s{query}", list(found.metrics)].to_dict())
        assert values["AP"] == pytest.approx(found.metrics["AP"])
    assert find(split, 3).metrics == {}


def test_a_recorded_run_with_a_gallery_has_queries_of_one_vendor_and_the_gallery_of_others():
    points = read_points(open_run("emoji-vendor_pnp-dq_s0", RECORDED))
    vendors = [name.rpartition("/")[2] for name in points.ids]
    assert len(set(vendors[: points.queries])) == 1
    assert not set(vendors[: points.queries]) & set(vendors[points.queries :])
    assert len(per_query(points)) == points.queries
    assert points.others == len(points) - points.queries
    assert "items of the gallery, for 59 of" in points.told


def test_equal_similarities_keep_the_order_of_the_file():
    points = make([0, 1, 0, 1, 0])
    same = Points(points.unit[:1].repeat(5, axis=0), points.labels, points.ids, points.class_names, 5, None)
    assert find(same, 2).order.tolist() == [0, 1, 3, 4]
    check(same, range(5))


def test_a_query_without_positives_has_no_metrics_and_is_in_no_list():
    points = make([0, 0, 1])
    assert find(points, 2).metrics == {}
    assert list(per_query(points)["id"]) == ["s0", "s1"]
    with pytest.raises(RunError, match="nothing to find"):
        per_query(make([0, 1, 2]))


@pytest.mark.parametrize("name", RECORDED_RUNS)
def test_recorded_runs_give_what_numpy_gives(name):
    run = open_run(name, RECORDED)
    points = read_points(run)
    samples = read_samples(run)
    keep = (samples["split"] == "test").to_numpy()
    assert points.ids == tuple(samples["id"][keep])
    rows = read_embeddings(run).double().numpy()[keep]
    np.testing.assert_allclose(points.unit, rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-12)
    with_positive = [i for i in range(0, len(points), 97) if (points.labels == points.labels[i]).sum() > 1]
    check(points, with_positive)
    assert points.told.startswith(f"among the {len(points):,} recorded points of")


def test_many_points_are_cut_to_whole_classes_and_it_is_said():
    run = open_run("omniglot_pnp-dq_s0", RECORDED)
    points = read_points(run, most=400)
    assert len(points) == 400
    assert points.kept == 1200
    assert (np.unique(points.labels, return_counts=True)[1] == 20).all()
    assert "the first classes of 1,200" in points.told


def test_runs_are_grouped_by_their_data():
    groups = same_data(find_runs(RECORDED))
    assert {"omniglot", "omniglot-merged", "toy, layout=ring", "toy, layout=random", "emoji"} <= set(groups)
    assert all(len({run.record.data.sha256 for run in runs}) == 1 for runs in groups.values())


@pytest.fixture
def broken(tmp_path):
    """A run whose embeddings and samples can be chosen."""

    def write(embeddings, samples):
        folder = tmp_path / "mine_s0"
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps({"schema": 1, "id": "mine_s0", "data": "none"}))
        save_file({"embeddings": embeddings}, folder / "embeddings.safetensors")
        samples.to_parquet(folder / "samples.parquet", index=False)
        return read_run(folder)

    return write


@pytest.mark.parametrize(
    ("embeddings", "samples", "named"),
    [
        (torch.ones(3, 2), {"id": ["a", "b"], "label": [0, 0]}, "3 embeddings but 2 samples"),
        (torch.ones(1, 2), {"id": ["a"], "label": [0]}, "1 test points"),
        (torch.ones(2, 2), {"id": ["a", "b"], "label": [0, 0], "split": ["train"] * 2}, "0 test points"),
        (torch.tensor([[1.0, torch.nan]] * 2), {"id": ["a", "b"], "label": [0, 0]}, "not finite"),
    ],
)
def test_what_is_wrong_with_the_points_is_named(broken, embeddings, samples, named):
    with pytest.raises(RunError, match=named):
        read_points(broken(embeddings, pd.DataFrame(samples)))


def test_kinds_of_numbers_that_numpy_does_not_know_are_read(broken):
    run = broken(torch.eye(3).bfloat16(), pd.DataFrame({"id": ["a", "b", "c"], "label": [4, 4, 9]}))
    np.testing.assert_array_equal(read_points(run).unit, np.eye(3))


def test_points_without_split_class_names_or_data_facts_are_read(broken):
    run = broken(torch.eye(3), pd.DataFrame({"id": ["a", "b", "c"], "label": [4, 4, 9]}))
    points = read_points(run)
    assert points.class_names == ("4", "4", "9")
    assert points.tested is None
    assert list(same_data([run])) == ["no preset"]
