"""List metrics against their definitions as loops, the printed Table 3 of the MPA paper, and other libraries."""

import csv
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import metrics
from labkit.metrics.lists import AP_DENOMINATORS, RECALL_MODES

TABLES = Path(__file__).resolve().parents[2] / "data" / "papers"
KS = (1, 2, 3, 4, 5, 7, 10, 30)
TABLE_3 = ("1000000000", "1000000001", "1010000000", "1010001001", "1111000000")  # R = 4 in every row
ROWS = [[int(digit) for digit in row] for row in TABLE_3]


# The definitions once more, on Python lists.


def naive_recall(relevance, k, total, mode):
    hits = 0
    for r in relevance[:k]:
        if r > 0:
            hits += 1
    return {"any": 1.0 if hits else 0.0, "fraction": hits / total, "capped": hits / min(k, total)}[mode]


def naive_precision(relevance, k):
    return len([r for r in relevance[:k] if r > 0]) / k


def naive_precisions_at_hits(relevance, k):
    return [naive_precision(relevance, i) for i in range(1, min(k, len(relevance)) + 1) if relevance[i - 1] > 0]


def naive_ap(relevance, k, total, denominator):
    found = naive_precisions_at_hits(relevance, k)
    return sum(found) / {"k": k, "relevant": total, "min": min(k, total), "hits": len(found) or 1}[denominator]


def naive_map_at_r(relevance, total):
    return sum(naive_precisions_at_hits(relevance, total)) / total


def naive_r_precision(relevance, total):
    return naive_precision(relevance, total)


def naive_reciprocal_rank(relevance):
    for rank, r in enumerate(relevance, start=1):
        if r > 0:
            return 1 / rank
    return 0.0


def naive_dcg(relevance, k, gain):
    value = {"exponential": lambda r: 2**r - 1, "linear": lambda r: r}[gain]
    return sum(value(r) / math.log2(i + 1) for i, r in enumerate(relevance[:k], start=1))


def naive_ndcg(relevance, k, pool, gain="exponential"):
    return naive_dcg(relevance, k, gain) / naive_dcg(sorted(pool, reverse=True), k, gain)


def close(value):
    return pytest.approx(value, rel=1e-13, abs=1e-15)


def all_metrics(relevance, total, k):
    """Every binary metric of one list at k as floats: (name, labkit's, naive)."""
    rows = [
        (f"recall {m}", metrics.recall_at_k(relevance, k, total, m), naive_recall(relevance, k, total, m))
        for m in RECALL_MODES
    ]
    rows += [
        (f"AP/{d}", metrics.average_precision_at_k(relevance, k, total, d), naive_ap(relevance, k, total, d))
        for d in AP_DENOMINATORS
    ]
    ones = [1] * total + [0] * len(relevance)
    rows += [
        ("precision", metrics.precision_at_k(relevance, k), naive_precision(relevance, k)),
        ("MAP@R", metrics.map_at_r(relevance, total), naive_map_at_r(relevance, total)),
        ("R-precision", metrics.r_precision(relevance, total), naive_r_precision(relevance, total)),
        ("MRR", metrics.reciprocal_rank(relevance), naive_reciprocal_rank(relevance)),
        ("nDCG", metrics.ndcg_at_k(relevance, k, total), naive_ndcg(relevance, k, ones)),
    ]
    return [(name, float(value), expected) for name, value, expected in rows]


lists = st.lists(st.integers(0, 1), min_size=1, max_size=24)
listed = st.tuples(lists, st.integers(0, 6), st.sampled_from(KS)).filter(lambda x: sum(x[0]) + x[1] > 0)
graded = st.lists(st.integers(0, 4), min_size=2, max_size=16).filter(any)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_equal_the_definitions_on_every_short_list(k):
    for n in range(1, 6):
        for relevance in itertools.product((0, 1), repeat=n):
            for total in range(max(1, sum(relevance)), sum(relevance) + 3):
                for name, value, expected in all_metrics(list(relevance), total, k):
                    assert value == close(expected), (name, relevance, total)


