"""RS@k's figures agree with the loss, with hard recall and with the errata, at every end of their sliders."""

import numpy as np
import pytest
import torch

from labkit import losses, metrics
from labkit.figures.lessons import recall_at_k as figures
from labkit.figures.static import small_multiples

TAUS = [0.1, 1.0, 4.0]


def drawn(fig):
    """Every number is finite, and the still picture can be made."""
    for trace in fig.data:
        for values in (trace.x, trace.y):
            assert np.isfinite([v for v in values if v is not None]).all(), trace.name
    small_multiples([fig])
    return fig


def test_the_floors_are_those_of_the_errata_and_the_librarys():
    for num_positives, expected in ((1, 0.1635), (3, 0.2705), (9, 0.5003)):
        floor = figures.loss_floor(num_positives, figures.KS, 1.0)
        assert round(floor, 4) == expected
        labels = torch.arange(6).repeat_interleave(num_positives + 1)
        clusters = torch.eye(6, dtype=torch.float64)[labels]
        clusters += 0.01 * torch.randn(clusters.shape, generator=torch.Generator().manual_seed(0))
        found = losses.functional.recall_at_k(clusters, labels, tau_sim=1e-8)
        assert abs(float(found) - floor) < 1e-3


def test_hard_and_soft_recalls_agree_with_the_metrics_and_the_loss():
    s = torch.tensor([0.9, 0.7, 0.5, 0.4, 0.1], dtype=torch.float64)
    positive = torch.tensor([False, True, False, True, False])
    for k in (1, 2, 3, 4, 5):
        expected = metrics.recall_at_k([0, 1, 0, 1, 0], k, 2, mode="fraction")
        assert figures.recalls(s, positive, (k,)) == expected
    soft = figures.surrogates(s, positive, (1, 2, 4), 0.7, 0.1)
    for k, value in zip((1, 2, 4), soft):
        assert torch.isclose(value, sum(torch.sigmoid((k - 1 - R) / 0.7) for R in before(s, positive, 0.1)) / 2)


def before(s, positive, tau):
    """Soft numbers of items before each positive, one at a time."""
    for x in positive.nonzero().flatten().tolist():
        rest = torch.cat([s[:x], s[x + 1 :]])
        yield torch.sigmoid((rest - s[x]) / tau).sum()


@pytest.mark.parametrize("tau_rank", TAUS)
def test_curves_can_be_drawn_at_all_temperatures(tau_rank):
    drawn(figures.moved_positive((0.9, 0.8, 0.3), 2, tau_rank))
    drawn(figures.rank_pull(tau_rank))
    floors = drawn(figures.floors(tau_rank)).data[0].y
    assert list(floors) == sorted(floors)


def test_the_pull_is_the_derivative_of_the_loss():
    fig = figures.rank_pull(0.5, [(1, 4)])
    R = torch.tensor(fig.data[0].x, requires_grad=True)
    loss = 1 - torch.stack([torch.sigmoid((k - 1 - R) / 0.5) for k in (1, 4)]).mean(0)
    loss.sum().backward()
    np.testing.assert_allclose(R.grad.numpy(), fig.data[0].y, atol=1e-12)


@pytest.mark.parametrize("item", ["P2", "N1"])
@pytest.mark.parametrize("similarity", [0.0, 0.55, 0.88, 1.0])
@pytest.mark.parametrize("tau_rank", [0.1, 4.0])
@pytest.mark.parametrize("tau_sim", [0.002, 0.1])
def test_the_gallery_can_be_drawn_at_all_ends(item, similarity, tau_rank, tau_sim):
    fig = drawn(figures.moved_gallery(item, similarity, tau_rank, tau_sim))
    assert len(fig.data) == len(figures.moved_gallery("P2", 0.55, 1.0).data)
    assert len(fig.to_json()) < 20_000


def test_positives_are_pulled_up_and_negatives_down():
    right, left = figures.moved_gallery("P2", 0.62, 1.0).data[5:7]
    assert right.marker.symbol == "triangle-right"
    assert set(right.y) == {figures.ROW["positives"] + 0.3}
    assert set(left.y) == {figures.ROW["negatives"] + 0.3}


def test_three_recalls_are_ordered():
    embeddings = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
    found = metrics.evaluate(embeddings, torch.arange(40) // 8, ks=figures.KS)
    hit, fraction, capped = (np.array(t.y) for t in drawn(figures.three_recalls(found)).data)
    assert (hit >= capped).all()
    assert (capped >= fraction).all()
