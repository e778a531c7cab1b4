"""Assignment 6, a small study: differences by seed with a verdict, a bootstrap over classes, choosing on validation.

Values are lists, one entry a run; t: Student's 0.975 quantiles, t[d] with d degrees of freedom; hits and draws tensors;
validation and test (G, S, T): G settings, S seeds, T steps, NaN where a run has no value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from scipy.special import stdtrit
from torch import Tensor

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

T = [math.inf, *(float(stdtrit(d, 0.975)) for d in range(1, 31))]
Values = Sequence[float]
Told = tuple[float, float, float, int]


def whole(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number from low to high."""
    return int(torch.randint(low, high + 1, (1,), generator=rng))


def randn(rng: torch.Generator, *shape: int) -> Tensor:
    """Normal numbers in float64."""
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


# 1 A difference, seed by seed


def seeds_case(label: str, ours: dict[int, float], baseline: dict[int, float], edge: bool = False) -> Case:
    """From values by seed."""
    given = {"ours": list(ours.values()), "our_seeds": list(ours)}
    given |= {"baseline": list(baseline.values()), "baseline_seeds": list(baseline)}
    return Case(label, {**given, "t": list(T)}, edge)


def seeds_cases() -> list[Case]:
    """Better, worse, not shown; other order and missing seeds; one seed in common."""
    return [
        seeds_case("same seeds, better", {0: 71.0, 1: 74.5, 2: 72.0, 3: 76.4}, {0: 70.1, 1: 73.4, 2: 71.0, 3: 75.2}),
        seeds_case("shuffled, some shared", {3: 62.0, 0: 55.0, 7: 80.0, 1: 58.5}, {1: 52.0, 0: 50.5, 3: 57.0, 9: 3.0}),
        seeds_case("worse", {5: 60.0, 6: 61.0, 4: 59.5}, {4: 62.0, 6: 63.1, 5: 62.2}),
        seeds_case("not shown", {0: 71.0, 1: 70.2, 2: 72.3}, {2: 70.4, 1: 71.9, 0: 70.0}),
        seeds_case("one seed in common", {0: 71.0, 1: 70.2}, {1: 69.0, 5: 66.0}, edge=True),
    ]  # fmt: skip


def seeds_hidden(rng: torch.Generator) -> list[Case]:
    """Random seeds in random order, of which some are shared; none shared, two shared, equal values."""
    cases = []
    for name, shift in (("about equal", 0.3), ("better", 4.0), ("worse", -4.0)):
        seeds = torch.randperm(40, generator=rng)[: whole(rng, 6, 10)].tolist()
        level = dict(zip(seeds, (60 + 5 * randn(rng, len(seeds))).tolist()))
        drop, other = seeds[0], seeds[1]
        ours = {s: v + shift + float(randn(rng, 1)) for s, v in level.items() if s != drop}
        baseline = {s: level[s] for s in reversed(seeds) if s != other}
        cases.append(seeds_case(f"{name}, {len(seeds) - 2} seeds shared", ours, baseline))
    a, b, c, d = (60 + 5 * randn(rng, 4)).tolist()
    return [
        *cases,
        seeds_case("two seeds shared", {0: a, 1: b, 2: c}, {2: d, 1: a, 5: c}),
        seeds_case("no seed shared", {0: a, 1: b}, {2: c, 3: d}, edge=True),
        seeds_case("one shared", {0: a, 1: b}, {1: c, 3: d}, edge=True),
        seeds_case("the same values", {0: a, 1: b, 2: c}, {2: c, 1: b, 0: a}, edge=True),
    ]


def mean(values: Values) -> float:
    """NaN of nothing."""
    return sum(values) / len(values) if values else math.nan


def deviation(values: Values, less: int = 1) -> float:
    """Standard deviation, divided by n − less."""
    m = mean(values)
    return math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - less))


def sides(low: float, high: float) -> int:
    """1 above zero, −1 below, 0 else."""
    return 1 if low > 0 else -1 if high < 0 else 0


def around(m: float, half: float) -> Told:
    """An interval with its verdict."""
    return m, m - half, m + half, sides(m - half, m + half)


def shared(ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int]) -> list[float]:
    """Differences of the seeds that both have."""
    theirs = dict(zip(baseline_seeds, baseline))
    return [value - theirs[seed] for seed, value in zip(our_seeds, ours) if seed in theirs]