@given(listed)
@settings(max_examples=100, deadline=None)
def test_equal_the_definitions_on_longer_lists(case):
    relevance, missing, k = case  # `missing` relevant items of the gallery are not in the list
    for name, value, expected in all_metrics(relevance, sum(relevance) + missing, k):
        assert value == close(expected), name
        assert 0 <= value <= 1, name


@given(graded, st.lists(st.integers(0, 4), max_size=5), st.sampled_from(KS), st.sampled_from(["exponential", "linear"]))
@settings(max_examples=100, deadline=None)
def test_graded_ndcg_equals_the_definition(relevance, missed, k, gain):
    value = float(metrics.ndcg_at_k(relevance, k, gain=gain))
    assert value == close(naive_ndcg(relevance, k, relevance, gain))
    assert 0 <= value <= 1 + 1e-15
    pool = missed + relevance[::-1]
    assert float(metrics.ndcg_at_k(relevance, k, ideal=pool, gain=gain)) == close(naive_ndcg(relevance, k, pool, gain))


def test_exponential_gain_doubles_with_each_grade():
    assert float(metrics.ndcg_at_k([0, 3], 2)) == close(7 / math.log2(3) / 7)
    assert float(metrics.ndcg_at_k([1, 3], 2)) == close((1 + 7 / math.log2(3)) / (7 + 1 / math.log2(3)))
    assert float(metrics.ndcg_at_k([1, 3], 2, gain="linear")) == close((1 + 3 / math.log2(3)) / (3 + 1 / math.log2(3)))


# The MPA paper's Table 3, and what the errata say of it.


def printed_table_3():
    with (TABLES / "mpa.csv").open() as file:
        return [(row["method"], row["metric"], row["value"]) for row in csv.DictReader(file) if row["table"] == "3"]


def test_table_3_is_complete():
    assert {row for row, _, _ in printed_table_3()} == set(TABLE_3)
    assert len(printed_table_3()) == 25


@pytest.mark.parametrize(("row", "metric", "printed"), printed_table_3())
def test_E_MPA_11_table_3_to_the_printed_digit(row, metric, printed):
    relevance = [int(digit) for digit in row]
    value = {
        "R": lambda: metrics.recall_at_k(relevance, 10, 4, mode="any"),
        "P": lambda: metrics.precision_at_k(relevance, 10),
        "MAP@R": lambda: metrics.map_at_r(relevance, 4),
        "MAP": lambda: metrics.average_precision_at_k(relevance, 10, 4, denominator="k"),
        "nDCG": lambda: metrics.ndcg_at_k(relevance, 10, 4),
    }[metric]()
    decimals = len(printed.partition(".")[2])
    assert f"{100 * float(value):.{decimals}f}" == printed


def test_E_MPA_11_unrounded():
    for values, unrounded in (
        (metrics.map_at_r(ROWS, 4), [25, 25, 41.667, 41.667, 100]),
        (metrics.average_precision_at_k(ROWS, 10, 4), [10, 12, 16.667, 24.952, 40]),
        (metrics.ndcg_at_k(ROWS, 10, 4), [39.038, 50.3225, 58.557, 82.854, 100]),
    ):
        assert (100 * values).tolist() == pytest.approx(unrounded, abs=5e-4)
    assert sum(1 / math.log2(i + 1) for i in range(1, 5)) == pytest.approx(2.561606, abs=5e-7)


def test_E_MPA_12_four_denominators():
    table = {
        "k": [10.0, 12.0, 16.7, 25.0, 40.0],
        "relevant": [25.0, 30.0, 41.7, 62.4, 100.0],
        "hits": [100.0, 60.0, 83.3, 62.4, 100.0],
        "min": [25.0, 30.0, 41.7, 62.4, 100.0],
    }
    for denominator, expected in table.items():
        values = metrics.average_precision_at_k(ROWS, 10, 4, denominator)
        assert [round(100 * v, 1) for v in values.tolist()] == expected
    # with /min(k, R) MAP@10 orders the rows as nDCG@10 does; with /hits the poorest row equals the perfect one
    by_min, by_hits = (metrics.average_precision_at_k(ROWS, 10, 4, d) for d in ("min", "hits"))
    assert by_min.argsort().tolist() == metrics.ndcg_at_k(ROWS, 10, 4).argsort().tolist() == [0, 1, 2, 3, 4]
    assert by_hits[0] == by_hits[4] == 1


