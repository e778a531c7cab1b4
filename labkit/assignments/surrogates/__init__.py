"""Assignment 7, learned surrogates: the edit distance's table, what a surrogate learns from, its filter, and a verdict.

a, b: words; A (D, n): weights of h(x) = tanh(A x); z, y (N, n): predictions and targets; exact, estimate (N,): e and ê.
"""

from __future__ import annotations

from labkit.assignments.assignment import Assignment, Written
from labkit.assignments.surrogates import edit_table, filter_weights, surrogate_objective

ASSIGNMENT = Assignment(
    name="7_surrogates",
    title="Learned surrogates",
    questions=(
        edit_table.QUESTION,
        surrogate_objective.QUESTION,
        filter_weights.QUESTION,
    ),
    written=(
        Written(
            "slides_verdict",
            5,
            (
                (1, "Says what the table shows: TED falls on all seven sets, and NED does not on IIIT-5K"),
                (1, "Finds the row whose percentage is wrong (ICDAR'03), with the right number, 21.2 %"),
                (1, "Names the control that is missing: cross-entropy for as many more steps, or as much CPU time"),
                (1, "No interval can be given: one run, no seeds; a difference of words needs pairs of words or seeds"),
                (1, "A verdict that follows: shown for this base, not shown that the surrogate is the reason"),
            ),
            variants=(
                "write it as a reviewer of the paper would: what must the authors add before you believe it?",
                "write it as an answer to a colleague who wants to use LS-ED for house numbers from tomorrow on.",
            ),
        ),
        Written(
            "own_verdict",
            5,
            (
                (1, "One sentence that can turn out false: arm, baseline, metric, direction"),
                (1, "The right baseline is named (more cross-entropy, not the base alone), and why"),
                (1, "Mean, both ends of the interval and the number of seeds, from the table"),
                (
                    1,
                    "The verdict follows from the interval: held, equal, not resolved, contradicted",
                ),
                (1, "A limit that matters: rendered words, a small reader, how converged the base is, ê against e"),
            ),
            variants=(
                "the claim is about the filter: does FEDS keep the right pairs? Its control is the random filter.",
                "the claim is about the soft edit distance: is a learned surrogate better than a smooth programme?",
            ),
        ),
    ),
)
