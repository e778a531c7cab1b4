"""Modules of the ranking losses; they have no parameters."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from labkit.losses import blackbox, pnp, quantized_ap
from labkit.losses.derivative import Derivative, loss_and_derivative, loss_of_value
from labkit.losses.modules.base import Loss, Result, refuse_mined_pairs
from labkit.losses.recall_at_k import recall_at_k, temperature_of_each

GivenDerivative = Derivative | Sequence[tuple[float, float]]


class PNP(Loss):
    """PNP loss, variants O, Iu, Iu-exact, Ib, Ds, Dq: see `functional.pnp`."""

    function = staticmethod(pnp.pnp)


class SmoothAP(Loss):
    """Smooth-AP loss: see `functional.smooth_ap`."""

    function = staticmethod(pnp.smooth_ap)


class RecallAtK(Loss):
    """RS@k loss over a set of k, with or without SiMix: see `functional.recall_at_k`."""

    function = staticmethod(recall_at_k)

    def __init__(self, *given: Any, **options: Any) -> None:
        """There must be one temperature, or one for each k."""
        super().__init__(*given, **options)
        temperature_of_each(self.options["ks"], self.options["tau_rank"])

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        *more: object,
        return_parts: bool = False,
        indices_tuple: object = None,
        generator: torch.Generator | None = None,
        **others: Any,
    ) -> Result:
        """(B, D), (B,) -> scalar, or with its parts; generator: source of SiMix's mixing weights."""
        refuse_mined_pairs(more, indices_tuple)
        self.refuse_others(others)
        return recall_at_k(embeddings, labels, return_parts=return_parts, generator=generator, **self.options, **others)


class FastAP(Loss):
    """FastAP, a histogram of distances: see `functional.fast_ap`."""

    function = staticmethod(quantized_ap.fast_ap)


class ListwiseAP(Loss):
    """The listwise AP loss of Revaud et al., a histogram of similarities: see `functional.listwise_ap`."""

    function = staticmethod(quantized_ap.listwise_ap)

    def __init__(self, *given: Any, **options: Any) -> None:
        """There must be two bins or more."""
        super().__init__(*given, **options)
        quantized_ap.check_bins(self.options["bins"])


class BlackboxAP(Loss):
    """AP of exact ranks with a blackbox derivative: see `functional.blackbox_ap`."""

    function = staticmethod(blackbox.blackbox_ap)


class BlackboxRecall(Loss):
    """Recall of exact ranks with a blackbox derivative: see `functional.blackbox_recall`."""

    function = staticmethod(blackbox.blackbox_recall)


class FromDerivative(Loss):
    """The PNP-type loss whose derivative with respect to R is g: see `from_derivative`."""

    function = staticmethod(loss_of_value)

    def __init__(self, g: GivenDerivative, *given: Any, **options: Any) -> None:
        """`value(R)` and `derivative(R)` are the two curves."""
        super().__init__(*given, **options)
        self.value, self.derivative = loss_and_derivative(g)

    def extras(self) -> dict[str, Any]:
        """The loss of a positive with R negatives before it."""
        return {"value": self.value}


def from_derivative(g: GivenDerivative, *given: Any, **options: Any) -> FromDerivative:
    """The loss L = 1/|P| Σ F(R(i, S_N)) with F(0) = 0 and F' = g: PNP's way of designing losses (Eqs 6–13) as a tool.

    g: a function of a tensor R ≥ 0, e.g. `lambda R: 1 / (1 + R)` for PNP-Ds, or points [(R, dL/dR), …] that are joined
    by straight lines and continued as constants. Options: tau, reduction and method, as for the other ranking losses.
    """
    return FromDerivative(g, *given, **options)
