"""Lesson 3: a soft rank, Smooth-AP of one query, the reach of a temperature.

similarity (n,) are the query's cosines with the gallery.
"""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.lessons.exercise import Case, Exercise, Mistake

SIMILARITY = torch.tensor([0.9, 0.55, 0.6, 0.1, -0.3, 0.58], dtype=torch.float64)
POSITIVE = torch.tensor([True, False, True, False, False, True])


def before(similarity: Tensor, tau: float) -> Tensor:
    """(n, n): how much item j counts as before item i, nothing on the diagonal."""
    counted = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
    return counted - torch.diag(counted.diagonal())


def rank_cases() -> list[Case]:
    """Sharp and soft temperatures, a tie, a single item."""
    tied = torch.tensor([0.5, 0.5, 0.2], dtype=torch.float64)
    return [
        Case("six items, τ = 0.01", {"similarity": SIMILARITY, "tau": 0.01}),
        Case("six items, τ = 0.1", {"similarity": SIMILARITY, "tau": 0.1}),
        Case("six items, τ = 2", {"similarity": SIMILARITY, "tau": 2.0}),
        Case("a tie", {"similarity": tied, "tau": 0.05}),
        Case("one item", {"similarity": tied[:1], "tau": 0.05}),
    ]


def soft_rank(similarity: Tensor, tau: float) -> Tensor:
    """1 + Σ_{j ≠ i} G(s_j − s_i; τ)."""
    return 1 + before(similarity, tau).sum(1)


SOFT_RANK = Exercise(
    "soft_rank",
    "The soft rank of every item: 1 plus the sum over all other items j of G(s_j − s_i; τ).",
    soft_rank,
    rank_cases,
    (
        Mistake(
            "sign",
            "The sign is turned round: an item j counts as before i when s_j is larger than s_i.",
            lambda similarity, tau: 1 + before(-similarity, tau).sum(1),
            also=(lambda similarity, tau: 1.5 + before(-similarity, tau).sum(1),),
        ),
        Mistake(
            "from zero",
            "The first rank is 1: add 1 to the number of items before.",
            lambda similarity, tau: before(similarity, tau).sum(1),
        ),
        Mistake(
            "self counted",
            "Every item counts itself, as one half: leave j = i out.",
            lambda similarity, tau: 1.5 + before(similarity, tau).sum(1),
        ),
        Mistake(
            "self for the one",
            "The item itself stands for the 1, but G(0) is only one half: leave j = i out, add 1.",
            lambda similarity, tau: 0.5 + before(similarity, tau).sum(1),
        ),
        Mistake(
            "times tau",
            "The difference is multiplied by τ; it must be divided, so that a small τ is sharp.",
            lambda similarity, tau: 1 + before(similarity, 1 / tau).sum(1),
        ),
        Mistake(
            "no temperature",
            "The temperature is not used.",
            lambda similarity, tau: 1 + before(similarity, 1.0).sum(1),
        ),
        Mistake(
            "hard",
            "The comparison is hard, so no gradient flows: use the sigmoid.",
            lambda similarity, tau: 1 + (similarity[None, :] > similarity[:, None]).double().sum(1) + 0 * similarity,
        ),
        Mistake(
            "mean",
            "It takes the mean over the other items; a rank is a sum.",
            lambda similarity, tau: 1 + before(similarity, tau).sum(1) / max(1, len(similarity) - 1),
        ),
        Mistake(
            "softmax",
            "A softmax is a share, not a rank: count the other items before i, each by a sigmoid of its difference.",
            lambda similarity, tau: 1 + (len(similarity) - 1) * (1 - torch.softmax(similarity / tau, 0)),
            also=(
                lambda similarity, tau: torch.softmax(similarity / tau, 0),
                lambda similarity, tau: 1 + torch.softmax(similarity / tau, 0),
                lambda similarity, tau: len(similarity) * (1 - torch.softmax(similarity / tau, 0)),
            ),
        ),
    ),
    gradient="similarity",
)


def ap_cases() -> list[Case]:
    """Mixed, perfect and reversed rankings, and a single positive."""
    ordered = torch.linspace(0.9, -0.6, 6, dtype=torch.float64)
    first = torch.tensor([True, True, False, False, False, False])
    return [
        Case("mixed, τ = 0.01", {"similarity": SIMILARITY, "positive": POSITIVE, "tau": 0.01}),
        Case("mixed, τ = 0.1", {"similarity": SIMILARITY, "positive": POSITIVE, "tau": 0.1}),
        Case("positives first", {"similarity": ordered, "positive": first, "tau": 0.1}),
        Case("positives last", {"similarity": ordered, "positive": first.flip(0), "tau": 0.1}),
        Case("one positive", {"similarity": SIMILARITY, "positive": torch.arange(6) == 2, "tau": 0.05}),
    ]


