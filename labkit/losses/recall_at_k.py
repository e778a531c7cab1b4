"""RS@k: recall@k with both of its step functions made sigmoids (Patel et al., CVPR 2022)."""

from collections.abc import Sequence
from typing import Unpack

import torch
from torch import Tensor

from labkit.base.checks import check_ks
from labkit.base.tensors import autocast_off, check_float_matrix, check_labels, unit_rows, working_precision
from labkit.losses.options import (
    Convention,
    Count,
    Ks,
    Method,
    Others,
    Positive,
    Reduction,
    Space,
    Switch,
    Temperatures,
    checked,
    needs_positives,
)
from labkit.losses.ranking import (
    CHUNK,
    RankingParts,
    mean_over_positives,
    ranking_loss,
    ranking_loss_from_similarities,
)
from labkit.losses.simix import draw_pairs, mix_embeddings, mix_similarities
from labkit.losses.softcount import Head, Rules


@checked
@needs_positives
def recall_at_k(
    embeddings: Tensor,
    labels: Tensor,
    *,
    ks: Ks = (1, 2, 4, 8, 16),
    tau_rank: Temperatures = 1.0,
    tau_sim: Positive = 0.01,
    simix: Switch = False,
    simix_space: Space = "embedding",
    generator: torch.Generator | None = None,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
    method: Method = "auto",
    chunk: Count = CHUNK,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, RankingParts]:
    """RS@k loss: L = 1 − 1/|K| Σ_k 1/|P| Σ_{x∈P} σ_τ1(k − 1 − Σ_{z≠x, z≠q} σ_τ2(s_qz − s_qx)), mean over queries.

    Patel et al. 2022 (slides, "Recall@k Surrogate"); E-SL-1, E-SL-3 (the loss of a perfect ranking is not 0), E-SL-4.
    embeddings (B, D), labels (B,) -> scalar or (B,). tau_rank = τ1, one for all k or one each; tau_sim = τ2.
    convention="official" is the released formula: the query stays in its own ranking, Σσ is capped at k and divided
    by min(k, |P|), and k is capped at B. simix=True adds virtual samples (`simix.py`): the batch is then B + V long, V
    the number of same-class pairs.
    """
    ks = check_ks("ks", ks)
    temperatures = temperature_of_each(ks, tau_rank)
    check_float_matrix("embeddings", embeddings)
    check_labels("labels", labels, embeddings.shape[0])
    official = convention == "official"
    rules = Rules(tau_sim, query_in_gallery=official)
    references = others.get("ref_labels")
    gallery = len(labels if references is None else references)
    head = official_head(ks, temperatures, gallery) if official else paper_head(ks, temperatures)
    if not simix:
        return ranking_loss(
            embeddings,
            labels,
            head,
            rules,
            reduction=reduction,
            return_parts=return_parts,
            method=method,
            chunk=chunk,
            **others,
        )
    if given := [name for name, value in others.items() if value is not None]:
        raise ValueError(f"{given[0]}: simix=True mixes the items of one batch and takes no {given[0]}; leave it out")
    with autocast_off(embeddings):
        e = unit_rows(working_precision(embeddings))
        pairs = draw_pairs(labels, generator, e.device, e.dtype)
        mixed_labels = pairs.extend_labels(labels)
        if simix_space == "embedding":
            return ranking_loss(
                mix_embeddings(e, pairs),
                mixed_labels,
                head,
                rules,
                reduction=reduction,
                return_parts=return_parts,
                method=method,
                chunk=chunk,
                normalize=False,
            )
        if return_parts or method != "auto":
            raise ValueError(
                'simix_space: "similarity" allows neither return_parts nor a method but "auto"; use "embedding"'
            )
        mixed = mix_similarities(e @ e.T, pairs)
        return ranking_loss_from_similarities(mixed, mixed_labels, head, rules, reduction=reduction)


def temperature_of_each(ks: Sequence[int], tau_rank: float | Sequence[float]) -> tuple[float, ...]:
    """One τ1 for each k."""
    if not isinstance(tau_rank, Sequence):
        return (float(tau_rank),) * len(ks)
    if len(tau_rank) != len(ks):
        raise ValueError(f"tau_rank must be one number, or one for each of the {len(ks)} ks; got {tau_rank!r}")
    return tuple(float(tau) for tau in tau_rank)


def paper_head(ks: tuple[int, ...], temperatures: tuple[float, ...]) -> Head:
    """1 − mean over k of the fractional recall surrogate."""

    def head(R_neg: Tensor, R_pos: Tensor, is_target: Tensor) -> Tensor:
        # 1 − σ(u) = σ(−u): the miss itself is summed, so nothing cancels near a perfect ranking
        k, tau = columns(ks, R_neg), columns(temperatures, R_neg)
        misses = torch.sigmoid((R_neg + R_pos - (k - 1)) / tau)
        return mean_over_positives(misses.mean(0), is_target)

    return head


def official_head(ks: tuple[int, ...], temperatures: tuple[float, ...], batch_size: int) -> Head:
    """Hits Σσ capped at k and divided by min(k, |P|)."""

    def head(R_neg: Tensor, R_pos: Tensor, is_target: Tensor) -> Tensor:
        k, tau = columns([min(k, batch_size) for k in ks], R_neg), columns(temperatures, R_neg)
        weight = is_target.to(R_neg.dtype)
        hits = (torch.sigmoid((k - 1 - R_neg - R_pos) / tau) * weight).sum(-1)
        most = torch.minimum(k[:, 0], weight.sum(-1).clamp_min(1))
        return 1 - (torch.minimum(hits, k[:, 0]) / most).mean(0)

    return head


def columns(values: Sequence[float], like: Tensor) -> Tensor:
    """One value for each k, as (K, 1, 1), to stand beside counts (Q, P)."""
    return torch.tensor(values, dtype=like.dtype, device=like.device)[:, None, None]
