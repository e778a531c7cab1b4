"""The temperature up to which soft ranks are as good as ranks."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import number, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "The largest τ at which n − 1 comparisons, each off by at most σ(−δ/τ), move no soft rank by more than error."


def public_cases() -> list[Case]:
    """A few items, a strict error, items in no order, a generous error, ties."""
    mixed = torch.tensor([0.9, 0.55, 0.6, 0.1, -0.3, 0.58], dtype=torch.float64)
    even = torch.tensor([0.1, 0.5, 0.3], dtype=torch.float64)
    return [
        Case("three items, error 0.1", {"similarity": even, "error": 0.1}),
        Case("six items, error 0.5", {"similarity": mixed, "error": 0.5}),
        Case("six items, error 0.01", {"similarity": mixed, "error": 0.01}),
        Case("six items, error 2.6: any temperature", {"similarity": mixed, "error": 2.6}, edge=True),
        Case("a tie", {"similarity": mixed[[0, 2, 2, 3]], "error": 0.2}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random items, few and many, strict and generous errors, the boundary, ties and near ties, a single item."""

    def items(n: int) -> Tensor:
        step = 1.7 / n
        values = step * (torch.arange(n, dtype=torch.float64) + uniform(rng, n, low=-1) / 5) - 0.8
        if n < 4:
            return values[torch.randperm(n, generator=rng)]
        # the closest two are in the middle, and far apart in the given order
        a, b = n // 2 - 1, n // 2
        values[b] = values[a] + number(rng, 0.1, 0.2) * step
        rest = [i for i in torch.randperm(n, generator=rng).tolist() if i not in (a, b)]
        return values[[a, *rest, b]]

    many = items(whole(rng, 10, 15))
    four = items(4)
    tied, close = torch.cat([four, four[:1]]), torch.cat([four, four[:1] + number(rng, 5e-5, 8e-5)])
    return [
        Case("hidden: many items", {"similarity": many, "error": number(rng, 0.2, 0.6)}),
        Case("hidden: strict", {"similarity": items(whole(rng, 5, 9)), "error": number(rng, 0.001, 0.01)}),
        Case("hidden: error above one", {"similarity": many, "error": number(rng, 1.2, 2.0)}),
        Case("hidden: two items", {"similarity": items(2), "error": number(rng, 0.01, 0.3)}),
        Case("hidden: generous", {"similarity": items(4), "error": number(rng, 1.6, 9.0)}, edge=True),
        Case("hidden: ties", {"similarity": torch.cat([many, many[:2]]), "error": 0.3}, edge=True),
        Case("hidden: a tie, but generous", {"similarity": tied, "error": number(rng, 2.1, 4.0)}, edge=True),
        Case("hidden: at the boundary", {"similarity": items(5), "error": 2.0}, edge=True),
        Case("hidden: a tie at the boundary", {"similarity": tied, "error": 2.0}, edge=True),
        Case("hidden: nearly tied", {"similarity": close, "error": 1.9}, edge=True),
        Case("hidden: one item", {"similarity": items(1), "error": 0.1}, edge=True),
    ]


def smallest_gap(similarity: Tensor) -> float:
    """Between any two items."""
    values = similarity.tolist()
    return min((abs(a - b) for i, a in enumerate(values) for b in values[:i]), default=math.inf)


def temperature(gap: float, comparisons: float, error: float) -> float:
    """The τ with comparisons · σ(−gap/τ) = error; infinite if every τ will do."""
    if comparisons <= 2 * error:
        return math.inf
    return gap / math.log(comparisons / error - 1)


def safe_temperature(similarity: Tensor, error: float) -> float:
    """δ / log((n − 1)/ε − 1); ∞ for ε ≥ (n − 1)/2."""
    return temperature(smallest_gap(similarity), len(similarity) - 1, error)


def if_finite(similarity: Tensor, error: float, value: float) -> float:
    """What a mistake gives where the answer is not infinite."""
    return value if len(similarity) - 1 > 2 * error else math.inf


def unbounded(similarity: Tensor, error: float) -> float:
    """The formula without its condition."""
    inside = torch.tensor((len(similarity) - 1) / error - 1, dtype=torch.float64).log()
    return float(torch.tensor(smallest_gap(similarity), dtype=torch.float64) / inside)


MISTAKES = (
    Mistake(
        "n comparisons",
        "A rank has n − 1 comparisons: an item is not compared with itself.",
        lambda similarity, error: temperature(smallest_gap(similarity), len(similarity), error),
    ),
    Mistake(
        "one comparison",
        "That bounds one comparison; a rank adds up n − 1 of them.",
        lambda similarity, error: if_finite(
            similarity, error, temperature(smallest_gap(similarity), 1, min(error, 0.49))
        ),
    ),
    Mistake(
        "no minus one",
        "σ(−u) is 1/(1 + e^u): the 1 is missing when you solve for τ.",
        lambda similarity, error: if_finite(
            similarity, error, smallest_gap(similarity) / math.log(max(1.5, (len(similarity) - 1) / error))
        ),
    ),
    Mistake(
        "one over tau",
        "That is 1/τ: the gap goes on top.",
        lambda similarity, error: 1 / max(1e-12, safe_temperature(similarity, error)),
    ),
    Mistake(
        "sign",
        "A temperature is positive: check the sign of the logarithm.",
        lambda similarity, error: -safe_temperature(similarity, error),
    ),
    Mistake(
        "not sorted",
        "The gaps are between neighbours in the given order; the closest two may stand anywhere.",
        lambda similarity, error: temperature(
            float(similarity.diff().abs().min()) if len(similarity) > 1 else math.inf, len(similarity) - 1, error
        ),
    ),
    Mistake(
        "gap at the top",
        "That is the gap between the best two items; any two items can be closest.",
        lambda similarity, error: temperature(
            float(similarity.topk(2).values.diff().abs()) if len(similarity) > 1 else math.inf,
            len(similarity) - 1,
            error,
        ),
    ),
    Mistake(
        "mean gap",
        "The mean gap is no bound: the closest two items decide.",
        lambda similarity, error: temperature(
            float(similarity.max() - similarity.min()) / max(1, len(similarity) - 1), len(similarity) - 1, error
        ),
    ),
    Mistake(
        "largest gap",
        "That is the largest gap; the closest two items decide.",
        lambda similarity, error: temperature(
            float(similarity.sort().values.diff().max()) if len(similarity) > 1 else math.inf,
            len(similarity) - 1,
            error,
        ),
    ),
    Mistake(
        "another logarithm",
        "The sigmoid is made with e: use the natural logarithm.",
        lambda similarity, error: safe_temperature(similarity, error) * math.log(2),
    ),
    Mistake(
        "no limit",
        "If error is (n − 1)/2 or more, every temperature will do: the result is infinite.",
        unbounded,
    ),
    Mistake(
        "ties left out",
        "Tied items are taken for one; their comparison is off by one half at every temperature.",
        lambda similarity, error: temperature(smallest_gap(similarity.unique()), len(similarity) - 1, error),
    ),
)

QUESTION = Question(
    Exercise("safe_temperature", TASK, safe_temperature, public_cases, MISTAKES),
    points=5,
    hidden=hidden_cases,
)
