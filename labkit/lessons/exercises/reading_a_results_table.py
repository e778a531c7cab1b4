"""Lesson 12: an error reduction, the interval of a mean, the interval of a paired difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from labkit.lessons.exercise import Case, Exercise, Mistake

Values = Sequence[float]


def reduction_cases() -> list[Case]:
    """The printed case of E-SL-6, and others on both sides."""
    pairs = ((151.0, 119.0), (100.0, 50.0), (50.0, 100.0), (8.0, 8.0), (20.5, 4.0))
    return [Case(f"{old:g} → {new:g}", {"old": old, "new": new}) for old, new in pairs]


def error_reduction(old: float, new: float) -> float:
    """100 (old − new) / old."""
    return 100 * (old - new) / old


ERROR_REDUCTION = Exercise(
    "error_reduction",
    "By how many per cent an error has fallen, from old to new; negative if it has risen.",
    error_reduction,
    reduction_cases,
    (
        Mistake(
            "over the new",
            "It divides by the new value, as a row of the slides does (E-SL-6); divide by the old one.",
            lambda old, new: 100 * (old - new) / new,
        ),
        Mistake("sign", "The sign is turned round: a fall is positive.", lambda old, new: 100 * (new - old) / old),
        Mistake("a share", "It is a share; per cent are wanted: times 100.", lambda old, new: (old - new) / old),
        Mistake(
            "points", "It is the difference; a reduction is relative to the old value.", lambda old, new: old - new
        ),
        Mistake(
            "what is left", "It is what is left; the reduction is 100 minus that.", lambda old, new: 100 * new / old
        ),
        Mistake(
            "absolute",
            "A rise must come out negative: leave the absolute value away.",
            lambda old, new: 100 * abs(old - new) / old,
        ),
        Mistake(
            "over the mean",
            "It divides by the mean of both; divide by the old value.",
            lambda old, new: 200 * (old - new) / (old + new),
        ),
        Mistake(
            "cut off", "It cuts off the decimals; keep them.", lambda old, new: float(int(100 * (old - new) / old))
        ),
    ),
)


def interval_cases() -> list[Case]:
    """Two, three, five and ten seeds. Equal values are no case: scipy.stats.t.interval has no interval there."""
    rng = np.random.default_rng(0)
    cases = [Case("two seeds", {"values": [0.0, 1.0]}), Case("three seeds", {"values": [76.2, 77.4, 75.9]})]
    cases += [Case(f"{n} seeds", {"values": (70 + rng.standard_normal(n)).tolist()}) for n in (5, 10)]
    return [*cases, Case("two of three equal", {"values": [3.0, 3.1, 3.0]})]


def around(center: float | np.floating, half: float | np.floating) -> tuple[float, float]:
    """The interval as (low, high)."""
    return float(center - half), float(center + half)


def t_of(n: int, probability: float = 0.975) -> float:
    """Student's quantile with n − 1 degrees of freedom."""
    return float(stdtrit(n - 1, probability))


def t_interval(values: Values) -> tuple[float, float]:
    """Mean ± t_{n−1, 0.975} s / √n."""
    return around(np.mean(values), t_of(len(values)) * np.std(values, ddof=1) / len(values) ** 0.5)


T_INTERVAL = Exercise(
    "t_interval",
    "Student's 95 % interval of the mean of values, as (low, high).",
    t_interval,
    interval_cases,
    (
        Mistake(
            "normal",
            "It uses 1.96 or 2, the normal quantile; with few seeds Student's is much larger (4.30 with three).",
            lambda values: around(np.mean(values), 1.959964 * np.std(values, ddof=1) / len(values) ** 0.5),
            also=(lambda values: around(np.mean(values), 2 * np.std(values, ddof=1) / len(values) ** 0.5),),
        ),
        Mistake(
            "divided by n",
            "The standard deviation divides by n; with a mean from the same values it is n − 1.",
            lambda values: around(np.mean(values), t_of(len(values)) * np.std(values) / len(values) ** 0.5),
        ),
        Mistake(
            "of one value",
            "√n is missing: this is the spread of single seeds; the mean of n scatters √n times less.",
            lambda values: around(np.mean(values), t_of(len(values)) * np.std(values, ddof=1)),
        ),
        Mistake(
            "n not root n",
            "It divides by n; the mean scatters √n times less than single values.",
            lambda values: around(np.mean(values), t_of(len(values)) * np.std(values, ddof=1) / len(values)),
        ),
        Mistake(
            "one-sided",
            "It takes the 0.95 quantile; 2.5 % stay out on each side, so it is 0.975.",
            lambda values: around(
                np.mean(values), t_of(len(values), 0.95) * np.std(values, ddof=1) / len(values) ** 0.5
            ),
        ),
        Mistake(
            "n degrees",
            "It has n degrees of freedom; one is spent on the mean: n − 1.",
            lambda values: around(np.mean(values), t_of(len(values) + 1) * np.std(values, ddof=1) / len(values) ** 0.5),
        ),
        Mistake(
            "standard error",
            "It is mean ± one standard error; a 95 % interval is t times as wide.",
            lambda values: around(np.mean(values), np.std(values, ddof=1) / len(values) ** 0.5),
        ),
        Mistake(
            "range",
            "It is the smallest and the largest value, not an interval of the mean.",
            lambda values: (min(values), max(values)),
        ),
        Mistake(
            "median",
            "It is centred on the median; centre it on the mean.",
            lambda values: around(np.median(values), t_of(len(values)) * np.std(values, ddof=1) / len(values) ** 0.5),
        ),
        Mistake(
            "quantiles of the values",
            "These are quantiles of the values, where single seeds lie; an interval of the mean is asked for.",
            lambda values: (float(np.quantile(values, 0.025)), float(np.quantile(values, 0.975))),
        ),
        Mistake(
            "99 %",
            "That is the 99 % interval; for 95 %, 2.5 % stay out on each side.",
            lambda values: around(
                np.mean(values), t_of(len(values), 0.995) * np.std(values, ddof=1) / len(values) ** 0.5
            ),
            also=(lambda values: around(np.mean(values), 2.575829 * np.std(values, ddof=1) / len(values) ** 0.5),),
        ),
        Mistake(
            "mean and half width",
            "It returns the mean and the half width; the two ends (low, high) are asked for.",
            lambda values: (float(np.mean(values)), t_interval(values)[1] - float(np.mean(values))),
        ),
    ),
)


