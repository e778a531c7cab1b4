"""FEDS' filter in two forms, and its control: as much kept, but not what the surrogate is right about."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import number, numbers, uniform, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "The weights (3, n) of n pairs: the ramp, the hard filter, and the ramp's weights dealt out in the given order."


def drawn(rng: torch.Generator, count: int, epsilon: float) -> dict[str, object]:
    """Distances, estimates within about 2 ε of them, and an order."""
    exact = torch.randint(0, 7, (count,), generator=rng).double()
    off = epsilon * uniform(rng, count, low=-2.0, high=2.0)
    return {
        "estimate": exact + off,
        "exact": exact,
        "epsilon": epsilon,
        "order": torch.randperm(count, generator=rng),
    }


def public_cases() -> list[Case]:
    """Right, half right, wrong, too large and too small; two ε."""
    exact = numbers(0, 1, 2, 5, 3)
    estimate = numbers(0.25, 1, 1.25, 2.5, 3.5)
    order = torch.tensor([2, 0, 1, 4, 3])
    first = {"estimate": estimate, "exact": exact, "order": order}
    return [
        Case("five pairs, ε = 1", first | {"epsilon": 1.0}),
        Case("five pairs, ε = 4", first | {"epsilon": 4.0}),
        Case("five pairs, ε = 0.3", first | {"epsilon": 0.3}),
        Case("one pair", {"estimate": numbers(1.7), "exact": numbers(2), "order": torch.tensor([0]), "epsilon": 0.5}),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Drawn batches; an error of exactly ε, nothing kept, everything right."""
    cases = [Case(f"drawn {at + 1}", drawn(rng, whole(rng, 4, 9), number(rng, 0.3, 3))) for at in range(5)]
    order = torch.randperm(4, generator=rng)
    exact = torch.randint(1, 6, (4,), generator=rng).double()
    at_edge = {"estimate": exact + numbers(0.5, -0.5, 0.25, 1), "exact": exact, "epsilon": 0.5, "order": order}
    return [
        *cases,
        Case("an error of exactly ε", at_edge, edge=True),
        Case("nothing is kept", at_edge | {"estimate": exact + 9}, edge=True),
        Case("all right", at_edge | {"estimate": exact.clone()}, edge=True),
    ]


def ramp(off: Tensor, epsilon: float) -> Tensor:
    """max(0, 1 − u/ε)."""
    return (1 - off / epsilon).clamp(min=0)


def hard(off: Tensor, epsilon: float) -> Tensor:
    """1 if u ≤ ε."""
    return (off <= epsilon).double()


def dealt(weights: Tensor, order: Tensor) -> Tensor:
    """Pair i gets the weight of pair order[i]."""
    return weights[order]


def weights(
    *,
    off: Callable[[Tensor, Tensor], Tensor] = lambda estimate, exact: (estimate - exact).abs(),
    soft: Callable[[Tensor, float], Tensor] = ramp,
    firm: Callable[[Tensor, float], Tensor] = hard,
    control: Callable[[Tensor, Tensor], Tensor] = dealt,
    stop: bool = True,
) -> Answer:
    """The answer, or a wrong one with one part changed."""

    def answer(estimate: Tensor, exact: Tensor, epsilon: float, order: Tensor) -> Tensor:
        u = off(estimate.detach() if stop else estimate, exact)
        kept = soft(u, epsilon)
        return torch.stack((kept, firm(u, epsilon), control(kept, order)))

    return answer


filter_weights = weights()

MISTAKES = (
    Mistake(
        "sign kept",
        "The error has no sign here: u = |ê − e|. An estimate that is far too small is wrong, too.",
        weights(off=lambda estimate, exact: estimate - exact),
    ),
    Mistake(
        "below 0",
        "The ramp goes below 0 beyond ε: such pairs would be learned the wrong way round. Cut it off at 0.",
        weights(soft=lambda u, epsilon: 1 - u / epsilon),
    ),
    Mistake(
        "turned round",
        "The ramp is turned round: it keeps what the surrogate gets wrong.",
        weights(soft=lambda u, epsilon: (u / epsilon).clamp(max=1)),
    ),
    Mistake(
        "no epsilon",
        "The ramp does not use ε.",
        weights(soft=lambda u, epsilon: (1 - u).clamp(min=0)),
    ),
    Mistake(
        "epsilon as height",
        "The ramp begins at ε; its weight for a pair that is right must be 1: divide u by ε.",
        weights(soft=lambda u, epsilon: (epsilon - u).clamp(min=0)),
    ),
    Mistake(
        "strictly below",
        "An error of exactly ε is kept by the hard filter: u ≤ ε.",
        weights(firm=lambda u, epsilon: (u < epsilon).double()),
    ),
    Mistake(
        "hard turned round",
        "The hard filter keeps what lies beyond ε.",
        weights(firm=lambda u, epsilon: (u > epsilon).double()),
    ),
    Mistake(
        "relative error",
        "The error is divided by e; the filter looks at the error itself (and e may be 0).",
        weights(off=lambda estimate, exact: (estimate - exact).abs() / exact.clamp(min=1)),
    ),
    Mistake(
        "squared error",
        "The error is squared; the ramp is on |ê − e|.",
        weights(off=lambda estimate, exact: (estimate - exact).square()),
    ),
    Mistake(
        "order turned round",
        "Pair order[i] gets the weight of pair i; asked is that pair i gets the weight of pair order[i].",
        weights(control=lambda kept, order: kept[order.argsort()]),
    ),
    Mistake(
        "control not dealt out",
        "The third row is the ramp itself: deal its weights out by `order`.",
        weights(control=lambda kept, order: kept),
    ),
    Mistake(
        "control keeps all",
        "The control keeps every pair with the mean weight; it must keep the same weights, for other pairs.",
        weights(control=lambda kept, order: kept.mean().expand_as(kept)),
    ),
    Mistake(
        "gradient through the weights",
        "The values are right, but the weights have a gradient: then training would lower its loss by making the "
        "surrogate wrong. Take them as constants (detach).",
        weights(stop=False),
    ),
)

QUESTION = Question(
    Exercise("filter_weights", TASK, filter_weights, public_cases, MISTAKES, gradient="estimate"),
    points=6,
    hidden=hidden_cases,
)
