"""Assignment 2: its references agree with labkit's losses, with autograd, and with what the bound promises."""

import math

import pytest
import torch

from labkit.assignments.ranks.batch_ranks import batch_ranks, ranks_with
from labkit.assignments.ranks.rs_loss import recalls_of_queries, rs_loss
from labkit.assignments.ranks.safe_temperature import safe_temperature
from labkit.assignments.ranks.smooth_ap_pulls import smooth_ap_pulls
from labkit.losses import functional
from labkit.metrics import evaluate


def batch(seed, items=12):
    rng = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(items, 5, generator=rng, dtype=torch.float64)
    labels = torch.randint(0, 4, (items,), generator=rng)
    labels[:2] = 0
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    return embeddings, labels, unit @ unit.T


@pytest.mark.parametrize("seed", range(3))
def test_ranks_are_those_inside_smooth_ap(seed):
    embeddings, labels, similarity = batch(seed)
    rank = batch_ranks(similarity, 0.1)
    torch.testing.assert_close(rank, ranks_with(similarity, 0.1))
    _, parts = functional.smooth_ap(embeddings, labels, tau=0.1, return_parts=True)
    torch.testing.assert_close(rank[parts.query, parts.positive], 1 + parts.R_neg + parts.R_pos)
    sharp = batch_ranks(similarity, 1e-7)
    hard = torch.stack(
        [1 + (row[None] > row[:, None]).sum(1) - (row < row[q]).long() for q, row in enumerate(similarity)]
    )
    torch.testing.assert_close(sharp, hard.fill_diagonal_(0).double())


@pytest.mark.parametrize("seed", range(3))
def test_a_safe_temperature_keeps_its_promise_and_is_the_largest(seed):
    similarity = torch.randn(9, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    hard = 1 + (similarity[None] > similarity[:, None]).sum(1)
    gap = similarity.sort().values.diff().min()
    for error in (0.01, 0.3, 2.0):
        tau = safe_temperature(similarity, error)
        soft = 0.5 + torch.sigmoid((similarity[None] - similarity[:, None]) / tau).sum(1)
        assert (soft - hard).abs().max() <= error
        assert 8 * torch.sigmoid(-gap / tau) == pytest.approx(error)
    assert safe_temperature(similarity, 4.0) == math.inf
    assert safe_temperature(similarity[[0, 1, 1]], 0.5) == 0


@pytest.mark.parametrize("seed", range(3))
def test_the_fraction_is_labkits_rs_at_k(seed):
    embeddings, labels, _ = batch(seed)
    embeddings.requires_grad_()
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    settings = {"ks": (1, 2, 4), "tau_rank": (1.0, 0.5, 2.0), "tau_sim": 0.1}
    ours = rs_loss(similarity=unit @ unit.T, labels=labels, mode="fraction", **settings)
    library = functional.recall_at_k(embeddings, labels, **settings)
    torch.testing.assert_close(ours, library)
    torch.testing.assert_close(*(torch.autograd.grad(loss, embeddings)[0] for loss in (ours, library)))


@pytest.mark.parametrize("seed", range(3))
def test_sharp_hits_become_the_three_recalls(seed):
    embeddings, labels, similarity = batch(seed, 20)
    exact = evaluate(embeddings, labels, ks=(1, 3, 6), progress=False)
    names = {"fraction": "recall-fraction@{}", "capped": "recall-capped@{}", "any": "R@{}"}
    for mode, name in names.items():
        for k in (1, 3, 6):
            # k + ½ through the ranks: rank exactly k is then a whole hit, not half a one
            recalls, _ = recalls_of_queries(
                similarity, labels, [k], [1e-3], 1e-8, mode, rank=ranks_with(similarity, 1e-8) - 0.5
            )
            assert recalls.mean().item() == pytest.approx(exact[name.format(k)], abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_the_two_pulls_add_up_to_the_gradient_of_smooth_ap(seed):
    rng = torch.Generator().manual_seed(seed)
    similarity = torch.rand(9, generator=rng, dtype=torch.float64).requires_grad_()
    positive = torch.arange(9) % 3 == 0
    G = torch.sigmoid((similarity[None] - similarity[:, None]) / 0.2)
    G = (G - torch.diag(G.diagonal()))[positive]
    loss = 1 - ((1 + G[:, positive].sum(1)) / (1 + G.sum(1))).mean()
    (gradient,) = torch.autograd.grad(loss, similarity)
    pulls = smooth_ap_pulls(similarity.detach(), positive, 0.2)
    torch.testing.assert_close(pulls.sum(0), gradient)
    torch.testing.assert_close(pulls.sum(1), torch.zeros(2, dtype=torch.float64))
