"""The gradient of SGSL with respect to features of any length."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize, one_hot

from labkit.assignments.assignment import Question
from labkit.assignments.softmax.best_scale import own_of
from labkit.lessons.draw import normal, seeded, uniform, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "The gradient (N, D) of SGSL (Eq. 6, mean over the batch) with respect to the features, of any length."


def some_features(rng: torch.Generator, N: int, C: int, D: int, gamma: float) -> dict[str, Tensor | float]:
    """Random features and class vectors of unequal lengths."""
    x = normal(rng, N, D) * (0.5 + 2 * uniform(rng, N, 1))
    W = normal(rng, C, D) * (0.3 + uniform(rng, C, 1))
    return {"embeddings": x, "labels": torch.randint(C, (N,), generator=rng), "weight": W, "gamma": gamma}


def public_cases() -> list[Case]:
    """The paper's γ, a soft one, two classes, and one at which e^γ overflows."""
    rng = seeded(2)
    return [
        Case("5 samples, 4 classes, γ = 30", some_features(rng, 5, 4, 3, 30.0)),
        Case("6 samples, 5 classes, γ = 2", some_features(rng, 6, 5, 3, 2.0)),
        Case("2 classes, γ = 10", some_features(rng, 3, 2, 4, 10.0)),
        Case("γ = 3000", some_features(rng, 4, 6, 3, 3000.0), edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes; collapsed class vectors, features at their class vectors, a γ at which e^γ overflows."""
    cases = []
    for gamma in (1.5, 5.0, 30.0):
        N, C, D = whole(rng, 2, 8), whole(rng, 3, 7), whole(rng, 3, 6)
        cases.append(Case(f"{N} samples, {C} classes, γ = {gamma}", some_features(rng, N, C, D, gamma)))
    arrived = some_features(rng, 4, 5, 4, 20.0)
    weight = arrived["weight"]
    assert isinstance(weight, Tensor)
    return [
        *cases,
        Case("one sample, two classes", some_features(rng, 1, 2, 3, 8.0)),
        Case("features at their class vectors", arrived | {"embeddings": 2 * weight[arrived["labels"]]}),  # type: ignore[index]
        Case("all class vectors equal", arrived | {"weight": weight[:1].repeat(5, 1)}, edge=True),
        Case("γ = 5000", some_features(rng, 5, 4, 3, 5000.0), edge=True),
    ]


def cosines(embeddings: Tensor, weight: Tensor) -> Tensor:
    """Cosines (N, C) of the samples with the class vectors."""
    return normalize(embeddings, dim=1) @ normalize(weight, dim=1).T


def others_share(cosine: Tensor, labels: Tensor, gamma: float) -> tuple[Tensor, Tensor]:
    """Softmax over the other classes with γ (N, C), 0 for the own; and the argument of the softplus (N,)."""
    others = cosine.masked_fill(one_hot(labels, cosine.shape[1]).bool(), -torch.inf)
    margin = torch.logsumexp(gamma * others, 1) / gamma - own_of(cosine, labels)
    return torch.softmax(gamma * others, 1), margin


def to_features(slope: Tensor, embeddings: Tensor, weight: Tensor) -> Tensor:
    """From ∂L/∂cos (N, C) to ∂L/∂f (N, D): across the feature only, divided by its length."""
    u = normalize(embeddings, dim=1)
    along = slope @ normalize(weight, dim=1)
    across: Tensor = (along - (along * u).sum(1, keepdim=True) * u) / embeddings.norm(dim=1, keepdim=True)
    return across


def cosine_slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """∂L/∂cos (N, C) of the mean."""
    share, margin = others_share(cosine, labels, gamma)
    return torch.sigmoid(margin)[:, None] * (share - one_hot(labels, cosine.shape[1])) / len(cosine)


def sgsl_gradient(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
    """σ(m)/N · (Σ_{j≠y} p_j Ŵ_j − Ŵ_y), projected across f and divided by ‖f‖."""
    return to_features(cosine_slope(cosines(embeddings, weight), labels, gamma), embeddings, weight)


def by_slope(slope: Answer) -> Answer:
    """A wrong answer with another ∂L/∂cos: slope(cosine, labels, gamma)."""

    def answer(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
        return to_features(slope(cosines(embeddings, weight), labels, gamma), embeddings, weight)

    return answer


def by_parts(change: Answer) -> Answer:
    """A wrong answer with another mean over σ(m)·(share − own): change(share, own, margin, gamma)."""

    def slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
        share, margin = others_share(cosine, labels, gamma)
        found: Tensor = change(share, one_hot(labels, cosine.shape[1]), margin[:, None], gamma) / len(cosine)
        return found

    return by_slope(slope)


def naive_slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """Exponentials as they are written."""
    own = one_hot(labels, cosine.shape[1]).bool()
    e = torch.exp(gamma * cosine) * ~own
    margin = e.sum(1).log() / gamma - own_of(cosine, labels)
    return torch.sigmoid(margin)[:, None] * (e / e.sum(1, keepdim=True) - own.double()) / len(cosine)


def own_left_in(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """The own class takes part in the soft maximum."""
    margin = torch.logsumexp(gamma * cosine, 1) / gamma - own_of(cosine, labels)
    share = torch.softmax(gamma * cosine, 1)
    return torch.sigmoid(margin)[:, None] * (share - one_hot(labels, cosine.shape[1])) / len(cosine)


def hard_slope(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """The nearest other class alone."""
    own = one_hot(labels, cosine.shape[1])
    nearest = cosine.masked_fill(own.bool(), -2.0).argmax(1)
    margin = own_of(cosine, nearest) - own_of(cosine, labels)
    return torch.sigmoid(margin)[:, None] * (one_hot(nearest, cosine.shape[1]) - own) / len(cosine)


def not_tangent(project: bool, divide: bool) -> Answer:
    """Without the projection across f, or without dividing by its length."""

    def answer(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
        along = cosine_slope(cosines(embeddings, weight), labels, gamma) @ normalize(weight, dim=1)
        u = normalize(embeddings, dim=1)
        across = along - (along * u).sum(1, keepdim=True) * u if project else along
        return across / embeddings.norm(dim=1, keepdim=True) if divide else across

    return answer


def long_weights(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
    """W keeps its lengths."""
    u = normalize(embeddings, dim=1)
    along = cosine_slope(u @ weight.T, labels, gamma) @ weight
    across: Tensor = (along - (along * u).sum(1, keepdim=True) * u) / embeddings.norm(dim=1, keepdim=True)
    return across


MISTAKES = (
    Mistake(
        "sign",
        "The sign is turned round: that is the step downhill, the gradient points uphill.",
        lambda embeddings, labels, weight, gamma: -sgsl_gradient(embeddings, labels, weight, gamma),
    ),
    Mistake(
        "not across",
        "It has a part along f; a cosine does not change with the length, so the gradient is at right angles to f.",
        not_tangent(project=False, divide=True),
    ),
    Mistake(
        "length left out",
        "It is not divided by the length of f: a long feature turns less.",
        not_tangent(project=True, divide=False),
    ),
    Mistake(
        "normalising left out",
        "That is ∂L/∂cos times Ŵ only: normalising f has a derivative.",
        not_tangent(project=False, divide=False),
    ),
    Mistake(
        "sum",
        "It is the gradient of the sum; divide by the number of samples.",
        lambda embeddings, labels, weight, gamma: len(labels) * sgsl_gradient(embeddings, labels, weight, gamma),
    ),
    Mistake(
        "no sigmoid",
        "The derivative of the softplus is missing: σ of its argument.",
        by_parts(lambda share, own, margin, gamma: share - own),
    ),
    Mistake(
        "sigmoid turned",
        "σ has the wrong sign inside: the worse the margin, the stronger the gradient.",
        by_parts(lambda share, own, margin, gamma: torch.sigmoid(-margin) * (share - own)),
    ),
    Mistake(
        "gamma in front",
        "A factor γ is left: the 1/γ in front of LSE cancels it.",
        by_parts(lambda share, own, margin, gamma: torch.sigmoid(margin) * (gamma * share - own)),
    ),
    Mistake(
        "gamma on all",
        "A factor γ is left before everything: it stands inside LSE, and 1/γ cancels it.",
        by_parts(lambda share, own, margin, gamma: gamma * torch.sigmoid(margin) * (share - own)),
    ),
    Mistake(
        "shares without gamma",
        "The shares of the other classes are a softmax of γ·cos, not of cos.",
        by_slope(
            lambda cosine, labels, gamma: (
                torch.sigmoid(others_share(cosine, labels, gamma)[1])[:, None]
                * (others_share(cosine, labels, 1.0)[0] - one_hot(labels, cosine.shape[1]))
                / len(cosine)
            )
        ),
    ),
    Mistake("own class left in", "The own class is in the soft maximum: j ≠ y leaves it out.", by_slope(own_left_in)),
    Mistake(
        "hard maximum",
        "Only the nearest other class pushes; the soft maximum shares the push out.",
        by_slope(hard_slope),
    ),
    Mistake(
        "push only",
        "The pull to the own class is missing.",
        by_parts(lambda share, own, margin, gamma: torch.sigmoid(margin) * share),
    ),
    Mistake("W not normalised", "The class vectors keep their length: SGSL has cosines.", long_weights),
    Mistake("overflow", "e^(γ cos) overflows at large γ: use softmax and logsumexp.", by_slope(naive_slope)),
)

QUESTION = Question(
    Exercise("sgsl_gradient", TASK, sgsl_gradient, public_cases, MISTAKES),
    points=7,
    hidden=hidden_cases,
)
