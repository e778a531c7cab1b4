"""A difference seed by seed, its interval, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from scipy.special import stdtrit

from labkit.assignments.assignment import Question
from labkit.lessons.draw import normal, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "Mean of ours − baseline over the shared seeds, its 95 % t interval, and the verdict: 1, −1, or 0 if not shown."

T = [math.inf, *(float(stdtrit(d, 0.975)) for d in range(1, 31))]
Values = Sequence[float]
Told = tuple[float, float, float, int]


def seeds_case(label: str, ours: dict[int, float], baseline: dict[int, float], edge: bool = False) -> Case:
    """From values by seed."""
    given = {"ours": list(ours.values()), "our_seeds": list(ours)}
    given |= {"baseline": list(baseline.values()), "baseline_seeds": list(baseline)}
    return Case(label, {**given, "t": list(T)}, edge)


def public_cases() -> list[Case]:
    """Better, worse, not shown; other order and missing seeds; one seed in common."""
    return [
        seeds_case("same seeds, better", {0: 71.0, 1: 74.5, 2: 72.0, 3: 76.4}, {0: 70.1, 1: 73.4, 2: 71.0, 3: 75.2}),
        seeds_case("shuffled, some shared", {3: 62.0, 0: 55.0, 7: 80.0, 1: 58.5}, {1: 52.0, 0: 50.5, 3: 57.0, 9: 3.0}),
        seeds_case("worse", {5: 60.0, 6: 61.0, 4: 59.5}, {4: 62.0, 6: 63.1, 5: 62.2}),
        seeds_case("not shown", {0: 71.0, 1: 70.2, 2: 72.3}, {2: 70.4, 1: 71.9, 0: 70.0}),
        seeds_case("one seed in common", {0: 71.0, 1: 70.2}, {1: 69.0, 5: 66.0}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random seeds in random order, of which some are shared; none shared, two shared, equal values."""
    cases = []
    for name, shift in (("about equal", 0.3), ("better", 4.0), ("worse", -4.0)):
        seeds = torch.randperm(40, generator=rng)[: whole(rng, 6, 10)].tolist()
        level = dict(zip(seeds, (60 + 5 * normal(rng, len(seeds))).tolist()))
        drop, other = seeds[0], seeds[1]
        ours = {s: v + shift + float(normal(rng, 1)) for s, v in level.items() if s != drop}
        baseline = {s: level[s] for s in reversed(seeds) if s != other}
        cases.append(seeds_case(f"{name}, {len(seeds) - 2} seeds shared", ours, baseline))
    a, b, c, d = (60 + 5 * normal(rng, 4)).tolist()
    return [
        *cases,
        seeds_case("two seeds shared", {0: a, 1: b, 2: c}, {2: d, 1: a, 5: c}),
        seeds_case("no seed shared", {0: a, 1: b}, {2: c, 3: d}, edge=True),
        seeds_case("one shared", {0: a, 1: b}, {1: c, 3: d}, edge=True),
        seeds_case("the same values", {0: a, 1: b, 2: c}, {2: c, 1: b, 0: a}, edge=True),
    ]


def mean(values: Values) -> float:
    """NaN of nothing."""
    return sum(values) / len(values) if values else math.nan


def deviation(values: Values, less: int = 1) -> float:
    """Standard deviation, divided by n − less."""
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - less))


def sides(low: float, high: float) -> int:
    """1 above zero, −1 below, 0 else."""
    return 1 if low > 0 else -1 if high < 0 else 0


def around(m: float, half: float) -> Told:
    """An interval with its verdict."""
    return m, m - half, m + half, sides(m - half, m + half)


def shared(ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int]) -> list[float]:
    """Differences of the seeds that both have."""
    theirs = dict(zip(baseline_seeds, baseline))
    return [value - theirs[seed] for seed, value in zip(our_seeds, ours) if seed in theirs]


def difference_by_seed(
    ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
) -> Told:
    """Mean, ends of the t interval, verdict; without two shared seeds there is no interval."""
    d = shared(ours, our_seeds, baseline, baseline_seeds)
    if len(d) < 2:
        return mean(d), math.nan, math.nan, 0
    return around(mean(d), t[len(d) - 1] * deviation(d) / math.sqrt(len(d)))


def of_differences(half: Callable[[list[float], Values], float]) -> Answer:
    """A wrong answer by another half width: half(differences, t)."""

    def answer(
        ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
    ) -> Told:
        d = shared(ours, our_seeds, baseline, baseline_seeds)
        return around(mean(d), half(d, t)) if len(d) > 1 else (mean(d), math.nan, math.nan, 0)

    return answer


