"""Wrong answers to the exercises of lesson 1, written before looking at what the checks name."""

import numpy as np
import torch
from torch.nn import functional as F


def nearest_finds_itself(embeddings):
    unit = F.normalize(embeddings, dim=1)
    return (unit @ unit.T).argmax(dim=1)


def nearest_by_dot_product(embeddings):
    s = embeddings @ embeddings.T
    s.fill_diagonal_(-torch.inf)
    return s.argmax(dim=1)


def nearest_takes_the_farthest(embeddings):
    unit = F.normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(torch.inf)
    return s.argmin(dim=1)


def nearest_diagonal_set_to_zero(embeddings):
    unit = F.normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(0)
    return s.argmax(dim=1)


def nearest_returns_the_similarity(embeddings):
    unit = F.normalize(embeddings, dim=1)
    s = unit @ unit.T
    s.fill_diagonal_(-torch.inf)
    return s.max(dim=1).values


def nearest_normalizes_columns(embeddings):
    unit = embeddings / embeddings.norm(dim=0, keepdim=True)
    s = unit @ unit.T
    s.fill_diagonal_(-torch.inf)
    return s.argmax(dim=1)


def found(embeddings):
    x = embeddings.numpy() / np.linalg.norm(embeddings.numpy(), axis=1, keepdims=True)
    s = x @ x.T
    np.fill_diagonal(s, -2)
    return torch.from_numpy(s.argmax(1))


def recall_counts_lonely_queries(embeddings, labels):
    return (labels[found(embeddings)] == labels).float().mean()


def recall_finds_itself(embeddings, labels):
    return (labels[nearest_finds_itself(embeddings)] == labels).float().mean()


def recall_in_per_cent(embeddings, labels):
    kept = torch.bincount(labels)[labels] > 1
    return 100 * (labels[found(embeddings)] == labels)[kept].float().mean()


def recall_as_a_count(embeddings, labels):
    return (labels[found(embeddings)] == labels).sum()


WRONG = {
    "nearest_neighbour": [
        nearest_finds_itself,
        nearest_by_dot_product,
        nearest_takes_the_farthest,
        nearest_diagonal_set_to_zero,
        nearest_returns_the_similarity,
        nearest_normalizes_columns,
    ],
    "recall_at_1": [recall_counts_lonely_queries, recall_finds_itself, recall_in_per_cent, recall_as_a_count],
}
