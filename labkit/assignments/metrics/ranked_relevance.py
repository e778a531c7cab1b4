"""The gallery of every query in rank order, without the query itself, with ties counted against it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import cosines, normal, shuffled, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "For every query the others in rank order: 1 for an item with its label, else 0; ties count against the query."


def symmetric(rows: Sequence[Sequence[float]]) -> Tensor:
    """A matrix from its upper triangle, diagonal included."""
    n = len(rows)
    full = torch.zeros(n, n, dtype=torch.float64)
    for i, row in enumerate(rows):
        full[i, i:] = torch.tensor(row, dtype=torch.float64)
    return torch.triu(full) + torch.triu(full, 1).T


def public_cases() -> list[Case]:
    """Cosines, dot products of vectors of unequal length, negative distances, ties, a copy of an item."""
    angles = torch.deg2rad(torch.tensor([0.0, 20.0, 52.0, 95.0, 141.0, 203.0], dtype=torch.float64))
    plane = torch.stack([angles.cos(), angles.sin()], 1)
    long = plane * torch.tensor([[1.0], [3.0], [0.4], [2.0], [1.5], [0.7]], dtype=torch.float64)
    classes = torch.tensor([4, 2, 4, 2, 4, 7])
    tied = symmetric([[1.0, 0.5, 0.5, 0.5, 0.2], [1.0, 0.2, 0.5, 0.5], [1.0, 0.2, 0.2], [1.0, 0.5], [1.0]])
    copies = symmetric([[1.0, 1.0, 0.3, 0.6], [1.0, 0.3, 0.6], [1.0, 0.1], [1.0]])
    return [
        Case("six items, cosines", {"similarity": plane @ plane.T, "labels": classes}),
        Case("six items, dot products", {"similarity": long @ long.T, "labels": classes}),
        Case("six items, minus their distances", {"similarity": -torch.cdist(long, long), "labels": classes}),
        Case("ties", {"similarity": tied, "labels": torch.tensor([1, 1, 0, 0, 1])}, edge=True),
        Case("a copy with another label", {"similarity": copies, "labels": torch.tensor([0, 1, 1, 0])}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes and labels, dot products, distances, rows unlike columns, ties and near ties, copies, one class."""
    n = whole(rng, 8, 13)
    vectors = normal(rng, n, 3)
    vectors = vectors * (0.2 + 3 * uniform(rng, n, 1))
    labels = shuffled(rng, [0, 1, 2, 2, *[whole(rng, 0, 3) for _ in range(n - 4)]]) * 5 + 3
    coarse = torch.randint(0, 3, (12, 12), generator=rng).double() / 4
    coarse = torch.triu(coarse) + torch.triu(coarse, 1).T
    nearly = coarse + 1e-6 * uniform(rng, 12, 12)
    far = torch.cdist(vectors, vectors) + 1 - torch.eye(n, dtype=torch.float64)
    twice = cosines(rng, 5, 4).fill_diagonal_(1.0)[:, [0, 0, 1, 2, 3, 4]][[0, 0, 1, 2, 3, 4]]
    in_pairs = shuffled(rng, [0, 1, 2, 3, 4] * 2)
    return [
        Case("hidden: cosines", {"similarity": cosines(rng, n, 4), "labels": labels}),
        Case("hidden: dot products", {"similarity": vectors @ vectors.T, "labels": labels}),
        Case("hidden: minus distances", {"similarity": -torch.cdist(vectors, vectors), "labels": labels}),
        Case("hidden: every class has two", {"similarity": cosines(rng, 10, 3), "labels": in_pairs}),
        Case("hidden: not symmetric", {"similarity": uniform(rng, n, n, low=-1), "labels": labels}),
        Case("hidden: minus large distances", {"similarity": -1e3 * far, "labels": labels}, edge=True),
        Case("hidden: nearly ties", {"similarity": nearly, "labels": shuffled(rng, [0, 1, 2] * 4)}, edge=True),
        Case("hidden: many ties", {"similarity": coarse, "labels": shuffled(rng, [0, 1, 2] * 4)}, edge=True),
        Case("hidden: a copy", {"similarity": twice, "labels": torch.tensor([0, 1, 1, 0, 0, 1])}, edge=True),
        Case("hidden: one class", {"similarity": cosines(rng, 5, 2), "labels": torch.full((5,), 3)}, edge=True),
        Case("hidden: two items", {"similarity": cosines(rng, 2, 2), "labels": torch.tensor([1, 1])}, edge=True),
    ]


