"""The RS@k loss of a batch, with recall read in three ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.assignments.ranks.batch_ranks import counted, ranks_with
from labkit.lessons.draw import cosines, number, seeded, shuffled, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = (
    "The RS@k loss of a batch: 1 − soft recall@k in the mode named, the mean over k and over queries with a positive."
)

MODES = ("fraction", "capped", "any")


def batch(seed: int, items: int, dim: int = 3) -> Tensor:
    """Cosines of a fixed batch."""
    return cosines(seeded(seed), items, dim)


def public_cases() -> list[Case]:
    """The three modes, one k and several, one temperature for each k, a large temperature, a singleton."""
    labels = torch.tensor([0, 1, 0, 1, 2, 0, 1, 0])  # 2 has no positive
    common = {"similarity": batch(0, 8), "labels": labels, "tau_sim": 0.1}
    return [
        Case("fraction, K = {1, 2, 4}", common | {"ks": [1, 2, 4], "tau_rank": [1.0, 0.5, 2.0], "mode": "fraction"}),
        Case("capped, K = {1, 3}", common | {"ks": [1, 3], "tau_rank": [1.0, 0.7], "mode": "capped"}),
        Case("any, K = {1, 2}", common | {"ks": [1, 2], "tau_rank": [0.5, 1.0], "mode": "any"}),
        Case("capped, τ₁ = 4", common | {"ks": [1, 2], "tau_rank": [4.0, 3.0], "mode": "capped"}),
        Case("fraction, K = {2}", common | {"ks": [2], "tau_rank": [1.0], "mode": "fraction"}),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random batches in each mode; one class, pairs only, a k beyond the batch."""
    found = []
    for mode in MODES:
        n = whole(rng, 9, 12)
        # a class with more positives than k, one with fewer, one with none
        labels = shuffled(rng, [0] * 6 + [1, 1, 2] + [3 * whole(rng, 0, 1) for _ in range(n - 9)])
        arguments = {"similarity": cosines(rng, n, 3), "labels": 5 * labels, "mode": mode}
        arguments |= {"tau_sim": number(rng, 0.05, 0.2)}
        ks = [1, 2, whole(rng, 3, 6)]
        temperatures = [number(rng, 0.4, 1.5) for _ in ks]
        found.append(Case(f"hidden: {mode}", arguments | {"ks": ks, "tau_rank": temperatures}))
        # so soft that the hits of six add up to more than one
        found.append(Case(f"hidden: {mode}, τ₁ = 8 and 6", arguments | {"ks": [1, 2], "tau_rank": [8.0, 6.0]}))
    pairs = {"similarity": cosines(rng, 6, 3), "labels": shuffled(rng, [0, 0, 1, 1, 2, 2]), "tau_sim": 0.1}
    single = {"similarity": cosines(rng, 5, 3), "labels": torch.zeros(5, dtype=torch.int64), "tau_sim": 0.1}
    found += [
        Case("hidden: pairs only", pairs | {"ks": [1], "tau_rank": [1.0], "mode": "capped"}, edge=True),
        Case("hidden: one class", single | {"ks": [1, 4], "tau_rank": [1.0, 1.0], "mode": "any"}, edge=True),
        Case(
            "hidden: k beyond the batch", pairs | {"ks": [1, 50], "tau_rank": [1.0, 1.0], "mode": "capped"}, edge=True
        ),
    ]
    return found


def recall_of(hits: Tensor, k: int, mode: str) -> Tensor:
    """Soft recall@k of one query from σ_τ1(k − rank) of its positives."""
    if mode == "any":
        return 1 - torch.prod(1 - hits)
    if mode == "capped":
        return hits.sum().clamp(max=k) / min(k, len(hits))
    return hits.mean()


def recalls_of_queries(
    similarity: Tensor,
    labels: Tensor,
    ks: Sequence[int],
    tau_rank: Sequence[float],
    tau_sim: float,
    mode: str,
    rank: Tensor | None = None,
    reading: Callable[[Tensor, int, str], Tensor] = recall_of,
) -> tuple[Tensor, Tensor]:
    """For every query with a positive: the mean over k of its soft recall, and |P|; rank, reading: for mistakes."""
    rank = ranks_with(similarity, tau_sim) if rank is None else rank
    recalls, numbers = [], []
    for q in range(len(labels)):
        positive = (labels == labels[q]) & (torch.arange(len(labels)) != q)
        if positive.any():
            hits = [torch.sigmoid((k - rank[q, positive]) / tau) for k, tau in zip(ks, tau_rank)]
            recalls.append(torch.stack([reading(hit, k, mode) for hit, k in zip(hits, ks)]).mean())
            numbers.append(positive.sum())
    return torch.stack(recalls), torch.stack(numbers)


def rs_loss(**case: Any) -> Tensor:
    """1 − mean over queries with a positive and over k of the soft recall@k."""
    return 1 - recalls_of_queries(**case)[0].mean()


def ranks_of(case: dict[str, Any], **weights: float) -> Tensor:
    """The ranks of a case."""
    return ranks_with(case["similarity"], case["tau_sim"], **weights)


