"""PNP: penalise the negatives before each positive (Li et al., AAAI 2022)."""

from typing import Unpack

import torch
from torch import Tensor

from labkit.losses.options import (
    Convention,
    Count,
    Method,
    Others,
    PnpVariant,
    Positive,
    Reduction,
    checked,
    needs_positives,
)
from labkit.losses.ranking import CHUNK, RankingParts, mean_over_positives, ranking_loss
from labkit.losses.softcount import Head, Rules

ALPHA, B = 1.0, 4.0  # steepness of D_q, boundary of I_b


@checked
def pnp_value(R: Tensor, variant: PnpVariant, alpha: Positive = ALPHA, b: Positive = B) -> Tensor:
    """Loss of one positive with R negatives before it (Eqs 5, 7, 9, 12, 13), before the mean over positives.

    "Iu" is Eq. 7 as published; "Iu-exact" is the true integral of Eq. 6 (E-PNP-1).
    """
    if variant == "O":
        return R
    if variant == "Iu":
        return (1 + R) * torch.log1p(R)
    if variant == "Iu-exact":
        return (1 + R) * torch.log1p(R) - R
    if variant == "Ib":
        return (b * R - torch.log1p(b * R)) / b**2
    if variant == "Ds":
        return torch.log1p(R)
    return -torch.expm1(-alpha * torch.log1p(R))  # 1 − (1+R)^−α without cancellation at small R


@checked
def pnp_derivative(R: Tensor, variant: PnpVariant, alpha: Positive = ALPHA, b: Positive = B) -> Tensor:
    """d pnp_value / dR: Eqs 6, 8, 10, 11 ("Iu" has log(1+R) + 1, not Eq. 6: E-PNP-1)."""
    if variant == "O":
        return torch.ones_like(R)
    if variant == "Iu":
        return torch.log1p(R) + 1
    if variant == "Iu-exact":
        return torch.log1p(R)
    if variant == "Ib":
        return R / (1 + b * R)
    if variant == "Ds":
        return 1 / (1 + R)
    return alpha * (1 + R) ** (-alpha - 1)


@checked
@needs_positives
def pnp(
    embeddings: Tensor,
    labels: Tensor,
    *,
    variant: PnpVariant = "Dq",
    alpha: Positive = ALPHA,
    b: Positive = B,
    tau: Positive = 0.01,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
    method: Method = "auto",
    chunk: Count = CHUNK,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, RankingParts]:
    """PNP loss: L = mean over queries of 1/|P| Σ_{i∈P} f(R(i, S_N)), f = `pnp_value`.

    Li et al. 2022, Eqs 2, 3, 5–13; E-PNP-1, E-PNP-2. embeddings (B, D), labels (B,) -> scalar, or (B,) with
    reduction="none". convention="official" counts the query as its own positive, as the released code does:
    (|P|)/(|P|+1) times the paper's value where R_q ≈ 0.
    """

    def head(R_neg: Tensor, R_pos: Tensor, is_target: Tensor) -> Tensor:
        return mean_over_positives(pnp_value(R_neg, variant, alpha, b), is_target)

    rules = Rules(tau, query_is_target=convention == "official", needs_positives=return_parts)
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


def smooth_ap_head(R_neg: Tensor, R_pos: Tensor, is_target: Tensor) -> Tensor:
    """1 − 1/|P| Σ (1+R_pos)/(1+R_pos+R_neg), written as the mean of R_neg/(1+R_pos+R_neg): no cancellation near 0."""
    return mean_over_positives(R_neg / (1 + R_pos + R_neg), is_target)


@checked
@needs_positives
def smooth_ap(
    embeddings: Tensor,
    labels: Tensor,
    *,
    tau: Positive = 0.01,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
    method: Method = "auto",
    chunk: Count = CHUNK,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, RankingParts]:
    """Smooth-AP loss: L = 1 − 1/|P| Σ_{i∈P} (1 + R(i,S_P)) / (1 + R(i,S_P) + R(i,S_N)), mean over queries.

    Brown et al. 2020, as PNP Eq. 4; E-PNP-8, E-PNP-9. embeddings (B, D), labels (B,) -> scalar or (B,).
    convention="official" keeps the query in its own gallery, and as a positive, as the released code does.
    """
    official = convention == "official"
    rules = Rules(tau, query_is_target=official, query_in_gallery=official)
    head: Head = smooth_ap_head
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
