"""Questions of lesson 6."""

import math

from labkit.lessons.question import Axis, Choice, Curve, Question

QUESTIONS: dict[str, Question] = {
    "6.1": Choice(
        "The same untrained network. Compare the mean derivative ∂L/∂R over all positives for D_q with α = 1 and "
        "with the steeper α = 4, whose largest derivative is four times as large.",
        (
            "α = 4 gives about four times as much",
            "about the same",
            "α = 4 gives several times less",
        ),
        "α = 4 gives several times less",
        "The larger derivative is reached at R = 0 only. An untrained network has about 25 negatives before a "
        "typical positive, and there (1 + R)⁻⁵ is nearly nothing. The next cell prints both means.",
    ),
    "6.2": Curve(
        "Draw the slope of the loss (1 + R) log(1 + R) over R. The paper designs it to be log(1 + R).",
        lambda R: math.log1p(R) + 1,
        "At R = 0, where no negative is before the positive, it is 1, the same as PNP-O, not 0: the product rule gives "
        "log(1 + R) + 1. The integral of log(1 + r) from 0 to R is (1 + R) log(1 + R) − R.",
        x=Axis("R, negatives before the positive", 0, 8),
        y=Axis("slope", 0, 4),
        close=0.25,
    ),
}
