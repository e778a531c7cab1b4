"""Assignment 3: gradients of PNP, who gets them, a loss from points of its derivative, D_q of a batch of any size."""

from __future__ import annotations

from labkit.assignments.assignment import Assignment, Written
from labkit.assignments.derivatives import loss_from_points, pnp_batch, pnp_gradient, pull_quantile

ASSIGNMENT = Assignment(
    name="3_derivatives",
    title="A loss by its derivative",
    questions=(
        pnp_gradient.QUESTION,
        pull_quantile.QUESTION,
        loss_from_points.QUESTION,
        pnp_batch.QUESTION,
    ),
    written=(
        Written(
            "a_wrong_integral",
            3,
            (
                (
                    1,
                    "the product rule gives R e^(−R) − R² e^(−R) / 2; or: the loss falls again, but g is positive",
                ),
                (1, "the right integral with F(0) = 0: 1 − (1 + R) e^(−R)"),
                (
                    1,
                    "g is 0 at R = 0 and near 0 for large R: it works on those with about one negative before them",
                ),
            ),
            variants=(
                r"the derivative is $g(R) = R\, e^{-2R}$, the printed loss $\frac12 R^2 e^{-2R}$.",
                r"the derivative is $g(R) = R^2 e^{-R}$, the printed loss $\frac13 R^3 e^{-R}$.",
                r"the derivative is $g(R) = R\, e^{-R/3}$, the printed loss $\frac12 R^2 e^{-R/3}$.",
            ),
        ),
        Written(
            "choose_a_derivative",
            3,
            (
                (
                    1,
                    "from scratch R is large: a derivative that still pulls there, not a large α; uses the table",
                ),
                (1, "wrong labels: such positives are far back, and a decreasing derivative gives them little"),
                (1, "how to find out: validation data, several seeds, equal tuning; a share of the pull is no result"),
            ),
            variants=(
                "in (b) one label in three is wrong.",
                "in (b) one label in fifty is wrong; say from which share on you would choose otherwise.",
            ),
        ),
    ),
)
