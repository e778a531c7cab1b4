"""Modules of the pair losses; they have no parameters."""

from typing import Any

from torch import Tensor

from labkit.base.checks import check_choice, check_not_negative, check_positive
from labkit.losses import pairs
from labkit.losses.modules.base import Loss


class PairLoss(Loss):
    """Calls one function of `pairs.py` with the options kept."""

    function: Any

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(B, D), (B,) -> scalar, or with its parts."""
        return self.function(embeddings, labels, return_parts=return_parts, **self.options)


class Contrastive(PairLoss):
    """Contrastive loss: see `functional.contrastive`."""

    function = staticmethod(pairs.contrastive)

    def __init__(self, margin: float = 0.5, *, form: str = "squared", reduction: str = "mean") -> None:
        """Margin: distance beyond which negatives are left alone; form: "squared" or "linear"."""
        check_positive("margin", margin)
        check_choice("form", form, pairs.CONTRASTIVE_FORMS)
        super().__init__(margin=margin, form=form, reduction=reduction)


class Triplet(PairLoss):
    """Triplet loss over all triplets: see `functional.triplet`."""

    function = staticmethod(pairs.triplet)

    def __init__(self, margin: float = 0.2, *, reduction: str = "mean") -> None:
        """Margin: by how much a negative must be farther than a positive."""
        check_positive("margin", margin)
        super().__init__(margin=margin, reduction=reduction)


class SoftMarginTriplet(PairLoss):
    """Soft-margin triplet loss: see `functional.soft_margin_triplet`."""

    function = staticmethod(pairs.soft_margin_triplet)

    def __init__(self, *, reduction: str = "mean") -> None:
        """No margin: softplus takes its place."""
        super().__init__(reduction=reduction)


class LiftedStructure(PairLoss):
    """Lifted structure loss: see `functional.lifted_structure`."""

    function = staticmethod(pairs.lifted_structure)

    def __init__(self, margin: float = 1.0, *, reduction: str = "mean") -> None:
        """Margin of the negatives."""
        check_positive("margin", margin)
        super().__init__(margin=margin, reduction=reduction)


class RankedList(PairLoss):
    """Ranked list loss: see `functional.ranked_list`."""

    function = staticmethod(pairs.ranked_list)

    def __init__(
        self,
        margin: float = 0.4,
        alpha: float = 1.2,
        temperature: float = 10.0,
        balance: float = 1.0,
        *,
        reduction: str = "mean",
    ) -> None:
        """Alpha: negatives stay beyond it, positives within alpha − margin."""
        check_positive("margin", margin)
        check_positive("alpha", alpha)
        check_not_negative("temperature", temperature)
        check_not_negative("balance", balance)
        if margin >= alpha:
            raise ValueError(f"margin must be below alpha, got {margin!r} and {alpha!r}")
        super().__init__(margin=margin, alpha=alpha, temperature=temperature, balance=balance, reduction=reduction)


class MultiSimilarity(PairLoss):
    """Multi-similarity loss with its pair mining: see `functional.multi_similarity`."""

    function = staticmethod(pairs.multi_similarity)

    def __init__(
        self,
        alpha: float = 2.0,
        beta: float = 50.0,
        base: float = 0.5,
        epsilon: float | None = 0.1,
        *,
        reduction: str = "mean",
    ) -> None:
        """Epsilon: mining margin, None takes all pairs."""
        check_positive("alpha", alpha)
        check_positive("beta", beta)
        check_not_negative("base", base)
        if epsilon is not None:
            check_not_negative("epsilon", epsilon)
        super().__init__(alpha=alpha, beta=beta, base=base, epsilon=epsilon, reduction=reduction)
