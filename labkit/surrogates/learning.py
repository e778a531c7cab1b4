"""Equation 6: what the surrogate is trained on."""

from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.base.checks import check_not_negative
from labkit.surrogates.embedding import Surrogate, smooth_norm
from labkit.surrogates.filters import Filter


@dataclass(frozen=True)
class Learned:
    """The loss of a batch of pairs, with what it is made of: ê, ‖∂ê/∂z‖ and the filter's weights, each (B,)."""

    loss: Tensor
    estimate: Tensor
    gradient_norm: Tensor
    weights: Tensor


def surrogate_loss(
    surrogate: Surrogate,
    z: Tensor,
    y: Tensor,
    exact: Tensor,
    *,
    lam: float,
    keep: Filter | None = None,
    rng: torch.Generator | None = None,
) -> Learned:
    """Ask the surrogate to equal the metric, and to change by 1 when the prediction does.

    ‖ê_Φ(z, y) − e(z, y)‖² + λ (‖∂ê_Φ(z, y)/∂z‖₂ − 1)², mean over the batch

    Slides, "Objectives for Learning the Surrogate" (Equation 6 of Algorithm 1). λ is not in the slides. z, y: (B, ...);
    exact: e(z, y), (B,). keep: a filter's weight multiplies both terms of a pair; the mean stays one over all pairs, so
    that a batch of which little is kept moves the surrogate little.
    """
    check_not_negative("lam", lam)
    z = z.detach().requires_grad_()
    estimate = surrogate(z, y)
    if exact.shape != estimate.shape:
        raise ValueError(f"exact must be {tuple(estimate.shape)}, one number a pair; got shape {tuple(exact.shape)}")
    weights = torch.ones_like(exact)
    if keep is not None:
        weights = keep.weights(estimate, exact, rng)
    losses = (estimate - exact).square()
    # with λ = 0 the norm is only shown: the second derivatives, which cost as much again, are not asked for
    (gradient,) = torch.autograd.grad(estimate.sum(), z, create_graph=lam > 0, retain_graph=True)
    norm = smooth_norm(gradient)
    if lam > 0:
        losses = losses + lam * (norm - 1).square()
    return Learned((weights * losses).mean(), estimate.detach(), norm.detach(), weights)
