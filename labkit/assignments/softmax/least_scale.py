"""The smallest scale at which a softmax on cosines can reach a given loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from labkit.assignments.assignment import Question
from labkit.lessons.draw import number, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "The smallest scale s ≥ 0 at which a softmax on s · cosine with C classes can have a loss as low as given."


def public_cases() -> list[Case]:
    """Few and many classes, losses below and above that of a guess."""
    return [
        Case("10 classes, loss 0.1", {"num_classes": 10, "loss": 0.1}),
        Case("100 classes, loss 0.01", {"num_classes": 100, "loss": 0.01}),
        Case("11,318 classes, loss 0.5", {"num_classes": 11_318, "loss": 0.5}),
        Case("2 classes, loss 0.3", {"num_classes": 2, "loss": 0.3}),
        Case("1,000 classes, loss 8: worse than a guess", {"num_classes": 1000, "loss": 8.0}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random numbers of classes; losses so small that e^ℓ is 1, or so large that it is infinite."""
    cases = []
    for most in (20, 200, 2000, 20_000):
        C = whole(rng, 3, most)
        loss = number(rng, 0.01, 0.9)
        cases.append(Case(f"{C:,} classes, loss {loss:.3f}", {"num_classes": C, "loss": loss}))
    C = whole(rng, 3, 50)
    return [
        *cases,
        Case("2 classes", {"num_classes": 2, "loss": number(rng, 0.05, 0.6)}),
        Case("a loss of 1e-15", {"num_classes": C, "loss": 1e-15}, edge=True),
        Case("a loss of 1e-20", {"num_classes": C, "loss": 1e-20}, edge=True),
        Case("a loss of 1,000", {"num_classes": C, "loss": 1000.0}, edge=True),
    ]


def log_expm1(x: float) -> float:
    """log(e^x − 1), for any x > 0."""
    return x + math.log1p(-math.exp(-x)) if x > 1 else math.log(math.expm1(x))


def least_scale(num_classes: int, loss: float) -> float:
    """s with log(1 + (C−1) e^{−sC/(C−1)}) = ℓ; 0 from log C on."""
    C = num_classes
    return max(0.0, (C - 1) / C * (math.log(C - 1) - log_expm1(loss)))


def with_others(other: Callable[[int], float], count: Callable[[int], int] = lambda C: C - 1) -> Answer:
    """A wrong answer whose other classes, `count` of them, are at the cosine `other`."""
    return lambda num_classes, loss: max(
        0.0, (math.log(count(num_classes)) - log_expm1(loss)) / (1 - other(num_classes))
    )


def unscaled(C: int) -> float:
    """The floor at scale 1."""
    return math.log1p((C - 1) * math.exp(-C / (C - 1)))


MISTAKES = (
    Mistake(
        "others orthogonal",
        "The other classes are put at cosine 0; C vectors can do better, −1/(C−1).",
        with_others(lambda C: 0.0),
    ),
    Mistake(
        "others opposite",
        "The others are put at cosine −1, but they cannot all be opposite: it is −1/(C−1).",
        with_others(lambda C: -1.0),
    ),
    Mistake("one over C", "The other cosines are −1/(C−1), not −1/C.", with_others(lambda C: -1 / C)),
    Mistake("C others", "There are C − 1 other classes, not C.", with_others(lambda C: -1 / (C - 1), lambda C: C)),
    Mistake(
        "one other",
        "Only one other class is counted; there are C − 1.",
        with_others(lambda C: -1 / (C - 1), lambda C: 1),
    ),
    Mistake(
        "own term left out",
        "The 1 of log(1 + …) was lost: solve e^ℓ − 1 = (C−1) e^{…}, not e^ℓ = ….",
        lambda num_classes, loss: max(0.0, (num_classes - 1) / num_classes * (math.log(num_classes - 1) - loss)),
    ),
    Mistake(
        "not clipped",
        "A loss above log C is reached without any scale: return 0, not a negative scale.",
        lambda num_classes, loss: (num_classes - 1) / num_classes * (math.log(num_classes - 1) - log_expm1(loss)),
    ),
    Mistake(
        "factor turned",
        "The factor in front is upside down: s C/(C−1) is the exponent, so divide by C/(C−1).",
        lambda num_classes, loss: least_scale(num_classes, loss) * (num_classes / (num_classes - 1)) ** 2,
    ),
    Mistake(
        "base 2",
        "The logarithm is the natural one, not base 2.",
        lambda num_classes, loss: least_scale(num_classes, loss) / math.log(2),
    ),
    Mistake(
        "the floor",
        "That is the floor of the unscaled softmax; the question is which scale lowers it to ℓ.",
        lambda num_classes, loss: unscaled(num_classes),
    ),
    Mistake(
        "proportional",
        "The floor does not fall in proportion to the scale: solve its formula for s.",
        lambda num_classes, loss: max(0.0, unscaled(num_classes) / loss),
    ),
    Mistake(
        "error rate",
        "The loss is taken for 1 minus the own probability; it is minus its logarithm.",
        lambda num_classes, loss: with_others(lambda C: -1 / (C - 1))(num_classes, -math.log1p(-min(loss, 0.999999))),
    ),
    Mistake(
        "temperature",
        "That is the temperature 1/s; the scale is asked for.",
        lambda num_classes, loss: 1 / max(least_scale(num_classes, loss), 1e-9),
    ),
)

QUESTION = Question(
    Exercise("least_scale", TASK, least_scale, public_cases, MISTAKES),
    points=5,
    hidden=hidden_cases,
)