def difference_by_seed(
    ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
) -> Told:
    """Mean, ends of the t interval, verdict; without two shared seeds there is no interval."""
    d = shared(ours, our_seeds, baseline, baseline_seeds)
    if len(d) < 2:
        return mean(d), math.nan, math.nan, 0
    return around(mean(d), t[len(d) - 1] * deviation(d) / math.sqrt(len(d)))


def of_differences(half: Callable[[list[float], Values], float]) -> Answer:
    """A wrong answer by another half width: half(differences, t)."""

    def answer(
        ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
    ) -> Told:
        d = shared(ours, our_seeds, baseline, baseline_seeds)
        return around(mean(d), half(d, t)) if len(d) > 1 else (mean(d), math.nan, math.nan, 0)

    return answer


def with_pairs(pairs: Callable[..., list[float]]) -> Answer:
    """A wrong answer by other differences: pairs(ours, our_seeds, baseline, baseline_seeds)."""

    def answer(
        ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
    ) -> Told:
        d = pairs(ours, our_seeds, baseline, baseline_seeds)
        if len(d) < 2:
            return mean(d), math.nan, math.nan, 0
        return around(mean(d), t[len(d) - 1] * deviation(d) / math.sqrt(len(d)))

    return answer


def with_verdict(verdict: Callable[[float, float, float], int]) -> Answer:
    """A wrong answer by another verdict: verdict(mean, low, high)."""

    def answer(*given: Any, **named: Any) -> Told:
        m, low, high, _ = difference_by_seed(*given, **named)
        return m, low, high, verdict(m, low, high)

    return answer


def unpaired(
    ours: Values, our_seeds: Sequence[int], baseline: Values, baseline_seeds: Sequence[int], t: Values
) -> Told:
    """Two samples that have nothing to do with each other."""
    n, k = len(ours), len(baseline)
    pooled = ((n - 1) * deviation(ours) ** 2 + (k - 1) * deviation(baseline) ** 2) / (n + k - 2)
    return around(mean(ours) - mean(baseline), t[n + k - 2] * math.sqrt(pooled * (1 / n + 1 / k)))


SEEDS = Exercise(
    "difference_by_seed",
    "Mean of ours − baseline over the shared seeds, its 95 % t interval, and the verdict: 1, −1, or 0 if not shown.",
    difference_by_seed,
    seeds_cases,
    (
        Mistake("by place", "Values are paired by their place in the list; pair them by seed.",
            with_pairs(lambda x, s, y, z: [a - b for a, b in zip(x, y)])),
        Mistake("sorted", "Both lists are sorted before they are paired; a pair is one seed.",
            with_pairs(lambda x, s, y, z: [a - b for a, b in zip(sorted(x), sorted(y))])),
        Mistake("unpaired", "The two losses are compared as if the seeds had nothing to do with each other.", unpaired),
        Mistake("missing is zero", "A seed that one of them lacks counts as 0; leave it out.",
            with_pairs(lambda x, s, y, z: [dict(zip(s, x)).get(k, 0.0) - dict(zip(z, y)).get(k, 0.0)
                for k in sorted({*s, *z})])),
        Mistake("sign", "The sign is turned round: it is ours minus baseline.",
            with_pairs(lambda x, s, y, z: [-d for d in shared(x, s, y, z)])),
        Mistake("relative", "It divides by the baseline; the plain difference is asked for.",
            with_pairs(lambda x, s, y, z: [d / dict(zip(z, y))[k]
                for d, k in zip(shared(x, s, y, z), [k for k in s if k in z])])),
        Mistake("normal", "It uses 1.96; with few seeds Student's quantile is much larger.",
            of_differences(lambda d, t: 1.959964 * deviation(d) / math.sqrt(len(d)))),
        Mistake("divided by n", "The standard deviation divides by n; with a mean from the same values it is n − 1.",
            of_differences(lambda d, t: t[len(d) - 1] * deviation(d, 0) / math.sqrt(len(d)))),
        Mistake("n degrees", "It takes t[n]; one degree of freedom is spent on the mean: t[n − 1].",
            of_differences(lambda d, t: t[len(d)] * deviation(d) / math.sqrt(len(d)))),
        Mistake("of one value", "√n is missing: this is the spread of single seeds.",
            of_differences(lambda d, t: t[len(d) - 1] * deviation(d))),
        Mistake("n not root n", "It divides by n; the mean scatters √n times less than single values.",
            of_differences(lambda d, t: t[len(d) - 1] * deviation(d) / len(d))),
        Mistake("standard error", "It is mean ± one standard error; a 95 % interval is t times as wide.",
            of_differences(lambda d, t: deviation(d) / math.sqrt(len(d)))),
        Mistake("verdict by the mean", "The verdict looks at the mean only; the whole interval must be on one side.",
            with_verdict(lambda m, low, high: 0 if math.isnan(low) else (m > 0) - (m < 0))),
        Mistake("never worse", "An interval below 0 is a finding, too: the verdict is −1 there.",
            with_verdict(lambda m, low, high: 1 if low > 0 else 0)),
        Mistake("verdict turned", "The verdict has the wrong sign: 1 stands for ours being better.",
            with_verdict(lambda m, low, high: -sides(low, high))),
    ),
)  # fmt: skip


