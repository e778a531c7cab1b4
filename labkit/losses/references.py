"""What a loss on pairs or ranks may be called with besides a batch: other items to compare with, and weights."""

import torch
from torch import Tensor

from labkit.base.tensors import check_float_matrix, check_labels, may_check, working_precision
from labkit.losses.options import NoPositives


def check_weights(weights: Tensor | None, embeddings: Tensor) -> Tensor | None:
    """One number for each row, 0 or above, in working precision."""
    if weights is None:
        return None
    if not isinstance(weights, Tensor) or weights.shape != embeddings.shape[:1]:
        shown = tuple(weights.shape) if isinstance(weights, Tensor) else type(weights).__name__
        raise ValueError(f"weights must be a tensor with one number per row, ({len(embeddings)},), got {shown}")
    if may_check(weights) and not bool((weights >= 0).all() & weights.isfinite().all()):
        raise ValueError("weights must be finite and 0 or above")
    return weights.to(working_precision(embeddings))


def check_references(
    rows: Tensor | None, labels: Tensor | None, embeddings: Tensor, return_parts: bool
) -> tuple[Tensor, Tensor] | None:
    """Rows and labels of the references: both or neither."""
    if rows is None and labels is None:
        return None
    if rows is None or labels is None:
        raise ValueError("ref_embeddings and ref_labels go together: give both or neither")
    if return_parts:
        raise ValueError("return_parts: parts are those of a batch by itself; leave ref_embeddings out for them")
    check_float_matrix("ref_embeddings", rows, columns=embeddings.shape[1])
    check_labels("ref_labels", labels, rows.shape[0])
    return rows, labels


def compared_labels(labels: Tensor, ref_labels: Tensor, device: torch.device) -> Tensor:
    """Which reference is of a query's class (B, M); an error if no query has a positive."""
    same = labels.to(device)[:, None] == ref_labels.to(device)
    if may_check(same) and not bool(same.any()):
        raise NoPositives("ref_labels: no query has a positive among the references")
    return same