def parts(similarity: Tensor, positive: Tensor, tau: float) -> tuple[Tensor, Tensor]:
    """R(i, S_P) and R(i, S_N) of every positive i."""
    counted = before(similarity, tau)[positive]
    return counted[:, positive].sum(1), counted[:, ~positive].sum(1)


def smooth_ap(similarity: Tensor, positive: Tensor, tau: float) -> Tensor:
    """1 − 1/|P| Σ (1 + R_pos) / (1 + R_pos + R_neg)."""
    R_pos, R_neg = parts(similarity, positive, tau)
    return 1 - ((1 + R_pos) / (1 + R_pos + R_neg)).mean()


def with_self(similarity: Tensor, positive: Tensor, tau: float) -> Tensor:
    """Each positive counts itself as one half, in the ranks of both kinds."""
    R_pos, R_neg = parts(similarity, positive, tau)
    return 1 - ((1.5 + R_pos) / (1.5 + R_pos + R_neg)).mean()


def over_all(similarity: Tensor, positive: Tensor, tau: float) -> Tensor:
    """Divided by the number of items, not of positives."""
    R_pos, R_neg = parts(similarity, positive, tau)
    return 1 - ((1 + R_pos) / (1 + R_pos + R_neg)).sum() / len(similarity)


def of_sums(similarity: Tensor, positive: Tensor, tau: float) -> Tensor:
    """One ratio of the sums over all positives."""
    R_pos, R_neg = parts(similarity, positive, tau)
    return 1 - (1 + R_pos).sum() / (1 + R_pos + R_neg).sum()


def mean_counts(similarity: Tensor, positive: Tensor, tau: float) -> Tensor:
    """Shares in place of counts."""
    R_pos, R_neg = parts(similarity, positive, tau)
    R_pos, R_neg = R_pos / positive.sum(), R_neg / (~positive).sum()
    return 1 - ((1 + R_pos) / (1 + R_pos + R_neg)).mean()


SMOOTH_AP = Exercise(
    "smooth_ap",
    "The Smooth-AP loss of one query: 1 − the mean over positives of (1 + R(i, S_P)) / (1 + R(i, S_P) + R(i, S_N)).",
    smooth_ap,
    ap_cases,
    (
        Mistake(
            "not a loss",
            "That is average precision itself; the loss is 1 minus it.",
            lambda similarity, positive, tau: 1 - smooth_ap(similarity, positive, tau),
        ),
        Mistake("self counted", "Each positive counts itself, as one half: leave j = i out.", with_self),
        Mistake(
            "sum",
            "It adds up over the positives; divide by their number |P|.",
            lambda similarity, positive, tau: positive.sum() * (smooth_ap(similarity, positive, tau) - 1) + 1,
        ),
        Mistake("over all items", "It divides by the number of all items; only positives count.", over_all),
        Mistake(
            "sign",
            "The sign is turned round: an item j counts as before i when s_j is larger than s_i.",
            lambda similarity, positive, tau: smooth_ap(-similarity, positive, tau),
        ),
        Mistake(
            "no one above",
            "The 1 in the numerator is missing: the positive itself has a place among the positives.",
            lambda similarity, positive, tau: (
                1 - (parts(similarity, positive, tau)[0] / (1 + sum(parts(similarity, positive, tau)))).mean()
            ),
        ),
        Mistake(
            "no ones",
            "The ones are missing above and below: the positive itself has a place in both counts.",
            lambda similarity, positive, tau: (
                1 - (parts(similarity, positive, tau)[0] / sum(parts(similarity, positive, tau))).mean()
            ),
        ),
        Mistake(
            "PNP",
            "That is 1 − 1/(1 + R(i, S_N)), the loss PNP of lesson 6: here positives before i count above and below.",
            lambda similarity, positive, tau: 1 - (1 / (1 + parts(similarity, positive, tau)[1])).mean(),
        ),
        Mistake(
            "negatives above",
            "The numerator counts negatives; it must count the positives before i.",
            lambda similarity, positive, tau: (
                1 - ((1 + parts(similarity, positive, tau)[1]) / (1 + sum(parts(similarity, positive, tau)))).mean()
            ),
        ),
        Mistake(
            "times tau",
            "The difference is multiplied by τ; it must be divided, so that a small τ is sharp.",
            lambda similarity, positive, tau: smooth_ap(similarity, positive, 1 / tau),
        ),
        Mistake(
            "classes swapped",
            "Positives and negatives have changed places: R(i, S_N) counts negatives before i.",
            lambda similarity, positive, tau: smooth_ap(similarity, ~positive, tau),
        ),
        Mistake("ratio of sums", "It divides sums by sums; take the ratio of each positive, then the mean.", of_sums),
        Mistake("mean for R", "R is a mean here; it is a count: take the sum.", mean_counts),
    ),
    gradient="similarity",
)

