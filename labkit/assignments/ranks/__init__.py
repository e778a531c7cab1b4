"""Assignment 2: soft ranks of a batch, a temperature that is safe, RS@k in three modes, the two pulls of Smooth-AP."""

from __future__ import annotations

from labkit.assignments.assignment import Assignment, Written
from labkit.assignments.ranks import batch_ranks, rs_loss, safe_temperature, smooth_ap_pulls

ASSIGNMENT = Assignment(
    name="2_ranks",
    title="Smooth ranks and what they pull",
    questions=(
        batch_ranks.QUESTION,
        safe_temperature.QUESTION,
        rs_loss.QUESTION,
        smooth_ap_pulls.QUESTION,
    ),
    written=(
        Written(
            "why_it_trains",
            3,
            (
                (1, "the bound is the worst case: the closest two of all items decide, and all errors add up"),
                (1, "in fact errors cancel, or few comparisons are near; most are saturated and exact"),
                (1, "a comparison without error has no slope: at the safe temperature there is no gradient"),
            ),
            variants=(
                "argue for a list of 10 items and for one of 1,000: how do bound and measured error change?",
                "argue with τ = 0.05 in place of 0.01.",
            ),
        ),
        Written(
            "floors",
            3,
            (
                (1, "σ(0) = ½: rank exactly k is half a hit, in every mode; sharper τ₁ does not change that"),
                (1, "fraction: with k < |P| not even hard recall can be 1; capped and any do not have this part"),
                (1, "what to watch instead: the metric itself, or the loss minus its floor; modes do not compare"),
            ),
            variants=(
                "she has ten images of each class in a batch, and her loss is near 0.51 in mode fraction.",
                "she has two images of each class in a batch; read her floors from the table.",
            ),
        ),
    ),
)
