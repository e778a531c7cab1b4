"""Wrong answers to the exercises of lesson 7, written before looking at what the checks name."""

import torch
from torch.nn import functional as F


def drop_of_all(plain, merged):
    return sum(plain.values()) / len(plain) - sum(merged.values()) / len(merged)


def drop_by_position(plain, merged):
    pairs = list(zip(plain.values(), merged.values()))
    return sum(a - b for a, b in pairs) / len(pairs)


def drop_divided_by_all(plain, merged):
    return sum(plain[s] - merged[s] for s in plain if s in merged) / len(plain)


WRONG = {
    "circular_variance": [
        lambda embeddings: 1 - embeddings.mean(0).norm(),
        lambda embeddings: F.normalize(embeddings, dim=1).mean(0).norm(),
        lambda embeddings: F.normalize(embeddings, dim=1).var(0).sum(),
        lambda embeddings: 1 - F.normalize(embeddings, dim=1).mean(0).norm() ** 2,
        lambda embeddings: 1 - F.normalize(embeddings, dim=1).sum(0).norm(),
    ],
    "merge_labels": [
        lambda labels, k: labels % k,
        lambda labels, k: labels / k,
        lambda labels, k: torch.round(labels / k).long(),
        lambda labels, k: labels // k * k,
    ],
    "mean_drop": [
        drop_of_all,
        drop_by_position,
        drop_divided_by_all,
        lambda plain, merged: (
            sum(merged[s] - plain[s] for s in plain if s in merged) / len([s for s in plain if s in merged])
        ),
    ],
}
