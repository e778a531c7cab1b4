"""Assignment 4, from SoftTriple to MPA: classes with unequal numbers of proxies, weights, who shares a logarithm.

embeddings (N, D), labels (N,), proxies (C, K, D), exists (C, K): which of a class's K places hold a proxy; S is
similarity to classes (N, C), or to proxies (N, C, K) where a question says so. Logarithms are sets of places of S.
"""

from __future__ import annotations

from labkit.assignments.assignment import Assignment, Written
from labkit.assignments.proxies import enters_gradient, mpa_weights, proxy_shares, ragged_similarity

ASSIGNMENT = Assignment(
    name="4_proxies",
    title="Proxies: from SoftTriple to MPA",
    questions=(
        ragged_similarity.QUESTION,
        mpa_weights.QUESTION,
        enters_gradient.QUESTION,
        proxy_shares.QUESTION,
    ),
    written=(
        Written(
            "total_pull_and_push",
            3,
            (
                (1, "Shares of one logarithm add up to less than 1, because of the “1 +”"),
                (1, "Pull: |C⁺| logarithms, each at most α, divided by |C⁺|: at most α in all; push likewise, by C"),
                (1, "Hence for one sample: the larger the batch, the less is left for each"),
            ),
            variants=(
                "say what is left at α = 16 for one of 8 samples and for one of 512.",
                "say what is left at α = 64 for one of 4 samples and for one of 1,024.",
            ),
        ),
        Written(
            "one_sample_a_class",
            3,
            (
                (1, "Positive parts are equal: one term in each logarithm, and |C⁺| = N"),
                (1, "Negative parts differ: over samples for each class, over classes for each sample"),
                (1, "So P-P relations cannot show on SOP with random batches, which is what (✓) means"),
            ),
            variants=(
                "take batches of 64, and compute the printed share for them.",
                "take batches of 16, and compute the printed share for them.",
            ),
        ),
    ),
)
