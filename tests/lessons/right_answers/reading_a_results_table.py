"""Right answers to the exercises of lesson 12, in different styles."""

import math
import statistics

import numpy as np
import torch
from scipy import stats


def reduction_from_ratio(old, new):
    return 100 - 100 * new / old


def interval_by_hand(values):
    n = len(values)
    mean = sum(values) / n
    s = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1))
    half = stats.t.ppf(0.975, n - 1) * s / math.sqrt(n)
    return mean - half, mean + half


def interval_with_torch(values):
    v = torch.tensor(values, dtype=torch.float64)
    half = stats.t.isf(0.025, len(v) - 1) * v.std() / len(v) ** 0.5
    return [v.mean() - half, v.mean() + half]


def interval_by_statistics(values):
    center, error = statistics.fmean(values), statistics.stdev(values) / len(values) ** 0.5
    t = stats.t(df=len(values) - 1).ppf(0.975)
    return center - t * error, center + t * error


def interval_by_scipy(values):
    return stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))


def paired_loop(ours, baseline):
    return interval_by_hand([a - b for a, b in zip(ours, baseline)])


def paired_numpy(ours, baseline):
    d = np.array(ours) - np.array(baseline)
    half = stats.t.ppf(0.975, d.size - 1) * stats.sem(d)
    return np.array([d.mean() - half, d.mean() + half])


def paired_torch(ours, baseline):
    return interval_with_torch([a - b for a, b in zip(ours, baseline)])


RIGHT = {
    "error_reduction": [
        reduction_from_ratio,
        lambda old, new: (1 - new / old) * 100,
        lambda old, new: torch.tensor(100.0 * (old - new) / old),
    ],
    "t_interval": [interval_by_hand, interval_with_torch, interval_by_statistics, interval_by_scipy],
    "paired_interval": [
        paired_loop,
        paired_numpy,
        paired_torch,
        lambda ours, baseline: interval_by_scipy(np.subtract(ours, baseline)),
    ],
}
