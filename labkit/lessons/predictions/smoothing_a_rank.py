"""Questions of lesson 3."""

import math

from labkit.lessons.question import Axis, Choice, Curve, Question

QUESTIONS: dict[str, Question] = {
    "3.1": Choice(
        "The positive is at similarity 0.45, between two negatives at 0.3 and 0.6. Average precision has the "
        "gradient 0 there. What is the gradient of Smooth-AP with temperature τ = 0.01?",
        (
            "also exactly 0",
            "practically 0",
            "clearly not 0",
        ),
        "practically 0",
        "The nearest item is 0.15 away, that is 15 temperatures. The sigmoid's slope there is e⁻¹⁵/τ = 0.00003: not "
        "zero, but nothing to train on. A sigmoid smooths a step only as far as a few temperatures.",
    ),
    "3.2": Curve(
        "G(x; τ) is the sigmoid 1/(1 + e^(−x/τ)), with τ = 0.05. Draw its slope over the difference x = s_j − s_i.",
        lambda x: 1 / (4 * 0.05 * math.cosh(x / 0.1) ** 2),
        "It is a hill of height 1/(4τ) = 5, a few τ wide. Two items that are further apart than that do not feel each "
        "other.",
        x=Axis("difference s_j − s_i", -0.5, 0.5),
        y=Axis("slope of G", 0, 6),
        close=0.5,
    ),
}
