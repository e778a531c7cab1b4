"""Lesson 8: similarity to a class, ProxyAnchor from similarities, and the regulariser (proxies_regularizer.py)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from labkit.lessons.draw import normal, seeded, unit
from labkit.lessons.exercise import Case, Exercise, Mistake
from labkit.lessons.exercises.proxies_regularizer import REGULARIZER


def similarity_cases() -> list[Case]:
    """One and several proxies, soft and sharp γ, and proxies that coincide."""
    x, w = unit(seeded(1), 5), unit(seeded(2), 3, 4, 5)
    return [
        Case("3 classes, 4 proxies, γ = 0.1", {"x": x, "w": w, "gamma": 0.1}),
        Case("3 classes, 4 proxies, γ = 1", {"x": x, "w": w, "gamma": 1.0}),
        Case("sharp, γ = 0.001", {"x": x, "w": w, "gamma": 0.001}),
        Case("one proxy per class", {"x": x, "w": w[:, :1], "gamma": 0.1}),
        Case("one class", {"x": unit(seeded(3), 5), "w": w[:1], "gamma": 0.2}),
        Case("coincident proxies", {"x": x, "w": w[:, :1].repeat(1, 3, 1), "gamma": 0.1}),
    ]


def class_similarity(x: Tensor, w: Tensor, gamma: float) -> Tensor:
    """MPA Eq. 1."""
    s = w @ x
    return (torch.softmax(s / gamma, 1) * s).sum(1)


def without_shift(x: Tensor, w: Tensor, gamma: float) -> Tensor:
    """Right on paper; e^(s/γ) overflows when γ is small."""
    s = w @ x
    e = torch.exp(s / gamma)
    return (e * s).sum(1) / e.sum(1)


SIMILARITY = Exercise(
    "class_similarity",
    "S(x, c) for every class c (MPA Eq. 1): the mean of the similarities x·w_ck, weighted by softmax_k(x·w_ck / γ).",
    class_similarity,
    similarity_cases,
    (
        Mistake("overflow", "e^(s/γ) overflows when γ is small: use torch.softmax.", without_shift),
        Mistake(
            "over classes",
            "The softmax runs over the classes; it must run over the K proxies of one class.",
            lambda x, w, gamma: (torch.softmax(w @ x / gamma, 0) * (w @ x)).sum(1),
        ),
        Mistake(
            "over all proxies",
            "The softmax runs over all C·K proxies; each class has a softmax of its own.",
            lambda x, w, gamma: (torch.softmax((w @ x).flatten() / gamma, 0).view(w.shape[:2]) * (w @ x)).sum(1),
        ),
        Mistake(
            "times gamma",
            "The similarity is multiplied by γ; it must be divided, so that a small γ is sharp.",
            lambda x, w, gamma: (torch.softmax(w @ x * gamma, 1) * (w @ x)).sum(1),
        ),
        Mistake(
            "no gamma",
            "γ is not used.",
            lambda x, w, gamma: (torch.softmax(w @ x, 1) * (w @ x)).sum(1),
        ),
        Mistake(
            "maximum",
            "It takes the nearest proxy only; Eq. 1 is a weighted mean over all proxies of the class.",
            lambda x, w, gamma: (w @ x).amax(1),
        ),
        Mistake(
            "mean",
            "It takes the plain mean; the weights are a softmax of the similarities.",
            lambda x, w, gamma: (w @ x).mean(1),
        ),
        Mistake(
            "logsumexp",
            "γ·logsumexp(s/γ) is another soft maximum, larger than Eq. 1: it can exceed every s.",
            lambda x, w, gamma: gamma * torch.logsumexp(w @ x / gamma, 1),
        ),
        Mistake(
            "stopped weights",
            "The value is right, but the softmax is detached: the weights have a gradient, too.",
            lambda x, w, gamma: (torch.softmax(w @ x / gamma, 1).detach() * (w @ x)).sum(1),
        ),
        Mistake(
            "weights only",
            "It adds up the weights, which is always 1; multiply each by its similarity.",
            lambda x, w, gamma: torch.softmax(w @ x / gamma, 1).sum(1),
        ),
        Mistake(
            "scaled inside",
            "Both factors are divided by γ; only the softmax's argument is.",
            lambda x, w, gamma: (torch.softmax(w @ x / gamma, 1) * (w @ x) / gamma).sum(1),
        ),
    ),
    gradient="x",
)


def anchor_cases() -> list[Case]:
    """Classes that are missing, one class only, and a scale at which e^α overflows."""
    S = 0.9 * torch.tanh(normal(seeded(4), 5, 4))
    y = torch.tensor([2, 0, 0, 2, 1])
    return [
        Case("5 samples, 4 classes, one missing", {"similarity": S, "labels": y, "alpha": 8.0, "delta": 0.1}),
        Case("α = 32", {"similarity": S, "labels": y, "alpha": 32.0, "delta": 0.1}),
        Case("no margin", {"similarity": S, "labels": y, "alpha": 4.0, "delta": 0.0}),
        Case("one class in the batch", {"similarity": S[:3], "labels": y[1:2].repeat(3), "alpha": 4.0, "delta": 0.2}),
        Case("one sample", {"similarity": S[:1], "labels": y[:1], "alpha": 4.0, "delta": 0.1}),
        Case("α = 2000", {"similarity": S, "labels": y, "alpha": 2000.0, "delta": 0.1}),
    ]


def terms(S: Tensor, labels: Tensor, alpha: float, delta: float, over: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Positive and negative terms log(1 + Σ …) of every class (over=0) or sample (over=1), and the classes present."""
    own = F.one_hot(labels, S.shape[1]).bool()
    # a one stands for the "1 +"; what does not belong to a sum is left out of it
    none = torch.full_like(S, -1e300)
    zero = torch.zeros_like(S.select(over, 0)).unsqueeze(over)
    positive = torch.logsumexp(torch.cat([zero, torch.where(own, -alpha * (S - delta), none)], over), over)
    negative = torch.logsumexp(torch.cat([zero, torch.where(own, none, alpha * (S + delta))], over), over)
    return positive, negative, own.any(0)


