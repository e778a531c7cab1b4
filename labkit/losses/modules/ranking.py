"""Modules of the ranking losses; they have no parameters."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from labkit.base.checks import check_ks, check_positive
from labkit.losses import pnp
from labkit.losses.derivative import Derivative, loss_and_derivative
from labkit.losses.modules.base import Loss
from labkit.losses.ranking import mean_over_positives, ranking_loss
from labkit.losses.recall_at_k import check_temperatures, recall_at_k
from labkit.losses.softcount import Rules


class PNP(Loss):
    """PNP loss, variants O, Iu, Iu-exact, Ib, Ds, Dq: see `functional.pnp`."""

    def __init__(
        self,
        variant: str = "Dq",
        alpha: float = 1.0,
        b: float = 4.0,
        tau: float = 0.01,
        *,
        convention: str = "paper",
        reduction: str = "mean",
        method: str = "auto",
    ) -> None:
        """alpha = 1 trains from scratch; the paper's best released run, from ImageNet weights, uses 4."""
        pnp.check_variant(variant, alpha, b)
        check_positive("tau", tau)
        super().__init__(
            variant=variant, alpha=alpha, b=b, tau=tau, convention=convention, reduction=reduction, method=method
        )

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(B, D), (B,) -> scalar, or with its parts."""
        return pnp.pnp(embeddings, labels, return_parts=return_parts, **self.options)


class SmoothAP(Loss):
    """Smooth-AP loss: see `functional.smooth_ap`."""

    def __init__(
        self, tau: float = 0.01, *, convention: str = "paper", reduction: str = "mean", method: str = "auto"
    ) -> None:
        """Tau: temperature of the sigmoid."""
        check_positive("tau", tau)
        super().__init__(tau=tau, convention=convention, reduction=reduction, method=method)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(B, D), (B,) -> scalar, or with its parts."""
        return pnp.smooth_ap(embeddings, labels, return_parts=return_parts, **self.options)


class RecallAtK(Loss):
    """RS@k loss over a set of k, with or without SiMix: see `functional.recall_at_k`."""

    def __init__(
        self,
        ks: Sequence[int] = (1, 2, 4, 8, 16),
        tau_rank: float | Sequence[float] = 1.0,
        tau_sim: float = 0.01,
        simix: bool = False,
        *,
        convention: str = "paper",
        reduction: str = "mean",
        method: str = "auto",
    ) -> None:
        """tau_rank: outer temperature τ1, one or one for each k; tau_sim: inner temperature τ2."""
        ks = check_ks("ks", ks)
        check_temperatures(tau_rank, len(ks))
        check_positive("tau_sim", tau_sim)
        super().__init__(
            ks=ks, tau_rank=tau_rank, tau_sim=tau_sim, simix=simix,
            convention=convention, reduction=reduction, method=method,
        )  # fmt: skip

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        return_parts: bool = False,
        generator: torch.Generator | None = None,
    ) -> Any:
        """(B, D), (B,) -> scalar, or with its parts; generator: source of SiMix's mixing weights."""
        return recall_at_k(embeddings, labels, return_parts=return_parts, generator=generator, **self.options)


class FromDerivative(Loss):
    """The PNP-type loss whose derivative with respect to R is g: see `from_derivative`."""

    def __init__(
        self,
        g: Derivative | Sequence[tuple[float, float]],
        tau: float = 0.01,
        *,
        reduction: str = "mean",
        method: str = "auto",
    ) -> None:
        """`value(R)` and `derivative(R)` are the two curves."""
        check_positive("tau", tau)
        super().__init__(tau=tau, reduction=reduction, method=method)
        self.value, self.derivative = loss_and_derivative(g)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(B, D), (B,) -> scalar, or with its parts."""

        def head(R_neg: Tensor, R_pos: Tensor, is_target: Tensor) -> Tensor:
            return mean_over_positives(self.value(R_neg), is_target)

        rules = Rules(self.options["tau"], needs_positives=return_parts)
        how = {"reduction": self.options["reduction"], "method": self.options["method"]}
        return ranking_loss(embeddings, labels, head, rules, return_parts=return_parts, **how)


def from_derivative(
    g: Derivative | Sequence[tuple[float, float]], tau: float = 0.01, *, reduction: str = "mean", method: str = "auto"
) -> FromDerivative:
    """The loss L = 1/|P| Σ F(R(i, S_N)) with F(0) = 0 and F' = g: PNP's way of designing losses (Eqs 6–13) as a tool.

    g: a function of a tensor R ≥ 0, e.g. `lambda R: 1 / (1 + R)` for PNP-Ds, or points [(R, dL/dR), …] that are joined
    by straight lines and continued as constants.
    """
    return FromDerivative(g, tau, reduction=reduction, method=method)
