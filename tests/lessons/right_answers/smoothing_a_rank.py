"""Right answers to the exercises of lesson 3, in different styles."""

import math

import torch


def rank_loop(similarity, tau):
    ranks = []
    for i in range(len(similarity)):
        others = [j for j in range(len(similarity)) if j != i]
        ranks.append(1 + sum((torch.sigmoid((similarity[j] - similarity[i]) / tau) for j in others), torch.zeros(())))
    return torch.stack(ranks)


def rank_with_mask(similarity, tau):
    d = similarity.unsqueeze(0) - similarity.unsqueeze(1)
    mask = 1 - torch.eye(len(similarity), dtype=similarity.dtype)
    return 1 + (mask / (1 + torch.exp(-d / tau))).sum(dim=1)


def rank_minus_half(similarity, tau):
    return torch.special.expit((similarity[None] - similarity[:, None]) / tau).sum(1) + 0.5


def ap_loop(similarity, positive, tau):
    total = torch.zeros((), dtype=similarity.dtype)
    for i in positive.nonzero().flatten():
        soft = torch.sigmoid((similarity - similarity[i]) / tau)
        keep = torch.arange(len(similarity)) != i
        r_pos, r_neg = soft[keep & positive].sum(), soft[keep & ~positive].sum()
        total = total + r_neg / (1 + r_pos + r_neg)
    return total / positive.sum()


def ap_by_ranks(similarity, positive, tau):
    d = torch.sigmoid((similarity[None] - similarity[:, None]) / tau) * (1 - torch.eye(len(similarity)))
    return 1 - ((1 + (d * positive).sum(1)) / (1 + d.sum(1)))[positive].mean()


def ap_with_masked_fill(similarity, positive, tau):
    itself = torch.eye(len(similarity), dtype=torch.bool)
    r = torch.sigmoid((similarity[None] - similarity[:, None]) / tau).masked_fill(itself, 0)
    return 1 - torch.mean((1 + r[:, positive].sum(1)[positive]) / (1 + r.sum(1)[positive]))


def share_loop(differences, tau, threshold):
    count = 0
    for difference in differences.tolist():
        g = 1 / (1 + math.exp(-difference / tau)) if difference > -700 * tau else 0.0
        count += g * (1 - g) / tau >= threshold / (4 * tau)
    return count / len(differences)


def share_by_distance(differences, tau, threshold):
    # 4 G (1 − G) = 1 / cosh²(x / 2τ)
    reach = 2 * tau * math.acosh(threshold**-0.5)
    return (differences.abs() <= reach).float().mean()


def share_by_autograd(differences, tau, threshold):
    x = differences.clone().requires_grad_()
    torch.sigmoid(x / tau).sum().backward()
    return float((x.grad * 4 * tau >= threshold).sum()) / len(x)


RIGHT = {
    "soft_rank": [rank_loop, rank_with_mask, rank_minus_half],
    "smooth_ap": [ap_loop, ap_by_ranks, ap_with_masked_fill],
    "share_with_gradient": [share_loop, share_by_distance, share_by_autograd],
}
