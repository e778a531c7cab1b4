"""Blackbox differentiation of a ranking: exact ranks in the forward pass, a second ranking in place of a derivative.

The ranks rk(s) of scores s are piecewise constant, so their derivative says nothing. Rolínek et al. 2020 (after
Vlastelica et al. 2020) move the scores a step λ along dL/drk and rank again; the difference of both rankings over λ is
the gradient of a piecewise linear function between the steps:

    dL/ds := (rk(s + λ dL/drk) − rk(s)) / λ .

A margin α makes ranks worse in training: positives are ranked with s − α/2, negatives with s + α/2.
"""

from typing import Any, Unpack

import torch
from torch import Tensor

from labkit.losses._common import refuse_second_derivative
from labkit.losses.options import (
    Convention,
    NotNegative,
    Others,
    Positive,
    RankWeight,
    Reduction,
    checked,
    needs_positives,
)
from labkit.losses.pair_loss import PairParts, Relations, pair_loss
from labkit.losses.ranking import mean_over_positives


def ranks(scores: Tensor) -> Tensor:
    """Rank of each score in its row, 1 for the highest; equal ones in their order."""
    order = scores.argsort(dim=1, descending=True, stable=True)
    places = torch.arange(1, scores.shape[1] + 1, device=scores.device, dtype=scores.dtype)
    return torch.zeros_like(scores).scatter(1, order, places.expand_as(scores))


class BlackboxRanks(torch.autograd.Function):
    """`ranks`, with the difference of two rankings as its derivative."""

    generate_vmap_rule = True

    @staticmethod
    def forward(scores: Tensor, lam: float) -> Tensor:
        """Scores (B, n) -> ranks (B, n)."""
        return ranks(scores)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, float], output: Tensor) -> None:
        """Backward ranks again, from here."""
        ctx.save_for_backward(inputs[0], output)
        ctx.lam = inputs[1]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """Rank again after a step λ along the ranks' gradient."""
        refuse_second_derivative('; use backward(), or a smooth loss such as SmoothAP(method="dense")')
        scores, found = ctx.saved_tensors
        return (ranks(scores + ctx.lam * grad) - found) / ctx.lam, None


def ranked(S: Tensor, relations: Relations, lam: float, margin: float, official: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Positives (B, B), ranks among all and among the positives; the query itself comes last and counts nowhere.

    official: the query is a positive of its own, and ranks are divided by the length of the list before λ acts, which
    is the same as a λ longer by that factor.
    """
    itself = relations.itself
    positive = relations.positive | itself if official else relations.positive
    scores = S + margin * torch.where(positive, -0.5, 0.5).to(S.dtype)
    if not official:
        scores = scores.masked_fill(itself, -torch.inf)
    among_all: Tensor = BlackboxRanks.apply(scores, lam * S.shape[1] if official else lam)
    # a constant for the gradient, as in the released code
    among_positives = ranks(torch.where(positive, scores.detach(), -torch.inf))
    return positive & relations.positive.any(1, keepdim=True), among_all, among_positives


@checked
@needs_positives
def blackbox_ap(
    embeddings: Tensor,
    labels: Tensor,
    *,
    lam: Positive = 4.0,
    margin: NotNegative = 0.02,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Blackbox AP: mean over queries of 1 − 1/|P| Σ_{i∈P} rk⁺(i) / rk(i), with exact ranks of the shifted scores.

    Rolínek et al. 2020, their AP loss (λ = lam, α = margin); rk⁺ is the rank among the positives. With margin=0 the
    value is 1 − AP itself. convention="official": the query stays in its own ranking, as a positive, and ranks are
    divided by B before λ acts; the released code also draws the margin at random, which is not done here.
    embeddings (B, D), labels (B,) -> scalar or (B,). No second derivative.
    """

    def shares(S: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        positive, among_all, among_positives = ranked(S, relations, lam, margin, convention == "official")
        counted = positive.any(1)
        return counted * (1 - mean_over_positives(among_positives / among_all, positive)), counted.sum()

    return pair_loss(
        embeddings, labels, shares, reduction=reduction, return_parts=return_parts, on_distances=False, **others
    )


@checked
@needs_positives
def blackbox_recall(
    embeddings: Tensor,
    labels: Tensor,
    *,
    lam: Positive = 4.0,
    margin: NotNegative = 0.02,
    weight: RankWeight = "log",
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, PairParts]:
    """Blackbox recall: mean over queries of 1/|P| Σ_{i∈P} ℓ(rk(i) − rk⁺(i)), ℓ of the negatives before a positive.

    Rolínek et al. 2020, their recall loss: weight="log" is ℓ(k) = log(1 + k), a sum of recall losses over all k with
    falling weights; "loglog" is log(1 + log(1 + k)). convention as in `blackbox_ap`. embeddings (B, D), labels (B,) ->
    scalar or (B,). No second derivative.
    """

    def shares(S: Tensor, relations: Relations) -> tuple[Tensor, Tensor]:
        positive, among_all, among_positives = ranked(S, relations, lam, margin, convention == "official")
        before = torch.where(positive, among_all - among_positives, 0)
        loss = torch.log1p(before)
        loss = torch.log1p(loss) if weight == "loglog" else loss
        return mean_over_positives(loss, positive), positive.any(1).sum()

    return pair_loss(
        embeddings, labels, shares, reduction=reduction, return_parts=return_parts, on_distances=False, **others
    )
