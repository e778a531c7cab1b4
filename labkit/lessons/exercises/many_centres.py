"""Lesson 7: how wide a class is, merged labels, and what merging costs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from labkit.lessons.draw import normal, seeded
from labkit.lessons.exercise import Case, Exercise, Mistake


def on_circle(*degrees: float) -> Tensor:
    """Unit vectors at the given angles."""
    angle = torch.deg2rad(torch.tensor(degrees, dtype=torch.float64))
    return torch.stack([angle.cos(), angle.sin()], 1)


def variance_cases() -> list[Case]:
    """Tight, spread and opposite vectors, vectors of several lengths, more dimensions, a single one."""
    return [
        Case("tight", {"embeddings": on_circle(10, 12, 15, 9)}),
        Case("half a circle", {"embeddings": on_circle(0, 45, 90, 135, 180)}),
        Case("two opposite centres", {"embeddings": on_circle(0, 2, 180, 182)}),
        Case("not of length 1", {"embeddings": on_circle(0, 40, 100) * torch.tensor([[3.0], [0.5], [1.0]])}),
        Case("five dimensions", {"embeddings": normal(seeded(0), 6, 5) + 0.5}),
        Case("one embedding", {"embeddings": 2 * on_circle(30)}),
    ]


def circular_variance(embeddings: Tensor) -> Tensor:
    """1 − ‖mean of the unit vectors‖."""
    length: Tensor = normalize(embeddings, dim=1).mean(0).norm()
    return 1 - length


def pair_cosines(embeddings: Tensor) -> Tensor:
    """Cosines of all pairs, each with itself included."""
    unit = normalize(embeddings, dim=1)
    return unit @ unit.T


def coordinate_variance(embeddings: Tensor) -> Tensor:
    """With n − 1; NaN for a single embedding, as torch has it, without its warning."""
    n = torch.tensor(len(embeddings))
    return normalize(embeddings, dim=1).var(0, unbiased=False) * (n / (n - 1))


def angles(embeddings: Tensor) -> Tensor:
    """Of the first two coordinates."""
    return torch.atan2(embeddings[:, 1], embeddings[:, 0])


VARIANCE = Exercise(
    "circular_variance",
    "1 minus the length of the mean of the unit vectors: 0 if all point the same way, 1 if they cancel.",
    circular_variance,
    variance_cases,
    (
        Mistake(
            "not normalised",
            "Bring every embedding to length 1 before taking the mean.",
            lambda embeddings: 1 - embeddings.mean(0).norm(),
        ),
        Mistake(
            "the length",
            "That is the length of the mean; the variance is 1 minus it.",
            lambda embeddings: normalize(embeddings, dim=1).mean(0).norm(),
        ),
        Mistake(
            "mean of lengths",
            "The length of the mean is wanted, not the mean of the lengths, which is always 1.",
            lambda embeddings: 1 - normalize(embeddings, dim=1).norm(dim=1).mean(),
        ),
        Mistake(
            "sum",
            "It takes the sum of the unit vectors; take their mean.",
            lambda embeddings: 1 - normalize(embeddings, dim=1).sum(0).norm(),
        ),
        Mistake(
            "squared",
            "The length is squared; leave the square out.",
            lambda embeddings: 1 - normalize(embeddings, dim=1).mean(0).norm() ** 2,
        ),
        Mistake(
            "normalised columns",
            "The columns are normalised; each row is an embedding: dim=1.",
            lambda embeddings: 1 - normalize(embeddings, dim=0).mean(0).norm(),
        ),
        Mistake(
            "mean over the wrong axis",
            "The mean is over the coordinates; it must be over the embeddings: dim=0.",
            lambda embeddings: 1 - normalize(embeddings, dim=1).mean(1).norm(),
        ),
        Mistake(
            "variance of coordinates",
            "That is the variance of the coordinates; use the length of the mean vector.",
            lambda embeddings: normalize(embeddings, dim=1).var(0, unbiased=False).mean(),
            also=(
                lambda embeddings: normalize(embeddings, dim=1).var(0, unbiased=False).sum(),
                lambda embeddings: coordinate_variance(embeddings).mean(),
                lambda embeddings: coordinate_variance(embeddings).sum(),
            ),
        ),
        Mistake(
            "pairs without themselves",
            "That is 1 minus the mean cosine of pairs, another measure of width.",
            lambda embeddings: (
                1 - (pair_cosines(embeddings).sum() - len(embeddings)) / max(1, len(embeddings) * (len(embeddings) - 1))
            ),
        ),
        Mistake(
            "absolute sum",
            "It adds up absolute coordinates; the length is the root of the sum of squares.",
            lambda embeddings: 1 - normalize(embeddings, dim=1).mean(0).abs().sum(),
        ),
        Mistake(
            "variance of angles",
            "Angles jump from 180° to −180°, so their variance does not know that these are neighbours; use the mean "
            "of the unit vectors.",
            lambda embeddings: angles(embeddings).var(unbiased=False),
            also=(
                lambda embeddings: angles(embeddings).var(),
                lambda embeddings: angles(embeddings).std(unbiased=False),
                lambda embeddings: angles(embeddings).std(),
            ),
        ),
        Mistake(
            "the mean normalised",
            "The mean is normalised, so its length is always 1; normalise the rows, then take the mean.",
            lambda embeddings: 1 - normalize(embeddings.mean(0), dim=0).norm(),
        ),
    ),
)


def merge_cases() -> list[Case]:
    """Sorted, shuffled and missing labels, several k, a last group that is not full."""
    return [
        Case("six classes, k = 3", {"labels": torch.tensor([0, 0, 1, 2, 3, 3, 4, 5]), "k": 3}),
        Case("shuffled, k = 3", {"labels": torch.tensor([4, 0, 2, 5, 1, 3, 0]), "k": 3}),
        Case("seven classes, k = 3", {"labels": torch.tensor([6, 5, 4, 3, 2, 1, 0]), "k": 3}),
        Case("k = 2", {"labels": torch.tensor([3, 3, 0, 1, 2, 7, 6, 5, 4]), "k": 2}),
        Case("k = 1 changes nothing", {"labels": torch.tensor([2, 0, 1]), "k": 1}),
        Case("k = 4", {"labels": torch.arange(12), "k": 4}),
    ]


def merge_labels(labels: Tensor, k: int) -> Tensor:
    """Classes 0 … k−1 become 0, k … 2k−1 become 1, and so on."""
    return labels // k


MERGE = Exercise(
    "merge_labels",
    "New labels in which every k consecutive classes are one: 0 … k−1 become 0, k … 2k−1 become 1, and so on.",
    merge_labels,
    merge_cases,
    (
        Mistake(
            "remainder",
            "The remainder mixes classes that are k apart; take the quotient.",
            lambda labels, k: labels % k,
        ),
        Mistake(
            "k classes",
            "That makes k classes; every k classes are to become one.",
            lambda labels, k: labels * k // (labels.max() + 1),
        ),
        Mistake(
            "gaps",
            "The new labels have gaps (0, k, 2k …): they must be 0, 1, 2 …",
            lambda labels, k: labels - labels % k,
        ),
        Mistake(
            "rounded",
            "Rounding puts the last of a group into the next: round down.",
            lambda labels, k: (labels / k).round(),
        ),
        Mistake(
            "rounded up",
            "Rounding up puts class 0 alone: round down.",
            lambda labels, k: (labels + k - 1) // k,
        ),
        Mistake(
            "from one",
            "The labels count from 0, so nothing has to be subtracted first.",
            lambda labels, k: torch.div(labels - 1, k, rounding_mode="floor"),
        ),
        Mistake(
            "by position",
            "It merges neighbours in the list, not in the numbering of the classes.",
            lambda labels, k: torch.arange(len(labels)) // k,
        ),
        Mistake("not whole", "The new labels must be whole numbers: use //.", lambda labels, k: labels / k),
        Mistake("k + 1", "It merges one class too many in a group.", lambda labels, k: labels // (k + 1)),
    ),
)


def drop_cases() -> list[Case]:
    """Same seeds, other order, missing seeds, one seed."""
    return [
        Case("three seeds", {"plain": {0: 0.77, 1: 0.74, 2: 0.79}, "merged": {0: 0.70, 1: 0.65, 2: 0.73}}),
        Case("other order", {"plain": {2: 0.79, 0: 0.77, 1: 0.74}, "merged": {1: 0.65, 2: 0.73, 0: 0.60}}),
        Case("a seed is missing", {"plain": {0: 0.70, 1: 0.80, 2: 0.90}, "merged": {0: 0.60, 2: 0.85}}),
        Case("other seeds", {"plain": {0: 0.50, 3: 0.60}, "merged": {3: 0.40, 7: 0.10, 0: 0.55}}),
        Case("one seed in common", {"plain": {4: 0.66, 5: 0.10}, "merged": {4: 0.52}}),
        Case("nothing is lost", {"plain": {0: 0.30, 1: 0.20}, "merged": {0: 0.33, 1: 0.20}}),
    ]


Scores = dict[int, float]


def shared(plain: Scores, merged: Scores) -> list[tuple[float, float]]:
    """Both values of every seed that both have."""
    return [(plain[seed], merged[seed]) for seed in sorted(plain.keys() & merged.keys())]


def mean(values: list[float]) -> float:
    """Arithmetic mean of a list."""
    return sum(values) / len(values)


def mean_drop(plain: Scores, merged: Scores) -> float:
    """Mean over shared seeds of plain − merged."""
    return mean([a - b for a, b in shared(plain, merged)])


def paired_by_place(plain: Scores, merged: Scores) -> float:
    """Values paired in the order in which they stand."""
    return mean([a - b for a, b in zip(plain.values(), merged.values())])


DROP = Exercise(
    "mean_drop",
    "The mean over the seeds that both have of plain minus merged; plain and merged map a seed to R@1.",
    mean_drop,
    drop_cases,
    (
        Mistake(
            "sign",
            "A drop is positive when merging hurts: plain minus merged.",
            lambda plain, merged: -mean_drop(plain, merged),
        ),
        Mistake(
            "not paired",
            "It compares the means of all seeds; only seeds that both have can be paired.",
            lambda plain, merged: mean(list(plain.values())) - mean(list(merged.values())),
        ),
        Mistake("by place", "It pairs values by their place in the dictionary; pair them by seed.", paired_by_place),
        Mistake(
            "relative",
            "It divides by the plain value; the drop is wanted in points.",
            lambda plain, merged: mean([(a - b) / a for a, b in shared(plain, merged)]),
        ),
        Mistake(
            "absolute",
            "It takes absolute values: a gain would count as a drop.",
            lambda plain, merged: mean([abs(a - b) for a, b in shared(plain, merged)]),
        ),
        Mistake(
            "sum",
            "It adds up the drops; take their mean.",
            lambda plain, merged: sum(a - b for a, b in shared(plain, merged)),
        ),
        Mistake(
            "missing is zero",
            "A seed that is missing counts as 0; leave it out.",
            lambda plain, merged: mean(
                [plain.get(seed, 0.0) - merged.get(seed, 0.0) for seed in plain.keys() | merged.keys()]
            ),
        ),
        Mistake(
            "over all seeds",
            "It divides by the number of plain runs; divide by the number of pairs.",
            lambda plain, merged: sum(a - b for a, b in shared(plain, merged)) / len(plain),
        ),
        Mistake(
            "first seed only",
            "It looks at one seed only; take the mean over all that both have.",
            lambda plain, merged: shared(plain, merged)[0][0] - shared(plain, merged)[0][1],
        ),
        Mistake(
            "in per cent",
            "It multiplies by 100; leave the values as they are.",
            lambda plain, merged: 100 * mean_drop(plain, merged),
        ),
    ),
)

EXERCISES = (VARIANCE, MERGE, DROP)
