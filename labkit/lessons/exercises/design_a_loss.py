"""Lesson 6: a derivative, the loss it belongs to, and PNP-D_q of one query."""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.lessons.exercise import Case, Exercise, Mistake

SIMILARITY = torch.tensor([0.9, 0.55, 0.6, 0.1, -0.3, 0.58, 0.95], dtype=torch.float64)
POSITIVE = torch.tensor([True, False, True, False, False, True, False])
COUNTS = torch.tensor([0.0, 0.3, 1.0, 2.0, 5.5, 20.0], dtype=torch.float64)


def slope_cases() -> list[Case]:
    """Several steepnesses, few and many negatives before."""
    return [
        Case("six counts, α = 1", {"R": COUNTS, "alpha": 1.0}),
        Case("six counts, α = 2", {"R": COUNTS, "alpha": 2.0}),
        Case("six counts, α = 4", {"R": COUNTS, "alpha": 4.0}),
        Case("nothing before, α = 3", {"R": COUNTS[:1], "alpha": 3.0}),
        Case("one negative before, α = 1.5", {"R": COUNTS[2:3], "alpha": 1.5}),
    ]


def dq_derivative(R: Tensor, alpha: float) -> Tensor:
    """α / (1 + R)^(α + 1), Eq. 11."""
    return alpha * (1 + R) ** (-alpha - 1)


DERIVATIVE = Exercise(
    "dq_derivative",
    "The derivative of 1 − 1/(1 + R)^α with respect to R, for every entry of R.",
    dq_derivative,
    slope_cases,
    (
        Mistake(
            "the loss",
            "That is the loss itself; its derivative is asked for.",
            lambda R, alpha: 1 - (1 + R) ** -alpha,
        ),
        Mistake(
            "sign",
            "The sign is wrong: the loss grows with R. The minus before the fraction and the minus of the "
            "exponent cancel.",
            lambda R, alpha: -dq_derivative(R, alpha),
        ),
        Mistake(
            "no alpha",
            "The exponent comes down as a factor: α is missing in front.",
            lambda R, alpha: (1 + R) ** (-alpha - 1),
        ),
        Mistake(
            "exponent kept",
            "The exponent must go down by one: −α becomes −α − 1.",
            lambda R, alpha: alpha * (1 + R) ** -alpha,
        ),
        Mistake(
            "exponent up",
            "The exponent went up: one less than −α is −α − 1, not −α + 1.",
            lambda R, alpha: alpha * (1 + R) ** (1 - alpha),
        ),
        Mistake(
            "one inside the power",
            "The power belongs to the whole of 1 + R, not to R alone.",
            lambda R, alpha: alpha / (1 + R ** (alpha + 1)),
        ),
        Mistake(
            "R for 1 + R",
            "The 1 is lost: the base is 1 + R. R alone would be infinite where no negative is before.",
            lambda R, alpha: alpha / R ** (alpha + 1),
        ),
        Mistake(
            "alpha fixed",
            "α is not used: that is the derivative for α = 1.",
            lambda R, alpha: (1 + R) ** -2 + 0 * R,
        ),
        Mistake("D_s", "That is the derivative of PNP-D_s, log(1 + R).", lambda R, alpha: 1 / (1 + R)),
        Mistake(
            "divided by alpha",
            "α divides; it must multiply: (1+R)^(−α) has the derivative −α (1+R)^(−α−1).",
            lambda R, alpha: (1 + R) ** (-alpha - 1) / alpha,
        ),
        Mistake(
            "alpha + 1 in front",
            "The factor in front is the old exponent α, not α + 1.",
            lambda R, alpha: (alpha + 1) * (1 + R) ** (-alpha - 1),
        ),
        Mistake(
            "exponent 2",
            "The exponent is that of α = 1: one less than −α is −α − 1.",
            lambda R, alpha: alpha / (1 + R) ** 2,
        ),
    ),
)


def loss_cases() -> list[Case]:
    """From nothing before to many."""
    return [
        Case("nothing before", {"R": COUNTS[:1]}),
        Case("less than one before", {"R": COUNTS[1:2]}),
        Case("one before", {"R": COUNTS[2:3]}),
        Case("six counts", {"R": COUNTS}),
        Case("many before", {"R": torch.tensor([100.0, 1000.0], dtype=torch.float64)}),
    ]