DIFFERENCES = torch.tensor([-0.4, -0.06, -0.05, -0.01, 0.0, 0.002, 0.03, 0.052, 0.06, 0.3], dtype=torch.float64)


def share_cases() -> list[Case]:
    """Sharp and soft temperatures, strict and lenient thresholds."""
    return [
        Case("τ = 0.01, 1 %", {"differences": DIFFERENCES, "tau": 0.01, "threshold": 0.01}),
        Case("τ = 0.01, 50 %", {"differences": DIFFERENCES, "tau": 0.01, "threshold": 0.5}),
        Case("τ = 0.05, 20 %", {"differences": DIFFERENCES, "tau": 0.05, "threshold": 0.2}),
        Case("τ = 1, 99 %", {"differences": DIFFERENCES, "tau": 1.0, "threshold": 0.99}),
        Case("τ = 0.001, 1 %", {"differences": DIFFERENCES, "tau": 0.001, "threshold": 0.01}),
        Case("none near 0", {"differences": DIFFERENCES[[1, 2, 7, 9]], "tau": 0.03, "threshold": 0.5}),
        Case("negative differences only", {"differences": DIFFERENCES[:4], "tau": 0.02, "threshold": 0.1}),
    ]


def relative_slope(differences: Tensor, tau: float) -> Tensor:
    """Slope of G over its largest slope 1/(4τ)."""
    counted = torch.sigmoid(differences / tau)
    return 4 * counted * (1 - counted)


def share_with_gradient(differences: Tensor, tau: float, threshold: float) -> Tensor:
    """Share of the differences whose slope is at least the threshold times the largest."""
    return (relative_slope(differences, tau) >= threshold).double().mean()


SHARE = Exercise(
    "share_with_gradient",
    "The share of differences at which the slope of G is at least threshold times its largest slope.",
    share_with_gradient,
    share_cases,
    (
        Mistake(
            "slope itself",
            "The slope itself is compared with the threshold; compare it with threshold / (4τ).",
            lambda differences, tau, threshold: (
                (relative_slope(differences, tau) / (4 * tau) >= threshold).double().mean()
            ),
        ),
        Mistake(
            "largest is 1/τ",
            "The largest slope is taken as 1/τ; at 0 G is one half, so it is 1/(4τ).",
            lambda differences, tau, threshold: (relative_slope(differences, tau) / 4 >= threshold).double().mean(),
        ),
        Mistake(
            "largest seen",
            "The largest slope among the given differences is not the largest there is: it is 1/(4τ).",
            lambda differences, tau, threshold: (
                (relative_slope(differences, tau) >= threshold * relative_slope(differences, tau).max()).double().mean()
            ),
        ),
        Mistake(
            "the others",
            "It is the share without a gradient: turn the comparison round.",
            lambda differences, tau, threshold: (relative_slope(differences, tau) < threshold).double().mean(),
        ),
        Mistake(
            "a count",
            "It is a count; a share is the count divided by how many there are.",
            lambda differences, tau, threshold: (relative_slope(differences, tau) >= threshold).double().sum(),
        ),
        Mistake(
            "times tau",
            "The temperature must divide the difference, so that a small τ is sharp.",
            lambda differences, tau, threshold: (relative_slope(differences, 1 / tau) >= threshold).double().mean(),
        ),
        Mistake(
            "value for slope",
            "It compares G, not its slope; the slope is G (1 − G) / τ.",
            lambda differences, tau, threshold: (torch.sigmoid(differences / tau) >= threshold).double().mean(),
        ),
        Mistake(
            "within one temperature",
            "It asks if a difference is below τ; ask for the slope, G (1 − G) / τ, and how it compares with 1/(4τ).",
            lambda differences, tau, threshold: (differences.abs() <= tau).double().mean(),
        ),
        Mistake(
            "positive only",
            "Differences below 0 are left out; the slope is the same on both sides of 0.",
            lambda differences, tau, threshold: (
                ((relative_slope(differences, tau) >= threshold) & (differences >= 0)).double().mean()
            ),
        ),
    ),
)

EXERCISES = (SOFT_RANK, SMOOTH_AP, SHARE)
