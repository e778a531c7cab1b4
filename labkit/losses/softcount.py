"""The soft count: how many items stand before a positive, with the step function made a sigmoid.

For query q and target i,  R(i, S) = Σ_{j∈S} G(s_qj − s_qi; τ)  (PNP Eqs 2, 3). Every ranking loss of the papers is
a short *head* on the two counts R_neg = R(i, negatives) and R_pos = R(i, other positives). This file knows which
items are whose positives (`SortedBatch`) and counts (`soft_counts`); `ranking.py` turns counts into losses.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.base.tensors import has_values, is_traced
from labkit.losses._common import refuse_second_derivative

Head = Callable[[Tensor, Tensor, Tensor], Tensor]
"""head(R_neg, R_pos, is_target) -> loss of each query; (Q, P), (Q, P), (Q, P) -> (Q,)."""


@dataclass(frozen=True)
class Rules:
    """Who takes part in a ranking. The papers' rules are the defaults; released codes keep the query in."""

    tau: float
    query_is_target: bool = False
    query_in_gallery: bool = False
    needs_positives: bool = True


@dataclass(frozen=True)
class ClassSize:
    """The rows [start, stop) of a sorted batch that belong to classes of `size` members."""

    size: int
    start: int
    stop: int


@dataclass(frozen=True)
class SortedBatch:
    """A batch sorted by (class size, class): queries with equally many positives are neighbours, so nothing is padded.

    order: (B,) original index of each sorted row, on the embeddings' device; sizes: sizes of two and more, ascending;
    skipped: rows of singleton classes, which have no positive; they come first in the order and stay in the gallery.
    """

    order: Tensor
    sizes: tuple[ClassSize, ...]
    skipped: int

    @property
    def length(self) -> int:
        """Number of rows, B."""
        return self.order.shape[0]


def sort_batch(labels: Tensor, device: torch.device) -> SortedBatch:
    """Read the class structure off the labels (on the host: one small copy if the labels live on a GPU)."""
    if not has_values(labels):
        raise ValueError(
            "labels: their classes cannot be read on the meta device or where they are traced (torch.compile, vmap); "
            "keep them on the CPU, and this loss outside"
        )
    _, class_index, counts = labels.cpu().unique(return_inverse=True, return_counts=True)
    size_of_row = counts[class_index]
    order = torch.argsort(size_of_row * (len(counts) + 1) + class_index, stable=True)
    sizes, start = [], 0
    for size, rows in zip(*(column.tolist() for column in size_of_row.unique(return_counts=True)), strict=True):
        if size > 1:
            sizes.append(ClassSize(size, start, start + rows))
        start += rows
    skipped = int((size_of_row == 1).sum())
    return SortedBatch(order.to(device), tuple(sizes), skipped)


def chunks(batch: SortedBatch, max_elements: int | None) -> Iterator[tuple[ClassSize, int, int]]:
    """Row ranges [lo, hi) of one class size, rows × positives × B at most max_elements (None: one range a size)."""
    for group in batch.sizes:
        rows = group.stop - group.start
        step = rows if max_elements is None else max(1, max_elements // (group.size * batch.length))
        if step >= group.size:
            step -= step % group.size  # whole classes where possible
        for lo in range(group.start, group.stop, step):
            yield group, lo, min(lo + step, group.stop)


def own_class(group: ClassSize, lo: int, hi: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Columns of each row's class without the row itself (Q, n−1), and with it (Q, n)."""
    row = torch.arange(lo, hi, device=device)[:, None]
    first = group.start + (row - group.start) // group.size * group.size
    position = torch.arange(group.size, device=device)
    others = position[:-1] + (position[:-1] >= row - first)  # step over the row itself
    return first + others, first + position


def soft_counts(rows: Tensor, group: ClassSize, lo: int, rules: Rules) -> tuple[Tensor, Tensor, Tensor]:
    """Targets (Q, P) and the counts R_neg, R_pos (Q, P) of similarity rows (Q, B) that start at sorted row lo."""
    others, everyone = own_class(group, lo, lo + rows.shape[0], rows.device)
    targets = everyone if rules.query_is_target else others
    scaled = rows / rules.tau
    target_scores = scaled.gather(1, targets)
    negative_scores = scaled.scatter(1, everyone, -torch.inf)
    r_neg = count_above(negative_scores, target_scores)
    if not rules.needs_positives:
        return targets, r_neg, torch.zeros_like(r_neg)
    rivals = everyone if rules.query_in_gallery else others
    before = torch.sigmoid(scaled.gather(1, rivals)[:, None, :] - target_scores[:, :, None])
    r_pos = before.masked_fill(rivals[:, None, :] == targets[:, :, None], 0).sum(-1)
    return targets, r_neg, r_pos


def count_above(scores: Tensor, targets: Tensor) -> Tensor:
    """R[q, p] = Σ_j sigmoid(scores[q, j] − targets[q, p]), (Q, B), (Q, P) -> (Q, P)."""
    if is_traced(scores, targets):
        return torch.sigmoid(scores[:, None, :] - targets[:, :, None]).sum(-1)
    counts: Tensor = CountAbove.apply(scores, targets)
    return counts


class CountAbove(torch.autograd.Function):
    """R[q, p] = Σ_j sigmoid(scores[q, j] − targets[q, p]): one (Q, P, B) buffer, reused for the gradient.

    σ' = σ(1 − σ), so the sigmoids are all that backward needs. No second derivative.
    """

    @staticmethod
    def forward(ctx, scores: Tensor, targets: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        """Scores (Q, B) with −inf for what does not count, targets (Q, P) -> (Q, P)."""
        before = (scores[:, None, :] - targets[:, :, None]).sigmoid_()
        ctx.save_for_backward(before)
        return before.sum(-1)

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[no-untyped-def]
        """dR/dscores = σ', dR/dtargets = −Σ_j σ'."""
        refuse_second_derivative('; use method="dense"')
        (before,) = ctx.saved_tensors
        slope = torch.addcmul(before, before, before, value=-1)
        return torch.bmm(grad[:, None, :], slope).squeeze(1), -grad * slope.sum(-1)


def dense_counts(similarities: Tensor, labels: Tensor, rules: Rules) -> tuple[Tensor, Tensor, Tensor]:
    """The same counts written as they are read, B×B×B with masks: is_target, R_neg, R_pos, each (B, B).

    Shapes do not depend on the labels' values: this form runs on the meta device and compiles to one graph.
    """
    same = labels[:, None] == labels[None, :]
    itself = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    before = torch.sigmoid((similarities[:, None, :] - similarities[:, :, None]) / rules.tau)  # [q, i, j]: j before i
    rivals = same if rules.query_in_gallery else same & ~itself
    r_neg = (before * ~same[:, None, :]).sum(-1)
    r_pos = (before * (rivals[:, None, :] & ~itself[None, :, :])).sum(-1)
    has_positive = (same & ~itself).any(-1, keepdim=True)
    is_target = (same if rules.query_is_target else same & ~itself) & has_positive
    return is_target, r_neg, r_pos
