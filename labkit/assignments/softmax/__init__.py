"""Assignment 5, the softmax floor and SGSL: the scale a floor asks for, the best scale, SGSL's gradient, and the gate.

cosine (N, C): cosines of N samples with C class vectors; embeddings (N, D), weight (C, D), neither of unit length;
labels (N,).
"""

from __future__ import annotations

from labkit.assignments.assignment import Assignment, Written
from labkit.assignments.softmax import best_scale, gated_sgsl, least_scale, sgsl_gradient

ASSIGNMENT = Assignment(
    name="5_softmax",
    title="SGSL and the softmax floor",
    questions=(
        least_scale.QUESTION,
        best_scale.QUESTION,
        sgsl_gradient.QUESTION,
        gated_sgsl.QUESTION,
    ),
    written=(
        Written(
            "stalled_training",
            3,
            (
                (1, "Names the floor of the unscaled softmax for 1,000 classes, 5.91: 5.95 is 0.04 above it"),
                (1, "Says that the value tells nothing about retrieval, and what would: R@1 on validation classes"),
                (1, "A remedy with a number: a scale of at least least_scale(1000, ℓ), or another loss"),
            ),
            variants=(
                "he has 200 classes, and the loss stays at 4.34.",
                "he has 5,000 classes, and the loss stays at 7.56.",
            ),
        ),
        Written(
            "length_of_features",
            3,
            (
                (1, "Pythagoras: the step is at right angles to f, so ‖f‖² grows by η²‖g‖² in every step"),
                (1, "The gradient has the factor 1/‖f‖, so the angle turned about 1/‖f‖²: it slows down"),
                (1, "A limit: a network moves parameters, not features; or the softmax term changes lengths"),
            ),
            variants=(
                "in part 2 say in a number how far a feature turns that is three times as long.",
                "in part 2 say in a number how far a feature turns that is half as long.",
            ),
        ),
    ),
)