def iu_exact(R: Tensor) -> Tensor:
    """(1 + R) log(1 + R) − R: the integral of log(1 + r) from 0 to R."""
    return (1 + R) * torch.log1p(R) - R


INTEGRAL = Exercise(
    "iu_exact",
    "The loss whose derivative is log(1 + R) (Eq. 6) and whose value at R = 0 is 0.",
    iu_exact,
    loss_cases,
    (
        Mistake(
            "Eq. 7",
            "That is Eq. 7 as printed. Its derivative is log(1 + R) + 1: subtract what gives the 1.",
            lambda R: (1 + R) * torch.log1p(R),
        ),
        Mistake(
            "minus 1 + R",
            "The derivative is right, but the value at R = 0 is −1: add a constant.",
            lambda R: (1 + R) * torch.log1p(R) - (1 + R),
        ),
        Mistake("the derivative", "That is the derivative itself; integrate it.", lambda R: torch.log1p(R)),
        Mistake(
            "derived again",
            "It is differentiated once more; integrate instead.",
            lambda R: 1 / (1 + R),
        ),
        Mistake(
            "half a square",
            "The chain rule does not work backwards: the derivative of log(1+R)²/2 is log(1+R)/(1+R).",
            lambda R: torch.log1p(R) ** 2 / 2,
        ),
        Mistake(
            "times R",
            "Integration by parts takes 1 + R for the factor, not R, so that the rest becomes simple.",
            lambda R: R * torch.log1p(R) - R,
        ),
        Mistake(
            "minus 1",
            "Subtract R, not 1: a constant does not change the derivative.",
            lambda R: (1 + R) * torch.log1p(R) - 1,
        ),
        Mistake("plus R", "The sign of R is wrong: it must be subtracted.", lambda R: (1 + R) * torch.log1p(R) + R),
        Mistake(
            "another logarithm",
            "The logarithm is the natural one: torch.log or torch.log1p.",
            lambda R: (1 + R) * torch.log2(1 + R) - R,
        ),
        Mistake(
            "product",
            "The integral of a logarithm is not that logarithm times R: use integration by parts.",
            lambda R: R * torch.log1p(R),
        ),
    ),
    gradient="R",
)


def query_cases() -> list[Case]:
    """Mixed, perfect and reversed rankings, one positive, several steepnesses and temperatures."""
    ordered = torch.linspace(0.9, -0.6, 6, dtype=torch.float64)
    first = torch.tensor([True, True, False, False, False, False])
    mixed = {"similarity": SIMILARITY, "positive": POSITIVE}
    return [
        Case("mixed, α = 1, τ = 0.01", {**mixed, "alpha": 1.0, "tau": 0.01}),
        Case("mixed, α = 4, τ = 0.1", {**mixed, "alpha": 4.0, "tau": 0.1}),
        Case("positives first", {"similarity": ordered, "positive": first, "alpha": 2.0, "tau": 0.1}),
        Case("positives last", {"similarity": ordered, "positive": first.flip(0), "alpha": 2.0, "tau": 0.1}),
        Case("one positive", {"similarity": SIMILARITY, "positive": torch.arange(7) == 2, "alpha": 2.0, "tau": 0.05}),
    ]


def before(similarity: Tensor, positive: Tensor, tau: float) -> tuple[Tensor, Tensor]:
    """R(i, S_N) and R(i, S_P) of every positive; in the second each counts itself as one half."""
    counted = torch.sigmoid((similarity[None, :] - similarity[positive][:, None]) / tau)
    return counted[:, ~positive].sum(1), counted[:, positive].sum(1)


def pnp_dq(similarity: Tensor, positive: Tensor, alpha: float, tau: float) -> Tensor:
    """1 − mean over positives of (1 + R(i, S_N))^−α, Eq. 13."""
    return 1 - ((1 + before(similarity, positive, tau)[0]) ** -alpha).mean()


def with_all(similarity: Tensor, positive: Tensor, alpha: float, tau: float) -> Tensor:
    """Positives count as well, without the item itself."""
    R_neg, R_pos = before(similarity, positive, tau)
    return 1 - ((0.5 + R_pos + R_neg) ** -alpha).mean()