def order_of(similarity: Tensor, labels: Tensor, query: int, ties: str = "pessimistic", down: bool = True) -> list[int]:
    """The gallery in rank order; on a tie, items of another class first, unless a mistake wants it otherwise."""
    sign = -1 if down else 1

    def key(item: int) -> tuple[float, int]:
        same = int(labels[item] == labels[query])
        return sign * float(similarity[query, item]), {"pessimistic": same, "optimistic": -same, "stable": 0}[ties]

    return sorted(range(len(labels)), key=key)


def ranked_relevance(similarity: Tensor, labels: Tensor, ties: str = "pessimistic", down: bool = True) -> Tensor:
    """(n, n − 1): 1 where the item at this rank has the query's label. ties, down: for mistakes."""
    rows = [
        [float(labels[j] == labels[q]) for j in order_of(similarity, labels, q, ties, down) if j != q]
        for q in range(len(labels))
    ]
    return torch.tensor(rows, dtype=torch.float64)


def with_itself(similarity: Tensor, labels: Tensor) -> list[list[float]]:
    """The query stays where it is: rows of n."""
    return [[float(labels[j] == labels[q]) for j in order_of(similarity, labels, q)] for q in range(len(labels))]


def diagonal(similarity: Tensor, value: float) -> Tensor:
    """The similarity of every item with itself set."""
    return similarity.clone().fill_diagonal_(value)


def last_dropped(similarity: Tensor, labels: Tensor) -> Tensor:
    """All but the last column."""
    return torch.tensor(with_itself(similarity, labels), dtype=torch.float64)[:, :-1]


def by_columns(similarity: Tensor, labels: Tensor) -> Tensor:
    """Every column is sorted, and the result read as rows."""
    order = diagonal(similarity, -math.inf).sort(dim=0, descending=True, stable=True).indices[:, :-1]
    return (labels[order] == labels[:, None]).double()


MISTAKES = (
    Mistake(
        "itself kept",
        "The query is in its own list: n entries in a row. Leave item q out of row q.",
        lambda similarity, labels: torch.tensor(with_itself(similarity, labels)),
    ),
    Mistake(
        "itself put last",
        "The query is in its own list, at the end: n entries in a row. Cut the last column off.",
        lambda similarity, labels: torch.tensor(with_itself(diagonal(similarity, -1e9), labels)),
    ),
    Mistake(
        "first column dropped",
        "The first of the sorted list is taken to be the query. With a copy, or with dot products, it may be "
        "another: leave the query out by its index.",
        lambda similarity, labels: torch.tensor(with_itself(similarity, labels))[:, 1:],
    ),
    Mistake(
        "last column dropped",
        "The last column is cut off, but the query does not stand there.",
        last_dropped,
    ),
    Mistake(
        "zero for itself",
        "The similarity of a query with itself is set to 0, which is not always the smallest: use −∞.",
        lambda similarity, labels: last_dropped(diagonal(similarity, 0.0), labels),
    ),
    Mistake(
        "ties for the query",
        "On a tie the relevant item comes first; here a tie counts against the query.",
        lambda similarity, labels: ranked_relevance(similarity, labels, ties="optimistic"),
    ),
    Mistake(
        "ties by index",
        "On a tie the lower index comes first; here items of another class come first.",
        lambda similarity, labels: ranked_relevance(similarity, labels, ties="stable"),
    ),
    Mistake(
        "least similar first",
        "The least similar item comes first: sort in descending order.",
        lambda similarity, labels: ranked_relevance(similarity, labels, down=False),
    ),
    Mistake(
        "not sorted",
        "The items are in the order of their index: sort each row by similarity.",
        lambda similarity, labels: torch.stack(
            [torch.cat([(labels == labels[q])[:q], (labels == labels[q])[q + 1 :]]) for q in range(len(labels))]
        ).double(),
    ),
    Mistake("sorted by columns", "The sort runs along the columns; a query is a row: dim=1.", by_columns),
    Mistake(
        "index for label",
        "The index of an item is compared with the query's label: look its label up first.",
        lambda similarity, labels: torch.tensor(
            [
                [float(j == int(labels[q])) for j in order_of(similarity, labels, q) if j != q]
                for q in range(len(labels))
            ]
        ),
    ),
    Mistake(
        "labels",
        "Those are the labels in rank order; asked for is whether they are the query's: 0 or 1.",
        lambda similarity, labels: torch.tensor(
            [[float(labels[j]) for j in order_of(similarity, labels, q) if j != q] for q in range(len(labels))]
        ),
    ),
)

QUESTION = Question(
    Exercise(
        "ranked_relevance",
        TASK,
        lambda similarity, labels: ranked_relevance(similarity, labels),
        public_cases,
        MISTAKES,
    ),
    points=5,
    hidden=hidden_cases,
)
