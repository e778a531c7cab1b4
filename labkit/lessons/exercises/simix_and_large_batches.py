"""Lesson 5: similarities of virtual samples, how many there are, and the scalar of the second pass."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.lessons.draw import cosines, normal, seeded
from labkit.lessons.exercise import Case, Exercise, Mistake


def mixed_case(label: str, items: int, first: Sequence[int], second: Sequence[int], a: Sequence[float]) -> Case:
    """A matrix of similarities and V pairs."""
    return Case(
        label,
        {
            "similarity": cosines(seeded(items), items, 4),
            "first": torch.tensor(first),
            "second": torch.tensor(second),
            "a": torch.tensor(a, dtype=torch.float64),
        },
    )


def mixed_cases() -> list[Case]:
    """One virtual sample and several, as many as real ones, weights at both ends."""
    return [
        mixed_case("four images, one virtual sample", 4, [0], [1], [0.3]),
        mixed_case("six images, three virtual samples", 6, [0, 0, 4], [1, 2, 5], [0.2, 0.9, 0.6]),
        mixed_case("as many virtual as real ones", 4, [0, 0, 1, 2], [1, 2, 3, 3], [0.1, 0.4, 0.7, 0.8]),
        mixed_case("weights 0 and 1: the parents", 5, [0, 3], [2, 4], [0.0, 1.0]),
        mixed_case("weight one half", 5, [1, 2], [2, 3], [0.5, 0.5]),
    ]


def simix_similarities(similarity: Tensor, first: Tensor, second: Tensor, a: Tensor) -> Tensor:
    """s(w, v) = a·s(w, x) + (1 − a)·s(w, z), (B, V)."""
    return a * similarity[:, first] + (1 - a) * similarity[:, second]


def length(similarity: Tensor, first: Tensor, second: Tensor, a: Tensor) -> Tensor:
    """|v|, (V,)."""
    return (a**2 + (1 - a) ** 2 + 2 * a * (1 - a) * similarity[first, second]).sqrt()


SIMIX = Exercise(
    "simix_similarities",
    "Similarities of all B real items with the V virtual samples v = a·x + (1 − a)·z, as SiMix uses them: (B, V).",
    simix_similarities,
    mixed_cases,
    (
        Mistake(
            "weights swapped",
            "The weights have changed places: a belongs to x (first), 1 − a to z (second).",
            lambda similarity, first, second, a: simix_similarities(similarity, second, first, a),
        ),
        Mistake(
            "a cosine",
            "Divided by |v|, it is a cosine; SiMix does not normalise v (E-SL-5).",
            lambda **case: simix_similarities(**case) / length(**case),
        ),
        Mistake(
            "half and half",
            "It takes the mean of both parents; the weights are a and 1 − a.",
            lambda **case: simix_similarities(**case | {"a": torch.full_like(case["a"], 0.5)}),
        ),
        Mistake(
            "transposed",
            "That is (V, B): one row for each virtual sample. One column each is asked for.",
            lambda **case: simix_similarities(**case).T,
        ),
        Mistake(
            "a twice",
            "Both parents have the weight a; z has 1 − a.",
            lambda similarity, first, second, a: a * (similarity[:, first] + similarity[:, second]),
        ),
        Mistake(
            "no weights",
            "The parents' similarities are only added; weigh them by a and 1 − a.",
            lambda similarity, first, second, a: similarity[:, first] + similarity[:, second],
        ),
        Mistake(
            "one parent",
            "Only x takes part; z has the weight 1 − a.",
            lambda similarity, first, second, a: a * similarity[:, first],
        ),
        Mistake(
            "the nearer parent",
            "It takes the more similar parent; a virtual sample lies between both.",
            lambda similarity, first, second, a: torch.maximum(similarity[:, first], similarity[:, second]),
        ),
        Mistake(
            "squared weights",
            "The weights enter once; only two virtual samples have products of them.",
            lambda similarity, first, second, a: a**2 * similarity[:, first] + (1 - a) ** 2 * similarity[:, second],
        ),
        Mistake(
            "virtual too",
            "Real items with virtual ones are asked for, (B, V); this is virtual with virtual, (V, V).",
            lambda similarity, first, second, a: (
                a[:, None] * simix_similarities(similarity, first, second, a)[first]
                + (1 - a)[:, None] * simix_similarities(similarity, first, second, a)[second]
            ),
        ),
        Mistake(
            "multiplied",
            "The similarities of the parents are multiplied; a mixture is a weighted sum.",
            lambda similarity, first, second, a: a * similarity[:, first] * similarity[:, second],
            also=(lambda similarity, first, second, a: similarity[:, first] * similarity[:, second],),
        ),
    ),
    gradient="similarity",
)


def count_cases() -> list[Case]:
    """Equal classes, unequal ones, singletons, and the slides' batch."""
    return [
        Case("one class of 4", {"class_sizes": [4]}),
        Case("three classes of 3", {"class_sizes": [3, 3, 3]}),
        Case("unequal classes", {"class_sizes": [2, 5, 3]}),
        Case("with a singleton", {"class_sizes": [1, 4, 1]}),
        Case("singletons only", {"class_sizes": [1, 1]}),
        Case("the slides' batch", {"class_sizes": [4] * 1024}),
    ]


