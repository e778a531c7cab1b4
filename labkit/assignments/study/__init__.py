"""Assignment 6, a small study: differences by seed with a verdict, a bootstrap over classes, choosing on validation.

Values are lists, one entry a run; t: Student's 0.975 quantiles, t[d] with d degrees of freedom; hits and draws tensors;
validation and test (G, S, T): G settings, S seeds, T steps, NaN where a run has no value.
"""

from __future__ import annotations

from labkit.assignments.assignment import Assignment, Written
from labkit.assignments.study import choose_on_validation, class_bootstrap, difference_by_seed

ASSIGNMENT = Assignment(
    name="6_study",
    title="A small study",
    questions=(
        difference_by_seed.QUESTION,
        class_bootstrap.QUESTION,
        choose_on_validation.QUESTION,
    ),
    written=(
        Written(
            "study_plan",
            5,
            (
                (1, "The claim is one sentence that can turn out false: losses, data, metric, direction"),
                (1, "A reason from what the two losses do (gradient, R, margin, who is pulled), not only a guess"),
                (1, "Fixed before training: three or more seeds, the same for both; steps; which step counts"),
                (1, "A control (the untrained network, another layout) and what it can tell"),
                (1, "Which result would count as shown, as the opposite, and as not shown"),
            ),
            variants=(
                "the layout is `grid`, with at least four seeds.",
                "the layout is `random`, with at least five seeds.",
            ),
        ),
        Written(
            "study_report",
            10,
            (
                (1, "At least two losses × three seeds trained by the student, with the settings to do it again"),
                (1, "Every seed's value is shown, in a table or a figure, not only means"),
                (2, "The paired interval: mean, both ends, number of seeds (1 if unpaired or without ends)"),
                (1, "The verdict follows from the interval, in words: held, equal, not resolved, or the opposite"),
                (1, "The control is reported with its own interval, and used in the conclusion"),
                (
                    2,
                    "Defended or given up with evidence beyond one metric: curves, intra, train R@1, single seeds "
                    "(1 for an explanation without evidence)",
                ),
                (1, "Limits that matter here: few seeds, a toy, one budget, untuned; what the interval does not cover"),
                (1, "Honesty: what was tried and how often, deviations from the plan, what was seen of the test data"),
            ),
            variants=(
                "report also the difference with each seed left out in turn.",
                "report also the median of the differences beside their mean.",
            ),
        ),
    ),
)
