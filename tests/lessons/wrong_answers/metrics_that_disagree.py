"""Wrong answers to the exercises of lesson 2, written before looking at what the checks name."""

import math

import numpy as np


def discounted(relevance):
    return sum(r / math.log2(rank + 1) for rank, r in enumerate(relevance, 1))


def ap_sum(relevance, k):
    hits, total = 0, 0.0
    for rank, relevant in enumerate(relevance[:k], 1):
        hits += relevant
        total += relevant * hits / rank
    return total


def ap_divides_by_hits(relevance, k, num_relevant):
    hits = sum(relevance[:k])
    return ap_sum(relevance, k) / hits if hits else 0.0


def ap_ranks_from_zero(relevance, k, num_relevant):
    rel = np.array(relevance[:k], dtype=float)
    return float((rel * rel.cumsum() / np.maximum(np.arange(len(rel)), 1)).sum() / min(k, num_relevant))


def ap_counts_precision_at_every_rank(relevance, k, num_relevant):
    rel = np.array(relevance[:k], dtype=float)
    return float((rel.cumsum() / np.arange(1, len(rel) + 1)).mean())


def ndcg_natural_logarithm_of_rank(relevance, k, num_relevant):
    gain = sum(r / math.log2(max(rank, 2)) for rank, r in enumerate(relevance[:k], 1))
    best = sum(1 / math.log2(max(rank, 2)) for rank in range(1, min(k, num_relevant) + 1))
    return gain / best


def ndcg_ideal_from_the_sorted_list(relevance, k, num_relevant):
    best = discounted(sorted(relevance[:k], reverse=True))
    return discounted(relevance[:k]) / best if best else 0.0


def ndcg_ideal_of_all_relevant(relevance, k, num_relevant):
    return discounted(relevance[:k]) / discounted([1] * num_relevant)


WRONG = {
    "recall_at_k": [
        lambda relevance, k, num_relevant: sum(relevance[:k]) / num_relevant,
        lambda relevance, k, num_relevant: sum(relevance[:k]) / k,
        lambda relevance, k, num_relevant: float(relevance[k - 1]) if k <= len(relevance) else 0.0,
        lambda relevance, k, num_relevant: float(any(relevance)),
        lambda relevance, k, num_relevant: sum(relevance[:k]),
    ],
    "average_precision_at_k": [
        ap_divides_by_hits,
        ap_ranks_from_zero,
        ap_counts_precision_at_every_rank,
        lambda relevance, k, num_relevant: ap_sum(relevance, k) / k,
        lambda relevance, k, num_relevant: ap_sum(relevance, k) / num_relevant,
    ],
    "ndcg_at_k": [
        ndcg_natural_logarithm_of_rank,
        ndcg_ideal_from_the_sorted_list,
        ndcg_ideal_of_all_relevant,
        lambda relevance, k, num_relevant: discounted(relevance[:k]),
        lambda relevance, k, num_relevant: discounted(relevance) / discounted([1] * num_relevant),
    ],
}