# 2 A bootstrap over classes


def bootstrap_cases() -> list[Case]:
    """Classes of unequal size, in no order; two levels; one draw that repeats a class."""
    d = torch.tensor([1.0, 0.0, -1.0, 1.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0], dtype=torch.float64)
    y = torch.tensor([7, 2, 2, 5, 7, 7, 2, 7, 2, 7])
    draws = torch.tensor([[0, 1, 2], [2, 2, 2], [0, 0, 1], [1, 2, 1], [2, 0, 2], [1, 1, 1], [0, 2, 2], [0, 0, 0]])
    given = {"difference": d, "labels": y, "draws": draws}
    rng = torch.Generator().manual_seed(5)
    many, classes = 0.4 * randn(rng, 30) + 0.2, torch.randint(6, (30,), generator=rng) * 3
    more = torch.randint(len(classes.unique()), (50, len(classes.unique())), generator=rng)
    return [
        Case("3 classes, 8 draws, 95 %", {**given, "level": 0.95}),
        Case("the same, 80 %", {**given, "level": 0.8}),
        Case("30 queries, 50 draws, 90 %", {"difference": many, "labels": classes, "draws": more, "level": 0.9}),
        Case("one class", {"difference": d[:4], "labels": y[:1].repeat(4), "draws": draws[:3, :1] * 0, "level": 0.95}),
    ]


def bootstrap_hidden(rng: torch.Generator) -> list[Case]:
    """Random sizes and levels, a class with one query, one draw."""
    cases = []
    for level in (0.95, 0.9, 0.5):
        C, Q = whole(rng, 4, 8), whole(rng, 25, 50)
        names = torch.randperm(50, generator=rng)[:C]
        y = torch.cat([names, names[(torch.rand(Q - C, generator=rng) ** 2 * C).long()]])
        y = y[torch.randperm(Q, generator=rng)]
        hit = torch.randint(-1, 2, (Q,), generator=rng).double() + (y % 3).double() / 4
        draws = torch.randint(C, (whole(rng, 40, 120), C), generator=rng)
        given = {"difference": hit, "labels": y, "draws": draws, "level": level}
        cases.append(Case(f"{Q} queries, {C} classes, {100 * level:.0f} %", given))
    small = {"difference": randn(rng, 7), "labels": torch.tensor([4, 4, 4, 9, 4, 1, 1])}
    equal, draws = torch.full((7,), 0.25, dtype=torch.float64), torch.randint(3, (20, 3), generator=rng)
    return [
        *cases,
        Case("a class with one query", {**small, "draws": draws, "level": 0.9}),
        Case("one draw", {**small, "draws": torch.tensor([[2, 0, 2]]), "level": 0.95}, edge=True),
        Case("all differences equal", {**small, "difference": equal, "draws": draws, "level": 0.95}, edge=True),
    ]


