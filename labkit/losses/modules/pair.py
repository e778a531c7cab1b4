"""Modules of the pair losses; they have no parameters."""

from typing import Any

from labkit.losses import margin, n_pair, pairs
from labkit.losses.modules.base import Loss


class Contrastive(Loss):
    """Contrastive loss: see `functional.contrastive`."""

    function = staticmethod(pairs.contrastive)


class Triplet(Loss):
    """Triplet loss over all triplets: see `functional.triplet`."""

    function = staticmethod(pairs.triplet)


class SoftMarginTriplet(Loss):
    """Soft-margin triplet loss: see `functional.soft_margin_triplet`."""

    function = staticmethod(pairs.soft_margin_triplet)


class LiftedStructure(Loss):
    """Lifted structure loss: see `functional.lifted_structure`."""

    function = staticmethod(pairs.lifted_structure)


class RankedList(Loss):
    """Ranked list loss: see `functional.ranked_list`."""

    function = staticmethod(pairs.ranked_list)

    def __init__(self, *given: Any, **options: Any) -> None:
        """The margin must be below alpha."""
        super().__init__(*given, **options)
        pairs.check_radius(self.options["margin"], self.options["alpha"])


class MultiSimilarity(Loss):
    """Multi-similarity loss with its pair mining: see `functional.multi_similarity`."""

    function = staticmethod(pairs.multi_similarity)


class MarginLoss(Loss):
    """Margin loss on all pairs: see `functional.margin_loss`."""

    function = staticmethod(margin.margin_loss)


class NPair(Loss):
    """N-pair loss of embeddings that are not normalised: see `functional.n_pair`."""

    function = staticmethod(n_pair.n_pair)
