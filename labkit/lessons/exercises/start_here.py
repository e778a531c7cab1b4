"""Lesson 1: the nearest neighbour of every item, and Recall@1. embeddings (n, d), labels (n,)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from labkit.lessons.draw import normal, seeded, uniform
from labkit.lessons.exercise import Case, Exercise, Mistake

OFF = -torch.inf


def examples() -> dict[str, tuple[Tensor, Tensor]]:
    """Unequal lengths, negative similarities, a copy, classes of different size, one of them with a single member."""
    rng = seeded(1)
    random = normal(rng, 24, 3)
    lengths = uniform(rng, 24, 1) * 5 + 0.1
    plane = [[1.0, 0.1], [0.9, 0.5], [-0.2, 1.0], [0.1, 1.2], [-1.0, -0.3], [-0.8, 0.2]]
    apart = [[1.0, 0.0, 0.0], [-0.5, 0.9, 0.0], [-0.5, -0.9, 0.0]]
    copied = [[0.0, 2.0], [0.0, 2.0], [1.0, 0.0], [4.0, 1.0]]
    return {
        "six items in the plane": (torch.tensor(plane, dtype=torch.float64), torch.tensor([0, 0, 1, 1, 2, 1])),
        "24 items of very different length": (random * lengths, torch.arange(24) % 5),
        "all others point away": (torch.tensor(apart, dtype=torch.float64), torch.tensor([0, 1, 0])),
        "two copies": (torch.tensor(copied, dtype=torch.float64), torch.tensor([0, 1, 0, 1])),
        "large and small classes": (random, torch.tensor([0] * 15 + [1] * 5 + [2] * 3 + [3])),
    }


def cases_without_labels() -> list[Case]:
    """The embeddings alone."""
    return [Case(label, {"embeddings": embeddings}) for label, (embeddings, _) in examples().items()]


def cases_with_labels() -> list[Case]:
    """Embeddings and labels."""
    return [Case(label, {"embeddings": x, "labels": y}) for label, (x, y) in examples().items()]


def similarities(embeddings: Tensor, diagonal: float = OFF) -> Tensor:
    """Cosine similarities (n, n); what an item has with itself is set."""
    unit = normalize(embeddings, dim=1)
    return (unit @ unit.T).fill_diagonal_(diagonal)


def nearest(embeddings: Tensor) -> Tensor:
    """Index (n,) of the most similar other item."""
    return similarities(embeddings).argmax(1)


def with_itself(embeddings: Tensor) -> Tensor:
    """Nothing is masked: of two copies the first is found."""
    unit = normalize(embeddings, dim=1)
    return (unit @ unit.T).argmax(1)


def by_dot_product(embeddings: Tensor) -> Tensor:
    """Without normalising."""
    return (embeddings @ embeddings.T).fill_diagonal_(OFF).argmax(1)


def by_distance(embeddings: Tensor) -> Tensor:
    """Euclidean distance of vectors that are not normalised."""
    return torch.cdist(embeddings, embeddings).fill_diagonal_(torch.inf).argmin(1)


def normalised_columns(embeddings: Tensor) -> Tensor:
    """Every column, not every row, has length 1."""
    unit = normalize(embeddings, dim=0)
    return (unit @ unit.T).fill_diagonal_(OFF).argmax(1)


def second_of_sorted(embeddings: Tensor) -> Tensor:
    """The first of the sorted list is taken to be the item itself."""
    return similarities(embeddings, 1.0).sort(dim=1, descending=True, stable=True).indices[:, 1]


def without_shift(embeddings: Tensor) -> Tensor:
    """The item itself is cut out and the index is that of the shorter row."""
    n = len(embeddings)
    kept = similarities(embeddings)[~torch.eye(n, dtype=torch.bool)].view(n, n - 1)
    return kept.argmax(1)


def only_later(embeddings: Tensor) -> Tensor:
    """Only items with a higher index are looked at."""
    n = len(embeddings)
    return similarities(embeddings).masked_fill(torch.ones(n, n).tril().bool(), -2.0).argmax(1)


NEAREST = Exercise(
    "nearest_neighbour",
    "For every item the index of the other item with the largest cosine similarity.",
    nearest,
    cases_without_labels,
    (
        Mistake(
            "itself",
            "Every item finds itself: set its similarity with itself to −∞ first.",
            lambda embeddings: similarities(embeddings, 1.0001).argmax(1),
            also=(with_itself, lambda embeddings: similarities(embeddings, 1.0).topk(2).indices[:, 0]),
        ),
        Mistake(
            "not normalised",
            "It uses dot products: long vectors win. Give every row the length 1 first.",
            by_dot_product,
        ),
        Mistake(
            "least similar",
            "It finds the least similar item: argmax for similarities, argmin for distances.",
            lambda embeddings: similarities(embeddings, torch.inf).argmin(1),
        ),
        Mistake(
            "columns normalised",
            "It normalises the columns; an item is a row: dim=1.",
            normalised_columns,
        ),
        Mistake(
            "zero for itself",
            "The similarity with itself is set to 0, which wins where all others are negative: use −∞.",
            lambda embeddings: similarities(embeddings, 0.0).argmax(1),
        ),
        Mistake(
            "first of the sorted list dropped",
            "It drops the first of the sorted list, which is not always the item itself: copies come level with it.",
            second_of_sorted,
        ),
        Mistake(
            "index not shifted back",
            "The item itself was cut out of its row, so later items have moved by one: shift the index back, or mask.",
            without_shift,
        ),
        Mistake("later items only", "It looks only at items with a higher index: use the whole row.", only_later),
        Mistake(
            "distance of raw vectors",
            "It compares Euclidean distances of vectors of unequal length: normalise first.",
            by_distance,
        ),
        Mistake(
            "the value",
            "It returns the similarity; asked for is the index: argmax, or max(…).indices.",
            lambda embeddings: similarities(embeddings).amax(1),
        ),
    ),
)


def has_positive(labels: Tensor) -> Tensor:
    """Which items have another one of their class (n,)."""
    return (labels[:, None] == labels[None]).sum(1) > 1


def hit(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Whether the nearest neighbour is of the same class (n,)."""
    return (labels[nearest(embeddings)] == labels).double()