def class_sums(difference: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Sum and number of queries of every class, in the order of the labels."""
    kinds = labels.unique()  # sorted
    own = labels[None] == kinds[:, None]
    return (own * difference).sum(1), own.sum(1)


def resampled(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """The mean over all queries of the drawn classes, one for each draw."""
    total, count = class_sums(difference, labels)
    return total[draws].sum(1) / count[draws].sum(1)


def ends(values: Tensor, level: float, how: str = "linear") -> tuple[float, float]:
    """The middle `level` of the values."""
    outside = torch.tensor([(1 - level) / 2, (1 + level) / 2], dtype=torch.float64)
    low, high = torch.quantile(values, outside, interpolation=how).tolist()
    return low, high


def class_bootstrap(difference: Tensor, labels: Tensor, draws: Tensor, level: float) -> tuple[float, float]:
    """Percentile interval over draws of classes."""
    return ends(resampled(difference, labels, draws), level)


def by_means(means: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Answer:
    """A wrong answer by other resampled values."""
    return lambda difference, labels, draws, level: ends(means(difference, labels, draws), level)


def in_order_of_appearance(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """Classes numbered as they come."""
    number = {int(c): n for n, c in reversed(list(enumerate(dict.fromkeys(labels.tolist()))))}
    return resampled(difference, torch.tensor([number[int(c)] for c in labels]), draws)


def each_class_once(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """A class that is drawn twice counts once."""
    total, count = class_sums(difference, labels)
    return torch.stack([total[row.unique()].sum() / count[row.unique()].sum() for row in draws])


def of_class_means(difference: Tensor, labels: Tensor, draws: Tensor) -> Tensor:
    """Every class counts alike."""
    total, count = class_sums(difference, labels)
    return (total / count)[draws].mean(1)


def by_normal(difference: Tensor, labels: Tensor, draws: Tensor, level: float) -> tuple[float, float]:
    """Mean ± 1.96 standard deviations of the resampled means."""
    values = resampled(difference, labels, draws)
    m, half = float(values.mean()), 1.959964 * float(values.std(correction=0))
    return m - half, m + half


def turned(difference: Tensor, labels: Tensor, draws: Tensor, level: float) -> tuple[float, float]:
    """The "basic" bootstrap: mirrored at the mean."""
    low, high = class_bootstrap(difference, labels, draws, level)
    m = float(difference.mean())
    return 2 * m - high, 2 * m - low


BOOTSTRAP = Exercise(
    "class_bootstrap",
    "Percentile bootstrap interval (low, high) of the mean difference, resampling whole classes as `draws` says.",
    class_bootstrap,
    bootstrap_cases,
    (
        Mistake("queries drawn", "`draws` picks single queries here; it picks classes, with all their queries.",
            by_means(lambda d, y, draws: d[draws].mean(1))),
        Mistake("mean of class means", "Every class counts alike; take the mean over all queries of the drawn classes.",
            by_means(of_class_means)),
        Mistake("divided by all queries",
            "It divides by the number of all queries; divide by that of the drawn classes.",
            by_means(lambda d, y, draws: class_sums(d, y)[0][draws].sum(1) / len(d))),
        Mistake("sum", "It adds up the differences; take their mean.",
            by_means(lambda d, y, draws: class_sums(d, y)[0][draws].sum(1))),
        Mistake("each class once", "A class that is drawn twice must count twice.", by_means(each_class_once)),
        Mistake("order of appearance", "Class numbers follow the sorted labels, not the order in which they appear.",
            by_means(in_order_of_appearance)),
        Mistake("one-sided", "It leaves 1 − level out on each side; it is half of that on each side.",
            lambda difference, labels, draws, level: ends(resampled(difference, labels, draws), 2 * level - 1)),
        Mistake("level fixed", "The level is not used: it is always 95 %.",
            lambda difference, labels, draws, level: class_bootstrap(difference, labels, draws, 0.95)),
        Mistake("no interpolation", "The quantiles are picked from the values; interpolate between neighbours.",
            lambda difference, labels, draws, level: ends(resampled(difference, labels, draws), level, "nearest")),
        Mistake("normal", "That is mean ± 1.96 standard deviations; the percentile interval takes quantiles.",
            by_normal),
        Mistake("mirrored", "That is the mirrored (“basic”) interval; take the quantiles as they are.",
            turned),
        Mistake("range", "It is the smallest and the largest resampled mean, whatever the level.",
            lambda difference, labels, draws, level: (float(resampled(difference, labels, draws).min()),
                float(resampled(difference, labels, draws).max()))),
        Mistake("without resampling", "`draws` is not used: these are quantiles of the single differences.",
            lambda difference, labels, draws, level: ends(difference, level)),
    ),
)  # fmt: skip


# 3 Choosing on validation

PUBLIC_SEED = 2  # of curves on which every way to choose chooses something else


def curves_of(rng: torch.Generator, G: int, S: int, steps: int) -> dict[str, Tensor]:
    """Curves that rise and then stay, noisy, in steps of 1/1024 so that sums are exact."""
    rise = torch.linspace(0.4, 0.8, steps, dtype=torch.float64).clamp(max=0.5)
    level = rise + 0.02 * randn(rng, G, 1, 1) + 0.03 * randn(rng, G, 1, steps)
    both = [level + 0.05 * randn(rng, G, S, steps) for _ in range(2)]
    return {name: (x * 1024).round() / 1024 for name, x in zip(("validation", "test"), both)}


def choose_cases() -> list[Case]:
    """Several settings, one setting, a failed run, a tie."""
    rng = torch.Generator().manual_seed(PUBLIC_SEED)
    first, second, one = curves_of(rng, 3, 4, 5), curves_of(rng, 4, 3, 6), curves_of(rng, 1, 3, 5)
    failed, tie = curves_of(rng, 3, 3, 4), curves_of(rng, 2, 2, 4)
    failed["validation"][1, 0] = failed["test"][1, 0] = math.nan
    failed["validation"][1, 1:] += 0.5
    tie["validation"][0, :, 1] = tie["validation"][1, :, 0] = tie["validation"][0, :, 3] = 0.875
    return [
        Case("3 settings, 4 seeds, 5 steps", first),
        Case("4 settings, 3 seeds, 6 steps", second),
        Case("one setting", one),
        Case("a run has failed", failed, edge=True),
        Case("a tie on validation", tie, edge=True),
    ]


def choose_hidden(rng: torch.Generator) -> list[Case]:
    """Random sizes; failed runs, ties, one seed."""
    cases = []
    for number in range(4):
        G, S, steps = whole(rng, 3, 6), whole(rng, 3, 5), whole(rng, 6, 10)
        cases.append(Case(f"{number + 1}: {G} settings, {S} seeds, {steps} steps", curves_of(rng, G, S, steps)))
    failed, late, tie = curves_of(rng, 4, 3, 6), curves_of(rng, 3, 3, 6), curves_of(rng, 3, 4, 5)
    failed["validation"][2, 1] = failed["test"][2, 1] = math.nan
    failed["validation"][2, [0, 2]] += 0.5
    late["validation"][:, 1, 4:] = late["test"][:, 1, 4:] = math.nan
    tie["validation"][1, :, 1] = tie["validation"][1, :, 4] = tie["validation"][2, :, 0] = 0.9375
    return [
        *cases,
        Case("one seed", curves_of(rng, 3, 1, 5)),
        Case("a run has failed from the start", failed, edge=True),
        Case("a seed has failed half-way", late, edge=True),
        Case("ties", tie, edge=True),
    ]


def place_of(means: Tensor) -> tuple[int, int]:
    """Setting and step of the largest mean, the first of equals; NaN is never largest."""
    best = int(torch.where(means.isnan(), -math.inf, means).argmax())
    return best // means.shape[1], best % means.shape[1]


def choose_on_validation(validation: Tensor, test: Tensor) -> tuple[int, int, float, float]:
    """Setting, step, mean test value there, and what choosing on test would have added."""
    g, k = place_of(validation.mean(1))
    value = float(test.mean(1)[g, k])
    p, q = place_of(test.mean(1))
    return g, k, value, float(test.mean(1)[p, q]) - value


def at(choose: Callable[[Tensor, Tensor], tuple[int, int]]) -> Answer:
    """A wrong answer by another choice."""

    def answer(validation: Tensor, test: Tensor) -> tuple[int, int, float, float]:
        g, k = choose(validation, test)
        p, q = place_of(test.mean(1))
        value = float(test.mean(1)[g, k])
        return g, k, value, float(test.mean(1)[p, q]) - value

    return answer


def told(change: Callable[[Tensor, Tensor, int, int, float, float], tuple[float, float]]) -> Answer:
    """A wrong answer that chooses rightly: change(validation, test, g, k, value, gain) -> value, gain."""

    def answer(validation: Tensor, test: Tensor) -> tuple[int, int, float, float]:
        g, k, value, gain = choose_on_validation(validation, test)
        return g, k, *change(validation, test, g, k, value, gain)

    return answer


def last_of_equals(means: Tensor) -> tuple[int, int]:
    """The last of equal means."""
    g, k = place_of(means.flip(0, 1))
    return means.shape[0] - 1 - g, means.shape[1] - 1 - k


def setting_at_the_end(validation: Tensor, test: Tensor) -> tuple[int, int]:
    """The setting by its last step, then the best step of it."""
    means = validation.mean(1)
    g, _ = place_of(means[:, -1:])
    return g, place_of(means[g : g + 1])[1]


def last_step(validation: Tensor, test: Tensor) -> tuple[int, int]:
    """The best setting at the last step."""
    return place_of(validation.mean(1)[:, -1:])[0], validation.shape[2] - 1


def own_steps(validation: Tensor, test: Tensor, g: int) -> float:
    """Every seed of the setting read at a step of its own."""
    chosen = torch.where(validation[g].isnan(), -math.inf, validation[g]).argmax(1)
    return float(test[g].gather(1, chosen[:, None]).mean())


CHOOSE = Exercise(
    "choose_on_validation",
    "Setting and step with the best mean over seeds on validation, the mean test value there, the gain of peeking.",
    choose_on_validation,
    choose_cases,
    (
        Mistake("on test", "Setting and step are chosen on the test data: choose on validation.",
            at(lambda validation, test: place_of(test.mean(1)))),
        Mistake("last step", "It takes the last step; the step is chosen on validation, too.", at(last_step)),
        Mistake("setting by the last step", "The setting is chosen by its last step; choose both together.",
            at(setting_at_the_end)),
        Mistake("smallest", "It takes the smallest value; larger is better.",
            at(lambda validation, test: place_of(-validation.mean(1)))),
        Mistake("luckiest seed", "It looks for the best single run; choose by the mean over seeds.",
            at(lambda validation, test: place_of(validation.nan_to_num(-math.inf).amax(1)))),
        Mistake("worst seed", "It looks at the worst seed; choose by the mean over seeds.",
            at(lambda validation, test: place_of(validation.amin(1)))),
        Mistake("first seed", "It looks at the first seed only; choose by the mean over seeds.",
            at(lambda validation, test: place_of(validation[:, 0]))),
        Mistake("last of equals", "Of equal means the first counts: the smaller setting, then the earlier step.",
            at(lambda validation, test: last_of_equals(validation.mean(1)))),
        Mistake("failed seeds left out", "A setting with a failed run has the mean of the others here: it cannot be "
            "chosen there.", at(lambda validation, test: place_of(validation.nanmean(1)))),
        Mistake("validation told", "The validation value is told; choose there, but tell the test value.",
            told(lambda validation, test, g, k, value, gain: (float(validation.mean(1)[g, k]), gain))),
        Mistake("a step for each seed", "Every seed is read at a step of its own; one step is chosen for all seeds.",
            told(lambda validation, test, g, k, value, gain: (own_steps(validation, test, g),
                gain + value - own_steps(validation, test, g)))),
        Mistake("gain turned", "The gain has the wrong sign: it is what peeking would add, never negative.",
            told(lambda validation, test, g, k, value, gain: (value, -gain))),
        Mistake("gain within the setting", "The gain looks at the chosen setting only; peeking would look at all.",
            told(lambda validation, test, g, k, value, gain: (value,
                float(test.mean(1)[g].nan_to_num(-math.inf).max()) - value))),
        Mistake("gain of the best run", "The gain takes the best single run; it is about the best mean over seeds.",
            told(lambda validation, test, g, k, value, gain: (value,
                float(test.nan_to_num(-math.inf).max()) - value))),
        Mistake("best test value", "That is the best test value, not the gain: subtract the honest one.",
            told(lambda validation, test, g, k, value, gain: (value, value + gain))),
    ),
)  # fmt: skip


ASSIGNMENT = Assignment(
    name="6_study",
    title="A small study",
    questions=(
        Question(SEEDS, 5, seeds_hidden),
        Question(BOOTSTRAP, 5, bootstrap_hidden),
        Question(CHOOSE, 5, choose_hidden),
    ),
    written=(
        Written(
            "study_plan",
            5,
            (
                (1, "The claim is one sentence that can turn out false: losses, data, metric, direction"),
                (1, "A reason from what the two losses do (gradient, R, margin, who is pulled), not only a guess"),
                (1, "Fixed before training: three or more seeds, the same for both; steps; which step counts"),
                (1, "A control (the untrained network, another layout) and what it can tell"),
                (1, "Which result would count as shown, as the opposite, and as not shown"),
            ),
        ),
        Written(
            "study_report",
            10,
            (
                (1, "At least two losses × three seeds trained by the student, with the settings to do it again"),
                (1, "Every seed's value is shown, in a table or a figure, not only means"),
                (2, "The paired interval: mean, both ends, number of seeds (1 if unpaired or without ends)"),
                (1, "The verdict follows from the interval, in words: held, did not hold, or the opposite"),
                (1, "The control is reported with its own interval, and used in the conclusion"),
                (2, "Defended or given up with evidence beyond one metric: curves, intra, train R@1, single seeds "
                    "(1 for an explanation without evidence)"),
                (1, "Limits that matter here: few seeds, a toy, one budget, untuned; what the interval does not cover"),
                (1, "Honesty: what was tried and how often, deviations from the plan, what was seen of the test data"),
            ),
        ),
    ),
)  # fmt: skip