def test_E_MPA_12_recalls():
    assert metrics.recall_at_k(ROWS, 10, 4).tolist() == [1] * 5
    assert metrics.recall_at_k(ROWS, 10, 4, mode="fraction").tolist() == [0.25, 0.5, 0.5, 1, 1]


# Laws.


@given(listed)
@settings(max_examples=100, deadline=None)
def test_recall_modes_are_ordered(case):
    relevance, missing, k = case
    total = sum(relevance) + missing
    any_hit, capped, fraction = (metrics.recall_at_k(relevance, k, total, m) for m in ("any", "capped", "fraction"))
    assert any_hit >= capped >= fraction


@given(listed)
@settings(max_examples=50, deadline=None)
def test_recall_grows_with_k(case):
    relevance, missing, _ = case
    total = sum(relevance) + missing
    for mode in ("any", "fraction"):
        values = [float(metrics.recall_at_k(relevance, k, total, mode)) for k in range(1, len(relevance) + 2)]
        assert values == sorted(values)


@given(lists.filter(lambda x: (0, 1) in itertools.pairwise(x)), st.integers(0, 4), st.sampled_from(KS), st.data())
@settings(max_examples=100, deadline=None)
def test_moving_a_positive_up_never_lowers_a_metric(relevance, missing, k, data):
    at = data.draw(st.sampled_from([i for i, pair in enumerate(itertools.pairwise(relevance)) if pair == (0, 1)]))
    better = [*relevance[:at], 1, 0, *relevance[at + 2 :]]
    total = sum(relevance) + missing
    for (name, before, _), (_, after, _) in zip(all_metrics(relevance, total, k), all_metrics(better, total, k)):
        if name != "AP/hits":
            assert after >= before - 1e-15, name


def test_moving_a_positive_up_can_lower_ap_over_hits():
    # a second hit enters the top 10 at its very end: the one denominator that counts it against the list (E-MPA-12)
    late, later = [1, *[0] * 8, 1, 0], [1, *[0] * 9, 1]
    assert metrics.average_precision_at_k(later, 10, 2, "hits") == 1
    assert float(metrics.average_precision_at_k(late, 10, 2, "hits")) == close(0.6)


@pytest.mark.parametrize("total", [1, 2, 4, 9])
@pytest.mark.parametrize("k", KS)
def test_perfect_and_worst_lists(total, k):
    best, none = [1] * total + [0] * 5, [0] * (total + 5)
    for name, value, _ in all_metrics(best, total, k):
        top = {"recall fraction": min(k / total, 1), "precision": min(total / k, 1), "AP/k": min(total / k, 1)}
        top["AP/relevant"] = top["recall fraction"]
        assert value == close(top.get(name, 1)), name
    assert [value for _, value, _ in all_metrics(none, total, k)] == [0] * 12


# Shapes and types.


def every_call(relevance, total):
    yield from (metrics.recall_at_k(relevance, 3, total, mode) for mode in RECALL_MODES)
    yield from (metrics.average_precision_at_k(relevance, 3, total, d) for d in AP_DENOMINATORS)
    yield metrics.precision_at_k(relevance, 3)
    yield metrics.map_at_r(relevance, total)
    yield metrics.r_precision(relevance, total)
    yield metrics.reciprocal_rank(relevance)
    yield metrics.ndcg_at_k(relevance, 3, total)


BATCH = torch.tensor([[[1, 0, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1]], [[0, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]]])
TOTALS = torch.tensor([[2, 5, 4], [1, 3, 1]])


def test_batches_are_many_single_lists():
    for whole, *parts in zip(
        every_call(BATCH, TOTALS),
        *(every_call(BATCH[i, j], int(TOTALS[i, j])) for i in range(2) for j in range(3)),
    ):
        assert whole.shape == (2, 3)
        assert whole.dtype == torch.float64
        assert whole.flatten().tolist() == [float(part) for part in parts]
    graded = metrics.ndcg_at_k(BATCH[:, 1:] * 2, 3, ideal=BATCH[:, 1:] * 2 + 1)
    for i, j in itertools.product(range(2), repeat=2):
        row = BATCH[i, 1 + j] * 2
        assert graded[i, j] == metrics.ndcg_at_k(row, 3, ideal=row + 1)