def with_itself(similarity: Tensor, positive: Tensor, alpha: float, tau: float) -> Tensor:
    """Positives count as well, and each counts itself as one half."""
    R_neg, R_pos = before(similarity, positive, tau)
    return 1 - ((1 + R_pos + R_neg) ** -alpha).mean()


def by_negative(similarity: Tensor, positive: Tensor, alpha: float, tau: float) -> Tensor:
    """Summed over the wrong axis: positives behind each negative."""
    counted = torch.sigmoid((similarity[~positive][None, :] - similarity[positive][:, None]) / tau)
    return 1 - ((1 + counted.sum(0)) ** -alpha).mean()


QUERY = Exercise(
    "pnp_dq",
    "PNP-D_q of one query: 1 − the mean over positives i of 1/(1 + R(i, S_N))^α; R counts negatives before i.",
    pnp_dq,
    query_cases,
    (
        Mistake(
            "not a loss",
            "It is 1 minus the loss: the released code made this mistake until February 2023.",
            lambda similarity, positive, alpha, tau: 1 - pnp_dq(similarity, positive, alpha, tau),
        ),
        Mistake("all items", "R counts all items before i; PNP counts negatives only.", with_all, also=(with_itself,)),
        Mistake(
            "swapped",
            "Positives and negatives have changed places: the mean is over positives, R counts negatives.",
            lambda similarity, positive, alpha, tau: pnp_dq(similarity, ~positive, alpha, tau),
        ),
        Mistake(
            "sign",
            "The sign is turned round: a negative j counts as before i when s_j is larger than s_i.",
            lambda similarity, positive, alpha, tau: pnp_dq(-similarity, positive, alpha, tau),
        ),
        Mistake(
            "sum",
            "It adds up over the positives; divide by their number |P|.",
            lambda similarity, positive, alpha, tau: 1 - ((1 + before(similarity, positive, tau)[0]) ** -alpha).sum(),
        ),
        Mistake(
            "over all items",
            "It divides by the number of all items; only positives count.",
            lambda similarity, positive, alpha, tau: (
                1 - ((1 + before(similarity, positive, tau)[0]) ** -alpha).sum() / len(similarity)
            ),
        ),
        Mistake(
            "mean of R first",
            "It takes the mean of R and then the power: every positive has a loss of its own.",
            lambda similarity, positive, alpha, tau: 1 - (1 + before(similarity, positive, tau)[0].mean()) ** -alpha,
        ),
        Mistake(
            "alpha as a factor",
            "α is an exponent here; as a factor it stands in the derivative only.",
            lambda similarity, positive, alpha, tau: 1 - (alpha / (1 + before(similarity, positive, tau)[0])).mean(),
        ),
        Mistake(
            "alpha not used",
            "α is not used: that is α = 1.",
            lambda similarity, positive, alpha, tau: pnp_dq(similarity, positive, 1.0, tau),
        ),
        Mistake(
            "times tau",
            "The difference is multiplied by τ; it must be divided, so that a small τ is sharp.",
            lambda similarity, positive, alpha, tau: pnp_dq(similarity, positive, alpha, 1 / tau),
        ),
        Mistake(
            "released code",
            "The query counts as its own positive, as in the released code: divide by |P|.",
            lambda similarity, positive, alpha, tau: (
                pnp_dq(similarity, positive, alpha, tau) * positive.sum() / (positive.sum() + 1)
            ),
        ),
        Mistake(
            "by negative",
            "The count is taken for every negative; each positive has its own: sum over the negatives, dim=1.",
            by_negative,
        ),
        Mistake(
            "the derivative",
            "That is the mean of the derivative α / (1 + R)^(α + 1); the loss itself is asked for.",
            lambda similarity, positive, alpha, tau: (
                alpha * (1 + before(similarity, positive, tau)[0]) ** (-alpha - 1)
            ).mean(),
        ),
        Mistake(
            "mean for R",
            "R is the mean over the negatives; it is a count: take the sum.",
            lambda similarity, positive, alpha, tau: (
                1 - ((1 + before(similarity, positive, tau)[0] / (~positive).sum()) ** -alpha).mean()
            ),
        ),
    ),
    gradient="similarity",
)

EXERCISES = (DERIVATIVE, INTEGRAL, QUERY)
