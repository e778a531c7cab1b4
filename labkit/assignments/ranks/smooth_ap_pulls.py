"""The gradient of Smooth-AP in two parts: through the negatives and through the other positives."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.assignments.ranks.batch_ranks import counted
from labkit.lessons.draw import number, shuffled, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "The gradient of the Smooth-AP loss of one query, in two rows: through R(i, S_N), and through R(i, S_P)."

SIMILARITY = torch.tensor([0.9, 0.55, 0.6, 0.1, -0.3, 0.58], dtype=torch.float64)
POSITIVE = torch.tensor([True, False, True, False, False, True])


def public_cases() -> list[Case]:
    """Three positives, two, all of them behind the negatives, one, no negative."""
    last = torch.tensor([False, False, False, True, True, False])
    return [
        Case("three positives, τ = 0.1", {"similarity": SIMILARITY, "positive": POSITIVE, "tau": 0.1}),
        Case("three positives, τ = 0.02", {"similarity": SIMILARITY, "positive": POSITIVE, "tau": 0.02}),
        Case("two positives far back, τ = 0.3", {"similarity": SIMILARITY, "positive": last, "tau": 0.3}),
        Case("one positive", {"similarity": SIMILARITY, "positive": torch.arange(6) == 5, "tau": 0.1}, edge=True),
        Case("no negative", {"similarity": SIMILARITY[:3], "positive": POSITIVE[:3] | True, "tau": 0.1}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random rankings of several sizes and temperatures, ties, one positive, no negative."""
    found = []
    for label, low, high in (("τ near 0.1", 0.08, 0.15), ("τ near 0.4", 0.3, 0.5), ("τ near 0.05", 0.04, 0.06)):
        n = whole(rng, 7, 12)
        positive = shuffled(rng, [1, 1, 1, 0, 0, 0, *[whole(rng, 0, 1) for _ in range(n - 6)]]) > 0
        arguments = {"similarity": uniform(rng, n, low=-1) / 2, "positive": positive, "tau": number(rng, low, high)}
        found.append(Case(f"hidden: {label}", arguments))
    coarse = torch.randint(0, 3, (8,), generator=rng).double() / 5
    half = shuffled(rng, [1, 0] * 4) > 0
    few = {"similarity": uniform(rng, 5, low=-1), "tau": 0.2}
    found += [
        Case("hidden: many ties", {"similarity": coarse, "positive": half, "tau": 0.1}, edge=True),
        Case("hidden: one positive", few | {"positive": torch.arange(5) == 3}, edge=True),
        Case("hidden: no negative", few | {"positive": torch.arange(5) < 5}, edge=True),
    ]
    return found


def smooth_ap_pulls(
    similarity: Tensor,
    positive: Tensor,
    tau: float,
    slope: Callable[[Tensor, float], Tensor] = lambda G, tau: G * (1 - G) / tau,
    by_negatives: Callable[[Tensor, Tensor], Tensor] = lambda P, N: (1 + P) / (1 + P + N) ** 2,
    by_positives: Callable[[Tensor, Tensor], Tensor] = lambda P, N: -N / (1 + P + N) ** 2,
    on_item: bool = True,
    on_others: bool = True,
    self_counted: float = 0.0,
) -> Tensor:
    """(2, n): ∂L/∂s through R(i, S_N), and through R(i, S_P). All but the first three arguments: for mistakes."""
    is_positive, off = positive.double(), 1 - torch.eye(len(similarity), dtype=torch.float64)
    G = counted(similarity[None, :] - similarity[:, None], tau)  # [i, j]: j counts as before i
    R_neg, R_pos = G @ (1 - is_positive), (G * off) @ is_positive + self_counted / 2
    outer = torch.where(positive[None, :], by_positives(R_pos, R_neg)[:, None], by_negatives(R_pos, R_neg)[:, None])
    force = is_positive[:, None] * off * outer * slope(G, tau) / is_positive.sum()  # of j on the loss of i
    parts = (force * (1 - is_positive), force * is_positive)
    return torch.stack([part.sum(0) * on_others - part.sum(1) * on_item for part in parts])


MISTAKES = (
    Mistake(
        "no mean",
        "The loss is a mean over the positives: 1/|P| is missing (as in the paper's Eq. 14, E-PNP-2).",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau) * positive.sum(),
    ),
    Mistake(
        "sign",
        "The sign is turned round: that is the gradient of average precision, not of the loss.",
        lambda similarity, positive, tau: -smooth_ap_pulls(similarity, positive, tau),
    ),
    Mistake(
        "rows swapped",
        "The rows have changed places: first the part through the negatives.",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau).flip(0),
    ),
    Mistake(
        "items only",
        "Only s_i gets a gradient here; R(i, S) depends on every s_j in S as well. Rows add up to 0.",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, on_others=False),
    ),
    Mistake(
        "others only",
        "Only the s_j get a gradient here; R(i, S) depends on s_i as well. Rows add up to 0.",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, on_item=False),
    ),
    Mistake(
        "push among positives",
        "The second row has the wrong sign: ∂L/∂R(i, S_P) is negative, AP rises when positives come before i.",
        lambda similarity, positive, tau: smooth_ap_pulls(
            similarity, positive, tau, by_positives=lambda P, N: N / (1 + P + N) ** 2
        ),
    ),
    Mistake(
        "no pull among positives",
        "The second row is 0, as if counting positives were redundant. It is not for the gradient (E-PNP-9).",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, by_positives=lambda P, N: 0 * N),
    ),
    Mistake(
        "numerator only",
        "In the second row only the numerator is differentiated: R(i, S_P) stands in the denominator, too.",
        lambda similarity, positive, tau: smooth_ap_pulls(
            similarity, positive, tau, by_positives=lambda P, N: -1 / (1 + P + N)
        ),
    ),
    Mistake(
        "denominator only",
        "In the second row only the denominator is differentiated: R(i, S_P) stands in the numerator, too.",
        lambda similarity, positive, tau: smooth_ap_pulls(
            similarity, positive, tau, by_positives=lambda P, N: (1 + P) / (1 + P + N) ** 2
        ),
    ),
    Mistake(
        "one on top",
        "∂L/∂R(i, S_N) has 1 + R(i, S_P) on top, not 1: the quotient rule keeps the numerator.",
        lambda similarity, positive, tau: smooth_ap_pulls(
            similarity, positive, tau, by_negatives=lambda P, N: 1 / (1 + P + N) ** 2
        ),
    ),
    Mistake(
        "not squared",
        "The quotient rule squares the denominator 1 + R(i, S_P) + R(i, S_N).",
        lambda similarity, positive, tau: smooth_ap_pulls(
            similarity,
            positive,
            tau,
            by_negatives=lambda P, N: (1 + P) / (1 + P + N),
            by_positives=lambda P, N: -N / (1 + P + N),
        ),
    ),
    Mistake(
        "no 1/tau",
        "The slope of G is G (1 − G) / τ: the temperature is missing.",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, lambda G, tau: G * (1 - G)),
    ),
    Mistake(
        "value for slope",
        "G itself stands where its slope belongs: G (1 − G) / τ.",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, lambda G, tau: G),
    ),
    Mistake(
        "item counted",
        "Each positive counts itself in R(i, S_P), as one half: leave j = i out.",
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, self_counted=1.0),
    ),
)

QUESTION = Question(
    Exercise(
        "smooth_ap_pulls",
        TASK,
        lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau),
        public_cases,
        MISTAKES,
    ),
    points=7,
    hidden=hidden_cases,
)
