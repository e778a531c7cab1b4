"""The scale that is best for the cosines of a batch."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from labkit.assignments.assignment import Question
from labkit.lessons.draw import normal, seeded, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "The scale between 0 and `most` at which the mean cross-entropy on scale · cosine is least."

Slope = Callable[[float], Tensor]


def some_cosines(rng: torch.Generator, N: int, C: int, own: float = 0.5, noise: float = 0.35) -> dict[str, Tensor]:
    """Cosines that are mostly right, labels of unequal frequency."""
    labels = torch.randint(C, (N,), generator=rng)
    labels[: N // 3] = 0
    labels = labels[torch.randperm(N, generator=rng)]
    cosine = (own * one_hot(labels, C) + noise * normal(rng, N, C)).clamp(-0.99, 0.99)
    return {"cosine": cosine, "labels": labels}


def public_cases() -> list[Case]:
    """Mistakes in a batch, two classes, and batches that are all right or all wrong."""
    rng = seeded(0)
    apart = torch.tensor([[0.9, 0.1, -0.2], [0.0, 0.8, 0.3]], dtype=torch.float64)
    y = torch.tensor([0, 1])
    return [
        Case("24 samples, 5 classes", some_cosines(rng, 24, 5) | {"most": 100.0}),
        Case("30 samples, 3 classes, many mistakes", some_cosines(rng, 30, 3, 0.3, 0.4) | {"most": 50.0}),
        Case("20 samples, 2 classes", some_cosines(rng, 20, 2, 0.4, 0.4) | {"most": 100.0}),
        Case("all right: the larger, the better", {"cosine": apart, "labels": y, "most": 40.0}, edge=True),
        Case("all wrong", {"cosine": apart, "labels": y.flip(0), "most": 40.0}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes, all right, all wrong, a largest scale that is too small, large cosines times a large scale."""
    cases = []
    for middle, noise in ((0.5, 0.35), (0.3, 0.4), (0.6, 0.4), (0.4, 0.3)):
        N, C = whole(rng, 30, 50), whole(rng, 3, 8)
        told = f"{N} samples, {C} classes, own cosines about {middle}"
        cases.append(Case(told, some_cosines(rng, N, C, middle, noise) | {"most": 200.0}))
    batch = some_cosines(rng, 12, 4, 0.3, 0.1)
    small = some_cosines(rng, 40, 5, 0.4, 0.35)
    own = one_hot(batch["labels"], 4).bool()
    right = torch.where(own, 0.9, batch["cosine"].clamp(-0.8, 0.8))
    wrong = torch.where(own, -0.9, batch["cosine"].clamp(-0.8, 0.8))
    return [
        *cases,
        Case("12 samples, all right", {"cosine": right, "labels": batch["labels"], "most": 30.0}, edge=True),
        Case("12 samples, all wrong", {"cosine": wrong, "labels": batch["labels"], "most": 64.0}, edge=True),
        Case("a best above 100", {**small, "cosine": small["cosine"] / 50, "most": 3000.0}, edge=True),
        Case("best beyond the largest", some_cosines(rng, 30, 4) | {"most": 0.5}, edge=True),
    ]


def root(slope: Slope, most: float) -> float:
    """Where an increasing slope is zero, in 0 … most."""
    low, high = 0.0, most
    if slope(low) >= 0:
        return low
    if slope(high) <= 0:
        return high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return (low + high) / 2


def own_of(cosine: Tensor, labels: Tensor) -> Tensor:
    """cos_y (N,)."""
    return cosine.gather(1, labels[:, None])[:, 0]


def slopes(cosine: Tensor, labels: Tensor, scale: float) -> Tensor:
    """Derivative (N,) of every sample's loss by the scale: expected cosine minus own cosine."""
    return (torch.softmax(scale * cosine, 1) * cosine).sum(1) - own_of(cosine, labels)


