"""FastAP, listwise AP, blackbox AP and recall: held to loops over single numbers, to the metric, to another library."""

import math

import pytest
import torch
from pytorch_metric_learning.losses import FastAPLoss

from labkit import metrics
from labkit.losses import functional as F
from labkit.losses.blackbox import ranks

BATCHES = {
    "sorted": [0, 0, 0, 1, 1, 1, 2, 2, 2],
    "shuffled and unequal": [5, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 2],
    "singletons": [9, 1, 1, 2, 3, 8, 3, 3, 4],
    "one class": [7] * 5,
    "one pair": [4, 0, 4],
}
all_batches = pytest.mark.parametrize("labels", BATCHES.values(), ids=BATCHES)


def rows(n, seed=0, dim=4):
    return torch.randn(n, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def cosines(x):
    unit = torch.nn.functional.normalize(x)
    return (unit @ unit.T).tolist()


def others(labels, q):
    positives = [i for i in range(len(labels)) if labels[i] == labels[q] and i != q]
    return positives, [i for i in range(len(labels)) if labels[i] != labels[q]]


def naive_quantized_ap(s, labels, bins, low):
    """1 − AP of every query with a positive, bin by bin, each item a triangle around the bins' centres."""
    width, losses = (1 - low) / (bins - 1), []
    for q in range(len(labels)):
        positives, negatives = others(labels, q)
        hits = seen = ap = 0.0
        for m in range(bins):
            share = {
                i: max(0.0, 1 - abs(max(s[q][i], low) - (1 - m * width)) / width) for i in (*positives, *negatives)
            }
            here = sum(share[i] for i in positives)
            hits, seen = hits + here, seen + sum(share.values())
            ap += here * hits / seen / len(positives) if here > 0 else 0.0
        if positives:
            losses.append(1 - ap)
    return sum(losses) / len(losses)


@all_batches
@pytest.mark.parametrize("seed", range(3))
def test_quantized_ap_against_loops(labels, seed):
    x, y = rows(len(labels), seed), torch.tensor(labels)
    s = cosines(x)
    for bins in (1, 3, 10):
        assert F.fast_ap(x, y, bins=bins).item() == pytest.approx(naive_quantized_ap(s, labels, bins + 1, -1.0))
    for bins in (2, 20):
        for convention, low in (("paper", -1.0), ("official", 0.0)):
            found = F.listwise_ap(x, y, bins=bins, convention=convention).item()
            assert found == pytest.approx(naive_quantized_ap(s, labels, bins, low))


@all_batches
@pytest.mark.parametrize("bins", [2, 10])
def test_fast_ap_against_pytorch_metric_learning(labels, bins):
    y = torch.tensor(labels)
    mine, theirs = (rows(len(labels)).requires_grad_() for _ in range(2))
    found, expected = F.fast_ap(mine, y, bins=bins), FastAPLoss(num_bins=bins)(theirs, y)
    found.backward()
    expected.backward()
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-7, atol=1e-10)


@all_batches
def test_fast_ap_is_the_listwise_ap_with_one_bin_more(labels):
    x, y = rows(len(labels)), torch.tensor(labels)
    torch.testing.assert_close(F.fast_ap(x, y, bins=12), F.listwise_ap(x, y, bins=13), rtol=0, atol=0)


@all_batches
def test_blackbox_ap_is_the_metric_and_histograms_stay_above_it(labels):
    x, y = rows(len(labels)), torch.tensor(labels)
    exact = 1 - metrics.evaluate(x, y, ks=(len(labels),), progress=False)[f"MAP@{len(labels)}/relevant"]
    assert F.blackbox_ap(x, y, margin=0.0).item() == pytest.approx(exact, abs=1e-12)
    assert F.listwise_ap(x, y, bins=200_000).item() >= exact - 1e-12


def test_items_at_the_centres_of_bins_give_the_metric():
    angles = torch.tensor([0.0, math.pi / 3, math.pi / 2, math.pi], dtype=torch.float64)  # similarities 1, ½, 0, −1
    x, y = torch.stack([angles.cos(), angles.sin()], 1), torch.tensor([0, 1, 0, 0])
    found = F.listwise_ap(x, y, bins=5, reduction="none")[0].item()
    assert found == pytest.approx(1 - (1 / 2 + 2 / 3) / 2)


def test_one_bin_is_refused():
    with pytest.raises(ValueError, match="^bins must be 2 or more"):
        F.listwise_ap(rows(4), torch.tensor([0, 0, 1, 1]), bins=1)


