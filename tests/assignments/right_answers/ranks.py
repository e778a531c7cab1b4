"""Right answers to assignment 2, in different styles."""

import math

import numpy as np
import torch


def ranks_by_loops(similarity, tau):
    n = len(similarity)
    rows = []
    for q in range(n):
        for i in range(n):
            rank = 1 + sum(
                torch.sigmoid((similarity[q, z] - similarity[q, i]) / tau) for z in range(n) if z not in (q, i)
            )
            rows.append(rank if i != q else similarity.new_zeros(()))
    return torch.stack([torch.as_tensor(rank, dtype=torch.float64) for rank in rows]).view(n, n)


def ranks_by_masks(similarity, tau):
    n = len(similarity)
    eye = torch.eye(n, dtype=torch.bool)
    before = torch.sigmoid((similarity.unsqueeze(1) - similarity.unsqueeze(2)) / tau)
    before = before.masked_fill(eye[:, None, :] | eye[None, :, :], 0.0)
    return (1 + before.sum(-1)).masked_fill(eye, 0.0)


def ranks_by_subtraction(similarity, tau):
    """The full sum, minus one half for the item, minus what the query gives."""
    total = torch.sigmoid((similarity[:, None, :] - similarity[:, :, None]) / tau).sum(2)
    query = torch.sigmoid((similarity.diagonal()[:, None] - similarity) / tau)
    return (0.5 + total - query) * (1 - torch.eye(len(similarity)))


def ranks_of_shorter_rows(similarity, tau):
    n = len(similarity)
    out = []
    for q in range(n):
        others = [z for z in range(n) if z != q]
        s = similarity[q, others]
        rank = 0.5 + (1 / (1 + torch.exp(((s[:, None] - s[None, :]) / tau).clamp(-500, 500)))).sum(1)
        out.append(torch.cat([rank[:q], rank.new_zeros(1), rank[q:]]))
    return torch.stack(out)


def safe_by_formula(similarity, error):
    n = len(similarity)
    if error >= (n - 1) / 2:
        return math.inf
    gap = similarity.sort().values.diff().min().item()
    return gap / math.log((n - 1) / error - 1)


def safe_by_logit(similarity, error):
    share = torch.tensor(error / max(1, len(similarity) - 1), dtype=torch.float64)
    if len(similarity) == 1 or share >= 0.5:
        return torch.tensor(math.inf)
    gaps = (similarity[:, None] - similarity[None, :]).abs() + torch.diag(torch.full_like(similarity, math.inf))
    return -gaps.min() / torch.logit(share)


def safe_by_bisection(similarity, error):
    s = np.sort(similarity.numpy())
    n = len(s)
    if n == 1 or (n - 1) / 2 <= error:
        return float("inf")
    gap = np.diff(s).min()
    if gap == 0:
        return 0.0
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = (low + high) / 2
        worst = (n - 1) / (1 + np.exp(min(700.0, gap / middle)))
        low, high = (middle, high) if worst <= error else (low, middle)
    return low


def rs_by_loops(similarity, labels, ks, tau_rank, tau_sim, mode):
    n, total, queries = len(labels), 0.0, 0
    for q in range(n):
        positives = [i for i in range(n) if i != q and labels[i] == labels[q]]
        if not positives:
            continue
        recall = 0.0
        for k, tau in zip(ks, tau_rank):
            hits = []
            for x in positives:
                before = sum(
                    torch.sigmoid((similarity[q, z] - similarity[q, x]) / tau_sim) for z in range(n) if z not in (q, x)
                )
                hits.append(torch.sigmoid((k - 1 - before) / tau))
            if mode == "fraction":
                recall = recall + sum(hits) / len(hits)
            elif mode == "capped":
                recall = recall + torch.minimum(sum(hits), torch.tensor(float(k))) / min(k, len(hits))
            else:
                missed = 1.0
                for h in hits:
                    missed = missed * (1 - h)
                recall = recall + 1 - missed
        total, queries = total + 1 - recall / len(ks), queries + 1
    return total / queries


