"""Margin loss: a distance β parts positives from negatives (Wu et al. 2017)."""

from typing import Unpack

from torch import Tensor

from labkit.losses.options import Others, Positive, Reduction, checked, needs_positives
from labkit.losses.pair_loss import PairParts, Relations, pair_loss


@checked
@needs_positives
def margin_loss(
    embeddings: Tensor,
    labels: Tensor,
    *,
    beta: Positive = 1.2,
    margin: Positive = 0.2,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Margin loss: mean over the pairs that have a loss of [α + D_ij − β]₊ (one class) or [α + β − D_ij]₊ (two).

    Wu et al. 2017 (Sampling Matters), on all pairs of the batch: their sampling of negatives by distance is left to the
    caller. α = margin; β = 1.2 and α = 0.2 are theirs, and the mean over active pairs is the released code's. Their β
    may be learned; here it is a constant. embeddings (B, D), labels (B,) -> scalar or (B,): half of each pair is
    either member's share.
    """

    def shares(D: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        pull = relations.positive * (margin + D - beta).clamp_min(0)
        push = relations.negative * (margin + beta - D).clamp_min(0)
        active = ((pull > 0).sum() + (push > 0).sum()) * relations.once
        return (pull + push).sum(-1) * relations.once, active.clamp_min(1)

    return pair_loss(embeddings, labels, shares, reduction=reduction, return_parts=return_parts, **others)
