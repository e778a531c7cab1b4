"""Right answers to the exercises of lesson 7, in different styles."""

import math

import numpy as np
import torch


def variance_loop(embeddings):
    total = [0.0] * embeddings.shape[1]
    for row in embeddings.tolist():
        length = math.sqrt(sum(x * x for x in row))
        total = [t + x / length for t, x in zip(total, row)]
    return 1 - math.sqrt(sum(t * t for t in total)) / len(embeddings)


def variance_by_pairs(embeddings):
    unit = embeddings / embeddings.norm(dim=1, keepdim=True)
    return 1 - (unit @ unit.T).mean().clamp_min(0).sqrt()


def variance_numpy(embeddings):
    e = embeddings.numpy()
    return 1 - np.linalg.norm((e / np.linalg.norm(e, axis=1, keepdims=True)).mean(axis=0))


def merge_floor(labels, k):
    return torch.div(labels, k, rounding_mode="floor")


def merge_list(labels, k):
    return [int(label) // k for label in labels]


def merge_table(labels, k):
    table = torch.arange(1000).repeat_interleave(k)
    return table[labels]


def drop_loop(plain, merged):
    total, count = 0.0, 0
    for seed, value in plain.items():
        if seed in merged:
            total += value - merged[seed]
            count += 1
    return total / count


def drop_numpy(plain, merged):
    seeds = [seed for seed in merged if seed in plain]
    return float(np.mean([plain[s] for s in seeds]) - np.mean([merged[s] for s in seeds]))


def drop_sets(plain, merged):
    both = set(plain) & set(merged)
    return torch.tensor([plain[s] - merged[s] for s in both], dtype=torch.float64).mean()


RIGHT = {
    "circular_variance": [variance_loop, variance_by_pairs, variance_numpy],
    "merge_labels": [merge_floor, merge_list, merge_table],
    "mean_drop": [drop_loop, drop_numpy, drop_sets],
}
