"""Pairs of losses on which two metrics disagree in every seed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import normal, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = (
    "All (i, j) for which the first metric prefers loss i in every seed, and the second prefers loss j in every seed."
)


def table(*rows: Sequence[float]) -> Tensor:
    """A row for each loss, a column for each seed."""
    return torch.tensor(rows, dtype=torch.float64)


def public_cases() -> list[Case]:
    """Three losses, five losses, no pair, ties, a single seed."""
    return [
        Case(
            "three losses, three seeds",
            {"first": table([3, 4, 5], [2, 3, 4.5], [1, 3.5, 3]), "second": table([1, 2, 3], [2, 3, 4], [0, 5, 6])},
        ),
        Case(
            "five losses, three seeds",
            {
                "first": table([70, 71, 69], [72, 74, 71], [65, 72.5, 64], [73, 70, 72], [60, 61, 62]),
                "second": table([30, 31, 32], [29, 30, 31], [35, 29, 33], [31, 30.5, 33], [40, 28, 41]),
            },
        ),
        Case("one seed", {"first": table([1], [2], [3], [2.5]), "second": table([4], [3], [5], [2])}),
        Case(
            "equal in one seed",
            {"first": table([5, 5], [5, 4], [6, 7]), "second": table([1, 1], [2, 3], [0, 1])},
            edge=True,
        ),
        Case(
            "they agree",
            {"first": table([1, 2], [2, 3], [3, 4]), "second": table([1, 1.5], [2, 2.5], [3, 9])},
            edge=True,
        ),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Two metrics of losses that differ by more or less than the seeds do; ties; one loss."""
    found = []
    for label, seeds, noise in (("quiet seeds", 3, 0.3), ("noisy seeds", 4, 1.5), ("two seeds", 2, 0.8)):
        m = whole(rng, 9, 12)
        skill = normal(rng, m, 1)
        other = 0.4 * skill + normal(rng, m, 1)
        shared = normal(rng, 2, 1, seeds)  # a good seed is good for all losses
        first = skill + 3 * shared[0] + noise * normal(rng, m, seeds)
        second = other + 3 * shared[1] + noise * normal(rng, m, seeds)
        # two that must be there whatever is drawn, in both orders of their index
        first[0], second[0], first[-1], second[-1] = first[1] + 1, second[1] - 1, first[2] + 1, second[2] - 1
        # and two that are opposed in every seed, but not always the same way round
        turn = torch.tensor([1.0] * (seeds - 1) + [-0.5], dtype=torch.float64)
        first[3], second[3] = first[4] + turn, second[4] - turn
        found.append(Case(f"hidden: {label}", {"first": first, "second": second}))
    first, second = torch.randint(0, 4, (2, 10, 2), generator=rng).double()
    second[0], second[3] = second[1] - 1, second[2] - 1
    first[0], first[3] = first[1] + torch.tensor([0.0, 1.0]), first[2]
    found.append(Case("hidden: many ties", {"first": first, "second": second}, edge=True))
    one = uniform(rng, 1, 3)
    found.append(Case("hidden: one loss", {"first": one, "second": one}, edge=True))
    opposite = uniform(rng, 4, 1)
    found.append(Case("hidden: opposite metrics, one seed", {"first": opposite, "second": -opposite}))
    return found


def as_rows(wins: Sequence[tuple[int, int]]) -> Tensor:
    """(p, 2), also for p = 0."""
    return torch.tensor(sorted(wins), dtype=torch.int64).reshape(-1, 2)


def disputed_pairs(first: Tensor, second: Tensor) -> Tensor:
    """(i, j) with first_i > first_j and second_i < second_j, each in every seed."""
    m = len(first)
    found = [
        (i, j)
        for i in range(m)
        for j in range(m)
        if all(a > b for a, b in zip(first[i].tolist(), first[j].tolist()))
        and all(a < b for a, b in zip(second[i].tolist(), second[j].tolist()))
    ]
    return as_rows(found)


