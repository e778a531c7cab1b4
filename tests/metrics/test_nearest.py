"""The kernel in numpy is held to `evaluate`: unequal classes, singletons, ties, a gallery, recorded runs."""

import numpy as np
import pytest
import torch

from labkit import metrics
from labkit.base.paths import RECORDED
from labkit.metrics import nearest as kernel
from labkit.runs import open_run
from labkit.runs.contents import read_embedding_array, read_samples

KS = (1, 3, 10)
LABELS = {
    "equal classes": np.arange(60) % 6,
    "unequal classes, shuffled": np.random.default_rng(1).choice(7, 60, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.06, 0.04]),
    "singletons": np.concatenate([np.arange(20), np.repeat([30, 31], 20)]),
    "one class": np.zeros(60, np.int64),
}
each_labels = pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)


def points(labels, dim=5, seed=0):
    random = np.random.default_rng(seed)
    centers = random.normal(size=(int(labels.max()) + 1, dim))
    return kernel.unit_rows(centers[labels] + random.normal(size=(len(labels), dim)))


def per_query(unit, labels, first=0):
    """AP, R@k and nDCG@k of the kernel, by the rows of the queries."""
    found = [(rows, kernel.metrics_of_ranks(ranks, KS)) for rows, ranks in kernel.positive_ranks(unit, labels, first)]
    rows = np.concatenate([rows for rows, _ in found])
    order = rows.argsort()
    return rows[order], {name: np.concatenate([part[name] for _, part in found])[order] for name in found[0][1]}


def library(unit, labels, first=0):
    """The same of the library."""
    x, y = torch.from_numpy(unit), torch.from_numpy(labels)
    sides = {"gallery": x[first:], "gallery_labels": y[first:]} if first else {}
    whole = len(unit)
    asked = first or whole
    rows, found = metrics.per_query_metrics(x[:asked], y[:asked], (*KS, whole), **sides)
    names = {"AP": f"MAP@{whole}/relevant"} | {f"{m}@{k}": f"{m}@{k}" for m in ("R", "nDCG") for k in KS}
    return rows.numpy(), {mine: found[theirs].numpy() for mine, theirs in names.items()}


def assert_same(mine, theirs):
    np.testing.assert_array_equal(mine[0], theirs[0])
    assert mine[1].keys() == theirs[1].keys()
    for name, values in theirs[1].items():
        np.testing.assert_allclose(mine[1][name], values, rtol=1e-12, err_msg=name)


@each_labels
@pytest.mark.parametrize("first", [0, 25])
def test_every_query_has_the_metrics_of_the_library(labels, first):
    unit = points(labels)
    assert_same(per_query(unit, labels, first), library(unit, labels, first))


@each_labels
def test_recall_and_separability_are_those_of_evaluate(labels):
    unit = points(labels)
    found = metrics.evaluate(torch.from_numpy(unit), torch.from_numpy(labels), ks=(1,))
    assert kernel.recall_at_1(unit, labels) == pytest.approx(found["R@1"], abs=1e-12)
    assert kernel.csc(unit, labels) == pytest.approx(found["CSC"], rel=1e-12)


def test_many_rows_are_taken_some_at_a_time():
    labels = np.random.default_rng(2).integers(0, 9, 3 * kernel.ROWS_AT_ONCE + 7)
    unit = points(labels)
    assert_same(per_query(unit, labels), library(unit, labels))
    rows, cosines = kernel.nearest(unit, np.arange(len(unit)), 3)
    whole = unit @ unit.T
    np.fill_diagonal(whole, -np.inf)
    np.testing.assert_array_equal(rows, np.argsort(-whole, axis=1)[:, :3])
    np.testing.assert_allclose(cosines, np.sort(whole, axis=1)[:, :-4:-1], atol=1e-9)
    np.testing.assert_array_equal(kernel.nearest(unit, np.arange(len(unit)))[0], rows[:, :1])


def test_copies_of_a_row_are_ties_that_the_order_of_the_rows_decides():
    unit = np.repeat(points(np.zeros(2, np.int64)), 3, axis=0)  # 0 0 0 1 1 1
    rows, _ = kernel.nearest(unit, np.array([1, 4]), 3)
    assert rows.tolist() == [[0, 2, 3], [3, 5, 0]]
    assert kernel.nearest(unit, np.array([1, 4]))[0].tolist() == [[0], [3]]
    single = np.array([[1, 0], [1, 0], [0, 1], [1, 0]], np.float32)
    rows, cosines = kernel.nearest(single, np.array([1, 2]), 9)
    assert rows.tolist() == [[0, 3, 2], [0, 1, 3]]
    assert cosines.tolist() == [[1, 1, 0], [0, 0, 0]]


def test_single_precision_stays_single_and_is_not_rounded():
    unit = points(np.arange(40) % 4).astype(np.float32)
    found = kernel.similarities(unit, np.arange(40))
    assert found.dtype == np.float32
    expected = unit @ unit.T
    np.fill_diagonal(expected, -np.inf)
    np.testing.assert_array_equal(found, expected)


def test_ends_of_the_range():
    two = points(np.zeros(2, np.int64))
    assert kernel.nearest(two, np.arange(2), 10)[0].tolist() == [[1], [0]]
    assert np.isnan(kernel.recall_at_1(two, np.array([0, 1])))
    assert kernel.csc(np.repeat(two, 3, axis=0), np.repeat([0, 1], 3)) == float("inf")
    assert kernel.unit_rows(np.zeros((1, 3))).tolist() == [[0, 0, 0]]
    assert list(kernel.positive_ranks(two, np.array([0, 1]))) == []


@pytest.mark.parametrize("name", ["omniglot_pnp-dq_s0", "toy_pnp-ib_layout=random_s0"])
def test_a_recorded_run_has_the_numbers_of_evaluate(name):
    run = open_run(name, RECORDED)
    samples = read_samples(run)
    test = (samples["split"] == "test").to_numpy()
    unit = kernel.unit_rows(read_embedding_array(run)[test].astype(np.float64))
    labels = samples["label"].to_numpy(np.int64)[test]
    found = metrics.evaluate(torch.from_numpy(unit), torch.from_numpy(labels), ks=(1, 10), progress=False)
    columns = per_query(unit, labels)[1]
    assert columns["R@1"].mean() == pytest.approx(found["R@1"], abs=1e-12)
    assert columns["nDCG@10"].mean() == pytest.approx(found["nDCG@10"], abs=1e-12)
    assert kernel.recall_at_1(unit, labels) == pytest.approx(found["R@1"], abs=1e-12)
    assert kernel.csc(unit, labels) == pytest.approx(found["CSC"], rel=1e-9)