def recall_at_1(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Share of the queries with a positive whose nearest neighbour is one."""
    return hit(embeddings, labels)[has_positive(labels)].mean()


def of_found(found: Tensor, labels: Tensor) -> Tensor:
    """The same from given neighbours."""
    return (labels[found] == labels)[has_positive(labels)].double().mean()


def mean_of_classes(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Every class counts the same."""
    kept = [c for c in labels.unique() if (labels == c).sum() > 1]
    return torch.stack([hit(embeddings, labels)[labels == c].mean() for c in kept]).mean()


def of_two(embeddings: Tensor, labels: Tensor) -> Tensor:
    """Recall@2."""
    top = similarities(embeddings).topk(min(2, len(labels))).indices
    return (labels[top] == labels[:, None]).any(1)[has_positive(labels)].double().mean()


RECALL = Exercise(
    "recall_at_1",
    "The share of queries whose nearest neighbour has their label; queries without a positive are left out.",
    recall_at_1,
    cases_with_labels,
    (
        Mistake(
            "itself",
            "Every query finds itself and is right: take it out of its own gallery.",
            lambda embeddings, labels: torch.ones(()),
            also=(
                lambda embeddings, labels: of_found(with_itself(embeddings), labels),
                lambda embeddings, labels: (labels[with_itself(embeddings)] == labels).double().mean(),
            ),
        ),
        Mistake(
            "not normalised",
            "It uses dot products: long vectors win. Give every row the length 1 first.",
            lambda embeddings, labels: of_found(by_dot_product(embeddings), labels),
        ),
        Mistake(
            "least similar",
            "It looks at the least similar item: argmax for similarities, argmin for distances.",
            lambda embeddings, labels: of_found(similarities(embeddings, torch.inf).argmin(1), labels),
        ),
        Mistake(
            "singletons counted",
            "It counts queries without a positive, which can never be right: leave them out.",
            lambda embeddings, labels: hit(embeddings, labels).mean(),
        ),
        Mistake(
            "a count",
            "It is a count; a share is the count divided by how many queries there are.",
            lambda embeddings, labels: hit(embeddings, labels).sum(),
        ),
        Mistake(
            "per cent",
            "It is in per cent; give a share between 0 and 1.",
            lambda embeddings, labels: 100 * recall_at_1(embeddings, labels),
        ),
        Mistake(
            "error",
            "It is the share of wrong queries: turn it round.",
            lambda embeddings, labels: 1 - recall_at_1(embeddings, labels),
        ),
        Mistake(
            "index for label",
            "It compares the neighbour's index with the label; look its label up: labels[nearest].",
            lambda embeddings, labels: (nearest(embeddings) == labels)[has_positive(labels)].double().mean(),
        ),
        Mistake(
            "mean of classes",
            "It averages class by class; R@1 averages over queries, so large classes count more.",
            mean_of_classes,
        ),
        Mistake(
            "divided by positives",
            "It divides each hit by the number of positives; one hit is all that R@1 asks for.",
            lambda embeddings, labels: (
                hit(embeddings, labels) / ((labels[:, None] == labels[None]).sum(1) - 1).clamp_min(1)
            )[has_positive(labels)].mean(),
        ),
        Mistake(
            "two neighbours",
            "It looks at the two nearest; Recall@1 asks for the nearest alone.",
            of_two,
        ),
    ),
)

EXERCISES = (NEAREST, RECALL)