@pytest.mark.parametrize(
    "turn",
    [
        lambda x: x.tolist(),
        lambda x: x.numpy(),
        lambda x: x.numpy().astype(np.float32),
        lambda x: x.numpy().astype(bool),
        lambda x: x.bool(),
        lambda x: x.to(torch.uint8),
        lambda x: x.half(),
        lambda x: x.transpose(0, 1).contiguous().transpose(0, 1),
    ],
)
def test_any_container(turn):
    for expected, value in zip(every_call(BATCH, TOTALS), every_call(turn(BATCH), TOTALS.tolist())):
        assert torch.equal(value, expected)


def test_any_count_of_relevant_items():
    for total in (4, 4.0, np.int64(4), torch.tensor(4), [[4, 4, 4], [4, 4, 4]], np.full((2, 3), 4)):
        for expected, value in zip(every_call(BATCH, torch.full((2, 3), 4)), every_call(BATCH, total)):
            assert torch.equal(value, expected)


def test_any_whole_number_as_k():
    for k in (2, np.int64(2), 2.0):
        assert float(metrics.average_precision_at_k([1, 0, 1], k, 2)) == 0.5
        assert float(metrics.ndcg_at_k([1, 0, 1], k, 2)) == close(1 / (1 + 1 / math.log2(3)))
        assert float(metrics.recall_at_k([1, 0, 1], k, 2, "capped")) == 0.5
        assert float(metrics.precision_at_k([1, 0, 1], k)) == 0.5


def test_grades_count_as_hits():
    assert metrics.reciprocal_rank([0, 0.25, 3]) == 0.5
    assert metrics.recall_at_k([0, 0.25, 3], 2, 2, "fraction") == 0.5


# Bad input.

TAKE_K = {
    "recall": lambda rel, k: metrics.recall_at_k(rel, k, 2),
    "precision": metrics.precision_at_k,
    "ap": lambda rel, k: metrics.average_precision_at_k(rel, k, 2),
    "ndcg": lambda rel, k: metrics.ndcg_at_k(rel, k, 2),
    "graded ndcg": metrics.ndcg_at_k,
}
TAKE_TOTAL = {
    "recall": lambda rel, total: metrics.recall_at_k(rel, 2, total),
    "ap": lambda rel, total: metrics.average_precision_at_k(rel, 2, total),
    "map_at_r": metrics.map_at_r,
    "r_precision": metrics.r_precision,
    "ndcg": lambda rel, total: metrics.ndcg_at_k(rel, 2, total),
}
TAKE_LISTS = {
    **{name: lambda rel, call=call: call(rel, 2) for name, call in TAKE_TOTAL.items()},
    "precision": lambda rel: metrics.precision_at_k(rel, 2),
    "reciprocal_rank": metrics.reciprocal_rank,
    "graded ndcg": lambda rel: metrics.ndcg_at_k(rel, 2),
}


@pytest.mark.parametrize("k", [0, -1, 1.5, True, None, "3", math.nan, math.inf, (1, 2)])
@pytest.mark.parametrize("call", TAKE_K)
def test_bad_k_is_named(call, k):
    with pytest.raises(ValueError, match=r"^k must"):
        TAKE_K[call]([1, 0, 1], k)


@pytest.mark.parametrize("total", [0, -3, 1, 2.5, math.nan, math.inf, [2, 2], [[2]]])
@pytest.mark.parametrize("call", TAKE_TOTAL)
def test_bad_num_relevant_is_named(call, total):
    with pytest.raises(ValueError, match=r"^num_relevant"):
        TAKE_TOTAL[call]([1, 0, 1], total)


