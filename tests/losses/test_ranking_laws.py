"""Laws that hold for every ranking loss, numerical precision, devices, bad input and the Modules."""

import math

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from ranking_oracles import (
    ALPHA,
    BATCHES,
    KS,
    NAMES,
    TAUS,
    B,
    average_precision,
    cosines,
    fractional_recall,
    labkit_loss,
    negatives,
    negatives_above,
    positives,
    random_rows,
    ranking,
    smallest_gap,
)

from labkit import losses
from labkit.losses import functional
from labkit.losses.pnp import pnp_value, smooth_ap_head
from labkit.losses.ranking import mean_over_positives, ranking_loss, ranking_loss_from_similarities
from labkit.losses.recall_at_k import official_head, paper_head
from labkit.losses.softcount import Rules

METHODS = ("plain", "streamed", "dense")
all_losses = pytest.mark.parametrize("name", NAMES)
three_losses = pytest.mark.parametrize("name", ["pnp-Dq", "smooth-ap", "rs@k"])
both_conventions = pytest.mark.parametrize("convention", ["paper", "official"])

label_lists = st.lists(st.integers(0, 4), min_size=2, max_size=14).filter(lambda x: len(set(x)) < len(x))
seeds = st.integers(0, 10**6)


@all_losses
@both_conventions
@given(labels=label_lists, seed=seeds)
@settings(max_examples=15, deadline=None)
def test_reductions_are_consistent(name, convention, labels, seed):
    counted = sum(labels.count(label) > 1 for label in labels)
    labels, rows = torch.tensor(labels), random_rows(len(labels), 4, seed)
    mean, total, each = (
        labkit_loss(name, rows, labels, convention=convention, reduction=r) for r in ("mean", "sum", "none")
    )
    torch.testing.assert_close(total, each.sum(), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(mean, total / counted, rtol=1e-12, atol=1e-14)
    alone = torch.tensor([labels.tolist().count(label) == 1 for label in labels.tolist()])
    assert (each[alone] == 0).all()
    assert (each >= -1e-12).all()


@given(labels=label_lists, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_losses_become_metrics_as_the_temperature_goes_to_zero(labels, seed):
    names, labels, rows = labels, torch.tensor(labels), random_rows(len(labels), 4, seed)
    s = cosines(rows)
    assume(smallest_gap(s) > 1e-6)
    queries = [q for q in range(len(names)) if positives(names, q)]
    lists = [ranking(s, names, q)[1] for q in queries]

    def mean(values):
        values = list(values)
        return sum(values) / len(values)

    loss = functional.smooth_ap(rows, labels, tau=1e-9)
    assert float(loss) == pytest.approx(1 - mean(average_precision(x) for x in lists), abs=1e-9)
    loss = functional.pnp(rows, labels, variant="O", tau=1e-9)
    assert float(loss) == pytest.approx(mean(mean(negatives_above(x)) for x in lists), abs=1e-9)
    for k in (1, 2, 4):
        # σ(0) = ½: at rank k exactly the surrogate counts a half (E-SL-3) …
        loss = functional.recall_at_k(rows, labels, ks=(k,), tau_rank=1e-2, tau_sim=1e-9)
        assert float(loss) == pytest.approx(1 - mean(fractional_recall(x, k, at_k=0.5) for x in lists), abs=1e-9)
        # … and half a rank further on it is the metric
        loss = ranking_loss(rows, labels, paper_head((k + 0.5,), (1e-2,)), Rules(1e-9))
        assert float(loss) == pytest.approx(1 - mean(fractional_recall(x, k) for x in lists), abs=1e-9)  # E-SL-4


def loss_from_similarities(name, S, labels, tau, convention="paper"):
    """The loss of each query, from a similarity matrix that need not be symmetric."""
    official = convention == "official"
    if name == "rs@k":
        head = official_head(KS, TAUS, len(labels)) if official else paper_head(KS, TAUS)
        rules = Rules(tau, query_in_gallery=official)
    elif name == "smooth-ap":
        head, rules = smooth_ap_head, Rules(tau, query_is_target=official, query_in_gallery=official)
    else:

        def head(R_neg, R_pos, is_target):
            return mean_over_positives(pnp_value(R_neg, name.removeprefix("pnp-"), ALPHA, B), is_target)

        rules = Rules(tau, query_is_target=official)
    return ranking_loss_from_similarities(S, labels, head, rules, reduction="none")


def random_similarities(n, seed):
    """Rows of well separated values: a random ranking each, the query first in its own."""
    generator = torch.Generator().manual_seed(seed)
    S = torch.stack([torch.randperm(n, generator=generator) for _ in range(n)]).double() / n
    return S.fill_diagonal_(1.5)


@all_losses
@both_conventions
@given(labels=label_lists, seed=seeds, step=st.floats(0, 2), tau=st.sampled_from([1e-3, 0.1, 1.0]))
@settings(max_examples=25, deadline=None)
def test_moving_a_negative_up_never_helps(name, convention, labels, seed, step, tau):
    q = seed % len(labels)
    assume(positives(labels, q) and negatives(labels, q))
    names, labels, S = labels, torch.tensor(labels), random_similarities(len(labels), seed)
    moved = S.clone()
    moved[q, negatives(names, q)[0]] += step
    before, after = (loss_from_similarities(name, s, labels, tau, convention) for s in (S, moved))
    assert after[q] >= before[q] - 1e-12
    others = torch.arange(len(names)) != q
    assert torch.equal(after[others], before[others])


@all_losses
@both_conventions
@given(labels=label_lists, seed=seeds, step=st.floats(0, 2), tau=st.sampled_from([1e-3, 0.1, 1.0]))
@settings(max_examples=25, deadline=None)
def test_moving_a_positive_up_never_hurts(name, convention, labels, seed, step, tau):
    q = seed % len(labels)
    assume(positives(labels, q))
    names, labels, S = labels, torch.tensor(labels), random_similarities(len(labels), seed)
    i, n = positives(names, q)[0], len(names)
    moved = S.clone()
    moved[q, i] += step
    if not name.startswith("pnp"):
        # Smooth-AP and RS@k also count positives before a positive: only sharp ranks without ties keep the law. So the
        # positive lands between two items, and below the query, which stays first.
        tau = 1e-4
        moved[q, i] = min(float(S[q, i]) + (round(step * n) + 0.5) / n, 1.2)
    before, after = (loss_from_similarities(name, s, labels, tau, convention) for s in (S, moved))
    assert after[q] <= before[q] + 1e-9


def test_with_soft_ranks_separating_two_tied_positives_costs():
    """A tie of positives can be cheaper than either order, except for PNP: the law above needs sharp ranks."""
    labels = torch.tensor([0, 0, 0, 1])
    tied = torch.tensor([[9.0, 0, 0, 5]] * 4, dtype=torch.float64)
    apart = tied.clone()
    apart[0, 1] = 1  # one positive up, still far below the negative
    for name, cost in (("pnp-Dq", 0.0), ("smooth-ap", (1 / 2 + 1 / 3) / 2 - 1 / 2.5)):
        before, after = (loss_from_similarities(name, S, labels, 0.01)[0] for S in (tied, apart))
        assert float(after - before) == pytest.approx(cost, abs=1e-9)
    recall_at_4 = paper_head((4,), (1.0,))
    before, after = (
        ranking_loss_from_similarities(S, labels, recall_at_4, Rules(0.01), reduction="none")[0] for S in (tied, apart)
    )
    tied_hits, hits = 2 * torch.tensor([1.5]).sigmoid(), torch.tensor([2.0, 1.0]).sigmoid().sum()
    assert float(after - before) == pytest.approx(float(tied_hits - hits) / 2, abs=1e-6)
    assert after > before + 0.01


# Precision


@three_losses
def test_near_a_perfect_ranking_fp32_keeps_relative_accuracy(name):
    """The losses are sums of misses, not one minus a sum of hits: a loss of 1e-6 still has digits."""
    labels = torch.arange(4).repeat(3)
    rows = torch.eye(4).repeat(3, 1) + 0.02 * random_rows(12, 4, dtype=torch.float32)
    wide = rows.double()
    if name == "rs@k":
        one, other = (functional.recall_at_k(x, labels, ks=(16,), tau_sim=0.07) for x in (rows, wide))
    else:
        one, other = (labkit_loss(name, x, labels, tau=0.07) for x in (rows, wide))
    assert 0 < other < 1e-4
    assert one.item() == pytest.approx(other.item(), rel=1e-4)


@three_losses
@pytest.mark.parametrize("scale", [2.0**-110, 2.0**-70, 2.0**70, 2.0**120])
def test_length_does_not_matter_over_the_range_of_fp32(name, scale):
    labels = torch.tensor(BATCHES["unequal"])
    x = random_rows(12, 8, dtype=torch.float32).requires_grad_()
    scaled = (x.detach() * scale).requires_grad_()
    loss, same = labkit_loss(name, x, labels), labkit_loss(name, scaled, labels)
    loss.backward()
    same.backward()
    assert same.item() == pytest.approx(loss.item(), rel=1e-6)
    torch.testing.assert_close(scaled.grad * scale, x.grad, rtol=1e-4, atol=1e-6)


# Devices


# Bad input

GOOD_LABELS = torch.tensor([0, 0, 1, 1])


@pytest.mark.parametrize("tau_rank", [(), (1.0,) * 4, (1.0,) * 6])
def test_there_must_be_a_temperature_for_each_k(tau_rank):
    for call in (
        lambda: losses.RecallAtK(tau_rank=tau_rank),
        lambda: functional.recall_at_k(random_rows(4), GOOD_LABELS, tau_rank=tau_rank),
    ):
        with pytest.raises(ValueError, match="^tau_rank must be one number, or one for each of the 5 ks"):
            call()


def test_bad_similarities_are_named():
    for bad in (None, torch.zeros(4), torch.zeros(4, 3), torch.full((4, 4), math.nan), torch.zeros(4, 4).long()):
        with pytest.raises(ValueError, match="^similarities"):
            ranking_loss_from_similarities(bad, GOOD_LABELS, smooth_ap_head, Rules(0.01))
    with pytest.raises(ValueError, match="^labels"):
        ranking_loss_from_similarities(torch.zeros(4, 4), GOOD_LABELS[:3], smooth_ap_head, Rules(0.01))


# Modules


def test_recall_at_k_module_draws_from_the_generator():
    labels, x = torch.tensor(BATCHES["unequal"]), random_rows(12)
    loss = losses.RecallAtK(simix=True)
    draws = [loss(x, labels, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]
    expected = functional.recall_at_k(x, labels, simix=True, generator=torch.Generator().manual_seed(1))
    assert draws[0] == expected
