"""Right answers to the exercises of lesson 2, in different styles."""

import math

import numpy as np
import torch


def recall_loop(relevance, k, num_relevant):
    for place in range(min(k, len(relevance))):
        if relevance[place]:
            return 1.0
    return 0.0


def precision_then_mean(relevance, k, num_relevant):
    hits, total = 0, 0.0
    for rank, relevant in enumerate(relevance[:k], 1):
        hits += relevant
        total += relevant * hits / rank
    return total / min(k, num_relevant)


def dcg_with_numpy(relevance, k, num_relevant):
    discount = 1 / np.log2(np.arange(2, 2 + len(relevance)))
    best = discount[: min(k, num_relevant)].sum()
    return float((np.array(relevance[:k]) * discount[: len(relevance[:k])]).sum() / best)


def any_with_torch(relevance, k, num_relevant):
    return torch.tensor(relevance[:k]).any().float()


def ap_cumulative(relevance, k, num_relevant):
    rel = np.array(relevance[:k], dtype=float)
    return float((rel * rel.cumsum() / np.arange(1, len(rel) + 1)).sum() / min(k, num_relevant))


def ap_from_hit_ranks(relevance, k, num_relevant):
    ranks = [rank for rank, relevant in enumerate(relevance[:k], 1) if relevant]
    return sum(number / rank for number, rank in enumerate(ranks, 1)) / min(k, num_relevant)


def ndcg_loop(relevance, k, num_relevant):
    gain = sum(1 / math.log2(rank + 1) for rank, relevant in enumerate(relevance[:k], 1) if relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, num_relevant) + 1))


def ndcg_with_exponential_gain(relevance, k, num_relevant):
    top, best = torch.tensor(relevance[:k]).double(), torch.ones(min(k, num_relevant)).double()
    gains = [((2**x - 1) / torch.log2(torch.arange(len(x)) + 2.0)).sum() for x in (top, best)]
    return gains[0] / gains[1]


RIGHT = {
    "recall_at_k": [recall_loop, any_with_torch, lambda relevance, k, num_relevant: int(sum(relevance[:k]) > 0)],
    "average_precision_at_k": [precision_then_mean, ap_cumulative, ap_from_hit_ranks],
    "ndcg_at_k": [dcg_with_numpy, ndcg_loop, ndcg_with_exponential_gain],
}