def rs_by_tensors(similarity, labels, ks, tau_rank, tau_sim, mode):
    n = len(labels)
    eye = torch.eye(n, dtype=torch.bool)
    positive = (labels[:, None] == labels[None, :]) & ~eye
    before = torch.sigmoid((similarity[:, None, :] - similarity[:, :, None]) / tau_sim)
    before = before.masked_fill(eye[:, None, :] | eye[None, :, :], 0.0)
    rank = 1 + before.sum(2)
    k = torch.tensor(ks, dtype=torch.float64)[:, None, None]
    tau = torch.tensor(tau_rank, dtype=torch.float64)[:, None, None]
    h = torch.sigmoid((k - rank) / tau) * positive  # (K, n, n)
    number = positive.sum(1).clamp(min=1)
    if mode == "any":
        recall = 1 - (1 - h).prod(2)
    elif mode == "fraction":
        recall = h.sum(2) / number
    else:
        recall = torch.minimum(h.sum(2), k[:, :, 0]) / torch.minimum(number[None, :], k[:, :, 0])
    return 1 - recall[:, positive.any(1)].mean()


def rs_by_misses(similarity, labels, ks, tau_rank, tau_sim, mode):
    """The loss is the mean of misses, 1 − σ(u) = σ(−u); any by logarithms."""
    losses = []
    for q in range(len(labels)):
        gallery = torch.arange(len(labels)) != q
        s, positive = similarity[q][gallery], (labels == labels[q])[gallery]
        if not positive.any():
            continue
        rank = 0.5 + torch.sigmoid((s[None, :] - s[positive][:, None]) / tau_sim).sum(1)
        for k, tau in zip(ks, tau_rank):
            miss = torch.sigmoid((rank - k) / tau)
            if mode == "fraction":
                losses.append(miss.mean())
            elif mode == "any":
                losses.append(torch.exp(torch.log(miss).sum()))
            else:
                hits = len(miss) - miss.sum()
                losses.append(1 - torch.clamp(hits, max=k) / min(k, len(miss)))
    return torch.stack(losses).mean()


def pulls_by_autograd(similarity, positive, tau):
    s = similarity.clone().requires_grad_()
    G = torch.sigmoid((s[None, :] - s[:, None]) / tau)
    G = (G - torch.diag(G.diagonal()))[positive]
    N, P = G[:, ~positive].sum(1), G[:, positive].sum(1)
    rows = []
    for n, p in ((N, P.detach()), (N.detach(), P)):
        loss = 1 - ((1 + p) / (1 + p + n)).mean()
        (gradient,) = torch.autograd.grad(loss, s, retain_graph=True, allow_unused=True)
        rows.append(torch.zeros_like(s) if gradient is None else gradient)
    return torch.stack(rows)


def pulls_by_matrices(similarity, positive, tau):
    G = torch.sigmoid((similarity[None, :] - similarity[:, None]) / tau)
    dG = (G * (1 - G) / tau).fill_diagonal_(0)
    G = G.fill_diagonal_(0)
    p = positive.double()
    P, N = G @ p, G @ (1 - p)
    a = p * (1 + P) / (1 + P + N) ** 2 / p.sum()
    b = -p * N / (1 + P + N) ** 2 / p.sum()
    to_neg, to_pos = a[:, None] * dG * (1 - p), b[:, None] * dG * p
    return torch.stack([M.sum(0) - M.sum(1) for M in (to_neg, to_pos)])


def pulls_by_loops(similarity, positive, tau):
    s, y = similarity.tolist(), positive.tolist()
    n, count = len(s), sum(y)

    def G(x):
        return 1 / (1 + math.exp(-x / tau))

    out = [[0.0] * n, [0.0] * n]
    for i in range(n):
        if not y[i]:
            continue
        P = sum(G(s[j] - s[i]) for j in range(n) if y[j] and j != i)
        N = sum(G(s[j] - s[i]) for j in range(n) if not y[j])
        for j in range(n):
            if j != i:
                slope = G(s[j] - s[i]) * (1 - G(s[j] - s[i])) / tau / count / (1 + P + N) ** 2
                row, factor = (1, -N) if y[j] else (0, 1 + P)
                out[row][j] += factor * slope
                out[row][i] -= factor * slope
    return np.array(out)


RIGHT = {
    "batch_ranks": [ranks_by_loops, ranks_by_masks, ranks_by_subtraction, ranks_of_shorter_rows],
    "safe_temperature": [safe_by_formula, safe_by_logit, safe_by_bisection],
    "rs_loss": [rs_by_loops, rs_by_tensors, rs_by_misses],
    "smooth_ap_pulls": [pulls_by_autograd, pulls_by_matrices, pulls_by_loops],
}
