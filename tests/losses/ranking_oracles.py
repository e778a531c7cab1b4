"""The ranking losses once more, from the printed formulas: loops over single float64 numbers, slow and readable.

Numbers are torch scalars, so that autograd gives the gradient of the loops too. A query without positives has the
loss None: it is skipped.
"""

import math

import torch

from labkit.losses import functional


def cosines(rows):
    """s_qi = cos(v_q, v_i) as nested lists; the cosine with a zero vector is 0."""
    norms = [row.square().sum().sqrt() if bool((row.detach() != 0).any()) else 1.0 for row in rows]
    unit = [row / norm for row, norm in zip(rows, norms)]
    return [[(x * y).sum() for y in unit] for x in unit]


def soft_steps(s, labels, tau):
    """G[q][i][j] = 1 / (1 + exp(−(s_qj − s_qi)/τ)), for every query q and every i of its class (PNP Eq. 3)."""
    n = len(labels)
    return [
        {
            i: [torch.sigmoid((s[q][j] - s[q][i]) / tau) if j != i else None for j in range(n)]
            for i in range(n)
            if labels[i] == labels[q]
        }
        for q in range(n)
    ]


def positives(labels, q):
    return [i for i in range(len(labels)) if labels[i] == labels[q] and i != q]


def negatives(labels, q):
    return [j for j in range(len(labels)) if labels[j] != labels[q]]


def total(numbers):
    return sum(numbers, start=torch.zeros((), dtype=torch.float64))


PNP_FORMULAS = {
    "O": lambda R, alpha, b: R,  # Eq. 5
    "Iu": lambda R, alpha, b: (1 + R) * torch.log(1 + R),  # Eq. 7
    "Iu-exact": lambda R, alpha, b: (1 + R) * torch.log(1 + R) - R,  # the integral of Eq. 6, E-PNP-1
    "Ib": lambda R, alpha, b: (b * R - torch.log(1 + b * R)) / b**2,  # Eq. 9
    "Ds": lambda R, alpha, b: torch.log(1 + R),  # Eq. 12
    "Dq": lambda R, alpha, b: 1 - (1 + R) ** -alpha,  # Eq. 13, the 1 taken into the mean
}


def pnp_losses(G, labels, variant, alpha, b, convention="paper"):
    """1/|P| Σ_{i∈P} f(R(i, S_N)); the released code also counts the query as a positive and divides by |P| + 1."""
    losses = []
    for q in range(len(labels)):
        P, N = positives(labels, q), negatives(labels, q)
        targets = P if convention == "paper" else [*P, q]
        R = [total(G[q][i][j] for j in N) for i in targets]
        losses.append(total(PNP_FORMULAS[variant](r, alpha, b) for r in R) / len(targets) if P else None)
    return losses


def smooth_ap_losses(G, labels, convention="paper"):
    """1 − 1/|P| Σ_{i∈P} (1 + R_P) / (1 + R_P + R_N) (PNP Eq. 4).

    The released code: AP_q = 1/M Σ_{i∈P∪q} (1 + Σ_{j∈P∪q, j≠i} sig_ji) / (1 + Σ_{j∈B, j≠i} sig_ji).
    """
    losses = []
    for q in range(len(labels)):
        P, N = positives(labels, q), negatives(labels, q)
        relevant = P if convention == "paper" else [*P, q]
        precision = []
        for i in relevant:
            R_P, R_N = total(G[q][i][j] for j in relevant if j != i), total(G[q][i][j] for j in N)
            precision.append((1 + R_P) / (1 + R_P + R_N))
        losses.append(1 - total(precision) / len(relevant) if P else None)
    return losses


def recall_at_k_losses(G, labels, ks, taus, convention="paper", real=None):
    """1 − 1/|K| Σ_k 1/|P| Σ_{x∈P} σ_τ1(k − 1 − Σ_{z≠x, z≠q} σ_τ2(s_qz − s_qx)).

    The released code: r'_x = 1 + Σ_{z∈B, z≠x} σ(.), the query included; 1 − 1/|K| Σ_k min(Σ_x σ((k − r'_x)/τ_k), k) /
    min(k, |P|), with every k clipped to the batch size; real: how many samples are not virtual, all by default.
    """
    n, losses = len(labels), []
    for q in range(n):
        P = positives(labels, q)
        if not P:
            losses.append(None)
            continue
        items = [z for z in range(n) if z != q or convention == "official"]
        ranks = [1 + total(G[q][x][z] for z in items if z != x) for x in P]
        recall = []
        for k, tau in zip(ks, taus):
            if convention == "paper":
                recall.append(total(torch.sigmoid((k - r) / tau) for r in ranks) / len(P))
            else:
                k = min(k, real or n)
                hits = total(torch.sigmoid((k - r) / tau) for r in ranks)
                recall.append(torch.minimum(hits, torch.tensor(float(k), dtype=torch.float64)) / min(k, len(P)))
        losses.append(1 - total(recall) / len(ks))
    return losses


