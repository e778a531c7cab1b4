"""Losses on pairs of the batch: the baselines that the papers compare with.

Each is a short function of one matrix; what D, S, P_i, N_i, shares and reductions are stands in `pair_loss`.
"""

from collections.abc import Callable
from typing import Unpack

import torch
from torch import Tensor
from torch.nn import functional as F

from labkit.losses._common import log1p_sum_exp, with_fixed_weights
from labkit.losses.options import (
    ContrastiveForm,
    NotNegative,
    NotNegativeOrNone,
    Others,
    Positive,
    Reduction,
    checked,
    needs_positives,
)
from labkit.losses.pair_loss import PairParts, Relations, Shares, pair_loss
from labkit.losses.ranking import mean_over_positives, unsort
from labkit.losses.softcount import chunks, own_class

LOWEST = -1e4  # stands for log 0: e^−10000 is 0 in every dtype, but gradients stay finite, unlike those of −inf


@checked
@needs_positives
def contrastive(
    embeddings: Tensor,
    labels: Tensor,
    *,
    margin: Positive = 0.5,
    form: ContrastiveForm = "squared",
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Contrastive loss: mean over all B(B−1)/2 pairs i < j of ½D_ij² if the labels agree, else ½[m − D_ij]₊².

    Hadsell et al. 2006, Eq. 4 (its Y = 0 is "similar"); on unit rows. embeddings (B, D), labels (B,) -> scalar or (B,):
    half of each pair is either member's share. No query is skipped. The paper leaves m open.
    form="linear": the mean of D_ij over the positive pairs that are apart, plus the mean of m − D_ij over the negative
    pairs inside the margin (pytorch-metric-learning's default; "sum" is then the same as "mean"). With few classes a
    batch the squared form's few active negatives vanish among all pairs and in the square: it hardly trains.
    """

    def squared(D: Tensor, relations: Relations) -> tuple[Tensor, float]:
        pull = relations.positive * D.square() / 2
        push = relations.negative * (margin - D).clamp_min(0).square() / 2
        return (pull + push).sum(-1) * relations.once, relations.pairs

    def linear(D: Tensor, relations: Relations) -> tuple[Tensor, int]:
        apart, inside = relations.positive & (D > 0), relations.negative & (margin > D)
        pull, push = (apart * D).sum(-1), (inside * (margin - D)).sum(-1)
        return pull / apart.sum().clamp_min(1) + push / inside.sum().clamp_min(1), 1

    shares: Shares = squared if form == "squared" else linear
    return pair_loss(embeddings, labels, shares, reduction=reduction, return_parts=return_parts, skips=False, **others)


def triplet_shares(D: Tensor, relations: Relations, penalty: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Σ of penalty(D_ap − D_an) over all p ∈ P_a, n ∈ N_a for each anchor a (B,), and the number of triplets.

    Only the positives are gathered, queries × positives × B; penalty(−∞) has to be 0.
    """
    triplets = (relations.positive.sum(-1) * relations.negative.sum(-1)).sum().clamp_min(1)
    if relations.batch is None:  # the number of positives is unknown: all triplets of the batch with a mask
        chosen = relations.positive[:, :, None] & relations.negative[:, None, :]
        return (penalty(D[:, :, None] - D[:, None, :]) * chosen).sum((1, 2)), triplets
    order = relations.batch.order
    rows = D.index_select(0, order).index_select(1, order)
    sums = [rows.new_zeros(relations.batch.skipped)]
    for group, lo, hi in chunks(relations.batch, None):
        others, everyone = own_class(group, lo, hi, D.device)
        negatives = rows[lo:hi].scatter(1, everyone, torch.inf)
        sums.append(penalty(rows[lo:hi].gather(1, others)[:, :, None] - negatives[:, None, :]).sum((1, 2)))
    return unsort(torch.cat(sums), relations.batch), triplets


@checked
@needs_positives
def triplet(
    embeddings: Tensor,
    labels: Tensor,
    *,
    margin: Positive = 0.2,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Triplet loss: mean over all triplets (a, p ∈ P_a, n ∈ N_a) of [D_ap − D_an + m]₊.

    Schroff et al. 2015 as in SGSL Eq. 2: the distance, not its square, and no mining ("batch all"; satisfied triplets
    count in the mean). m = 0.2 is Schroff's. embeddings (B, D), labels (B,) -> scalar or (B,).
    """

    def shares(D: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        return triplet_shares(D, relations, lambda violation: (violation + margin).clamp_min(0))

    return pair_loss(embeddings, labels, shares, reduction=reduction, return_parts=return_parts, **others)


@checked
@needs_positives
def soft_margin_triplet(
    embeddings: Tensor,
    labels: Tensor,
    *,
    scale: Positive = 1.0,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Soft-margin triplet loss: mean over all triplets (a, p ∈ P_a, n ∈ N_a) of log(1 + exp(s (D_ap − D_an))) / s.

    Hermans et al. 2017, their soft margin on all triplets of the batch ("batch all"), on unit rows; theirs has s = 1 on
    embeddings whose distances grow at will. On unit rows these end at 2, and with s = 1 all triplets are pulled alike.
    embeddings (B, D), labels (B,) -> scalar or (B,).
    """

    def shares(D: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        return triplet_shares(D, relations, lambda violation: F.softplus(violation, scale, threshold=40))

    return pair_loss(embeddings, labels, shares, reduction=reduction, return_parts=return_parts, **others)


@checked
@needs_positives
def lifted_structure(
    embeddings: Tensor,
    labels: Tensor,
    *,
    margin: Positive = 1.0,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Lifted structure: mean over positive pairs i < j of ½[log(Σ_{N_i} e^{m−D_ik} + Σ_{N_j} e^{m−D_jl}) + D_ij]₊².

    Oh Song et al. 2016, Eq. 4 (the smooth bound), on unit rows; m = 1 is theirs. embeddings (B, D), labels (B,) ->
    scalar or (B,): half of each pair is either member's share.
    """

    if others.get("ref_embeddings") is not None:
        raise ValueError("ref_embeddings: lifted structure needs the negatives of both members of a pair; leave it out")

    def shares(D: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        push = torch.logsumexp(torch.where(relations.negative, margin - D, LOWEST), -1)
        hinge = (torch.logaddexp(push[:, None], push) + D).clamp_min(0)
        return (relations.positive * hinge.square() / 2).sum(-1) / 2, relations.positive.sum() / 2

    return pair_loss(embeddings, labels, shares, reduction=reduction, return_parts=return_parts, **others)


@checked
@needs_positives
def ranked_list(
    embeddings: Tensor,
    labels: Tensor,
    *,
    margin: Positive = 0.4,
    alpha: Positive = 1.2,
    temperature: NotNegative = 10.0,
    balance: NotNegative = 1.0,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Ranked list loss: mean over queries with a positive of L_P + λ L_N, λ = balance.

    L_P = mean over the positives with D > α − m of D − (α − m); L_N = Σ w (α − D) / Σ w over the negatives with D < α,
    w = exp(T (α − D)); an empty set gives 0. Wang et al. 2019 (Ranked List Loss, CVPR). The weights are constants for
    the gradient, as in the released code; its In-shop run has m = 0.4, α = 1 + m/2 and T = 12, its CUB run T = 10.
    embeddings (B, D), labels (B,) -> scalar or (B,).
    """
    check_radius(margin, alpha)

    def shares(D: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        outside, inside = D - (alpha - margin), alpha - D  # how far a positive, or a negative, is on the wrong side
        pull = mean_over_positives(outside, relations.positive & (outside > 0))
        wrong = relations.negative & (inside > 0)
        weight = wrong * torch.softmax(torch.where(wrong, temperature * inside, LOWEST), -1)
        counted = relations.positive.any(-1)
        return counted * (pull + balance * with_fixed_weights(weight, inside).sum(-1)), counted.sum()

    return pair_loss(embeddings, labels, shares, reduction=reduction, return_parts=return_parts, **others)


def check_radius(margin: float, alpha: float) -> None:
    """Positives stay within α − m of the query."""
    if margin >= alpha:
        raise ValueError(
            f"margin must be below alpha, otherwise the radius α − m is not positive: got {margin!r} and {alpha!r}"
        )


@checked
@needs_positives
def multi_similarity(
    embeddings: Tensor,
    labels: Tensor,
    *,
    alpha: Positive = 2.0,
    beta: Positive = 50.0,
    base: NotNegative = 0.5,
    epsilon: NotNegativeOrNone = 0.1,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Multi-similarity loss: mean over all B anchors of log(1 + Σ_{P_i} e^{−α(s−λ)})/α + log(1 + Σ_{N_i} e^{β(s−λ)})/β.

    Wang et al. 2019 (Multi-Similarity Loss, CVPR), Eq. 15, λ = base, on the pairs mined by Eqs 11, 12: negatives with
    s > min_{P_i} s − ε, positives with s < max_{N_i} s + ε (epsilon=None: all pairs). No anchor is skipped: an empty
    sum adds 0, and all B count in the mean, as in the released code. λ and ε are the released code's, which has β = 40.
    embeddings (B, D), labels (B,) -> scalar or (B,).
    """

    def shares(S: Tensor, relations: Relations) -> tuple[Tensor, int]:
        positive, negative = relations.positive, relations.negative
        if epsilon is not None:
            least_positive = torch.where(positive, S, torch.inf).amin(-1, keepdim=True)
            best_negative = torch.where(negative, S, -torch.inf).amax(-1, keepdim=True)
            positive, negative = positive & (S - best_negative < epsilon), negative & (least_positive - S < epsilon)
        pull = log1p_sum_exp(-alpha * (S - base), positive, -1) / alpha
        push = log1p_sum_exp(beta * (S - base), negative, -1) / beta
        return pull + push, len(S)

    return pair_loss(
        embeddings,
        labels,
        shares,
        reduction=reduction,
        return_parts=return_parts,
        on_distances=False,
        skips=False,
        **others,
    )
