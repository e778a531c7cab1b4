"""Soft ranks of a whole batch: every item in the list of every query."""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import cosines, number, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "The soft rank of every item i in the list of every query q: neither q nor i counts as before i; 0 where i is q."

FOUR = torch.tensor(
    [[1.0, 0.7, 0.65, 0.2], [0.7, 1.0, 0.4, 0.72], [0.5, 0.4, 1.0, 0.45], [0.2, 0.72, 0.3, 0.9]], dtype=torch.float64
)


def public_cases() -> list[Case]:
    """Four items at several temperatures, three items, ties, a temperature that is very small."""
    tied = torch.tensor([[1.0, 0.5, 0.5], [0.5, 1.0, 1.0], [0.5, 1.0, 1.0]], dtype=torch.float64)
    three = torch.tensor([[0.3, 0.6, -0.2], [0.1, 2.0, 0.15], [-0.4, -0.3, 0.5]], dtype=torch.float64)
    return [
        Case("four items, τ = 0.1", {"similarity": FOUR, "tau": 0.1}),
        Case("four items, τ = 0.02", {"similarity": FOUR, "tau": 0.02}),
        Case("three items, dot products, τ = 0.5", {"similarity": three, "tau": 0.5}),
        Case("ties and copies, τ = 0.05", {"similarity": tied, "tau": 0.05}, edge=True),
        Case("four items, τ = 0.0001", {"similarity": FOUR, "tau": 1e-4}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Cosines, similarities that are not symmetric, many ties, two items, temperatures of all sizes."""
    coarse = torch.randint(0, 3, (6, 6), generator=rng).double() / 4
    return [
        Case("hidden: cosines", {"similarity": cosines(rng, whole(rng, 5, 9), 3), "tau": number(rng, 0.03, 0.3)}),
        Case("hidden: not symmetric", {"similarity": uniform(rng, 6, 6, low=-1), "tau": number(rng, 0.05, 0.2)}),
        Case("hidden: dot products", {"similarity": 3 * uniform(rng, 5, 5, low=-1), "tau": number(rng, 1.5, 2.5)}),
        Case("hidden: small temperature", {"similarity": cosines(rng, 7, 2), "tau": 0.01}),
        Case("hidden: many ties", {"similarity": coarse, "tau": 0.1}, edge=True),
        Case("hidden: two items", {"similarity": uniform(rng, 2, 2, low=-1), "tau": 0.1}, edge=True),
        Case("hidden: tiny temperature", {"similarity": cosines(rng, 6, 3), "tau": 1e-5}, edge=True),
    ]


def counted(difference: Tensor, tau: float) -> Tensor:
    """G: how much an item counts as before."""
    return torch.sigmoid(difference / tau)


def by_exponential(difference: Tensor, tau: float) -> Tensor:
    """The same as it is written; e^710 is infinite in double precision."""
    return 1 / (1 + torch.exp(-difference / tau))


def ranks_with(
    similarity: Tensor, tau: float, query: float = 0.0, itself: float = 0.0, diagonal: float = 0.0
) -> Tensor:
    """Soft ranks; the query, the item itself, and the diagonal count with these weights (0: right)."""
    n = len(similarity)
    eye = torch.eye(n, dtype=torch.float64)
    before = counted(similarity[:, None, :] - similarity[:, :, None], tau)  # [q, i, z]
    weight = 1 - (1 - itself) * eye[None, :, :] - (1 - query) * eye[:, None, :]
    weight = weight.clamp_min(0)  # z = i = q stands on the diagonal only
    return (1 + (before * weight).sum(2)) * (1 - (1 - diagonal) * eye)


def batch_ranks(similarity: Tensor, tau: float) -> Tensor:
    """1 + Σ_{z ≠ i, q} G(s_qz − s_qi; τ), 0 on the diagonal."""
    rows = []
    for q in range(len(similarity)):
        row = []
        for i in range(len(similarity)):
            others = [z for z in range(len(similarity)) if z not in (i, q)]
            rank = 1 + counted(similarity[q, others] - similarity[q, i], tau).sum()
            row.append(rank if i != q else 0 * rank)
        rows.append(torch.stack(row))
    return torch.stack(rows)


def off_diagonal(x: Tensor) -> Tensor:
    """Zeros on the diagonal."""
    return x * (1 - torch.eye(len(x), dtype=torch.float64))


MISTAKES = (
    Mistake(
        "query counted",
        "The query takes part in its own ranking: leave z = q out of the sum.",
        lambda similarity, tau: ranks_with(similarity, tau, query=1.0),
    ),
    Mistake(
        "item counted",
        "Every item counts itself as before itself, as one half: leave z = i out.",
        lambda similarity, tau: ranks_with(similarity, tau, itself=1.0),
    ),
    Mistake(
        "both counted",
        "The sum runs over all items: leave the query and the item itself out.",
        lambda similarity, tau: ranks_with(similarity, tau, query=1.0, itself=1.0),
    ),
    Mistake(
        "item for the one",
        "The item itself stands for the 1, but G(0) is only one half: leave it out and add 1.",
        lambda similarity, tau: ranks_with(similarity, tau) - off_diagonal(torch.full_like(similarity, 0.5)),
    ),
    Mistake(
        "from zero",
        "The first rank is 1: add 1 to the number of items before.",
        lambda similarity, tau: ranks_with(similarity, tau) - off_diagonal(torch.ones_like(similarity)),
    ),
    Mistake(
        "diagonal",
        "The query has a rank in its own list: the diagonal of the result must be 0.",
        lambda similarity, tau: ranks_with(similarity, tau, diagonal=1.0),
    ),
    Mistake(
        "sign",
        "The sign is turned round: an item z counts as before i when s_qz is larger than s_qi.",
        lambda similarity, tau: ranks_with(-similarity, tau),
    ),
    Mistake(
        "columns",
        "It ranks along the columns; a query is a row.",
        lambda similarity, tau: ranks_with(similarity.T, tau),
    ),
    Mistake(
        "transposed",
        "The result is transposed: row q is the list of query q.",
        lambda similarity, tau: ranks_with(similarity, tau).T,
    ),
    Mistake(
        "times tau",
        "The difference is multiplied by τ; it must be divided, so that a small τ is sharp.",
        lambda similarity, tau: ranks_with(similarity, 1 / tau),
    ),
    Mistake(
        "no temperature",
        "The temperature is not used.",
        lambda similarity, tau: ranks_with(similarity, 1.0),
    ),
    Mistake(
        "hard",
        "The comparison is hard, so no gradient flows: use the sigmoid.",
        lambda similarity, tau: ranks_with(similarity.detach(), 1e-12) + 0 * similarity,
    ),
    Mistake(
        "overflow",
        "e to the power of 710 and more is infinite, and its gradient NaN: use torch.sigmoid.",
        lambda similarity, tau: off_diagonal(
            1
            + by_exponential(similarity[:, None, :] - similarity[:, :, None], tau).sum(2)
            - 0.5
            - by_exponential(similarity.diagonal()[:, None] - similarity, tau)
        ),
    ),
)

QUESTION = Question(
    Exercise("batch_ranks", TASK, batch_ranks, public_cases, MISTAKES, gradient="similarity"),
    points=5,
    hidden=hidden_cases,
)