def paired_cases() -> list[Case]:
    """Seeds that move both losses alike, apart, and the other way."""
    base = [70.1, 73.4, 71.0, 75.2]
    return [
        Case("seeds move both", {"ours": [v + d for v, d in zip(base, (1.0, 1.2, 0.9, 1.1))], "baseline": base}),
        Case("apart", {"ours": [71.0, 70.2, 72.3], "baseline": [70.0, 71.9, 70.4]}),
        Case("ours is worse", {"ours": [60.0, 61.0, 59.5], "baseline": [62.0, 62.5, 62.2]}),
        Case("two seeds", {"ours": [1.0, 3.0], "baseline": [0.5, 0.5]}),
        Case("nearly the same", {"ours": [70.1, 73.5, 71.0], "baseline": base[:3]}),
    ]


def paired_interval(ours: Values, baseline: Values) -> tuple[float, float]:
    """The t interval of the differences, seed by seed."""
    return t_interval(np.subtract(ours, baseline).tolist())


def unpaired(ours: Values, baseline: Values) -> tuple[float, float]:
    """The two-sample interval, as if the seeds had nothing to do with each other."""
    n = len(ours)
    error = ((np.var(ours, ddof=1) + np.var(baseline, ddof=1)) / n) ** 0.5
    return around(np.mean(ours) - np.mean(baseline), float(stdtrit(2 * n - 2, 0.975)) * error)


def paired(ours: Values, baseline: Values, t: float, ddof: int = 1) -> tuple[float, float]:
    """With another quantile, or another divisor in the deviation."""
    d = np.subtract(ours, baseline)
    return around(d.mean(), t * d.std(ddof=ddof) / len(d) ** 0.5)


PAIRED_INTERVAL = Exercise(
    "paired_interval",
    "The 95 % t interval of ours − baseline, paired by seed, as (low, high).",
    paired_interval,
    paired_cases,
    (
        Mistake(
            "unpaired",
            "The seeds are not paired: take the differences seed by seed first, then their interval.",
            unpaired,
        ),
        Mistake(
            "sign",
            "The sign is turned round: it is ours minus baseline.",
            lambda ours, baseline: paired_interval(baseline, ours),
        ),
        Mistake(
            "ours only",
            "It is the interval of ours; the baseline must be subtracted.",
            lambda ours, baseline: t_interval(ours),
        ),
        Mistake(
            "normal",
            "It uses 1.96 or 2, the normal quantile; with few seeds Student's is much larger.",
            lambda ours, baseline: paired(ours, baseline, 1.959964),
            also=(lambda ours, baseline: paired(ours, baseline, 2.0),),
        ),
        Mistake(
            "divided by n",
            "The standard deviation divides by n; with a mean from the same values it is n − 1.",
            lambda ours, baseline: paired(ours, baseline, t_of(len(ours)), ddof=0),
        ),
        Mistake(
            "one-sided",
            "It takes the 0.95 quantile; 2.5 % stay out on each side, so it is 0.975.",
            lambda ours, baseline: paired(ours, baseline, t_of(len(ours), 0.95)),
        ),
        Mistake(
            "standard error",
            "It is mean ± one standard error; a 95 % interval is t times as wide.",
            lambda ours, baseline: paired(ours, baseline, 1.0),
        ),
        Mistake(
            "sorted",
            "The values were sorted before they were paired; a pair is one seed.",
            lambda ours, baseline: paired_interval(sorted(ours), sorted(baseline)),
        ),
        Mistake(
            "ends subtracted",
            "It subtracts the ends of two intervals; take the interval of the differences.",
            lambda ours, baseline: tuple(a - b for a, b in zip(t_interval(ours), t_interval(baseline))),
        ),
        Mistake(
            "relative",
            "It divides by the baseline; the plain difference is asked for.",
            lambda ours, baseline: t_interval([(a - b) / b for a, b in zip(ours, baseline)]),
        ),
        Mistake(
            "of one value",
            "√n is missing: this is the spread of single seeds.",
            lambda ours, baseline: around(
                np.mean(np.subtract(ours, baseline)), t_of(len(ours)) * np.std(np.subtract(ours, baseline), ddof=1)
            ),
        ),
        Mistake(
            "absolute",
            "It takes absolute differences; a seed where ours is worse must count as negative.",
            lambda ours, baseline: t_interval(np.abs(np.subtract(ours, baseline)).tolist()),
        ),
        Mistake(
            "widest ends",
            "It takes the lowest of one interval from the highest of the other; take the interval of the differences.",
            lambda ours, baseline: (
                t_interval(ours)[0] - t_interval(baseline)[1],
                t_interval(ours)[1] - t_interval(baseline)[0],
            ),
        ),
    ),
)

EXERCISES = (ERROR_REDUCTION, T_INTERVAL, PAIRED_INTERVAL)