@pytest.mark.parametrize("call", TAKE_TOTAL)
def test_num_relevant_fits_the_batch(call):
    for total in ([1, 2, 3], [[2, 2]], [2]):
        with pytest.raises(ValueError, match=r"^num_relevant"):
            TAKE_TOTAL[call]([[1, 0, 1], [1, 0, 0]], total)
    with pytest.raises(ValueError, match=r"^num_relevant"):  # fits the second list only
        TAKE_TOTAL[call]([[1, 0, 1], [1, 0, 0]], [1, 1])


@pytest.mark.parametrize("relevance", [[], [[], []], 1, [1, -1, 0], [math.nan, 1], [math.inf, 1]])
@pytest.mark.parametrize("call", TAKE_LISTS)
def test_bad_relevance_is_named(call, relevance):
    with pytest.raises(ValueError, match=r"^relevance"):
        TAKE_LISTS[call](relevance)


def test_unknown_choices_are_named():
    with pytest.raises(ValueError, match="mode"):
        metrics.recall_at_k([1], 1, 1, mode="all")
    with pytest.raises(ValueError, match="denominator"):
        metrics.average_precision_at_k([1], 1, 1, denominator="r")
    for more in ({"num_relevant": 1}, {}):
        with pytest.raises(ValueError, match="gain"):
            metrics.ndcg_at_k([1], 1, gain="log", **more)


def test_bad_ideal_is_named():
    for ideal in ([], [0, 0], [-1, 2], [math.nan], [[1, 2]], 3):
        with pytest.raises(ValueError, match=r"^ideal"):
            metrics.ndcg_at_k([1, 0], 2, ideal=ideal)
    with pytest.raises(ValueError, match=r"^ideal"):
        metrics.ndcg_at_k([1, 0], 2, 1, ideal=[1, 0])
    with pytest.raises(ValueError, match=r"^ideal"):  # a gallery that does not hold the list's own items
        metrics.ndcg_at_k([3, 2], 2, ideal=[1, 0])
    with pytest.raises(ValueError, match=r"^relevance must be 0 or 1"):
        metrics.ndcg_at_k([2, 0], 2, 1)


# Other libraries.


@pytest.mark.peer
@given(graded, st.sampled_from(KS))
@settings(max_examples=60, deadline=None)
def test_ndcg_equals_scikit_learn(relevance, k):
    ndcg_score = pytest.importorskip("sklearn.metrics").ndcg_score
    score = [list(range(len(relevance), 0, -1))]
    linear = ndcg_score([relevance], score, k=k)
    assert float(metrics.ndcg_at_k(relevance, k, gain="linear")) == pytest.approx(linear, abs=1e-12)
    exponential = ndcg_score([[2**r - 1 for r in relevance]], score, k=k)
    assert float(metrics.ndcg_at_k(relevance, k)) == pytest.approx(exponential, abs=1e-12)


@pytest.mark.peer
@given(lists.filter(any), st.sampled_from(KS))
@settings(max_examples=60, deadline=None)
def test_equals_torchmetrics(relevance, k):
    peer = pytest.importorskip("torchmetrics.functional.retrieval")
    total, target = sum(relevance), torch.tensor(relevance)
    score = torch.linspace(1, 0.1, len(relevance))
    pairs = [
        (metrics.ndcg_at_k(relevance, k, total), peer.retrieval_normalized_dcg(score, target, top_k=k)),
        (
            metrics.average_precision_at_k(relevance, k, total, "hits"),
            peer.retrieval_average_precision(score, target, top_k=k),
        ),
        (metrics.recall_at_k(relevance, k, total, "fraction"), peer.retrieval_recall(score, target, top_k=k)),
        (metrics.recall_at_k(relevance, k, total, "any"), peer.retrieval_hit_rate(score, target, top_k=k)),
        (metrics.precision_at_k(relevance, k), peer.retrieval_precision(score, target, top_k=k)),
        (metrics.r_precision(relevance, total), peer.retrieval_r_precision(score, target)),
        (metrics.reciprocal_rank(relevance), peer.retrieval_reciprocal_rank(score, target)),
    ]
    for value, other in pairs:
        assert float(value) == pytest.approx(float(other), abs=1e-6)  # torchmetrics counts in float32
