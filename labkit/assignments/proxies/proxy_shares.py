"""How many proxies of a class work: the share of the class's gradient that each one gets."""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.assignments.proxies.mpa_weights import mpa_weights, own_places, some_similarities
from labkit.lessons.draw import seeded, uniform, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = (
    "For every proxy the share of its class's gradient: Σ_i |∂L/∂s_ick| of MPA, divided by the class's sum; 0 for 0/0."
)


def public_cases() -> list[Case]:
    """Several γ, one proxy per class, and a batch on which nothing pulls or pushes."""
    S = some_similarities(seeded(8), 6, 3, 4)
    y = torch.tensor([1, 0, 0, 2, 1, 0])
    base = {"similarity": S, "labels": y, "alpha": 4.0, "delta": 0.1}
    at_rest = torch.where(own_places(S[:, :, 0], y)[..., None], 0.9, -0.9).repeat(1, 1, 2)
    return [
        Case("3 classes, 4 proxies, γ = 0.1", {**base, "gamma": 0.1}),
        Case("γ = 0.5", {**base, "gamma": 0.5}),
        Case("α = 16, γ = 0.3", {**base, "alpha": 16.0, "gamma": 0.3}),
        Case("nothing to do", {**base, "similarity": at_rest.double(), "alpha": 2000.0, "gamma": 0.1}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes; one proxy per class, equal similarities, a batch at rest."""
    cases = []
    for gamma in (0.1, 0.25, 1.0):
        N, C, K = whole(rng, 4, 8), whole(rng, 3, 5), whole(rng, 3, 6)
        S, y = some_similarities(rng, N, C, K), torch.randint(C - 1, (N,), generator=rng)
        told = {"similarity": S, "labels": y, "alpha": 6.0, "delta": 0.1, "gamma": gamma}
        cases.append(Case(f"{N} samples, {C} classes, K = {K}, γ = {gamma}", told))
    S, y = some_similarities(rng, 6, 4, 1), torch.randint(4, (6,), generator=rng)
    base = {"labels": y, "alpha": 4.0, "delta": 0.1, "gamma": 0.2}
    drawn = uniform(rng, 6, 4, 3)
    at_rest = torch.where(own_places(S[:, :, 0], y)[..., None], 0.8, -0.8).repeat(1, 1, 3).double()
    return [
        *cases,
        Case("one proxy per class", {**base, "similarity": S}),
        Case("five equal proxies", {**base, "similarity": S.repeat(1, 1, 5)}),
        Case("a batch nearly at rest", {**base, "similarity": at_rest + 0.1 * drawn, "alpha": 30.0}, edge=True),
        Case("a batch at rest", {**base, "similarity": at_rest, "alpha": 3000.0}, edge=True),
    ]


def soft_slopes(s: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    """S of Eq. 1 and ∂S/∂s, p_k (1 + (s_k − S)/γ)."""
    p = torch.softmax(s / gamma, 2)
    S = (p * s).sum(2)
    return S, p * (1 + (s - S[..., None]) / gamma)


def pulls(s: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """∂L/∂s (N, C, K)."""
    S, slope = soft_slopes(s, gamma)
    return mpa_weights(S, labels, alpha, delta)[..., None] * slope


def to_shares(size: Tensor) -> Tensor:
    """Rows add up to 1; a row of zeros stays."""
    total = size.sum(1, keepdim=True)
    return size / torch.where(total > 0, total, 1.0)


def proxy_shares(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """Σ_i |∂L/∂s_ick|, divided by its sum over k."""
    return to_shares(pulls(similarity, labels, alpha, delta, gamma).abs().sum(0))


def of_parts(size: Answer) -> Answer:
    """A wrong answer by another size (C, K) in place of Σ_i |∂L/∂s|: size(weights (N, C, 1), slope, p, own)."""

    def answer(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
        S, slope = soft_slopes(similarity, gamma)
        weight = mpa_weights(S, labels, alpha, delta)[..., None]
        p = torch.softmax(similarity / gamma, 2)
        return to_shares(size(weight, slope, p, own_places(S, labels)[..., None]))

    return answer


def with_mean(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """S is taken as the plain mean in the weights."""
    _, slope = soft_slopes(similarity, gamma)
    weight = mpa_weights(similarity.mean(2), labels, alpha, delta)[..., None]
    return to_shares((weight * slope).abs().sum(0))


def without_gamma(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
    """∂S/∂s without 1/γ."""
    S, _ = soft_slopes(similarity, gamma)
    slope = torch.softmax(similarity / gamma, 2) * (1 + similarity - S[..., None])
    return to_shares((mpa_weights(S, labels, alpha, delta)[..., None] * slope).abs().sum(0))


def divided(how: str) -> Answer:
    """A wrong answer with another divisor."""

    def answer(similarity: Tensor, labels: Tensor, alpha: float, delta: float, gamma: float) -> Tensor:
        size = pulls(similarity, labels, alpha, delta, gamma).abs().sum(0)
        if how == "not":
            return size
        total = size.sum() if how == "all" else size.amax(1, keepdim=True) if how == "largest" else size.sum(0)
        return size / torch.where(total > 0, total, 1.0)

    return answer


MISTAKES = (
    Mistake(
        "stopped weights",
        "∂S/∂s is not the softmax alone: the weights p depend on s, too (product rule).",
        of_parts(lambda w, slope, p, own: (w * p).abs().sum(0)),
    ),
    Mistake(
        "size of the sum",
        "The sum over samples comes before the absolute value: pulls and pushes cancel.",
        of_parts(lambda w, slope, p, own: (w * slope).sum(0).abs()),
    ),
    Mistake(
        "squares",
        "It adds up squares; absolute values are asked for.",
        of_parts(lambda w, slope, p, own: (w * slope).square().sum(0)),
    ),
    Mistake(
        "own samples only",
        "Only the class's own samples are counted; those of other classes push.",
        of_parts(lambda w, slope, p, own: (w * slope * own).abs().sum(0)),
    ),
    Mistake(
        "others only",
        "Only other classes' samples are counted; the class's own samples pull.",
        of_parts(lambda w, slope, p, own: (w * slope * ~own).abs().sum(0)),
    ),
    Mistake(
        "no weights",
        "∂L/∂S is missing: a sample that is far beyond the margin must count less.",
        of_parts(lambda w, slope, p, own: slope.abs().sum(0)),
    ),
    Mistake(
        "softmax only",
        "That is who is nearest (the softmax), not who gets the gradient.",
        of_parts(lambda w, slope, p, own: p.sum(0)),
    ),
    Mistake(
        "weights only",
        "∂S/∂s is missing: within a class the proxies differ by it.",
        of_parts(lambda w, slope, p, own: (w + 0 * slope).abs().sum(0)),
    ),
    Mistake(
        "repelled left out",
        "Negative ∂S/∂s are set to 0; a proxy that is repelled gets a gradient, too.",
        of_parts(lambda w, slope, p, own: (w * slope.clamp_min(0)).abs().sum(0)),
    ),
    Mistake("no gamma", "1/γ is missing in ∂S/∂s: the softmax has the argument s/γ.", without_gamma),
    Mistake(
        "mean similarity", "∂L/∂S is taken at the plain mean of the similarities; S is the soft maximum.", with_mean
    ),
    Mistake("not divided", "These are sizes; divide by the sum over the proxies of the class.", divided("not")),
    Mistake(
        "of all classes", "It divides by the sum over all classes; each class's shares add up to 1.", divided("all")
    ),
    Mistake("of the largest", "It divides by the largest; the shares of a class add up to 1.", divided("largest")),
    Mistake(
        "over classes",
        "It divides by the sum over classes (axis 0); sum over the class's proxies (axis 1).",
        divided("columns"),
    ),
)

QUESTION = Question(
    Exercise("proxy_shares", TASK, proxy_shares, public_cases, MISTAKES),
    points=7,
    hidden=hidden_cases,
)