def with_pairs(pairs: Callable[..., list[float]]) -> Answer:
    """A wrong answer by other differences: pairs(ours, our_seeds, baseline, baseline_seeds)."""

    def answer(
        ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
    ) -> Told:
        d = pairs(ours, our_seeds, baseline, baseline_seeds)
        if len(d) < 2:
            return mean(d), math.nan, math.nan, 0
        return around(mean(d), t[len(d) - 1] * deviation(d) / math.sqrt(len(d)))

    return answer


def with_verdict(verdict: Callable[[float, float, float], int]) -> Answer:
    """A wrong answer by another verdict: verdict(mean, low, high)."""

    def answer(*given: Any, **named: Any) -> Told:
        m, low, high, _ = difference_by_seed(*given, **named)
        return m, low, high, verdict(m, low, high)

    return answer


def unpaired(
    ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
) -> Told:
    """Two samples that have nothing to do with each other."""
    n, k = len(ours), len(baseline)
    pooled = ((n - 1) * deviation(ours) ** 2 + (k - 1) * deviation(baseline) ** 2) / (n + k - 2)
    return around(mean(ours) - mean(baseline), t[n + k - 2] * math.sqrt(pooled * (1 / n + 1 / k)))


MISTAKES = (
    Mistake(
        "by place",
        "Values are paired by their place in the list; pair them by seed.",
        with_pairs(lambda x, s, y, z: [a - b for a, b in zip(x, y)]),
    ),
    Mistake(
        "sorted",
        "Both lists are sorted before they are paired; a pair is one seed.",
        with_pairs(lambda x, s, y, z: [a - b for a, b in zip(sorted(x), sorted(y))]),
    ),
    Mistake("unpaired", "The two losses are compared as if the seeds had nothing to do with each other.", unpaired),
    Mistake(
        "missing is zero",
        "A seed that one of them lacks counts as 0; leave it out.",
        with_pairs(
            lambda x, s, y, z: [dict(zip(s, x)).get(k, 0.0) - dict(zip(z, y)).get(k, 0.0) for k in sorted({*s, *z})]
        ),
    ),
    Mistake(
        "sign",
        "The sign is turned round: it is ours minus baseline.",
        with_pairs(lambda x, s, y, z: [-d for d in shared(x, s, y, z)]),
    ),
    Mistake(
        "relative",
        "It divides by the baseline; the plain difference is asked for.",
        with_pairs(
            lambda x, s, y, z: [d / dict(zip(z, y))[k] for d, k in zip(shared(x, s, y, z), [k for k in s if k in z])]
        ),
    ),
    Mistake(
        "normal",
        "It uses 1.96; with few seeds Student's quantile is much larger.",
        of_differences(lambda d, t: 1.959964 * deviation(d) / math.sqrt(len(d))),
    ),
    Mistake(
        "divided by n",
        "The standard deviation divides by n; with a mean from the same values it is n − 1.",
        of_differences(lambda d, t: t[len(d) - 1] * deviation(d, 0) / math.sqrt(len(d))),
    ),
    Mistake(
        "n degrees",
        "It takes t[n]; one degree of freedom is spent on the mean: t[n − 1].",
        of_differences(lambda d, t: t[len(d)] * deviation(d) / math.sqrt(len(d))),
    ),
    Mistake(
        "of one value",
        "√n is missing: this is the spread of single seeds.",
        of_differences(lambda d, t: t[len(d) - 1] * deviation(d)),
    ),
    Mistake(
        "n not root n",
        "It divides by n; the mean scatters √n times less than single values.",
        of_differences(lambda d, t: t[len(d) - 1] * deviation(d) / len(d)),
    ),
    Mistake(
        "standard error",
        "It is mean ± one standard error; a 95 % interval is t times as wide.",
        of_differences(lambda d, t: deviation(d) / math.sqrt(len(d))),
    ),
    Mistake(
        "verdict by the mean",
        "The verdict looks at the mean only; the whole interval must be on one side.",
        with_verdict(lambda m, low, high: 0 if math.isnan(low) else (m > 0) - (m < 0)),
    ),
    Mistake(
        "never worse",
        "An interval below 0 is a finding, too: the verdict is −1 there.",
        with_verdict(lambda m, low, high: 1 if low > 0 else 0),
    ),
    Mistake(
        "verdict turned",
        "The verdict has the wrong sign: 1 stands for ours being better.",
        with_verdict(lambda m, low, high: -sides(low, high)),
    ),
)

QUESTION = Question(
    Exercise("difference_by_seed", TASK, difference_by_seed, public_cases, MISTAKES),
    points=5,
    hidden=hidden_cases,
)