def best_scale(cosine: Tensor, labels: Tensor, most: float) -> float:
    """The zero of the derivative, which increases because the loss is convex in the scale."""
    return root(lambda s: slopes(cosine, labels, s).mean(), most)


def own_left_out(cosine: Tensor, labels: Tensor, most: float) -> float:
    """log Σ over the others only."""
    others = cosine.masked_fill(one_hot(labels, cosine.shape[1]).bool(), -1e9)

    def slope(s: float) -> Tensor:
        p = torch.softmax(s * others, 1) * (others > -2)
        p = p / p.sum(1, keepdim=True)
        return ((p * others).sum(1) - own_of(cosine, labels)).mean()

    return root(lambda s: slope(max(s, 1e-6)), most)


def hardest_only(cosine: Tensor, labels: Tensor, most: float) -> float:
    """Own class against the nearest other class."""
    own = own_of(cosine, labels)
    other = cosine.masked_fill(one_hot(labels, cosine.shape[1]).bool(), -2.0).amax(1)
    two = torch.stack([own, other], 1)
    return best_scale(two, torch.zeros_like(labels), most)


def by_class(cosine: Tensor, labels: Tensor, most: float) -> float:
    """Every class counts alike."""
    kinds = labels.unique()
    return root(lambda s: torch.stack([slopes(cosine, labels, s)[labels == c].mean() for c in kinds]).mean(), most)


def one_newton_step(cosine: Tensor, labels: Tensor, most: float) -> float:
    """From scale 1."""
    p = torch.softmax(cosine, 1)
    curve = ((p * cosine.square()).sum(1) - (p * cosine).sum(1).square()).mean()
    return float((1 - slopes(cosine, labels, 1.0).mean() / curve).clamp(0, most))


MISTAKES = (
    Mistake(
        "temperature",
        "That is a temperature: the cosines are multiplied by the scale, not divided by it.",
        lambda cosine, labels, most: min(most, 1 / max(best_scale(cosine, labels, most), 1e-9)),
    ),
    Mistake(
        "worst",
        "The sign is turned round: it looks for the largest loss.",
        lambda cosine, labels, most: 0.0 if cross_entropy(most * cosine, labels) < math.log(cosine.shape[1]) else most,
    ),
    Mistake(
        "labels not used",
        "It takes the nearest class for the own one: the labels say which is the own class.",
        lambda cosine, labels, most: best_scale(cosine, cosine.argmax(1), most),
    ),
    Mistake(
        "whole numbers",
        "It tries whole scales only; find it to five digits.",
        lambda cosine, labels, most: float(
            min(range(int(most) + 1), key=lambda s: float(cross_entropy(s * cosine, labels)))
        ),
    ),
    Mistake("own class left out", "The own class belongs into the denominator of the softmax, too.", own_left_out),
    Mistake(
        "nearest other only",
        "Only the nearest other class is counted; the softmax runs over all classes.",
        hardest_only,
    ),
    Mistake("mean over classes", "It takes the mean over classes; every sample counts alike.", by_class),
    Mistake(
        "mean of best scales",
        "Each sample has its own scale here; one scale is wanted for the mean loss.",
        lambda cosine, labels, most: (
            sum(best_scale(c[None], y[None], most) for c, y in zip(cosine, labels)) / len(labels)
        ),
    ),
    Mistake(
        "of squared distances",
        "That is the scale of squared distances 2 − 2 cos; that of cosines is twice it.",
        lambda cosine, labels, most: best_scale(2 * cosine, labels, most / 2),
    ),
    Mistake(
        "base 2",
        "The exponential has base 2; the softmax has e.",
        lambda cosine, labels, most: min(most, best_scale(math.log(2) * cosine, labels, most / math.log(2))),
    ),
    Mistake("one step", "It stops after one Newton step from 1: repeat until nothing changes.", one_newton_step),
)

QUESTION = Question(
    Exercise("best_scale", TASK, best_scale, public_cases, MISTAKES, tolerance=1e-4),
    points=6,
    hidden=hidden_cases,
)
