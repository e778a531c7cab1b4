"""Right answers to assignment 1, in different styles."""

import itertools
import math

import numpy as np
import torch


def lists_by_loops(similarity, labels):
    rows = []
    for q in range(len(labels)):
        scored = []
        for j in range(len(labels)):
            if j != q:
                same = 1 if labels[j] == labels[q] else 0
                scored.append((-similarity[q, j].item(), same))
        rows.append([same for _, same in sorted(scored)])
    return torch.tensor(rows)


def lists_by_two_stable_sorts(similarity, labels):
    n = len(labels)
    same = labels[:, None] == labels[None, :]
    off = ~torch.eye(n, dtype=torch.bool)
    s, relevant = similarity[off].view(n, n - 1), same[off].view(n, n - 1)
    # by class first, then stably by similarity: among equals, the other classes stay in front
    by_class = relevant.to(torch.int64).sort(dim=1, stable=True).indices
    s, relevant = s.gather(1, by_class), relevant.gather(1, by_class)
    by_similarity = s.sort(dim=1, descending=True, stable=True).indices
    return relevant.gather(1, by_similarity).double()


def lists_by_numpy(similarity, labels):
    s, y = similarity.numpy().copy(), labels.numpy()
    np.fill_diagonal(s, -np.inf)
    same = (y[:, None] == y[None, :]).astype(float)
    order = np.stack([np.lexsort((same[q], -s[q])) for q in range(len(y))])[:, :-1]
    return torch.from_numpy(np.take_along_axis(same, order, axis=1))


def lists_by_ranks(similarity, labels):
    n = len(labels)
    found = torch.zeros(n, n - 1)
    for q in range(n):
        same = labels == labels[q]
        for i in same.nonzero().flatten().tolist():
            if i != q:
                before = [
                    j
                    for j in range(n)
                    if j not in (i, q)
                    and (
                        similarity[q, j] > similarity[q, i]
                        or (similarity[q, j] == similarity[q, i] and (not same[j] or j < i))
                    )
                ]
                found[q, len(before)] = 1
    return found


def ap_by_loops(relevance, k, rule):
    scores = []
    for row in relevance.tolist():
        R = sum(row)
        if not R:
            continue
        cut = int(R) if rule == "R" else k
        hits, total = 0, 0.0
        for rank, relevant in enumerate(row[:cut], start=1):
            hits += relevant
            total += relevant * hits / rank
        if rule == "k":
            d = k
        elif rule in ("relevant", "R"):
            d = R
        elif rule == "min":
            d = min(k, R)
        else:
            d = hits if hits else 1
        scores.append(total / d)
    return float(np.mean(scores))


def ap_by_tensors(relevance, k, rule):
    R = relevance.sum(1)
    position = torch.arange(1, relevance.shape[1] + 1, dtype=torch.float64)
    cut = R if rule == "R" else torch.full_like(R, k)
    seen = relevance * (position[None, :] <= cut[:, None])
    total = (seen * seen.cumsum(1) / position).sum(1)
    d = {"k": cut, "R": R, "relevant": R, "min": torch.minimum(R, cut), "hits": seen.sum(1).clamp(min=1)}[rule]
    return (total / d)[R > 0].mean()


def ap_by_positions(relevance, k, rule):
    scores = []
    for row in relevance.numpy():
        ranks = np.flatnonzero(row) + 1
        if len(ranks) == 0:
            continue
        inside = ranks[ranks <= (len(ranks) if rule == "R" else k)]
        total = sum((i + 1) / rank for i, rank in enumerate(inside))
        divide = {
            "k": k,
            "relevant": len(ranks),
            "R": len(ranks),
            "min": min(k, len(ranks)),
            "hits": max(len(inside), 1),
        }
        scores.append(total / divide[rule])
    return torch.tensor(scores).mean().item()


def pairs_by_loops(first, second):
    found = []
    for i, j in itertools.product(range(len(first)), repeat=2):
        if bool((first[i] > first[j]).all()) and bool((second[i] < second[j]).all()):
            found.append([i, j])
    return torch.tensor(found).reshape(len(found), 2)


def pairs_by_broadcast(first, second):
    better = (first[:, None, :] > first[None, :, :]).all(dim=2)
    worse = (second[:, None, :] < second[None, :, :]).all(dim=2)
    return (better & worse).nonzero()


def pairs_by_margins(first, second):
    a, b = first.numpy(), second.numpy()
    margin = np.minimum((a[:, None] - a[None]).min(-1), (b[None] - b[:, None]).min(-1))
    return np.argwhere(margin > 0)


def ndcg_by_groups(similarity, grade, k):
    gains = 2**grade - 1
    order = similarity.sort(descending=True).indices
    s, g = similarity[order], gains[order].clone()
    for value in s.unique():
        g[s == value] = g[s == value].mean()
    discount = 1 / torch.log2(torch.arange(len(g), dtype=torch.float64) + 2)
    discount[k:] = 0
    return (g * discount).sum() / (gains.sort(descending=True).values * discount).sum()


def ndcg_by_items(similarity, grade, k):
    """Every item takes each rank of its group equally often."""
    s, total = similarity.tolist(), 0.0
    for i, level in enumerate(grade.tolist()):
        before = sum(x > s[i] for x in s)
        tied = sum(x == s[i] for x in s)
        weight = sum(1 / math.log2(r + 1) for r in range(before + 1, before + tied + 1) if r <= k) / tied
        total += (2**level - 1) * weight
    ideal = sorted((2**level - 1 for level in grade.tolist()), reverse=True)[:k]
    return total / sum(gain / math.log2(r + 2) for r, gain in enumerate(ideal))


def ndcg_by_cumulated_discounts(similarity, grade, k):
    s, gains = similarity.numpy(), np.exp2(grade.numpy()) - 1
    _, group, tied = np.unique(-s, return_inverse=True, return_counts=True)
    ranks = np.arange(1, len(s) + 1)
    cumulated = np.concatenate([[0.0], np.cumsum((ranks <= k) / np.log2(ranks + 1))])
    ends = np.cumsum(tied)
    weight = (cumulated[ends] - cumulated[ends - tied]) / tied
    best = np.sort(gains)[::-1]
    return float((gains * weight[group]).sum() / (best * np.diff(cumulated)).sum())


RIGHT = {
    "ranked_relevance": [lists_by_loops, lists_by_two_stable_sorts, lists_by_numpy, lists_by_ranks],
    "mean_ap": [ap_by_loops, ap_by_tensors, ap_by_positions],
    "disputed_pairs": [pairs_by_loops, pairs_by_broadcast, pairs_by_margins],
    "expected_ndcg": [ndcg_by_groups, ndcg_by_items, ndcg_by_cumulated_discounts],
}
