"""Wrong answers to the exercises of lesson 4, written before looking at what the checks name."""

import math

import torch


def shares(similarity, tau):
    soft = torch.sigmoid((similarity[None] - similarity[:, None]) / tau)
    return soft * (1 - torch.eye(len(similarity), dtype=similarity.dtype))


def hard_by_topk(similarity, positive, k):
    return positive[similarity.topk(min(k, len(similarity))).indices].float().sum() / positive.sum()


def hard_any(similarity, positive, k):
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return (rank[positive] <= k).any().float()


def hard_ties_in_favour(similarity, positive, k):
    rank = 1 + (similarity[None, :] > similarity[:, None]).sum(1)
    return (rank[positive] <= k).float().mean()


def hard_precision(similarity, positive, k):
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return (rank[positive] <= k).sum() / k


def surrogate_without_minus_one(similarity, positive, k, tau_rank, tau_sim):
    return torch.sigmoid((k - shares(similarity, tau_sim).sum(1)[positive]) / tau_rank).mean()


def surrogate_temperatures_swapped(similarity, positive, k, tau_rank, tau_sim):
    return torch.sigmoid((k - 1 - shares(similarity, tau_rank).sum(1)[positive]) / tau_sim).mean()


def surrogate_one_temperature(similarity, positive, k, tau_rank, tau_sim):
    return torch.sigmoid(k - 1 - shares(similarity, tau_sim).sum(1)[positive]).mean()


def surrogate_negatives_only(similarity, positive, k, tau_rank, tau_sim):
    r = shares(similarity, tau_sim)[positive][:, ~positive].sum(1)
    return torch.sigmoid((k - 1 - r) / tau_rank).mean()


def floor_of_one_k(num_positives, ks, tau_rank):
    return 1 - sum(1 / (1 + math.exp(-(k - 1) / tau_rank)) for k in ks) / len(ks)


def floor_ranks_from_zero(num_positives, ks, tau_rank):
    k, rank = torch.tensor(ks)[:, None], torch.arange(num_positives)
    return torch.sigmoid((rank - k) / tau_rank).mean()


def floor_as_recall(num_positives, ks, tau_rank):
    k, rank = torch.tensor(ks)[:, None], torch.arange(num_positives) + 1
    return torch.sigmoid((k - rank) / tau_rank).mean()


WRONG = {
    "hard_recall": [hard_by_topk, hard_any, hard_ties_in_favour, hard_precision],
    "recall_surrogate": [
        surrogate_without_minus_one,
        surrogate_temperatures_swapped,
        surrogate_one_temperature,
        surrogate_negatives_only,
    ],
    "recall_floor": [floor_of_one_k, floor_ranks_from_zero, floor_as_recall],
}
