"""The frame of every loss on pairs of the batch: check, compare all, give each query its share, reduce.

A loss is a short function of one matrix, the distances D or similarities S of all pairs of unit rows; `pair_loss` does
the rest. D_ij = ‖e_i − e_j‖ = √(2 − 2 s_ij), P_i and N_i are the other items of i's class and the items of other
classes. Reductions: "none" gives each query's share of the terms (B,), "sum" adds the shares up, and "mean" divides
that sum by the number of terms, which each function names. A query without a positive is skipped (its share is 0) where
the formula starts from positives; it still is a negative of the others. A batch of one class has no negatives: terms
with a negative are then 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

import torch
from torch import Tensor

from labkit.base.tensors import (
    autocast_off,
    check_float_matrix,
    check_labels,
    has_values,
    unit_rows,
    working_precision,
)
from labkit.losses._common import distances, reduce
from labkit.losses.options import Others
from labkit.losses.ranking import reduce_weighted, sorted_with_positives
from labkit.losses.references import check_references, check_weights, compared_labels
from labkit.losses.softcount import SortedBatch


@dataclass(frozen=True)
class Relations:
    """Who is whose positive and negative, (B, B) masks, row = query; batch: sorted by class, None without values.

    With references the masks are (B, M), and no item is compared with itself. once: the part of a pair that one
    mask entry stands for, ½ where both members are queries, and 1 where one is a reference.
    """

    positive: Tensor
    negative: Tensor
    batch: SortedBatch | None
    itself: Tensor
    once: float

    @property
    def pairs(self) -> float:
        """How many pairs there are."""
        rows, columns = self.positive.shape
        return self.once * rows * (columns if self.once == 1 else columns - 1)


Shares = Callable[[Tensor, Relations], tuple[Tensor, Tensor | float]]
"""shares(D or S, relations) -> each query's share of the loss (B,), and the number of terms that the mean is over."""


@dataclass(frozen=True)
class PairParts:
    """What a pair loss does to each ordered pair (query, other), N = B(B − 1) entries, detached: for figures.

    query, other: row indices; same: one class or not; similarity: s_ij; dL_dS: derivative of the mean loss, whatever
    the reduction, by s_ij in the query's row: below 0 the pair is pulled together, above 0 pushed apart (0 for points
    that coincide, where the pull has no direction). With unit rows e, dL/de_i = Σ_j (dL_dS_ij + dL_dS_ji) e_j.
    per_query: (B,) shares, as reduction="none" gives; skipped: queries left out because they have no positive.
    """

    query: Tensor
    other: Tensor
    same: Tensor
    similarity: Tensor
    dL_dS: Tensor
    per_query: Tensor
    skipped: int


def pair_loss(
    embeddings: Tensor,
    labels: Tensor,
    shares: Shares,
    *,
    reduction: str,
    return_parts: bool,
    on_distances: bool = True,
    skips: bool = True,
    normalize: bool = True,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Check, normalise, compare all pairs, reduce: embeddings (B, D), labels (B,) -> scalar or (B,)."""
    check_float_matrix("embeddings", embeddings)
    check_labels("labels", labels, embeddings.shape[0])
    weights = check_weights(others.get("weights"), embeddings)
    references = check_references(others.get("ref_embeddings"), others.get("ref_labels"), embeddings, return_parts)
    with autocast_off(embeddings):
        e = working_precision(embeddings)
        e = unit_rows(e) if normalize else e
        if references is None:
            relations, r = relations_of(labels, e.device), e
        else:
            r = working_precision(references[0]).to(e)
            r = unit_rows(r) if normalize else r
            relations = relations_to(labels, references[1], e.device)
        per_query, terms = shares(distances(e, r) if on_distances else e @ r.T, relations)
        loss = reduce_weighted(per_query, weights, reduction, terms)
        if not return_parts:
            return loss
        skipped = relations.batch.skipped if relations.batch and skips else 0
        return loss, parts_of(e.detach(), relations, shares, on_distances, skipped)


def relations_of(labels: Tensor, device: torch.device) -> Relations:
    """Compare all labels; an error if no query has a positive."""
    batch = sorted_with_positives(labels, device) if has_values(labels) else None
    labels = labels.to(device)
    same = labels[:, None] == labels
    itself = torch.eye(len(labels), dtype=torch.bool, device=device)
    return Relations(same & ~itself, ~same, batch, itself, once=0.5)


def relations_to(labels: Tensor, ref_labels: Tensor, device: torch.device) -> Relations:
    """Compare the queries' labels with the references'; an error if no query has a positive."""
    same = compared_labels(labels, ref_labels, device)
    return Relations(same, ~same, None, torch.zeros_like(same), once=1.0)


def parts_of(e: Tensor, relations: Relations, shares: Shares, on_distances: bool, skipped: int) -> PairParts:
    """Differentiate the mean loss by the matrix itself: dD/ds = −1/D turns the slope along D into one along S."""
    S = e @ e.T
    pairs = (distances(e, e) if on_distances else S.clone()).requires_grad_()
    with torch.enable_grad():
        per_query, terms = shares(pairs, relations)
        (slope,) = torch.autograd.grad(reduce(per_query, "mean", terms), pairs)
    D = pairs.detach()
    if on_distances:
        slope = torch.where(D > 0, -slope / torch.where(D > 0, D, 1), 0)
    n = len(e)
    query = torch.arange(n, device=e.device)[:, None].expand(n, n - 1)
    other = torch.arange(n - 1, device=e.device).expand(n, n - 1)
    query, other = query.flatten(), (other + (other >= query)).flatten()  # step over the query itself
    same, similarity, slope = (matrix[query, other] for matrix in (relations.positive, S, slope))
    return PairParts(query, other, same, similarity, slope, per_query.detach(), skipped)
