"""Right answers to assignment 6, in different styles."""

import math

import numpy as np
import torch


def seeds_with_a_dictionary(ours, our_seeds, baseline, baseline_seeds, t):
    a, b = dict(zip(our_seeds, ours)), dict(zip(baseline_seeds, baseline))
    d = [a[seed] - b[seed] for seed in sorted(a.keys() & b.keys())]
    n = len(d)
    if n == 0:
        return math.nan, math.nan, math.nan, 0
    m = sum(d) / n
    if n == 1:
        return m, math.nan, math.nan, 0
    s = math.sqrt(sum((x - m) ** 2 for x in d) / (n - 1))
    low, high = m - t[n - 1] * s / n**0.5, m + t[n - 1] * s / n**0.5
    return m, low, high, (1 if low > 0 else -1 if high < 0 else 0)


def seeds_with_numpy(ours, our_seeds, baseline, baseline_seeds, t):
    _, i, j = np.intersect1d(our_seeds, baseline_seeds, return_indices=True)
    d = np.asarray(ours)[i] - np.asarray(baseline)[j]
    if len(d) < 2:
        return [float(d[0]) if len(d) else float("nan"), float("nan"), float("nan"), 0]
    half = t[len(d) - 1] * d.std(ddof=1) / np.sqrt(len(d))
    low, high = d.mean() - half, d.mean() + half
    return [d.mean(), low, high, int(low > 0) - int(high < 0)]


def seeds_with_torch(ours, our_seeds, baseline, baseline_seeds, t):
    match = torch.tensor(our_seeds)[:, None] == torch.tensor(baseline_seeds)
    i, j = match.nonzero(as_tuple=True)
    d = torch.tensor(ours, dtype=torch.float64)[i] - torch.tensor(baseline, dtype=torch.float64)[j]
    half = t[max(len(d) - 1, 0)] * d.std() / len(d) ** 0.5 if len(d) > 1 else torch.tensor(torch.nan)
    low, high = d.mean() - half, d.mean() + half
    return torch.stack([d.mean(), low, high, (low > 0).double() - (high < 0).double()])


def bootstrap_loop(difference, labels, draws, level):
    kinds = sorted(set(labels.tolist()))
    by_class = [[d for d, y in zip(difference.tolist(), labels.tolist()) if y == kind] for kind in kinds]
    means = []
    for row in draws.tolist():
        pooled = [d for c in row for d in by_class[c]]
        means.append(sum(pooled) / len(pooled))
    means.sort()

    def quantile(q):
        place = q * (len(means) - 1)
        below = math.floor(place)
        above = min(below + 1, len(means) - 1)
        return means[below] + (place - below) * (means[above] - means[below])

    return quantile((1 - level) / 2), quantile((1 + level) / 2)


def bootstrap_numpy(difference, labels, draws, level):
    _, index, count = np.unique(labels.numpy(), return_inverse=True, return_counts=True)
    total = np.bincount(index, weights=difference.numpy())
    means = total[draws.numpy()].sum(1) / count[draws.numpy()].sum(1)
    return tuple(np.percentile(means, [50 * (1 - level), 50 * (1 + level)]))


def bootstrap_by_weights(difference, labels, draws, level):
    """How often each class, and so each query, is drawn."""
    _, index = labels.unique(return_inverse=True)
    times = torch.nn.functional.one_hot(draws, int(index.max()) + 1).sum(1).double()  # (B, C)
    weight = times[:, index]
    means = (weight @ difference) / weight.sum(1)
    return torch.quantile(means, torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64))


def choose_loop(validation, test):
    G, S, T = validation.shape

    def mean(x, g, k):
        values = [x[g, s, k].item() for s in range(S)]
        return -math.inf if any(math.isnan(v) for v in values) else sum(values) / S

    places = [(g, k) for g in range(G) for k in range(T)]
    g, k = max(places, key=lambda place: mean(validation, *place))  # max takes the first of equals
    return g, k, mean(test, g, k), max(mean(test, *place) for place in places) - mean(test, g, k)


def choose_numpy(validation, test):
    v, t = validation.numpy().mean(axis=1), test.numpy().mean(axis=1)
    g, k = np.unravel_index(np.nanargmax(v), v.shape)
    return int(g), int(k), t[g, k], np.nanmax(t) - t[g, k]


def choose_sorted(validation, test):
    means = validation.mean(1)
    T = means.shape[1]
    order = sorted(range(means.numel()), key=lambda n: (-torch.nan_to_num(means.flatten(), nan=-1.0)[n].item(), n))
    g, k = divmod(order[0], T)
    best = torch.nan_to_num(test.mean(1), nan=-1.0).max()
    return [g, k, test[g, :, k].mean().item(), (best - test[g, :, k].mean()).item()]


RIGHT = {
    "difference_by_seed": [seeds_with_a_dictionary, seeds_with_numpy, seeds_with_torch],
    "class_bootstrap": [bootstrap_loop, bootstrap_numpy, bootstrap_by_weights],
    "choose_on_validation": [choose_loop, choose_numpy, choose_sorted],
}
