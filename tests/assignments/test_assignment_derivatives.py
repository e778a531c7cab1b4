"""Assignment 3: its references agree with labkit's PNP and with its losses from derivatives."""

import pytest
import torch

from labkit.assignments.derivatives.loss_from_points import loss_from_points
from labkit.assignments.derivatives.pnp_batch import pnp_batch
from labkit.assignments.derivatives.pnp_gradient import VARIANTS, pnp_gradient
from labkit.assignments.derivatives.pull_quantile import pull_quantile
from labkit.losses import from_derivative, functional
from labkit.losses.pnp import pnp_derivative, pnp_value


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("seed", range(2))
def test_the_gradient_is_that_of_labkits_loss(variant, seed):
    rng = torch.Generator().manual_seed(seed)
    similarity = torch.rand(9, generator=rng, dtype=torch.float64).requires_grad_()
    positive = torch.arange(9) % 3 == 1
    R = torch.sigmoid((similarity[~positive][None] - similarity[positive][:, None]) / 0.1).sum(1)
    meant = "Iu-exact" if variant == "Iu" else variant
    (gradient,) = torch.autograd.grad(pnp_value(R, meant, 2.5, 3.0).mean(), similarity)
    found = pnp_gradient(similarity.detach(), positive, variant, 2.5, 3.0, 0.1)
    torch.testing.assert_close(found, gradient)
    assert found.sum().item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("start", [0.0, 0.7])
def test_a_loss_from_points_is_labkits(start):
    points = torch.tensor([[start, 1.0], [2.0, 0.3], [2.5, 2.0], [6.0, 0.5]], dtype=torch.float64)
    ours = torch.linspace(0, 12, 49, dtype=torch.float64).requires_grad_()
    library = from_derivative([tuple(point) for point in points.tolist()])
    torch.testing.assert_close(loss_from_points(ours, points), library.value(ours))
    (slope,) = torch.autograd.grad(loss_from_points(ours, points).sum(), ours)
    (same,) = torch.autograd.grad(library.value(ours).sum(), ours)
    torch.testing.assert_close(slope, same)


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_a_batch_scaled_to_its_own_size_is_labkits_d_q(alpha):
    rng = torch.Generator().manual_seed(0)
    embeddings = torch.randn(12, 4, generator=rng, dtype=torch.float64).requires_grad_()
    labels = torch.tensor([0, 1, 2, 3] * 3)  # nine negatives for every query
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    ours = pnp_batch(similarity=unit @ unit.T, labels=labels, alpha=alpha, tau=0.1, negatives=9.0)
    library = functional.pnp(embeddings, labels, variant="Dq", alpha=alpha, tau=0.1)
    torch.testing.assert_close(ours, library)
    torch.testing.assert_close(*(torch.autograd.grad(loss, embeddings)[0] for loss in (ours, library)))


def test_a_decreasing_derivative_pulls_those_nearly_right():
    R = torch.linspace(0, 20, 101, dtype=torch.float64)
    half = {variant: pull_quantile(R, pnp_derivative(R, variant), 0.5) for variant in ("Dq", "Ds", "O", "Ib", "Iu")}
    assert half["Dq"] < half["Ds"] < half["O"] <= half["Ib"] <= half["Iu"]
    assert half["O"] == pytest.approx(10)
