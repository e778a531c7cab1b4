"""A bootstrap interval that resamples whole classes."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import normal, seeded, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "Percentile bootstrap interval (low, high) of the mean difference, resampling whole classes as `draws` says."


def public_cases() -> list[Case]:
    """Classes of unequal size, in no order; two levels; one draw that repeats a class."""
    d = torch.tensor([1.0, 0.0, -1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0], dtype=torch.float64)
    y = torch.tensor([7, 2, 2, 5, 7, 7, 2, 7, 2, 7])
    draws = torch.tensor([[0, 1, 2], [2, 2, 2], [0, 0, 1], [1, 2, 1], [2, 0, 2], [1, 1, 1], [0, 2, 2], [0, 0, 0]])
    given = {"difference": d, "labels": y, "draws": draws}
    rng = seeded(5)
    many, classes = 0.4 * normal(rng, 30) + 0.2, torch.randint(6, (30,), generator=rng) * 3
    more = torch.randint(len(classes.unique()), (50, len(classes.unique())), generator=rng)
    return [
        Case("3 classes, 8 draws, 95 %", {**given, "level": 0.95}),
        Case("the same, 80 %", {**given, "level": 0.8}),
        Case("30 queries, 50 draws, 90 %", {"difference": many, "labels": classes, "draws": more, "level": 0.9}),
        Case("one class", {"difference": d[:4], "labels": y[:1].repeat(4), "draws": draws[:3, :1] * 0, "level": 0.95}),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes and levels, a class with one query, one draw."""
    cases = []
    for level in (0.95, 0.9, 0.5):
        C, Q = whole(rng, 4, 8), whole(rng, 25, 50)
        names = torch.randperm(50, generator=rng)[:C]
        y = torch.cat([names, names[(torch.rand(Q - C, generator=rng) ** 2 * C).long()]])
        y = y[torch.randperm(Q, generator=rng)]
        hit = torch.randint(-1, 2, (Q,), generator=rng).double() + (y % 3).double() / 4
        draws = torch.randint(C, (whole(rng, 40, 120), C), generator=rng)
        given = {"difference": hit, "labels": y, "draws": draws, "level": level}
        cases.append(Case(f"{Q} queries, {C} classes, {100 * level:.0f} %", given))
    small = {"difference": normal(rng, 7), "labels": torch.tensor([4, 4, 4, 9, 4, 1, 1])}
    equal, draws = torch.full((7,), 0.25, dtype=torch.float64), torch.randint(3, (20, 3), generator=rng)
    return [
        *cases,
        Case("a class with one query", {**small, "draws": draws, "level": 0.9}),
        Case("one draw", {**small, "draws": torch.tensor([[2, 0, 2]]), "level": 0.95}, edge=True),
        Case("all differences equal", {**small, "difference": equal, "draws": draws, "level": 0.95}, edge=True),
    ]


def class_sums(difference: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Sum and number of queries of every class, in the order of the labels."""
    kinds = labels.unique()  # sorted
    own = labels[None] == kinds[:, None]
    return (own * difference).sum(1), own.sum(1)


def resampled(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """The mean over all queries of the drawn classes, one for each draw."""
    total, count = class_sums(difference, labels)
    return total[draws].sum(1) / count[draws].sum(1)


def ends(values: Tensor, level: float, how: str = "linear") -> tuple[float, float]:
    """The middle `level` of the values."""
    outside = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    low, high = torch.quantile(values, outside, interpolation=how).tolist()
    return low, high


def class_bootstrap(difference: Tensor, labels: Tensor, draws: Tensor, level: float) -> tuple[float, float]:
    """Percentile interval over draws of classes."""
    return ends(resampled(difference, labels, draws), level)


def by_means(means: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Answer:
    """A wrong answer by other resampled values."""
    return lambda difference, labels, draws, level: ends(means(difference, labels, draws), level)


def in_order_of_appearance(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """Classes numbered as they come."""
    number = {int(c): n for n, c in reversed(list(enumerate(dict.fromkeys(labels.tolist()))))}
    return resampled(difference, torch.tensor([number[int(c)] for c in labels]), draws)


def each_class_once(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """A class that is drawn twice counts once."""
    total, count = class_sums(difference, labels)
    return torch.stack([total[row.unique()].sum() / count[row.unique()].sum() for row in draws])


def of_class_means(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """Every class counts alike."""
    total, count = class_sums(difference, labels)
    return (total / count)[draws].mean(1)


def by_normal(difference: Tensor, labels: Tensor, draws: Tensor, level: float) -> tuple[float, float]:
    """Mean ± 1.96 standard deviations of the resampled means."""
    values = resampled(difference, labels, draws)
    m, half = float(values.mean()), 1.959964 * float(values.std(correction=0))
    return m - half, m + half


def turned(difference: Tensor, labels: Tensor, draws: Tensor, level: float) -> tuple[float, float]:
    """The "basic" bootstrap: mirrored at the mean."""
    low, high = class_bootstrap(difference, labels, draws, level)
    m = float(difference.mean())
    return 2 * m - high, 2 * m - low


MISTAKES = (
    Mistake(
        "queries drawn",
        "`draws` picks single queries here; it picks classes, with all their queries.",
        by_means(lambda d, y, draws: d[draws].mean(1)),
    ),
    Mistake(
        "mean of class means",
        "Every class counts alike; take the mean over all queries of the drawn classes.",
        by_means(of_class_means),
    ),
    Mistake(
        "divided by all queries",
        "It divides by the number of all queries; divide by that of the drawn classes.",
        by_means(lambda d, y, draws: class_sums(d, y)[0][draws].sum(1) / len(d)),
    ),
    Mistake(
        "sum",
        "It adds up the differences; take their mean.",
        by_means(lambda d, y, draws: class_sums(d, y)[0][draws].sum(1)),
    ),
    Mistake("each class once", "A class that is drawn twice must count twice.", by_means(each_class_once)),
    Mistake(
        "order of appearance",
        "Class numbers follow the sorted labels, not the order in which they appear.",
        by_means(in_order_of_appearance),
    ),
    Mistake(
        "one-sided",
        "It leaves 1 − level out on each side; it is half of that on each side.",
        lambda difference, labels, draws, level: ends(resampled(difference, labels, draws), 2 * level - 1),
    ),
    Mistake(
        "level fixed",
        "The level is not used: it is always 95 %.",
        lambda difference, labels, draws, level: class_bootstrap(difference, labels, draws, 0.95),
    ),
    Mistake(
        "no interpolation",
        "The quantiles are picked from the values; interpolate between neighbours.",
        lambda difference, labels, draws, level: ends(resampled(difference, labels, draws), level, "nearest"),
    ),
    Mistake("normal", "That is mean ± 1.96 standard deviations; the percentile interval takes quantiles.", by_normal),
    Mistake("mirrored", "That is the mirrored (“basic”) interval; take the quantiles as they are.", turned),
    Mistake(
        "range",
        "It is the smallest and the largest resampled mean, whatever the level.",
        lambda difference, labels, draws, level: (
            float(resampled(difference, labels, draws).min()),
            float(resampled(difference, labels, draws).max()),
        ),
    ),
    Mistake(
        "without resampling",
        "`draws` is not used: these are quantiles of the single differences.",
        lambda difference, labels, draws, level: ends(difference, level),
    ),
)

QUESTION = Question(
    Exercise("class_bootstrap", TASK, class_bootstrap, public_cases, MISTAKES),
    points=5,
    hidden=hidden_cases,
)
