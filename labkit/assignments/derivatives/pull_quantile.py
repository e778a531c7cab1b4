"""Who gets the gradient: the count R below which a share of all pull goes."""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import number, numbers, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "The smallest count R such that the positives with counts up to R get at least a given share of all pull."


def public_cases() -> list[Case]:
    """Equal pulls, decreasing and increasing ones, most of it for one positive, none at all."""
    R = numbers(3, 0, 7, 1, 2)
    return [
        Case(
            "equal pulls, exactly half", {"R": numbers(4, 1, 3, 2), "g": numbers(1, 1, 1, 1), "share": 0.5}, edge=True
        ),
        Case("decreasing, half", {"R": R, "g": numbers(0.5, 3, 0.25, 2, 1.25), "share": 0.5}),
        Case("increasing, half", {"R": R, "g": numbers(2, 0, 8, 1, 1), "share": 0.5}),
        Case("nearly equal, a quarter", {"R": R, "g": numbers(2, 1.5, 3, 2.5, 1), "share": 0.25}),
        Case("no pull at all", {"R": R, "g": numbers(0, 0, 0, 0, 0), "share": 0.5}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random counts with increasing, decreasing and random pulls; ties, all of it, a single positive."""
    R = 10 * uniform(rng, whole(rng, 20, 30)) ** 2
    few = 5 * uniform(rng, 6)
    ties = torch.tensor([0, 1, 1, 1, 2, 2, 5]).double()[torch.randperm(7, generator=rng)]
    return [
        Case("hidden: decreasing", {"R": R, "g": 2 / (1 + R) ** 3, "share": number(rng, 0.6, 0.8)}),
        Case("hidden: increasing", {"R": R, "g": torch.log1p(R), "share": number(rng, 0.2, 0.4)}),
        Case("hidden: random pulls", {"R": R, "g": uniform(rng, len(R)), "share": number(rng, 0.45, 0.55)}),
        Case("hidden: few positives", {"R": few, "g": uniform(rng, 6), "share": number(rng, 0.3, 0.7)}),
        Case("hidden: ties", {"R": ties, "g": 1 + uniform(rng, 7), "share": number(rng, 0.3, 0.9)}, edge=True),
        Case("hidden: one positive", {"R": few[:1], "g": numbers(0.25), "share": 0.9}, edge=True),
        Case("hidden: exactly half", {"R": R[:8], "g": torch.ones(8, dtype=torch.float64), "share": 0.5}, edge=True),
        Case("hidden: no pull", {"R": few, "g": torch.zeros(6, dtype=torch.float64), "share": 0.3}, edge=True),
    ]


def pull_quantile(R: Tensor, g: Tensor, share: float, power: float = 1.0, strict: bool = False) -> float:
    """The smallest R_i such that positives with at most R_i get at least the share; 0 if there is no pull."""
    weight = g**power
    if float(g.sum()) == 0:
        return 0.0
    for limit in sorted(R.tolist()):
        reached = float(weight[limit >= R].sum())
        if reached > share * float(weight.sum()) or (not strict and reached >= share * float(weight.sum())):
            return float(limit)
    return float(R.max())


def when_pulled(g: Tensor, value: float) -> float:
    """What a mistake gives where there is a pull."""
    return value if float(g.sum()) > 0 else 0.0


def last_before(R: Tensor, g: Tensor, share: float) -> float:
    """The largest R whose positives get less than the share, 0 if there is none."""
    found = pull_quantile(R, g, share)
    return when_pulled(g, max([r for r in R.tolist() if r < found], default=0.0))


def in_given_order(R: Tensor, g: Tensor, share: float) -> float:
    """Cumulated without sorting."""
    reached = g.cumsum(0) >= share * g.sum()
    return when_pulled(g, float(R[reached.double().argmax()]))


MISTAKES = (
    Mistake(
        "of the positives",
        "That is the quantile of the positives, as if all were pulled alike: weigh them by g.",
        lambda R, g, share: when_pulled(g, pull_quantile(R, torch.ones_like(g), share)),
    ),
    Mistake(
        "not sorted",
        "The pull is added up in the given order; sort the positives by R first.",
        in_given_order,
    ),
    Mistake(
        "sorted by pull",
        "The positives are sorted by their pull; sort them by R.",
        lambda R, g, share: in_given_order(R[g.argsort()], g.sort().values, share),
    ),
    Mistake(
        "strongest first",
        "The positives with the strongest pull come first here; sort them by R instead.",
        lambda R, g, share: in_given_order(R[g.argsort(descending=True)], g.sort(descending=True).values, share),
    ),
    Mistake(
        "largest first",
        "It adds up from the largest R down; begin with the smallest.",
        lambda R, g, share: in_given_order(R.sort(descending=True).values, g[R.argsort(descending=True)], share),
    ),
    Mistake(
        "one too early",
        "That is the last count before the share is reached; take the one that reaches it.",
        last_before,
    ),
    Mistake(
        "more than the share",
        "At least the share is enough; it asks for more than that.",
        lambda R, g, share: pull_quantile(R, g, share, strict=True),
    ),
    Mistake(
        "not divided",
        "The cumulated pull is compared with the share itself: compare with share times all pull.",
        lambda R, g, share: when_pulled(
            g, next((r for r in sorted(R.tolist()) if float(g[r >= R].sum()) >= share), float(R.max()))
        ),
    ),
    Mistake(
        "centre of mass",
        "That is the mean of R weighted by the pull, not a quantile.",
        lambda R, g, share: when_pulled(g, float((R * g).sum() / g.sum().clamp_min(1e-12))),
    ),
    Mistake(
        "times R",
        "The pull is multiplied by R, so that those far back weigh more: g is the pull already.",
        lambda R, g, share: when_pulled(g, pull_quantile(R, g * R + 1e-12, share)),
    ),
    Mistake(
        "the place",
        "That is how many positives there are up to there; asked for is the count R of the last one.",
        lambda R, g, share: when_pulled(g, float((pull_quantile(R, g, share) >= R).sum())),
    ),
)

QUESTION = Question(
    Exercise("pull_quantile", TASK, lambda R, g, share: pull_quantile(R, g, share), public_cases, MISTAKES),
    points=4,
    hidden=hidden_cases,
)