def proxy_anchor(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """MPA Eq. 6 with S given; Kim et al. 2020, Eq. 4."""
    positive, negative, present = terms(similarity, labels, alpha, delta)
    return positive[present].mean() + negative.mean()


def naive_anchor(similarity: Tensor, labels: Tensor, alpha: float, delta: float, masked: bool = True) -> Tensor:
    """As printed: e^α overflows; masked=False: what does not count is multiplied by 0, and 0 · inf is NaN."""
    own = F.one_hot(labels, similarity.shape[1]).bool()
    pull, push = torch.exp(-alpha * (similarity - delta)), torch.exp(alpha * (similarity + delta))
    positive = torch.log(1 + (torch.where(own, pull, 0.0) if masked else own * pull).sum(0))
    negative = torch.log(1 + (torch.where(own, 0.0, push) if masked else ~own * push).sum(0))
    return positive[own.any(0)].mean() + negative.mean()


def by_sample(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """MPA-DW instead."""
    positive, negative, _ = terms(similarity, labels, alpha, delta, over=1)
    return positive.mean() + negative.mean()


def without_one(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """log Σ instead of log(1 + Σ)."""
    own = F.one_hot(labels, similarity.shape[1]).bool()
    low = torch.full_like(similarity, -1e300)
    positive = torch.logsumexp(torch.where(own, -alpha * (similarity - delta), low), 0)
    negative = torch.logsumexp(torch.where(own, low, alpha * (similarity + delta)), 0)
    return positive[own.any(0)].mean() + negative[(~own).any(0)].mean()


def own_left_in(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """All samples in the negative sum."""
    positive, _, present = terms(similarity, labels, alpha, delta)
    return positive[present].mean() + F.softplus(torch.logsumexp(alpha * (similarity + delta), 0), threshold=50).mean()


def both_margins(similarity: Tensor, labels: Tensor, alpha: float, first: float, second: float) -> Tensor:
    """Margins of the two terms given apart."""
    positive, _, present = terms(similarity, labels, alpha, first)
    _, negative, _ = terms(similarity, labels, alpha, second)
    return positive[present].mean() + negative.mean()


def sample_by_sample(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """Σ log(1 + e^…) in place of log(1 + Σ e^…)."""
    own = F.one_hot(labels, similarity.shape[1]).bool()
    pull = F.softplus(-alpha * (similarity - delta)) * own
    push = F.softplus(alpha * (similarity + delta)) * ~own
    return pull.sum() / own.any(0).sum() + push.sum() / similarity.shape[1]


def pair_by_pair(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """The mean of softplus over positive pairs plus that over negative pairs."""
    own = F.one_hot(labels, similarity.shape[1]).bool()
    return F.softplus(-alpha * (similarity[own] - delta)).mean() + F.softplus(alpha * (similarity[~own] + delta)).mean()


ANCHOR = Exercise(
    "proxy_anchor",
    "ProxyAnchor from S (N, C): the positive terms' mean over the classes present plus the negative terms' mean over "
    "all classes.",
    proxy_anchor,
    anchor_cases,
    (
        Mistake(
            "overflow",
            "e^(α…) overflows at large α: use logsumexp with a 0 for the “1 +”, or softplus(logsumexp(…)).",
            naive_anchor,
            also=(lambda **case: naive_anchor(**case, masked=False),),
        ),
        Mistake(
            "all classes",
            "The positive terms are averaged over all classes; divide by the classes in the batch.",
            lambda similarity, labels, alpha, delta: sum(
                term.mean() for term in terms(similarity, labels, alpha, delta)[:2]
            ),
        ),
        Mistake(
            "present classes",
            "The negative terms are averaged over the batch's classes; all classes push.",
            lambda similarity, labels, alpha, delta: sum(
                term[terms(similarity, labels, alpha, delta)[2]].mean()
                for term in terms(similarity, labels, alpha, delta)[:2]
            ),
        ),
        Mistake(
            "sum",
            "It adds up over the classes; both terms are means.",
            lambda similarity, labels, alpha, delta: sum(
                term.sum() for term in terms(similarity, labels, alpha, delta)[:2]
            ),
        ),
        Mistake(
            "by sample",
            "The sums run over classes for each sample (MPA-DW); here over samples for each class.",
            by_sample,
        ),
        Mistake("no one", "The 1 inside the logarithm is missing: without it the loss has no floor at 0.", without_one),
        Mistake(
            "own class pushed", "A class also pushes its own samples: leave them out of the negative sum.", own_left_in
        ),
        Mistake(
            "margin turned",
            "The margin has the wrong sign: positives must exceed +δ, negatives stay below −δ.",
            lambda similarity, labels, alpha, delta: proxy_anchor(similarity, labels, alpha, -delta),
        ),
        Mistake(
            "one margin",
            "Both terms have S − δ; the negatives have S + δ.",
            lambda similarity, labels, alpha, delta: both_margins(similarity, labels, alpha, delta, -delta),
        ),
        Mistake(
            "margin unscaled",
            "δ stands outside the scale: it is α(S ± δ), not αS ± δ.",
            lambda similarity, labels, alpha, delta: proxy_anchor(similarity, labels, alpha, delta / alpha),
        ),
        Mistake(
            "sign",
            "Positives are pushed and negatives pulled: the exponents' signs are turned round.",
            lambda similarity, labels, alpha, delta: proxy_anchor(-similarity, labels, alpha, delta),
        ),
        Mistake(
            "positives only",
            "The term that pushes negatives away is missing.",
            lambda similarity, labels, alpha, delta: terms(similarity, labels, alpha, delta)[0][
                terms(similarity, labels, alpha, delta)[2]
            ].mean(),
        ),
        Mistake(
            "a logarithm for each sample",
            "Every sample has its own log(1 + e^…); the logarithm is of the sum over the samples of a class.",
            sample_by_sample,
        ),
        Mistake(
            "mean over pairs",
            "It is a mean over pairs of sample and class; a class has one log(1 + Σ …), and the mean is over classes.",
            lambda similarity, labels, alpha, delta: pair_by_pair(similarity, labels, alpha, delta),
        ),
    ),
    gradient="similarity",
)

EXERCISES = (SIMILARITY, ANCHOR, REGULARIZER)
