"""Wrong answers to the exercises of lesson 12, written before looking at what the checks name."""

import numpy as np
from scipy import stats


def interval(values, t, ddof=1, root=True):
    v = np.asarray(values, dtype=float)
    half = t * v.std(ddof=ddof) / (len(v) ** 0.5 if root else 1)
    return v.mean() - half, v.mean() + half


def student(values, share=0.975, fewer=1):
    return stats.t.ppf(share, len(values) - fewer)


def differences(ours, baseline):
    return [a - b for a, b in zip(ours, baseline)]


def paired_as_unpaired(ours, baseline):
    a, b = np.asarray(ours), np.asarray(baseline)
    error = (a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)) ** 0.5
    half = stats.t.ppf(0.975, len(a) + len(b) - 2) * error
    return a.mean() - b.mean() - half, a.mean() - b.mean() + half


WRONG = {
    "error_reduction": [
        lambda old, new: old - new,
        lambda old, new: 100 * (old - new) / new,
        lambda old, new: (old - new) / old,
        lambda old, new: 100 * (new - old) / old,
    ],
    "t_interval": [
        lambda values: interval(values, 1.96),
        lambda values: interval(values, student(values), ddof=0),
        lambda values: interval(values, student(values, 0.95)),
        lambda values: interval(values, student(values), root=False),
        lambda values: interval(values, student(values, fewer=0)),
        lambda values: interval(values, 2.0),
    ],
    "paired_interval": [
        paired_as_unpaired,
        lambda ours, baseline: interval(differences(baseline, ours), student(ours)),
        lambda ours, baseline: interval(differences(ours, baseline), 1.96),
        lambda ours, baseline: interval(differences(ours, baseline), student(ours), ddof=0),
        lambda ours, baseline: interval(differences(ours, baseline), student(ours), root=False),
    ],
}
