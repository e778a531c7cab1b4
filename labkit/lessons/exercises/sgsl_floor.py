"""Lesson 9's third exercise: the floor of the unscaled softmax on unit vectors."""

from __future__ import annotations

import math

from labkit.lessons.exercise import Case, Exercise, Mistake
from labkit.losses.softmax import norm_softmax_floor


def simplex_loss(C: int, other: float, count: float | None = None) -> float:
    """−log of the own probability, if the own cosine is 1 and `count` others (C − 1 by default) have `other`."""
    return math.log1p((C - 1 if count is None else count) * math.exp(other - 1))


FLOOR = Exercise(
    "unscaled_floor",
    "The least cross-entropy on cosines (no scale) with C classes: own cosine 1, all others −1/(C−1).",
    lambda num_classes: norm_softmax_floor(num_classes),
    lambda: [Case(f"{C:,} classes", {"num_classes": C}) for C in (2, 3, 10, 100, 964, 11_318)],
    (
        Mistake(
            "others opposite",
            "The others are put at cosine −1, but they cannot all be opposite: it is −1/(C−1).",
            lambda num_classes: simplex_loss(num_classes, -1.0),
        ),
        Mistake(
            "others orthogonal",
            "The other classes are put at cosine 0; C vectors can do better, −1/(C−1).",
            lambda num_classes: simplex_loss(num_classes, 0.0),
        ),
        Mistake(
            "one over C",
            "The other cosines are −1/(C−1), not −1/C.",
            lambda num_classes: simplex_loss(num_classes, -1 / num_classes),
        ),
        Mistake(
            "C others",
            "There are C − 1 other classes, not C.",
            lambda num_classes: simplex_loss(num_classes, -1 / (num_classes - 1), num_classes),
        ),
        Mistake(
            "one other",
            "Only one other class is counted; there are C − 1.",
            lambda num_classes: simplex_loss(num_classes, -1 / (num_classes - 1), 1),
        ),
        Mistake(
            "own cosine left out",
            "The own cosine, 1, is missing: the exponent is −1/(C−1) − 1 = −C/(C−1).",
            lambda num_classes: simplex_loss(num_classes, 1 - 1 / (num_classes - 1)),
        ),
        Mistake(
            "sign",
            "The exponent has the wrong sign: other minus own is −C/(C−1).",
            lambda num_classes: simplex_loss(num_classes, 1 + num_classes / (num_classes - 1)),
        ),
        Mistake(
            "own term left out",
            "The own class belongs into the denominator too: log(1 + …).",
            lambda num_classes: math.log(num_classes - 1) - num_classes / (num_classes - 1),
        ),
        Mistake(
            "probability",
            "That is the probability of the own class; the loss is minus its logarithm.",
            lambda num_classes: math.exp(-norm_softmax_floor(num_classes)),
        ),
        Mistake(
            "chance",
            "That is log C, the loss of a network that knows nothing.",
            lambda num_classes: math.log(num_classes),
        ),
        Mistake(
            "base 2",
            "The logarithm is the natural one, not base 2.",
            lambda num_classes: norm_softmax_floor(num_classes) / math.log(2),
        ),
        Mistake("one in C", "That is the chance of a guess; a loss is asked for.", lambda num_classes: 1 / num_classes),
    ),
)
