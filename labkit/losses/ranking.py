"""From soft counts to a loss: plain for small batches, streamed for large ones, dense to read. All give the same.

plain     forms all (query, positive, item) sigmoids at once and lets autograd do the rest.
streamed  walks over chunks of queries; each chunk's gradient is added to dL/dE on the way, so memory stays that of
          one chunk. Backward only scales what forward has gathered. No second derivative, and a head's own parameters
          get no gradient.
dense     B×B×B with masks, as the equations read (`softcount.dense_counts`).
"""

from dataclasses import dataclass
from typing import Unpack

import torch
from torch import Tensor

from labkit.base.tensors import (
    autocast_off,
    check_float_matrix,
    check_labels,
    has_values,
    is_traced,
    may_check,
    unit_rows,
    working_precision,
)
from labkit.losses._common import reduce, refuse_second_derivative
from labkit.losses.options import NoPositives, Others
from labkit.losses.references import check_references, check_weights, compared_labels
from labkit.losses.softcount import (
    Head,
    Rules,
    SortedBatch,
    chunks,
    count_above,
    dense_counts,
    soft_counts,
    sort_batch,
)

CHUNK = 2**21  # sigmoids formed at a time (8 MB in fp32): smaller chunks spend their time between operations


@dataclass(frozen=True)
class RankingParts:
    """What a ranking loss is made of, one entry for each (query, positive) pair, detached: for figures and lessons.

    query, positive: row indices; similarity: s_qi; R_neg, R_pos: soft counts; dL_dR: derivative of the query's loss
    with respect to R_neg, 1/|P| included (the papers' printed derivatives leave it out, E-PNP-2);
    per_query: (B,) losses, 0 for a query without positives; skipped: how many those are.
    """

    query: Tensor
    positive: Tensor
    similarity: Tensor
    R_neg: Tensor
    R_pos: Tensor
    dL_dR: Tensor
    per_query: Tensor
    skipped: int


def mean_over_positives(values: Tensor, is_target: Tensor) -> Tensor:
    """1/|P| Σ_{i∈P}, (Q, P) -> (Q,); 0 for a query without positives."""
    weight = is_target.to(values.dtype)
    return (values * weight).sum(-1) / weight.sum(-1).clamp_min(1)


def ranking_loss(
    embeddings: Tensor,
    labels: Tensor,
    head: Head,
    rules: Rules,
    *,
    reduction: str = "mean",
    return_parts: bool = False,
    method: str = "auto",
    chunk: int = CHUNK,
    normalize: bool = True,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, RankingParts]:
    """Loss of a head on the soft counts of cosine similarities: embeddings (B, D), labels (B,) -> scalar or (B,).

    method="auto" is plain for batches of up to two chunks, then streamed, chunk by chunk. Within torch.compile and
    torch.func it is dense, whatever is asked for.
    """
    check_float_matrix("embeddings", embeddings)
    check_labels("labels", labels, embeddings.shape[0])
    weights = check_weights(others.get("weights"), embeddings)
    references = check_references(others.get("ref_embeddings"), others.get("ref_labels"), embeddings, return_parts)
    with autocast_off(embeddings):
        e = working_precision(embeddings)
        e = unit_rows(e) if normalize else e
        if references is not None:
            r = working_precision(references[0]).to(e)
            same = compared_labels(labels, references[1], e.device)
            per_query = losses_to_references(e @ (unit_rows(r) if normalize else r).T, same, head, rules, chunk)
            loss = reduce_weighted(per_query, weights, reduction, same.any(1).sum())
        elif method == "dense" or not has_values(labels) or is_traced(e):
            per_query, counted = dense_losses(e @ e.T, labels.to(e.device), head, rules)
            loss = reduce_weighted(per_query, weights, reduction, counted)
        else:
            batch = sorted_with_positives(labels, e.device)
            loss = loss_of_batch(e, batch, head, rules, "none" if weights is not None else reduction, method, chunk)
            if weights is not None:
                loss = reduce_weighted(loss, weights, reduction, batch.length - batch.skipped)
        if not return_parts:
            return loss
        return loss, parts_of(e.detach(), labels, head, rules, chunk)


def reduce_weighted(per_query: Tensor, weights: Tensor | None, reduction: str, count: Tensor | float) -> Tensor:
    """Reduce, with each query's loss multiplied by its weight if there are weights."""
    return reduce(per_query if weights is None else weights * per_query, reduction, count)