def among_negatives(case: dict[str, Any]) -> Tensor:
    """Ranks that count items of other classes only."""
    similarity, labels = case["similarity"], case["labels"]
    before = counted(similarity[:, None, :] - similarity[:, :, None], case["tau_sim"])
    rank: Tensor = 1 + (before * (labels[:, None, None] != labels[None, None, :])).sum(2)
    return rank


def not_capped(hits: Tensor, k: int, mode: str) -> Tensor:
    """The sum of hits is not cut at k."""
    return hits.sum() / min(k, len(hits)) if mode == "capped" else recall_of(hits, k, mode)


def capped_fraction(hits: Tensor, k: int, mode: str) -> Tensor:
    """fraction divides by min(k, |P|)."""
    return hits.sum() / min(k, len(hits)) if mode == "fraction" else recall_of(hits, k, mode)


def capped_over_k(hits: Tensor, k: int, mode: str) -> Tensor:
    """capped divides by k."""
    return hits.sum().clamp(max=k) / k if mode == "capped" else recall_of(hits, k, mode)


def best_only(hits: Tensor, k: int, mode: str) -> Tensor:
    """any looks at the best positive."""
    return hits.max() if mode == "any" else recall_of(hits, k, mode)


def all_hits(hits: Tensor, k: int, mode: str) -> Tensor:
    """any asks for all positives."""
    return torch.prod(hits) if mode == "any" else recall_of(hits, k, mode)


def no_hit(hits: Tensor, k: int, mode: str) -> Tensor:
    """any is the chance of no hit."""
    return torch.prod(1 - hits) if mode == "any" else recall_of(hits, k, mode)


def with_singletons(**case: Any) -> Tensor:
    """A query without a positive has the recall 0."""
    recalls, _ = recalls_of_queries(**case)
    return 1 - recalls.sum() / len(case["labels"])


def by_pairs(**case: Any) -> Tensor:
    """A query counts by its number of positives."""
    recalls, numbers = recalls_of_queries(**case)
    return 1 - (recalls * numbers).sum() / numbers.sum()


MISTAKES = (
    Mistake(
        "query counted",
        "The query takes part in its own ranking, as in the released code: leave it out.",
        lambda **case: rs_loss(**case, rank=ranks_of(case, query=1.0)),
    ),
    Mistake(
        "item counted",
        "Every item counts itself as before itself, as one half: leave z = x out.",
        lambda **case: rs_loss(**case, rank=ranks_of(case) + 0.5),
    ),
    Mistake(
        "the slides' label",
        "The outer argument is one too small: it is k − rank, and the rank has its own 1 already (E-SL-1).",
        lambda **case: rs_loss(**case, rank=ranks_of(case) + 1),
    ),
    Mistake(
        "ranks from zero",
        "The outer argument is one too large: ranks begin at 1.",
        lambda **case: rs_loss(**case, rank=ranks_of(case) - 1),
    ),
    Mistake("recall", "That is the recall; the loss is 1 minus it.", lambda **case: 1 - rs_loss(**case)),
    Mistake(
        "sum over k",
        "It adds up over the k; take the mean.",
        lambda **case: 1 - len(case["ks"]) * (1 - rs_loss(**case)),
    ),
    Mistake(
        "queries without a positive",
        "A query without a positive has no recall: leave it out of the mean.",
        with_singletons,
    ),
    Mistake(
        "pairs for queries",
        "Every (query, positive) pair has the same weight; every query should have it.",
        by_pairs,
    ),
    Mistake(
        "one temperature",
        "The first τ₁ is used for every k: each k has its own.",
        lambda **case: rs_loss(**case | {"tau_rank": case["tau_rank"][:1] * len(case["ks"])}),
    ),
    Mistake(
        "times tau",
        "The difference of similarities is multiplied by τ₂; it must be divided.",
        lambda **case: rs_loss(**case | {"tau_sim": 1 / case["tau_sim"]}),
    ),
    Mistake(
        "negatives only",
        "Other positives before x count in its rank as well, not only negatives.",
        lambda **case: rs_loss(**case, rank=among_negatives(case)),
    ),
    Mistake(
        "fraction over min",
        "In mode fraction divide by |P|; min(k, |P|) belongs to mode capped.",
        lambda **case: rs_loss(**case, reading=capped_fraction),
    ),
    Mistake(
        "not cut at k",
        "In mode capped the soft hits can add up to more than k: cut the sum at k.",
        lambda **case: rs_loss(**case, reading=not_capped),
    ),
    Mistake(
        "capped over k",
        "In mode capped divide by min(k, |P|), not by k: with fewer than k positives that is |P|.",
        lambda **case: rs_loss(**case, reading=capped_over_k),
    ),
    Mistake(
        "best positive",
        "In mode any only the best positive counts here; the formula is 1 − Π (1 − h).",
        lambda **case: rs_loss(**case, reading=best_only),
    ),
    Mistake(
        "all positives",
        "In mode any all positives must be hits here: that is Π h. One is enough.",
        lambda **case: rs_loss(**case, reading=all_hits),
    ),
    Mistake(
        "no positive",
        "In mode any Π (1 − h) is the case of no hit at all; recall is 1 minus it.",
        lambda **case: rs_loss(**case, reading=no_hit),
    ),
)

QUESTION = Question(
    Exercise("rs_loss", TASK, rs_loss, public_cases, MISTAKES, gradient="similarity"),
    points=7,
    hidden=hidden_cases,
)
