"""Lesson 9: a soft maximum over the other classes, SGSL of a batch, and the floor of a softmax (sgsl_floor.py).

cosine (n, C): cosines of n samples with the C class vectors; embeddings (n, D); weight (C, D); labels (n,).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import normalize, one_hot, relu, softplus

from labkit.lessons.draw import normal, seeded
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake
from labkit.lessons.exercises.sgsl_floor import FLOOR

COSINE = torch.tensor([[0.9, 0.2, 0.1, -0.3], [0.3, 0.5, 0.55, 0.4], [-0.2, 0.6, -0.4, 0.1]], dtype=torch.float64)
LABELS = torch.tensor([0, 1, 3])


def without_own(cosine: Tensor, labels: Tensor, fill: float = -math.inf) -> Tensor:
    """The cosines with `fill` in place of the own class."""
    return cosine.masked_fill(one_hot(labels, cosine.shape[1]).bool(), fill)


def soft_maximum(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """LSE^γ over the other classes: 1/γ log Σ_{j ≠ y} e^{γ cos_j}."""
    return torch.logsumexp(gamma * without_own(cosine, labels), 1) / gamma


def maximum_cases() -> list[Case]:
    """Soft and hard γ, one so large that a plain exponential overflows, two classes, equal cosines."""
    equal = torch.full((2, 5), 0.25, dtype=torch.float64)
    return [
        Case("γ = 30", {"cosine": COSINE, "labels": LABELS, "gamma": 30.0}),
        Case("γ = 1", {"cosine": COSINE, "labels": LABELS, "gamma": 1.0}),
        Case("γ = 0.5", {"cosine": COSINE, "labels": LABELS, "gamma": 0.5}),
        Case("γ = 2000", {"cosine": COSINE, "labels": LABELS, "gamma": 2000.0}),
        Case("all cosines equal, γ = 10", {"cosine": equal, "labels": torch.tensor([4, 0]), "gamma": 10.0}),
        Case("two classes, γ = 5", {"cosine": COSINE[:, :2], "labels": torch.tensor([0, 1, 1]), "gamma": 5.0}),
    ]


def naive(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """The formula as it is written."""
    exponentials = torch.exp(gamma * cosine) * (1 - one_hot(labels, cosine.shape[1]))
    return exponentials.sum(1).log() / gamma


SOFT_MAXIMUM = Exercise(
    "soft_maximum",
    "The soft maximum of each row's cosines without the own class, 1/γ log Σ_{j ≠ y} e^{γ cos_j}, for any γ.",
    soft_maximum,
    maximum_cases,
    (
        Mistake(
            "own class left in",
            "The own class is among the cosines: j ≠ y leaves it out.",
            lambda cosine, labels, gamma: torch.logsumexp(gamma * cosine, 1) / gamma,
        ),
        Mistake(
            "not divided",
            "γ is not divided out: without 1/γ the result is γ times too large.",
            lambda cosine, labels, gamma: gamma * soft_maximum(cosine, labels, gamma),
        ),
        Mistake(
            "gamma outside only",
            "γ must multiply the cosines too, before the exponential.",
            lambda cosine, labels, gamma: soft_maximum(cosine, labels, 1.0) / gamma,
        ),
        Mistake("no gamma", "γ is not used.", lambda cosine, labels, gamma: soft_maximum(cosine, labels, 1.0)),
        Mistake(
            "a temperature",
            "γ is taken for a temperature: it multiplies the cosines, it does not divide them.",
            lambda cosine, labels, gamma: soft_maximum(cosine, labels, 1 / gamma),
        ),
        Mistake("overflow", "e^(γ cos) overflows at large γ: use logsumexp, which subtracts the largest first.", naive),
        Mistake(
            "zero for the own",
            "The own class is set to 0, and e⁰ = 1 still counts: use −inf.",
            lambda cosine, labels, gamma: torch.logsumexp(gamma * without_own(cosine, labels, 0.0), 1) / gamma,
        ),
        Mistake(
            "hard",
            "That is the hard maximum: only one class gets a gradient.",
            lambda cosine, labels, gamma: without_own(cosine, labels).amax(1),
            also=(lambda cosine, labels, gamma: without_own(cosine, labels).max(1).values,),
        ),
        Mistake(
            "mean",
            "It takes the mean inside the logarithm; LSE has the sum (the mean is smaller by log(C−1)/γ).",
            lambda cosine, labels, gamma: soft_maximum(cosine, labels, gamma) - math.log(cosine.shape[1] - 1) / gamma,
        ),
        Mistake(
            "over the samples",
            "The sum runs over the samples (dim 0); it must run over the classes (dim 1).",
            lambda cosine, labels, gamma: torch.logsumexp(gamma * without_own(cosine, labels), 0) / gamma,
        ),
        Mistake(
            "weighted mean",
            "That is a mean weighted by a softmax; the soft maximum is the logarithm of a sum, divided by γ.",
            lambda cosine, labels, gamma: (torch.softmax(gamma * without_own(cosine, labels), 1) * cosine).sum(1),
        ),
    ),
    gradient="cosine",
)


def batch(classes: int, dim: int, count: int, seed: int) -> dict[str, Tensor]:
    """Random features and class vectors of unequal lengths."""
    rng = seeded(seed)
    labels = torch.randint(classes, (count,), generator=rng)
    return {
        "embeddings": 3 * normal(rng, count, dim),
        "labels": labels,
        "weight": 0.5 * normal(rng, classes, dim),
    }


def sgsl_cases() -> list[Case]:
    """Several γ, two classes, and features that lie on their class vectors already."""
    right = batch(5, 4, 6, 3)
    right["embeddings"] = 2 * right["weight"][right["labels"]] + 0.01
    return [
        Case("4 classes, γ = 30", batch(4, 6, 8, 0) | {"gamma": 30.0}),
        Case("4 classes, γ = 1", batch(4, 6, 8, 0) | {"gamma": 1.0}),
        Case("7 classes in 3-D, γ = 10", batch(7, 3, 5, 1) | {"gamma": 10.0}),
        Case("2 classes, γ = 30", batch(2, 3, 6, 2) | {"gamma": 30.0}),
        Case("every sample at its class vector", right | {"gamma": 30.0}),
        Case("one sample", batch(6, 4, 1, 4) | {"gamma": 5.0}),
    ]


def cosines(embeddings: Tensor, weight: Tensor) -> Tensor:
    """Cosines (n, C) of the samples with the class vectors."""
    return normalize(embeddings, dim=1) @ normalize(weight, dim=1).T


def margins(cosine: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """LSE^γ_{j≠y} cos_j − cos_y."""
    return soft_maximum(cosine, labels, gamma) - own(cosine, labels)


def own(cosine: Tensor, labels: Tensor) -> Tensor:
    """cos_y of each sample."""
    return cosine.gather(1, labels[:, None])[:, 0]


def sgsl_loss(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
    """Eq. 6: mean Softplus(LSE^γ_{j≠y} cos(sg(W_j), f) − cos(sg(W_y), f))."""
    return softplus(margins(cosines(embeddings, weight.detach()), labels, gamma)).mean()


def of_cosines(measure: Callable[[Tensor, Tensor, float], Tensor]) -> Answer:
    """A wrong answer whose cosines are right and stopped: measure(cosine, labels, gamma) goes wrong."""
    return lambda embeddings, labels, weight, gamma: measure(cosines(embeddings, weight.detach()), labels, gamma)


def of_products(length: bool) -> Answer:
    """A wrong answer without cosines: features keep their length (length=True), or class vectors do."""

    def answer(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
        w = weight.detach()
        product = embeddings @ normalize(w, dim=1).T if length else normalize(embeddings, dim=1) @ w.T
        return softplus(margins(product, labels, gamma)).mean()

    return answer


def through_weight(stop_features: bool) -> Answer:
    """A wrong answer with a gradient to W; with stop_features none to the features instead."""

    def answer(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
        f = embeddings.detach() if stop_features else embeddings
        return softplus(margins(cosines(f, weight), labels, gamma)).mean()

    return answer


SGSL = Exercise(
    "sgsl_loss",
    "SGSL of a batch (Eq. 6): the mean of Softplus(LSE^γ_{j≠y} cos(W_j, f) − cos(W_y, f)), without a gradient to W.",
    sgsl_loss,
    sgsl_cases,
    (
        Mistake(
            "gradient through W",
            "The value is right, but W gets a gradient: use weight.detach().",
            through_weight(stop_features=False),
        ),
        Mistake(
            "features stopped",
            "The gradient stops at the features, not at W: detach weight, not embeddings.",
            through_weight(stop_features=True),
        ),
        Mistake(
            "own class left in",
            "The own class is in the soft maximum: j ≠ y leaves it out.",
            of_cosines(lambda c, y, g: softplus(torch.logsumexp(g * c, 1) / g - own(c, y)).mean()),
        ),
        Mistake(
            "not divided",
            "γ is not divided out of the soft maximum: LSE^γ has 1/γ in front.",
            of_cosines(lambda c, y, g: softplus(g * soft_maximum(c, y, g) - own(c, y)).mean()),
        ),
        Mistake(
            "positive scaled",
            "The own cosine is multiplied by γ too, as in NormSoftmax; here γ stays inside LSE.",
            of_cosines(lambda c, y, g: softplus(g * margins(c, y, g)).mean()),
        ),
        Mistake(
            "no gamma",
            "γ is not used: that is the cross-entropy on cosines.",
            of_cosines(lambda c, y, g: softplus(margins(c, y, 1.0)).mean()),
        ),
        Mistake("features not normalised", "The features keep their length: divide by the norm.", of_products(True)),
        Mistake("W not normalised", "The class vectors keep their length: divide by the norm.", of_products(False)),
        Mistake(
            "sign",
            "The sign is turned round: the loss falls when the own cosine grows.",
            of_cosines(lambda c, y, g: softplus(-margins(c, y, g)).mean()),
        ),
        Mistake(
            "hinge",
            "That is Eq. 8, the approximation with [·]₊; Eq. 6 has the softplus, which is never 0.",
            of_cosines(lambda c, y, g: relu(margins(c, y, g)).mean()),
        ),
        Mistake(
            "hard maximum",
            "It takes the hard maximum over the other classes; Eq. 6 has the soft one.",
            of_cosines(lambda c, y, g: softplus(without_own(c, y).amax(1) - own(c, y)).mean()),
        ),
        Mistake(
            "no softplus",
            "The softplus is missing: softplus(x) = log(1 + e^x).",
            of_cosines(lambda c, y, g: margins(c, y, g).mean()),
        ),
        Mistake(
            "sum",
            "It adds up over the samples; divide by their number.",
            of_cosines(lambda c, y, g: softplus(margins(c, y, g)).sum()),
        ),
    ),
    gradient=("embeddings", "weight"),
)


EXERCISES = (SOFT_MAXIMUM, SGSL, FLOOR)
