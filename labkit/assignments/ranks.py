"""Assignment 2: soft ranks of a batch, a temperature that is safe, RS@k in three modes, the two pulls of Smooth-AP."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import normalize

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.lessons.exercise import Case, Exercise, Mistake


def size(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return int(torch.randint(low, high + 1, (), generator=rng))


def uniform(rng: torch.Generator, low: float, high: float) -> float:
    """A number between low and high."""
    return low + (high - low) * float(torch.rand((), generator=rng, dtype=torch.float64))


def random(rng: torch.Generator, *shape: int) -> Tensor:
    """Numbers between −1 and 1."""
    return 2 * torch.rand(*shape, generator=rng, dtype=torch.float64) - 1


def cosines(rng: torch.Generator, items: int, dim: int) -> Tensor:
    """Cosines (n, n) of random vectors."""
    unit = normalize(torch.randn(items, dim, generator=rng, dtype=torch.float64), dim=1)
    return unit @ unit.T


def shuffled(values: Sequence[float], rng: torch.Generator) -> Tensor:
    """The values in another order."""
    return torch.tensor(values)[torch.randperm(len(values), generator=rng)]


# 1. batch_ranks

FOUR = torch.tensor(
    [[1.0, 0.7, 0.65, 0.2], [0.7, 1.0, 0.4, 0.72], [0.5, 0.4, 1.0, 0.45], [0.2, 0.72, 0.3, 0.9]], dtype=torch.float64
)


def rank_cases() -> list[Case]:
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


def hidden_ranks(rng: torch.Generator) -> list[Case]:
    """Cosines, similarities that are not symmetric, many ties, two items, temperatures of all sizes."""
    coarse = torch.randint(0, 3, (6, 6), generator=rng).double() / 4
    return [
        Case("hidden: cosines", {"similarity": cosines(rng, size(rng, 5, 9), 3), "tau": uniform(rng, 0.03, 0.3)}),
        Case("hidden: not symmetric", {"similarity": random(rng, 6, 6), "tau": uniform(rng, 0.05, 0.2)}),
        Case("hidden: dot products", {"similarity": 3 * random(rng, 5, 5), "tau": uniform(rng, 1.5, 2.5)}),
        Case("hidden: small temperature", {"similarity": cosines(rng, 7, 2), "tau": 0.01}),
        Case("hidden: many ties", {"similarity": coarse, "tau": 0.1}, edge=True),
        Case("hidden: two items", {"similarity": random(rng, 2, 2), "tau": 0.1}, edge=True),
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


RANKS = Exercise(
    "batch_ranks",
    "The soft rank of every item i in the list of every query q: neither q nor i counts as before i; 0 where i is q.",
    batch_ranks,
    rank_cases,
    (
        Mistake(
            "query counted", "The query takes part in its own ranking: leave z = q out of the sum.",
            lambda similarity, tau: ranks_with(similarity, tau, query=1.0),
        ),
        Mistake(
            "item counted", "Every item counts itself as before itself, as one half: leave z = i out.",
            lambda similarity, tau: ranks_with(similarity, tau, itself=1.0),
        ),
        Mistake(
            "both counted", "The sum runs over all items: leave the query and the item itself out.",
            lambda similarity, tau: ranks_with(similarity, tau, query=1.0, itself=1.0),
        ),
        Mistake(
            "item for the one", "The item itself stands for the 1, but G(0) is only one half: leave it out and add 1.",
            lambda similarity, tau: ranks_with(similarity, tau) - off_diagonal(torch.full_like(similarity, 0.5)),
        ),
        Mistake(
            "from zero", "The first rank is 1: add 1 to the number of items before.",
            lambda similarity, tau: ranks_with(similarity, tau) - off_diagonal(torch.ones_like(similarity)),
        ),
        Mistake(
            "diagonal", "The query has a rank in its own list: the diagonal of the result must be 0.",
            lambda similarity, tau: ranks_with(similarity, tau, diagonal=1.0),
        ),
        Mistake(
            "sign", "The sign is turned round: an item z counts as before i when s_qz is larger than s_qi.",
            lambda similarity, tau: ranks_with(-similarity, tau),
        ),
        Mistake(
            "columns", "It ranks along the columns; a query is a row.",
            lambda similarity, tau: ranks_with(similarity.T, tau),
        ),
        Mistake(
            "transposed", "The result is transposed: row q is the list of query q.",
            lambda similarity, tau: ranks_with(similarity, tau).T,
        ),
        Mistake(
            "times tau", "The difference is multiplied by τ; it must be divided, so that a small τ is sharp.",
            lambda similarity, tau: ranks_with(similarity, 1 / tau),
        ),
        Mistake(
            "no temperature", "The temperature is not used.", lambda similarity, tau: ranks_with(similarity, 1.0),
        ),
        Mistake(
            "hard", "The comparison is hard, so no gradient flows: use the sigmoid.",
            lambda similarity, tau: ranks_with(similarity.detach(), 1e-12) + 0 * similarity,
        ),
        Mistake(
            "overflow", "e to the power of 710 and more is infinite, and its gradient NaN: use torch.sigmoid.",
            lambda similarity, tau: off_diagonal(
                1 + by_exponential(similarity[:, None, :] - similarity[:, :, None], tau).sum(2) - 0.5
                - by_exponential(similarity.diagonal()[:, None] - similarity, tau)
            ),
        ),
    ),
    gradient="similarity",
)  # fmt: skip

# 2. safe_temperature


def safe_cases() -> list[Case]:
    """A few items, a strict error, items in no order, a generous error, ties."""
    mixed = torch.tensor([0.9, 0.55, 0.6, 0.1, -0.3, 0.58], dtype=torch.float64)
    even = torch.tensor([0.1, 0.5, 0.3], dtype=torch.float64)
    return [
        Case("three items, error 0.1", {"similarity": even, "error": 0.1}),
        Case("six items, error 0.5", {"similarity": mixed, "error": 0.5}),
        Case("six items, error 0.01", {"similarity": mixed, "error": 0.01}),
        Case("six items, error 2.6: any temperature", {"similarity": mixed, "error": 2.6}, edge=True),
        Case("a tie", {"similarity": mixed[[0, 2, 2, 3]], "error": 0.2}, edge=True),
    ]


def hidden_safe(rng: torch.Generator) -> list[Case]:
    """Random items, few and many, strict and generous errors, ties, a single item."""

    def items(n: int) -> Tensor:
        step = 1.7 / n
        values = step * (torch.arange(n, dtype=torch.float64) + random(rng, n) / 5) - 0.8
        if n < 4:
            return values[torch.randperm(n, generator=rng)]
        # the closest two are in the middle, and far apart in the given order
        a, b = n // 2 - 1, n // 2
        values[b] = values[a] + uniform(rng, 0.1, 0.2) * step
        rest = [i for i in torch.randperm(n, generator=rng).tolist() if i not in (a, b)]
        return values[[a, *rest, b]]

    many = items(size(rng, 10, 15))
    return [
        Case("hidden: many items", {"similarity": many, "error": uniform(rng, 0.2, 0.6)}),
        Case("hidden: strict", {"similarity": items(size(rng, 5, 9)), "error": uniform(rng, 0.001, 0.01)}),
        Case("hidden: error above one", {"similarity": many, "error": uniform(rng, 1.2, 2.0)}),
        Case("hidden: two items", {"similarity": items(2), "error": uniform(rng, 0.01, 0.3)}),
        Case("hidden: generous", {"similarity": items(4), "error": uniform(rng, 1.6, 9.0)}, edge=True),
        Case("hidden: ties", {"similarity": torch.cat([many, many[:2]]), "error": 0.3}, edge=True),
        Case("hidden: one item", {"similarity": items(1), "error": 0.1}, edge=True),
    ]


def smallest_gap(similarity: Tensor) -> float:
    """Between any two items."""
    values = similarity.tolist()
    return min((abs(a - b) for i, a in enumerate(values) for b in values[:i]), default=math.inf)


def temperature(gap: float, comparisons: float, error: float) -> float:
    """The τ with comparisons · σ(−gap/τ) = error; infinite if every τ will do."""
    if comparisons <= 2 * error:
        return math.inf
    return gap / math.log(comparisons / error - 1)


def safe_temperature(similarity: Tensor, error: float) -> float:
    """δ / log((n − 1)/ε − 1); ∞ for ε ≥ (n − 1)/2."""
    return temperature(smallest_gap(similarity), len(similarity) - 1, error)


def if_finite(similarity: Tensor, error: float, value: float) -> float:
    """What a mistake gives where the answer is not infinite."""
    return value if len(similarity) - 1 > 2 * error else math.inf


def unbounded(similarity: Tensor, error: float) -> float:
    """The formula without its condition."""
    inside = torch.tensor((len(similarity) - 1) / error - 1, dtype=torch.float64).log()
    return float(torch.tensor(smallest_gap(similarity), dtype=torch.float64) / inside)


SAFE = Exercise(
    "safe_temperature",
    "The largest τ at which n − 1 comparisons, each off by at most σ(−δ/τ), move no soft rank by more than error.",
    safe_temperature,
    safe_cases,
    (
        Mistake(
            "n comparisons", "A rank has n − 1 comparisons: an item is not compared with itself.",
            lambda similarity, error: temperature(smallest_gap(similarity), len(similarity), error),
        ),
        Mistake(
            "one comparison", "That bounds one comparison; a rank adds up n − 1 of them.",
            lambda similarity, error: if_finite(
                similarity, error, temperature(smallest_gap(similarity), 1, min(error, 0.49))
            ),
        ),
        Mistake(
            "no minus one", "σ(−u) is 1/(1 + e^u): the 1 is missing when you solve for τ.",
            lambda similarity, error: if_finite(
                similarity, error, smallest_gap(similarity) / math.log(max(1.5, (len(similarity) - 1) / error))
            ),
        ),
        Mistake(
            "one over tau", "That is 1/τ: the gap goes on top.",
            lambda similarity, error: 1 / max(1e-12, safe_temperature(similarity, error)),
        ),
        Mistake(
            "sign", "A temperature is positive: check the sign of the logarithm.",
            lambda similarity, error: -safe_temperature(similarity, error),
        ),
        Mistake(
            "not sorted", "The gaps are between neighbours in the given order; the closest two may stand anywhere.",
            lambda similarity, error: temperature(
                float(similarity.diff().abs().min()) if len(similarity) > 1 else math.inf, len(similarity) - 1, error
            ),
        ),
        Mistake(
            "gap at the top", "That is the gap between the best two items; any two items can be closest.",
            lambda similarity, error: temperature(
                float(similarity.topk(2).values.diff().abs()) if len(similarity) > 1 else math.inf,
                len(similarity) - 1, error,
            ),
        ),
        Mistake(
            "mean gap", "The mean gap is no bound: the closest two items decide.",
            lambda similarity, error: temperature(
                float(similarity.max() - similarity.min()) / max(1, len(similarity) - 1), len(similarity) - 1, error
            ),
        ),
        Mistake(
            "largest gap", "That is the largest gap; the closest two items decide.",
            lambda similarity, error: temperature(
                float(similarity.sort().values.diff().max()) if len(similarity) > 1 else math.inf,
                len(similarity) - 1, error,
            ),
        ),
        Mistake(
            "another logarithm", "The sigmoid is made with e: use the natural logarithm.",
            lambda similarity, error: safe_temperature(similarity, error) * math.log(2),
        ),
        Mistake(
            "no limit", "If error is (n − 1)/2 or more, every temperature will do: the result is infinite.", unbounded,
        ),
        Mistake(
            "ties left out", "Tied items are taken for one; their comparison is off by one half at every temperature.",
            lambda similarity, error: temperature(
                smallest_gap(similarity.unique()), len(similarity) - 1, error
            ),
        ),
    ),
)  # fmt: skip

# 3. rs_loss

MODES = ("fraction", "capped", "any")


def batch(seed: int, items: int, dim: int = 3) -> Tensor:
    """Cosines of a fixed batch."""
    return cosines(torch.Generator().manual_seed(seed), items, dim)


def rs_cases() -> list[Case]:
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


def hidden_rs(rng: torch.Generator) -> list[Case]:
    """Random batches in each mode; one class, pairs only, a k beyond the batch."""
    found = []
    for mode in MODES:
        n = size(rng, 9, 12)
        # a class with more positives than k, one with fewer, one with none
        labels = shuffled([0] * 6 + [1, 1, 2] + [3 * size(rng, 0, 1) for _ in range(n - 9)], rng)
        arguments = {"similarity": cosines(rng, n, 3), "labels": 5 * labels, "mode": mode}
        arguments |= {"tau_sim": uniform(rng, 0.05, 0.2)}
        ks = [1, 2, size(rng, 3, 6)]
        temperatures = [uniform(rng, 0.4, 1.5) for _ in ks]
        found.append(Case(f"hidden: {mode}", arguments | {"ks": ks, "tau_rank": temperatures}))
        # so soft that the hits of six add up to more than one
        found.append(Case(f"hidden: {mode}, τ₁ = 8 and 6", arguments | {"ks": [1, 2], "tau_rank": [8.0, 6.0]}))
    pairs = {"similarity": cosines(rng, 6, 3), "labels": shuffled([0, 0, 1, 1, 2, 2], rng), "tau_sim": 0.1}
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


RS = Exercise(
    "rs_loss",
    "The RS@k loss of a batch: 1 − soft recall@k in the mode named, the mean over k and over queries with a positive.",
    rs_loss,
    rs_cases,
    (
        Mistake(
            "query counted", "The query takes part in its own ranking, as in the released code: leave it out.",
            lambda **case: rs_loss(**case, rank=ranks_of(case, query=1.0)),
        ),
        Mistake(
            "item counted", "Every item counts itself as before itself, as one half: leave z = x out.",
            lambda **case: rs_loss(**case, rank=ranks_of(case) + 0.5),
        ),
        Mistake(
            "the slides' label",
            "The outer argument is one too small: it is k − rank, and the rank has its own 1 already (E-SL-1).",
            lambda **case: rs_loss(**case, rank=ranks_of(case) + 1),
        ),
        Mistake(
            "ranks from zero", "The outer argument is one too large: ranks begin at 1.",
            lambda **case: rs_loss(**case, rank=ranks_of(case) - 1),
        ),
        Mistake("recall", "That is the recall; the loss is 1 minus it.", lambda **case: 1 - rs_loss(**case)),
        Mistake(
            "sum over k", "It adds up over the k; take the mean.",
            lambda **case: 1 - len(case["ks"]) * (1 - rs_loss(**case)),
        ),
        Mistake(
            "queries without a positive", "A query without a positive has no recall: leave it out of the mean.",
            with_singletons,
        ),
        Mistake(
            "pairs for queries", "Every (query, positive) pair has the same weight; every query should have it.",
            by_pairs,
        ),
        Mistake(
            "one temperature", "The first τ₁ is used for every k: each k has its own.",
            lambda **case: rs_loss(**case | {"tau_rank": case["tau_rank"][:1] * len(case["ks"])}),
        ),
        Mistake(
            "times tau", "The difference of similarities is multiplied by τ₂; it must be divided.",
            lambda **case: rs_loss(**case | {"tau_sim": 1 / case["tau_sim"]}),
        ),
        Mistake(
            "negatives only", "Other positives before x count in its rank as well, not only negatives.",
            lambda **case: rs_loss(**case, rank=among_negatives(case)),
        ),
        Mistake(
            "fraction over min", "In mode fraction divide by |P|; min(k, |P|) belongs to mode capped.",
            lambda **case: rs_loss(**case, reading=capped_fraction),
        ),
        Mistake(
            "not cut at k", "In mode capped the soft hits can add up to more than k: cut the sum at k.",
            lambda **case: rs_loss(**case, reading=not_capped),
        ),
        Mistake(
            "capped over k", "In mode capped divide by min(k, |P|), not by k: with fewer than k positives that is |P|.",
            lambda **case: rs_loss(**case, reading=capped_over_k),
        ),
        Mistake(
            "best positive", "In mode any only the best positive counts here; the formula is 1 − Π (1 − h).",
            lambda **case: rs_loss(**case, reading=best_only),
        ),
        Mistake(
            "all positives", "In mode any all positives must be hits here: that is Π h. One is enough.",
            lambda **case: rs_loss(**case, reading=all_hits),
        ),
        Mistake(
            "no positive", "In mode any Π (1 − h) is the case of no hit at all; recall is 1 minus it.",
            lambda **case: rs_loss(**case, reading=no_hit),
        ),
    ),
    gradient="similarity",
)  # fmt: skip

# 4. smooth_ap_pulls

SIMILARITY = torch.tensor([0.9, 0.55, 0.6, 0.1, -0.3, 0.58], dtype=torch.float64)
POSITIVE = torch.tensor([True, False, True, False, False, True])


def pull_cases() -> list[Case]:
    """Three positives, two, all of them behind the negatives, one, no negative."""
    last = torch.tensor([False, False, False, True, True, False])
    return [
        Case("three positives, τ = 0.1", {"similarity": SIMILARITY, "positive": POSITIVE, "tau": 0.1}),
        Case("three positives, τ = 0.02", {"similarity": SIMILARITY, "positive": POSITIVE, "tau": 0.02}),
        Case("two positives far back, τ = 0.3", {"similarity": SIMILARITY, "positive": last, "tau": 0.3}),
        Case("one positive", {"similarity": SIMILARITY, "positive": torch.arange(6) == 5, "tau": 0.1}, edge=True),
        Case("no negative", {"similarity": SIMILARITY[:3], "positive": POSITIVE[:3] | True, "tau": 0.1}, edge=True),
    ]


def hidden_pulls(rng: torch.Generator) -> list[Case]:
    """Random rankings of several sizes and temperatures, ties, one positive, no negative."""
    found = []
    for label, low, high in (("τ near 0.1", 0.08, 0.15), ("τ near 0.4", 0.3, 0.5), ("τ near 0.05", 0.04, 0.06)):
        n = size(rng, 7, 12)
        positive = shuffled([1, 1, 1, 0, 0, 0, *[size(rng, 0, 1) for _ in range(n - 6)]], rng) > 0
        arguments = {"similarity": random(rng, n) / 2, "positive": positive, "tau": uniform(rng, low, high)}
        found.append(Case(f"hidden: {label}", arguments))
    coarse = torch.randint(0, 3, (8,), generator=rng).double() / 5
    half = shuffled([1, 0] * 4, rng) > 0
    few = {"similarity": random(rng, 5), "tau": 0.2}
    found += [
        Case("hidden: many ties", {"similarity": coarse, "positive": half, "tau": 0.1}, edge=True),
        Case("hidden: one positive", few | {"positive": torch.arange(5) == 3}, edge=True),
        Case("hidden: no negative", few | {"positive": torch.arange(5) < 5}, edge=True),
    ]
    return found


def smooth_ap_pulls(
    similarity: Tensor,
    positive: Tensor,
    tau: float,
    slope: Callable[[Tensor, float], Tensor] = lambda G, tau: G * (1 - G) / tau,
    by_negatives: Callable[[Tensor, Tensor], Tensor] = lambda P, N: (1 + P) / (1 + P + N) ** 2,
    by_positives: Callable[[Tensor, Tensor], Tensor] = lambda P, N: -N / (1 + P + N) ** 2,
    on_item: bool = True,
    on_others: bool = True,
    self_counted: float = 0.0,
) -> Tensor:
    """(2, n): ∂L/∂s through R(i, S_N), and through R(i, S_P). All but the first three arguments: for mistakes."""
    is_positive, off = positive.double(), 1 - torch.eye(len(similarity), dtype=torch.float64)
    G = counted(similarity[None, :] - similarity[:, None], tau)  # [i, j]: j counts as before i
    R_neg, R_pos = G @ (1 - is_positive), (G * off) @ is_positive + self_counted / 2
    outer = torch.where(positive[None, :], by_positives(R_pos, R_neg)[:, None], by_negatives(R_pos, R_neg)[:, None])
    force = is_positive[:, None] * off * outer * slope(G, tau) / is_positive.sum()  # of j on the loss of i
    parts = (force * (1 - is_positive), force * is_positive)
    return torch.stack([part.sum(0) * on_others - part.sum(1) * on_item for part in parts])


PULLS = Exercise(
    "smooth_ap_pulls",
    "The gradient of the Smooth-AP loss of one query, in two rows: through R(i, S_N), and through R(i, S_P).",
    lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau),
    pull_cases,
    (
        Mistake(
            "no mean", "The loss is a mean over the positives: 1/|P| is missing (as in the paper's Eq. 14, E-PNP-2).",
            lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau) * positive.sum(),
        ),
        Mistake(
            "sign", "The sign is turned round: that is the gradient of average precision, not of the loss.",
            lambda similarity, positive, tau: -smooth_ap_pulls(similarity, positive, tau),
        ),
        Mistake(
            "rows swapped", "The rows have changed places: first the part through the negatives.",
            lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau).flip(0),
        ),
        Mistake(
            "items only", "Only s_i gets a gradient here; R(i, S) depends on every s_j in S as well. Rows add up to 0.",
            lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, on_others=False),
        ),
        Mistake(
            "others only", "Only the s_j get a gradient here; R(i, S) depends on s_i as well. Rows add up to 0.",
            lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, on_item=False),
        ),
        Mistake(
            "push among positives",
            "The second row has the wrong sign: ∂L/∂R(i, S_P) is negative, AP rises when positives come before i.",
            lambda similarity, positive, tau: smooth_ap_pulls(
                similarity, positive, tau, by_positives=lambda P, N: N / (1 + P + N) ** 2
            ),
        ),
        Mistake(
            "no pull among positives",
            "The second row is 0, as if counting positives were redundant. It is not for the gradient (E-PNP-9).",
            lambda similarity, positive, tau: smooth_ap_pulls(
                similarity, positive, tau, by_positives=lambda P, N: 0 * N
            ),
        ),
        Mistake(
            "numerator only",
            "In the second row only the numerator is differentiated: R(i, S_P) stands in the denominator, too.",
            lambda similarity, positive, tau: smooth_ap_pulls(
                similarity, positive, tau, by_positives=lambda P, N: -1 / (1 + P + N)
            ),
        ),
        Mistake(
            "denominator only",
            "In the second row only the denominator is differentiated: R(i, S_P) stands in the numerator, too.",
            lambda similarity, positive, tau: smooth_ap_pulls(
                similarity, positive, tau, by_positives=lambda P, N: (1 + P) / (1 + P + N) ** 2
            ),
        ),
        Mistake(
            "one on top", "∂L/∂R(i, S_N) has 1 + R(i, S_P) on top, not 1: the quotient rule keeps the numerator.",
            lambda similarity, positive, tau: smooth_ap_pulls(
                similarity, positive, tau, by_negatives=lambda P, N: 1 / (1 + P + N) ** 2
            ),
        ),
        Mistake(
            "not squared", "The quotient rule squares the denominator 1 + R(i, S_P) + R(i, S_N).",
            lambda similarity, positive, tau: smooth_ap_pulls(
                similarity, positive, tau,
                by_negatives=lambda P, N: (1 + P) / (1 + P + N), by_positives=lambda P, N: -N / (1 + P + N),
            ),
        ),
        Mistake(
            "no 1/tau", "The slope of G is G (1 − G) / τ: the temperature is missing.",
            lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, lambda G, tau: G * (1 - G)),
        ),
        Mistake(
            "value for slope", "G itself stands where its slope belongs: G (1 − G) / τ.",
            lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, lambda G, tau: G),
        ),
        Mistake(
            "item counted", "Each positive counts itself in R(i, S_P), as one half: leave j = i out.",
            lambda similarity, positive, tau: smooth_ap_pulls(similarity, positive, tau, self_counted=1.0),
        ),
    ),
)  # fmt: skip

ASSIGNMENT = Assignment(
    "2_ranks",
    "Smooth ranks and what they pull",
    (
        Question(RANKS, 5, hidden_ranks),
        Question(SAFE, 5, hidden_safe),
        Question(RS, 7, hidden_rs),
        Question(PULLS, 7, hidden_pulls),
    ),
    (
        Written(
            "why_it_trains",
            3,
            (
                (1, "the bound is the worst case: the closest two of all items decide, and all errors add up"),
                (1, "in fact errors cancel, or few comparisons are near; most are saturated and exact"),
                (1, "a comparison without error has no slope: at the safe temperature there is no gradient"),
            ),
        ),
        Written(
            "floors",
            3,
            (
                (1, "σ(0) = ½: rank exactly k is half a hit, in every mode; sharper τ₁ does not change that"),
                (1, "fraction: with k < |P| not even hard recall can be 1; capped and any do not have this part"),
                (1, "what to watch instead: the metric itself, or the loss minus its floor; modes do not compare"),
            ),
        ),
    ),
)
