"""Margin and N-pair loss, held to loops over single numbers and to pytorch-metric-learning where it has the same."""

import math

import pytest
import torch
from pytorch_metric_learning.distances import DotProductSimilarity
from pytorch_metric_learning.losses import NPairsLoss
from torch.nn.functional import cross_entropy

from labkit.losses import functional as F

LABELS = [3, 0, 1, 1, 0, 2, 3, 1, 0, 0, 4]


def rows(seed=0):
    return torch.randn(len(LABELS), 5, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("beta", "margin"), [(1.2, 0.2), (0.7, 0.6), (0.01, 0.001)])
def test_margin_against_loops(seed, beta, margin):
    x = rows(seed=seed)
    unit = torch.nn.functional.normalize(x).tolist()
    terms = []
    for i in range(len(LABELS)):
        for j in range(i + 1, len(LABELS)):
            d = math.dist(unit[i], unit[j])
            terms.append(max(0.0, margin + (d - beta if LABELS[i] == LABELS[j] else beta - d)))
    active = [term for term in terms if term > 0]
    found = F.margin_loss(x, torch.tensor(LABELS), beta=beta, margin=margin).item()
    assert found == pytest.approx(sum(active) / max(len(active), 1))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_n_pair_on_every_item_against_loops(seed, l2):
    x = rows(seed=seed)
    losses = []
    for q, label in enumerate(LABELS):
        dot = (x @ x[q]).tolist()
        positives = [i for i in range(len(LABELS)) if LABELS[i] == label and i != q]
        negatives = [i for i in range(len(LABELS)) if LABELS[i] != label]
        if positives:
            each = [math.log1p(sum(math.exp(dot[n] - dot[p]) for n in negatives)) for p in positives]
            losses.append(sum(each) / len(each))
    expected = sum(losses) / len(losses) + l2 / 2 * x.square().sum(1).mean().item()
    assert F.n_pair(x, torch.tensor(LABELS), l2=l2).item() == pytest.approx(expected)


@pytest.mark.parametrize("labels", [LABELS, [0, 0, 1, 1, 2, 2], [4, 4], [1, 0, 1, 0, 1, 1]])
def test_n_pair_of_the_first_two_of_a_class(labels):
    x = rows(seed=5)[: len(labels)]
    members = [[i for i, label in enumerate(labels) if label == name] for name in sorted(set(labels))]
    pairs = torch.tensor([own[:2] for own in members if len(own) > 1])
    expected = cross_entropy(x[pairs[:, 0]] @ x[pairs[:, 1]].T, torch.arange(len(pairs)))
    found = F.n_pair(x, torch.tensor(labels), negatives="pairs", l2=0.0)
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-14)


def test_n_pair_against_pytorch_metric_learning():
    """It draws which of two items is the anchor, so its value is that of one of the orders."""
    labels, x = torch.tensor([0, 0, 1, 1, 2, 2]), rows(seed=6)[:6]
    orders = [[2 * c + (swap >> c & 1) for c in range(3) for swap in (s, ~s)] for s in range(8)]
    ours = [F.n_pair(x[order], labels[order], negatives="pairs", l2=0.0).item() for order in orders]
    theirs = NPairsLoss(distance=DotProductSimilarity(normalize_embeddings=False))(x, labels).item()
    assert min(abs(theirs - value) for value in ours) < 1e-12
    assert max(abs(theirs - value) for value in ours) > 1e-3