def loss_of_batch(
    e: Tensor, batch: SortedBatch, head: Head, rules: Rules, reduction: str, method: str, chunk: int
) -> Tensor:
    """Plain or streamed, of rows as they are: (B, D) -> scalar or (B,)."""
    size = sum((g.stop - g.start) * g.size for g in batch.sizes) * batch.length
    in_order = e.index_select(0, batch.order)
    if method != "streamed" and (method != "auto" or size <= 2 * chunk):
        return reduce_sorted(losses_of_rows(in_order @ in_order.T, batch, head, rules), batch, reduction)
    if reduction == "none":
        return unsort(StreamedEach.apply(in_order, batch, head, rules, chunk), batch)
    total: Tensor = StreamedSum.apply(in_order, batch, head, rules, chunk)
    return total if reduction == "sum" else total / (batch.length - batch.skipped)


def losses_to_references(similarities: Tensor, same: Tensor, head: Head, rules: Rules, chunk: int) -> Tensor:
    """Losses of queries against references only, (B, M), (B, M) -> (B,); 0 for a query without a positive there."""
    most = int(same.sum(1).max()) if has_values(same) else same.shape[1]
    step = max(1, chunk // max(1, most * same.shape[1]))
    losses = []
    for rows, own in zip(similarities.split(step), same.split(step)):
        is_target, targets = own.to(torch.uint8).topk(most, dim=1)  # the positives first; the rest fills up
        counted = is_target.bool()
        scores = rows / rules.tau
        wanted = scores.gather(1, targets)
        r_neg = count_above(scores.masked_fill(own, -torch.inf), wanted)
        before = torch.sigmoid(wanted[:, None, :] - wanted[:, :, None])
        itself = torch.eye(most, dtype=torch.bool, device=rows.device)
        r_pos = (before * (counted[:, None, :] & ~itself)).sum(-1)
        losses.append(torch.where(own.any(1), head(r_neg, r_pos, counted), 0.0))
    return torch.cat(losses)


def ranking_loss_from_similarities(
    similarities: Tensor, labels: Tensor, head: Head, rules: Rules, *, reduction: str = "mean"
) -> Tensor:
    """The same loss from a given similarity matrix (B, B), row = query: what SiMix in similarity space needs."""
    check_float_matrix("similarities", similarities)
    check_float_matrix("similarities", similarities, columns=similarities.shape[0])
    check_labels("labels", labels, similarities.shape[0])
    with autocast_off(similarities):
        batch = sorted_with_positives(labels, similarities.device)
        rows = working_precision(similarities).index_select(0, batch.order).index_select(1, batch.order)
        return reduce_sorted(losses_of_rows(rows, batch, head, rules), batch, reduction)


def sorted_with_positives(labels: Tensor, device: torch.device) -> SortedBatch:
    """The sorted batch; an error if no query has a positive."""
    batch = sort_batch(labels, device)
    if not batch.sizes:
        raise NoPositives("labels: no query has a positive (every class has a single member in this batch)")
    return batch


def losses_of_rows(rows: Tensor, batch: SortedBatch, head: Head, rules: Rules) -> Tensor:
    """Plain form: sorted similarities (B, B) -> losses of the sorted rows (B,), 0 for the skipped ones."""
    losses = [rows.new_zeros(batch.skipped)]
    for group, lo, hi in chunks(batch, None):
        _, r_neg, r_pos = soft_counts(rows[lo:hi], group, lo, rules)
        losses.append(head(r_neg, r_pos, torch.ones_like(r_neg, dtype=torch.bool)))
    return torch.cat(losses)


def dense_losses(similarities: Tensor, labels: Tensor, head: Head, rules: Rules) -> tuple[Tensor, Tensor]:
    """Dense form: losses in the batch's own order (B,), 0 for a query without positives, and how many have one."""
    is_target, r_neg, r_pos = dense_counts(similarities, labels, rules)
    counted = is_target.any(-1)
    if may_check(counted) and not bool(counted.any()):
        raise NoPositives("labels: no query has a positive (every class has a single member in this batch)")
    return torch.where(counted, head(r_neg, r_pos, is_target), torch.zeros_like(r_neg[:, 0])), counted.sum()


def unsort(per_row: Tensor, batch: SortedBatch) -> Tensor:
    """From sorted rows back to the caller's order."""
    return torch.empty_like(per_row).index_copy(0, batch.order, per_row)


def reduce_sorted(per_row: Tensor, batch: SortedBatch, reduction: str) -> Tensor:
    """Reduce losses of sorted rows; the mean is over queries that have a positive."""
    if reduction == "none":
        return unsort(per_row, batch)
    return reduce(per_row, reduction, batch.length - batch.skipped)


def stream(
    e: Tensor, batch: SortedBatch, head: Head, rules: Rules, chunk: int, weights: Tensor | None, with_grad: bool
) -> tuple[Tensor, Tensor | None]:
    """Walk over query chunks of sorted embeddings e (B, D): losses (B,) and, if asked, d(weights·losses)/de.

    With G = dL/d(rows) for the similarity rows of a chunk, de gets G·e for the chunk's own rows and Gᵀ·e[chunk] for
    everybody: the same two matrix products that autograd would do, a chunk at a time.
    """
    per_row = e.new_zeros(batch.length)
    grad = torch.zeros_like(e) if with_grad else None
    for group, lo, hi in chunks(batch, chunk):
        own = e[lo:hi]
        rows = (own @ e.T).requires_grad_(with_grad)
        with torch.set_grad_enabled(with_grad):
            _, r_neg, r_pos = soft_counts(rows, group, lo, rules)
            losses = head(r_neg, r_pos, torch.ones_like(r_neg, dtype=torch.bool))
        per_row[lo:hi] = losses.detach()
        if grad is not None:
            weight = torch.ones_like(losses) if weights is None else weights[lo:hi]
            (g,) = torch.autograd.grad(losses, rows, weight)
            grad[lo:hi].addmm_(g, e)
            grad.addmm_(g.T, own)
    return per_row, grad


class StreamedSum(torch.autograd.Function):
    """Σ of all query losses; the gradient is formed during forward and only scaled in backward."""

    @staticmethod
    def forward(ctx, e: Tensor, batch: SortedBatch, head: Head, rules: Rules, chunk: int) -> Tensor:  # type: ignore[no-untyped-def]
        """Sorted embeddings (B, D) -> scalar."""
        per_row, ctx.grad = stream(e, batch, head, rules, chunk, None, ctx.needs_input_grad[0])
        return per_row.sum()

    @staticmethod
    def backward(ctx, upstream: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[no-untyped-def]
        """The gradient was computed on the way forward: it is scaled by what comes from above."""
        refuse_second_derivative('; use method="dense"')
        return ctx.grad * upstream, None, None, None, None


class StreamedEach(torch.autograd.Function):
    """Each query's loss; backward learns the weights only then, so it streams a second time."""

    @staticmethod
    def forward(ctx, e: Tensor, batch: SortedBatch, head: Head, rules: Rules, chunk: int) -> Tensor:  # type: ignore[no-untyped-def]
        """Sorted embeddings (B, D) -> (B,)."""
        ctx.save_for_backward(e)
        ctx.how = batch, head, rules, chunk
        return stream(e, batch, head, rules, chunk, None, with_grad=False)[0]

    @staticmethod
    def backward(ctx, upstream: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[no-untyped-def]
        """Streams again, each query weighted by its upstream gradient."""
        refuse_second_derivative('; use method="dense"')
        (e,) = ctx.saved_tensors
        batch, head, rules, chunk = ctx.how
        return stream(e, batch, head, rules, chunk, upstream, with_grad=True)[1], None, None, None, None


def parts_of(e: Tensor, labels: Tensor, head: Head, rules: Rules, chunk: int) -> RankingParts:
    """Recompute the counts chunk by chunk and note them for every (query, positive) pair, in order of the queries."""
    batch = sorted_with_positives(labels, e.device)
    e = e.index_select(0, batch.order)
    per_row, columns = e.new_zeros(batch.length), []
    for group, lo, hi in chunks(batch, chunk):
        rows = e[lo:hi] @ e.T
        targets, r_neg, r_pos = soft_counts(rows, group, lo, rules)
        r_neg.requires_grad_()
        with torch.enable_grad():
            losses = head(r_neg, r_pos, torch.ones_like(r_neg, dtype=torch.bool))
            (slope,) = torch.autograd.grad(losses.sum(), r_neg)
        per_row[lo:hi] = losses.detach()
        query = torch.arange(lo, hi, device=e.device)[:, None].expand_as(targets)
        similarity = rows.gather(1, targets)
        columns.append([x.flatten().detach() for x in (query, targets, similarity, r_neg, r_pos, slope)])
    query, positive, similarity, r_neg, r_pos, slope = (torch.cat(c) for c in zip(*columns, strict=True))
    query, positive = batch.order[query], batch.order[positive]
    by_query = torch.argsort(query * batch.length + positive)
    return RankingParts(
        query[by_query],
        positive[by_query],
        similarity[by_query],
        r_neg[by_query],
        r_pos[by_query],
        slope[by_query],
        per_query=unsort(per_row, batch),
        skipped=batch.skipped,
    )