def simix_size(class_sizes: Sequence[int]) -> int:
    """Σ m + m(m − 1)/2."""
    return sum(m + m * (m - 1) // 2 for m in class_sizes)


def pairs(m: int) -> int:
    """Pairs out of m."""
    return m * (m - 1) // 2


COUNT = Exercise(
    "simix_size",
    "How many items are ranked with SiMix: the real ones, and one virtual sample for each same-class pair.",
    simix_size,
    count_cases,
    (
        Mistake(
            "virtual only",
            "Those are the virtual samples; the real ones are ranked too.",
            lambda class_sizes: sum(pairs(m) for m in class_sizes),
        ),
        Mistake("real only", "Those are the real items; add the virtual ones.", lambda class_sizes: sum(class_sizes)),
        Mistake(
            "ordered pairs",
            "Each pair is counted twice: (x, z) and (z, x) give one virtual sample.",
            lambda class_sizes: sum(m + 2 * pairs(m) for m in class_sizes),
        ),
        Mistake(
            "across classes",
            "It mixes items of different classes, too; a virtual sample needs one label.",
            lambda class_sizes: sum(class_sizes) + pairs(sum(class_sizes)),
        ),
        Mistake(
            "with itself",
            "An item is not mixed with itself: m(m − 1)/2 pairs, not m(m + 1)/2.",
            lambda class_sizes: sum(2 * m + pairs(m) for m in class_sizes),
        ),
        Mistake(
            "one each",
            "One virtual sample for each image is too few: there is one for each pair.",
            lambda class_sizes: 2 * sum(class_sizes),
        ),
        Mistake(
            "the first class for all",
            "It takes all classes to be as large as the first.",
            lambda class_sizes: len(class_sizes) * (class_sizes[0] + pairs(class_sizes[0])),
        ),
        Mistake(
            "neighbours only",
            "m − 1 virtual samples per class: only neighbours are mixed, not all pairs.",
            lambda class_sizes: sum(m + m - 1 for m in class_sizes),
        ),
        Mistake(
            "classes of one dropped",
            "A class with one image has no virtual sample, but the image stays.",
            lambda class_sizes: sum(m + pairs(m) for m in class_sizes if m > 1),
        ),
        Mistake(
            "all subsets",
            "It counts mixtures of any number of images; SiMix mixes pairs.",
            lambda class_sizes: sum(2**m - 1 for m in class_sizes),
        ),
    ),
)


def pass_cases() -> list[Case]:
    """Random gradients, large, small, zero, and a single item."""
    rng = seeded(0)

    def pair(items: int, dim: int) -> dict[str, Tensor]:
        embeddings, gradient = normal(rng, 2, items, dim)
        return {"embeddings": embeddings, "gradient": gradient}

    small, half = pair(4, 3), pair(3, 3)
    return [
        Case("four items in three dimensions", pair(4, 3)),
        Case("one item", pair(1, 5)),
        Case("a small gradient", small | {"gradient": 1e-2 * small["gradient"]}),
        Case("no gradient for the second item", half | {"gradient": half["gradient"] * torch.tensor([[1], [0], [1]])}),
        Case("many items", pair(64, 8)),
    ]


def second_pass(embeddings: Tensor, gradient: Tensor) -> Tensor:
    """Σ e·g: its gradient with respect to the embeddings is g."""
    return (embeddings * gradient).sum()


PASS = Exercise(
    "second_pass",
    "A scalar, linear in the embeddings, whose gradient with respect to them is the given gradient.",
    second_pass,
    pass_cases,
    (
        Mistake(
            "mean",
            "The mean divides the gradient by the number of entries; take the sum.",
            lambda embeddings, gradient: (embeddings * gradient).mean(),
        ),
        Mistake(
            "mean over items",
            "Divided by the number of items; the loss has taken its mean already, take the sum.",
            lambda embeddings, gradient: (embeddings * gradient).sum(1).mean(),
        ),
        Mistake(
            "a sum for each item",
            "It is one number for each item; one number for all is asked for: sum over everything.",
            lambda embeddings, gradient: (embeddings * gradient).sum(1),
        ),
        Mistake(
            "no gradient used",
            "The given gradient is not used: the sum alone sends a gradient of 1 everywhere.",
            lambda embeddings, gradient: embeddings.sum(),
        ),
        Mistake(
            "added",
            "They are added; multiply, so that each embedding gets its own gradient.",
            lambda embeddings, gradient: (embeddings + gradient).sum(),
        ),
        Mistake(
            "sign",
            "The sign is turned round: this would climb. The optimizer subtracts the gradient by itself.",
            lambda embeddings, gradient: -(embeddings * gradient).sum(),
        ),
        Mistake(
            "every row with every row",
            "A matrix product pairs every item with every other; multiply entry by entry.",
            lambda embeddings, gradient: (embeddings @ gradient.T).sum(),
        ),
        Mistake(
            "a distance",
            "A squared distance has the gradient e − g, not g; a product is all it takes.",
            lambda embeddings, gradient: 0.5 * (embeddings - gradient).square().sum(),
        ),
        Mistake(
            "a square",
            "The sum is squared, which scales the gradient by twice the sum.",
            lambda embeddings, gradient: (embeddings * gradient).sum() ** 2,
        ),
        Mistake(
            "a cosine",
            "Normalised vectors give the gradient of a cosine; leave them as they are.",
            lambda embeddings, gradient: torch.cosine_similarity(embeddings, gradient, dim=1).sum(),
        ),
        Mistake(
            "the norm of the gradient",
            "It is the gradient's own norm; the embeddings must be in it.",
            lambda embeddings, gradient: gradient.norm() + 0 * embeddings.sum(),
        ),
    ),
    gradient="embeddings",
)

EXERCISES = (SIMIX, COUNT, PASS)
