"""Right answers to the exercises of lesson 4, in different styles."""

import math

import torch


def hard_loop(similarity, positive, k):
    found = 0
    for x in range(len(similarity)):
        if positive[x]:
            rank = 1 + sum(bool(similarity[z] >= similarity[x]) for z in range(len(similarity)) if z != x)
            found += rank <= k
    return found / int(positive.sum())


def hard_matrix(similarity, positive, k):
    # each item counts itself once, which stands for the 1
    rank = (similarity[None, :] >= similarity[:, None]).sum(1)
    return (rank[positive] <= k).float().mean()


def hard_heaviside(similarity, positive, k):
    one = torch.ones((), dtype=similarity.dtype)
    rank = torch.heaviside(similarity.unsqueeze(0) - similarity.unsqueeze(1), one).sum(1)
    return torch.heaviside(k - rank, one)[positive].sum() / positive.sum()


def soft_loop(similarity, positive, k, tau_rank, tau_sim):
    total = 0
    for x in positive.nonzero().flatten().tolist():
        rest = torch.cat([similarity[:x], similarity[x + 1 :]])
        total = total + torch.sigmoid((k - 1 - torch.sigmoid((rest - similarity[x]) / tau_sim).sum()) / tau_rank)
    return total / positive.sum()


def soft_minus_half(similarity, positive, k, tau_rank, tau_sim):
    rank = torch.sigmoid((similarity[None, :] - similarity[positive][:, None]) / tau_sim).sum(1) + 0.5
    return torch.sigmoid((k - rank) / tau_rank).mean()


def soft_by_tanh(similarity, positive, k, tau_rank, tau_sim):
    def sigma(u, tau):
        return (1 + torch.tanh(u / (2 * tau))) / 2

    itself = torch.eye(len(similarity), dtype=similarity.dtype)
    before = (sigma(similarity[None] - similarity[:, None], tau_sim) * (1 - itself)).sum(1)
    return (sigma(k - 1 - before, tau_rank) * positive).sum() / positive.sum()


def floor_loop(num_positives, ks, tau_rank):
    total = 0.0
    for k in ks:
        for rank in range(1, num_positives + 1):
            total += 1 / (1 + math.exp(-(k - rank) / tau_rank))
    return 1 - total / (len(ks) * num_positives)


def floor_of_misses(num_positives, ks, tau_rank):
    k, rank = torch.tensor(ks)[:, None], torch.arange(num_positives) + 1
    return torch.sigmoid((rank - k) / tau_rank).mean()


def floor_by_a_ranking(num_positives, ks, tau_rank):
    # a real gallery, far apart
    similarity = torch.linspace(1, -1, num_positives + 5, dtype=torch.float64)
    positive = torch.arange(num_positives + 5) < num_positives
    found = [soft_minus_half(similarity, positive, k, tau_rank, 1e-4) for k in ks]
    return 1 - sum(found) / len(found)


RIGHT = {
    "hard_recall": [hard_loop, hard_matrix, hard_heaviside],
    "recall_surrogate": [soft_loop, soft_minus_half, soft_by_tanh],
    "recall_floor": [floor_loop, floor_of_misses, floor_by_a_ranking],
}
