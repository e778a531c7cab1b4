"""Assignment 1: ranked lists, mean average precision by its name, expected nDCG, metrics that disagree."""

from __future__ import annotations

from labkit.assignments.assignment import Assignment, Written
from labkit.assignments.metrics import disputed_pairs, expected_ndcg, mean_ap, ranked_relevance

ASSIGNMENT = Assignment(
    name="1_metrics",
    title="Metrics you can trust",
    questions=(
        ranked_relevance.QUESTION,
        mean_ap.QUESTION,
        disputed_pairs.QUESTION,
        expected_ndcg.QUESTION,
    ),
    written=(
        Written(
            "which_denominators_disagree",
            3,
            (
                (1, "one query: k, R and min(k, R) are the same for both lists, so they order them alike"),
                (1, "one query: only the hits depend on the list; an example of two lists"),
                (1, "several queries: R differs between queries, so k, R and min weigh the queries differently"),
            ),
            variants=(
                "use k = 5 and R = 3 for one query, and queries with R = 2 and R = 8 for the two systems.",
                "use k = 8 and R = 6 for one query, and queries with R = 3 and R = 20 for the two systems.",
            ),
        ),
        Written(
            "first_column",
            3,
            (
                (1, "harmless without ties at the top, and if the copy has the query's label"),
                (1, "a copy under another label: the query itself may stay in the list, as a hit at rank 1: too high"),
                (1, "a test that shows it: copies under other labels, or vectors that are not normalised"),
            ),
            variants=(
                "give your test as numbers, with at most four items.",
                "answer for R@5 as well as for R@1.",
            ),
        ),
    ),
)