def reduced(losses, reduction):
    """Sum, mean over the queries that are not skipped, or one number for each query with 0 for a skipped one."""
    counted = [loss for loss in losses if loss is not None]
    if reduction == "none":
        return torch.stack([torch.zeros((), dtype=torch.float64) if loss is None else loss for loss in losses])
    return total(counted) if reduction == "sum" else total(counted) / len(counted)


def ranking(s, labels, q):
    """The items other than q, best first, and which of them are positives: a hard ranking of plain floats."""
    order = sorted((j for j in range(len(labels)) if j != q), key=lambda j: -float(s[q][j]))
    return order, [labels[j] == labels[q] for j in order]


def average_precision(relevant):
    """AP over a whole ranked list of booleans."""
    hits, precisions = 0, []
    for rank, hit in enumerate(relevant, 1):
        hits += hit
        if hit:
            precisions.append(hits / rank)
    return sum(precisions) / len(precisions)


def negatives_above(relevant):
    """For each positive of a ranked list, the number of negatives before it."""
    return [relevant[:rank].count(False) for rank, hit in enumerate(relevant) if hit]


def fractional_recall(relevant, k, at_k=1.0):
    """Share of the positives within the first k; at_k is what a positive at rank k exactly counts."""
    hits = sum(at_k if rank == k else 1.0 for rank, hit in enumerate(relevant, 1) if hit and rank <= k)
    return hits / sum(relevant)


def smallest_gap(s):
    """The smallest difference between two similarities of one row, each row without its own item."""
    gaps = []
    for q, row in enumerate(s):
        ordered = sorted(float(x) for j, x in enumerate(row) if j != q)
        gaps += [y - x for x, y in zip(ordered, ordered[1:])]
    return min(gaps, default=math.inf)


# What the test files share: label layouts, and each loss by a name, as labkit computes it and as the loops do.

BATCHES = {
    "sorted": [0, 0, 0, 1, 1, 1, 2, 2, 2],
    "shuffled": [2, 0, 1, 1, 0, 2, 2, 1, 0, 0, 1, 2],
    "unequal": [5, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 2],
    "singletons": [9, 1, 1, 2, 3, 8, 3, 3, 4],
    "singleton last": [1, 1, 0, 0, 7],
    "one class": [7] * 5,
    "two classes": [1, 0, 0, 1, 0, 0, 0],
    "one pair": [4, 4],
    "one pair and a stranger": [4, 0, 4],
    "negative and huge ids": [-(2**63), 2**63 - 1, -1, -1, -(2**63), 0, 2**63 - 1, 2**40],
}
VARIANTS = tuple(PNP_FORMULAS)
NAMES = (*(f"pnp-{variant}" for variant in VARIANTS), "smooth-ap", "rs@k")
ALPHA, B = 2.5, 3.0
KS, TAUS = (1, 2, 4, 8, 16), (1.0, 0.5, 2.0, 1.0, 0.3)  # 16 is above the batch sizes: the released code clips it


def labkit_loss(name, rows, labels, *, tau=0.1, **how):
    if name == "smooth-ap":
        return functional.smooth_ap(rows, labels, tau=tau, **how)
    if name == "rs@k":
        return functional.recall_at_k(rows, labels, ks=KS, tau_rank=TAUS, tau_sim=tau, **how)
    return functional.pnp(rows, labels, variant=name.removeprefix("pnp-"), alpha=ALPHA, b=B, tau=tau, **how)


def naive_losses(name, G, labels, convention="paper"):
    if name == "smooth-ap":
        return smooth_ap_losses(G, labels, convention)
    if name == "rs@k":
        return recall_at_k_losses(G, labels, KS, TAUS, convention)
    return pnp_losses(G, labels, name.removeprefix("pnp-"), ALPHA, B, convention)


def random_rows(n, dim=3, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, dim, generator=generator, dtype=torch.float64).to(dtype)