def pairs_by(better: Tensor, worse: Tensor) -> Tensor:
    """Pairs where better[i, j] and worse[i, j] hold, without those of an item with itself."""
    off = ~torch.eye(len(better), dtype=torch.bool)
    return (better & worse & off).nonzero()


def gaps(x: Tensor) -> Tensor:
    """(m, m, seeds): x_i − x_j."""
    return x[:, None] - x[None, :]


def least_of_one_beats_all(x: Tensor) -> Tensor:
    """The worst seed of i is above the best of j."""
    return x.amin(1)[:, None] > x.amax(1)[None, :]


MISTAKES = (
    Mistake(
        "means",
        "It compares means over the seeds; a preference must hold in every seed.",
        lambda first, second: pairs_by(gaps(first).mean(2) > 0, gaps(second).mean(2) < 0),
    ),
    Mistake(
        "in some seed",
        "One seed is enough for it; a preference must hold in every seed.",
        lambda first, second: pairs_by((gaps(first) > 0).any(2), (gaps(second) < 0).any(2)),
    ),
    Mistake(
        "upper half",
        "Only pairs with i < j are looked at; the loss that the first metric prefers may have the larger index.",
        lambda first, second: pairs_by((gaps(first) > 0).all(2).triu(), (gaps(second) < 0).all(2)),
    ),
    Mistake(
        "both ways",
        "Every pair is there twice, (i, j) and (j, i): the first metric's choice comes first.",
        lambda first, second: pairs_by(
            (gaps(first) > 0).all(2) & (gaps(second) < 0).all(2) | (gaps(first) < 0).all(2) & (gaps(second) > 0).all(2),
            torch.ones(len(first), len(first), dtype=torch.bool),
        ),
    ),
    Mistake(
        "turned round",
        "The pair is turned round: i is the loss that the first metric prefers.",
        lambda first, second: disputed_pairs(second, first),
    ),
    Mistake(
        "lower index first",
        "The pairs are right, but sorted within: i is the loss that the first metric prefers, even if i > j.",
        lambda first, second: as_rows([(min(i, j), max(i, j)) for i, j in disputed_pairs(first, second).tolist()]),
    ),
    Mistake(
        "ties count",
        "An equal value is no preference: compare with > and <.",
        lambda first, second: pairs_by((gaps(first) >= 0).all(2), (gaps(second) <= 0).all(2)),
    ),
    Mistake(
        "not paired by seed",
        "The worst seed of one must beat the best of the other here; compare seed by seed: a good seed helps both.",
        lambda first, second: pairs_by(least_of_one_beats_all(first), least_of_one_beats_all(-second)),
    ),
    Mistake(
        "opposite in every seed",
        "It asks if the metrics are opposed in each seed; the same loss must be preferred in all of them.",
        lambda first, second: pairs_by((gaps(first) * gaps(second) < 0).all(2), gaps(first).mean(2) > 0),
    ),
    Mistake(
        "first seed",
        "Only the first seed is looked at.",
        lambda first, second: pairs_by(gaps(first)[:, :, 0] > 0, gaps(second)[:, :, 0] < 0),
    ),
    Mistake(
        "most seeds",
        "More than half of the seeds are enough for it; a preference must hold in every seed.",
        lambda first, second: pairs_by(
            2 * (gaps(first) > 0).sum(2) > first.shape[1], 2 * (gaps(second) < 0).sum(2) > first.shape[1]
        ),
    ),
    Mistake(
        "agreement",
        "Those are the pairs on which the metrics agree.",
        lambda first, second: pairs_by((gaps(first) > 0).all(2), (gaps(second) > 0).all(2)),
    ),
)

QUESTION = Question(
    Exercise("disputed_pairs", TASK, disputed_pairs, public_cases, MISTAKES),
    points=6,
    hidden=hidden_cases,
)
