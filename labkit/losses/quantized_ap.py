"""Average precision from histograms of similarities: FastAP and the listwise loss of Revaud et al., one formula.

Every similarity is shared between its two nearest bins, in proportion. With the bins' counts h (all items) and h⁺ (the
positives), in order from the most similar, and H, H⁺ their sums so far,

    AP = 1/|P| Σ_m h⁺_m H⁺_m / H_m ,

the precision down to a bin times the share of positives in it. Items of one bin have no order: the fewer bins, the
coarser the ranking. However many there are, 1 − AP stays a little too high: a positive between two centres meets its
own second half only in the second bin.
"""

from typing import Unpack

import torch
from torch import Tensor

from labkit.losses.options import Convention, Count, Others, Reduction, checked, needs_positives
from labkit.losses.pair_loss import PairParts, Relations, pair_loss


def histograms(S: Tensor, counted: Tensor, bins: int, low: float) -> Tensor:
    """Soft counts (B, bins) of each row's similarities where `counted`, from similarity 1 down to `low`."""
    place = (1 - S.clamp(low, 1)) * ((bins - 1) / (1 - low))  # 0 at similarity 1, bins − 1 at `low`
    first = place.detach().floor().clamp_max(bins - 2).long()
    share = (place - first) * counted  # of the second bin
    empty = S.new_zeros(len(S), bins)
    return empty.scatter_add(1, first, counted - share).scatter_add(1, first + 1, share)


def average_precision_losses(S: Tensor, relations: Relations, bins: int, low: float) -> tuple[Tensor, Tensor]:
    """1 − AP of each query (B,), 0 for one without positives, and how many have one."""
    positive, negative = relations.positive.to(S.dtype), relations.negative.to(S.dtype)
    hits = histograms(S, positive, bins, low)
    seen = (hits + histograms(S, negative, bins, low)).cumsum(1)
    precision = torch.where(seen > 0, hits.cumsum(1) / torch.where(seen > 0, seen, 1), 0)
    counted = relations.positive.any(1)
    ap = (hits * precision).sum(1) / positive.sum(1).clamp_min(1)
    return counted * (1 - ap), counted.sum()


@checked
@needs_positives
def fast_ap(
    embeddings: Tensor,
    labels: Tensor,
    *,
    bins: Count = 10,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """FastAP: mean over queries of 1 − AP, with squared distances of unit rows in a histogram of `bins` + 1 edges.

    Cakir et al. 2019 (FastAP): distances 2 − 2s lie in 0…4, edges are 4/bins apart, 10 is the paper's and the released
    code's number. The same formula as `listwise_ap` with bins + 1. embeddings (B, D), labels (B,) -> scalar or (B,).
    """
    return quantized_loss(embeddings, labels, bins + 1, -1.0, reduction, return_parts, **others)


@checked
@needs_positives
def listwise_ap(
    embeddings: Tensor,
    labels: Tensor,
    *,
    bins: Count = 20,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Listwise AP: mean over queries of 1 − AP, with cosine similarities in `bins` soft bins from 1 down to −1.

    Revaud et al. 2019 (the quantised AP): 20 bins, trained in the two passes of `large_batch_step`.
    convention="official", as released: the bins cover 0…1, and similarities below 0 lie in the last bin, where they get
    no gradient. embeddings (B, D), labels (B,) -> scalar or (B,).
    """
    check_bins(bins)
    low = 0.0 if convention == "official" else -1.0
    return quantized_loss(embeddings, labels, bins, low, reduction, return_parts, **others)


def check_bins(bins: int) -> None:
    """One bin has no order at all."""
    if bins < 2:
        raise ValueError(f"bins must be 2 or more, got {bins}: in one bin nothing has an order")


def quantized_loss(
    embeddings: Tensor,
    labels: Tensor,
    bins: int,
    low: float,
    reduction: str,
    return_parts: bool,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """1 − AP in `bins` bins over the similarities from 1 down to `low`."""

    def shares(S: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        return average_precision_losses(S, relations, bins, low)

    return pair_loss(
        embeddings, labels, shares, reduction=reduction, return_parts=return_parts, on_distances=False, **others
    )