# Blackbox differentiation: ranks once more by counting, and its derivative from the definition.


def counted_ranks(scores):
    return [1 + sum(b > a for b in scores) for a in scores]


@pytest.mark.parametrize("seed", range(5))
def test_ranks_by_counting(seed):
    scores = rows(6, seed, 9)
    assert ranks(scores).tolist() == [counted_ranks(row) for row in scores.tolist()]


def test_equal_scores_keep_their_order():
    assert ranks(torch.tensor([[1.0, 2.0, 1.0, 2.0]])).tolist() == [[3, 1, 4, 2]]


def naive_blackbox(s, labels, lam, margin, loss_of, slope_of, official):
    """Loss and dL/ds (B, B), query by query: rank, step along the ranks' slope, rank again."""
    n = len(labels)
    queries = [q for q in range(n) if others(labels, q)[0]]
    total, slopes = 0.0, [[0.0] * n for _ in range(n)]
    for q in queries:
        positives, negatives = others(labels, q)
        positives = [*positives, q] if official else positives
        items = sorted([*positives, *negatives])
        step = lam * n if official else lam
        score = {i: s[q][i] + (-margin / 2 if i in positives else margin / 2) for i in items}
        rank = dict(zip(items, counted_ranks([score[i] for i in items])))
        inner = dict(zip(positives, counted_ranks([score[i] for i in positives])))
        total += sum(loss_of(inner[i], rank[i]) for i in positives) / len(positives) / len(queries)
        slope = {i: 0.0 for i in items}
        slope |= {i: slope_of(inner[i], rank[i]) / len(positives) / len(queries) for i in positives}
        again = dict(zip(items, counted_ranks([score[i] + step * slope[i] for i in items])))
        for i in items:
            slopes[q][i] = (again[i] - rank[i]) / step
    return total, slopes


@all_batches
@pytest.mark.parametrize("convention", ["paper", "official"])
@pytest.mark.parametrize(("lam", "margin"), [(4.0, 0.02), (0.5, 0.0), (40.0, 0.3)])
def test_blackbox_against_its_definition(labels, convention, lam, margin):
    y, how = torch.tensor(labels), {"lam": lam, "margin": margin, "convention": convention}
    losses = {
        F.blackbox_ap: (lambda inner, rank: 1 - inner / rank, lambda inner, rank: inner / rank**2),
        F.blackbox_recall: (lambda inner, rank: math.log(1 + rank - inner), lambda inner, rank: 1 / (1 + rank - inner)),
    }
    for function, (loss_of, slope_of) in losses.items():
        x = rows(len(labels), 2).requires_grad_()
        expected, slopes = naive_blackbox(cosines(x), labels, lam, margin, loss_of, slope_of, convention == "official")
        found, parts = function(x, y, **how, return_parts=True)
        assert found.item() == pytest.approx(expected)
        table = torch.zeros(len(labels), len(labels), dtype=torch.float64)
        table[parts.query, parts.other] = parts.dL_dS
        expected_slopes = torch.tensor(slopes, dtype=torch.float64).fill_diagonal_(0)
        torch.testing.assert_close(table, expected_slopes, rtol=1e-9, atol=1e-12)
        (gradient,) = torch.autograd.grad(found, x)
        unit = torch.nn.functional.normalize(x)
        (chained,) = torch.autograd.grad((unit @ unit.T * torch.tensor(slopes, dtype=torch.float64)).sum(), x)
        torch.testing.assert_close(gradient, chained, rtol=1e-9, atol=1e-12)


def test_loglog_weighs_the_same_ranks_less():
    x, y = rows(12), torch.tensor(BATCHES["shuffled and unequal"])
    log, loglog = (F.blackbox_recall(x, y, weight=weight, reduction="none") for weight in ("log", "loglog"))
    assert bool((loglog <= log).all())
    one = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.9, 0.4], [0.8, 0.6]]).double()  # two negatives before the positive
    found = F.blackbox_recall(one, torch.tensor([0, 0, 1, 2]), weight="loglog", margin=0.0, reduction="none")
    assert found[0].item() == pytest.approx(math.log1p(math.log1p(2)))


def test_blackbox_has_no_second_derivative():
    x = rows(6).requires_grad_()
    with pytest.raises(RuntimeError, match="no second derivative"):
        torch.autograd.grad(F.blackbox_ap(x, torch.tensor([0, 0, 1, 1, 2, 2])), x, create_graph=True)
