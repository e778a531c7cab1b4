"""Retrieval among other groups only: a query's own designer, camera or session is left out of its gallery."""

from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.base.tensors import check_labels
from labkit.metrics.evaluation import per_query_metrics


def evaluate_across(
    embeddings: Tensor, labels: Tensor, groups: Tensor, ks: Sequence[int] = (1, 10, 100, 1000), *, ties: str = "stable"
) -> dict[str, float]:
    """Means over queries of every ranking metric of `evaluate`, each query against the items of other groups only.

    embeddings (N, D), labels (N,), groups (N,) whole numbers: items with the query's group are neither positives nor
    negatives. "queries" have a positive in another group; the others are "skipped".
    """
    check_labels("groups", groups, len(embeddings))
    groups = groups.to(embeddings.device)
    found: list[dict[str, Tensor]] = []
    for group in groups.unique():
        own = groups == group
        theirs = torch.isin(labels, labels[own]) & ~own
        with_positive = own & torch.isin(labels, labels[theirs])
        if not bool(with_positive.any()):
            continue
        _, columns = per_query_metrics(
            embeddings[with_positive],
            labels[with_positive],
            ks,
            ties=ties,
            progress=False,
            gallery=embeddings[~own],
            gallery_labels=labels[~own],
        )
        found.append(columns)
    if not found:
        raise ValueError("groups: no query has a positive in another group")
    columns = {name: torch.cat([part[name] for part in found]) for name in found[0]}
    queries = len(columns["MAP@R"])
    means = {name: float(values.mean()) for name, values in columns.items()}
    return means | {"queries": queries, "skipped": len(embeddings) - queries}
