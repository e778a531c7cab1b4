"""Assignment 1: ranked lists, mean average precision by its name, expected nDCG, metrics that disagree."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.lessons.exercise import Case, Exercise, Mistake

# 1. ranked_relevance


def cosines(rng: torch.Generator, items: int, dim: int) -> Tensor:
    """Cosines (n, n) of random vectors."""
    unit = normalize(torch.randn(items, dim, generator=rng, dtype=torch.float64), dim=1)
    return unit @ unit.T


def size(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return int(torch.randint(low, high + 1, (), generator=rng))


def shuffled(labels: Sequence[int], rng: torch.Generator) -> Tensor:
    """The labels in another order."""
    return torch.tensor(labels)[torch.randperm(len(labels), generator=rng)]


def symmetric(rows: Sequence[Sequence[float]]) -> Tensor:
    """A matrix from its upper triangle, diagonal included."""
    n = len(rows)
    full = torch.zeros(n, n, dtype=torch.float64)
    for i, row in enumerate(rows):
        full[i, i:] = torch.tensor(row, dtype=torch.float64)
    return torch.triu(full) + torch.triu(full, 1).T


def list_cases() -> list[Case]:
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


def hidden_lists(rng: torch.Generator) -> list[Case]:
    """Random sizes and labels, dot products, negative similarities, many ties, copies, one class, two items."""
    n = size(rng, 8, 13)
    vectors = torch.randn(n, 3, generator=rng, dtype=torch.float64)
    vectors = vectors * (0.2 + 3 * torch.rand(n, 1, generator=rng, dtype=torch.float64))
    labels = shuffled([0, 1, 2, 2, *[size(rng, 0, 3) for _ in range(n - 4)]], rng) * 5 + 3
    coarse = torch.randint(0, 3, (12, 12), generator=rng).double() / 4
    coarse = torch.triu(coarse) + torch.triu(coarse, 1).T
    twice = cosines(rng, 5, 4).fill_diagonal_(1.0)[:, [0, 0, 1, 2, 3, 4]][[0, 0, 1, 2, 3, 4]]
    in_pairs = shuffled([0, 1, 2, 3, 4] * 2, rng)
    return [
        Case("hidden: cosines", {"similarity": cosines(rng, n, 4), "labels": labels}),
        Case("hidden: dot products", {"similarity": vectors @ vectors.T, "labels": labels}),
        Case("hidden: minus distances", {"similarity": -torch.cdist(vectors, vectors), "labels": labels}),
        Case("hidden: every class has two", {"similarity": cosines(rng, 10, 3), "labels": in_pairs}),
        Case("hidden: many ties", {"similarity": coarse, "labels": shuffled([0, 1, 2] * 4, rng)}, edge=True),
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
    return [
        [float(labels[j] == labels[q]) for j in order_of(similarity, labels, q)] for q in range(len(labels))
    ]  # fmt: skip


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


LISTS = Exercise(
    "ranked_relevance",
    "For every query the others in rank order: 1 for an item with its label, else 0; ties count against the query.",
    lambda similarity, labels: ranked_relevance(similarity, labels),
    list_cases,
    (
        Mistake(
            "itself kept", "The query is in its own list: n entries in a row. Leave item q out of row q.",
            lambda similarity, labels: torch.tensor(with_itself(similarity, labels)),
        ),
        Mistake(
            "itself put last", "The query is in its own list, at the end: n entries in a row. Cut the last column off.",
            lambda similarity, labels: torch.tensor(with_itself(diagonal(similarity, -1e9), labels)),
        ),
        Mistake(
            "first column dropped",
            "The first of the sorted list is taken to be the query. With a copy, or with dot products, it may be "
            "another: leave the query out by its index.",
            lambda similarity, labels: torch.tensor(with_itself(similarity, labels))[:, 1:],
        ),
        Mistake(
            "last column dropped", "The last column is cut off, but the query does not stand there.", last_dropped,
        ),
        Mistake(
            "zero for itself",
            "The similarity of a query with itself is set to 0, which is not always the smallest: use −∞.",
            lambda similarity, labels: last_dropped(diagonal(similarity, 0.0), labels),
        ),
        Mistake(
            "ties for the query", "On a tie the relevant item comes first; here a tie counts against the query.",
            lambda similarity, labels: ranked_relevance(similarity, labels, ties="optimistic"),
        ),
        Mistake(
            "ties by index", "On a tie the lower index comes first; here items of another class come first.",
            lambda similarity, labels: ranked_relevance(similarity, labels, ties="stable"),
        ),
        Mistake(
            "least similar first", "The least similar item comes first: sort in descending order.",
            lambda similarity, labels: ranked_relevance(similarity, labels, down=False),
        ),
        Mistake(
            "not sorted", "The items are in the order of their index: sort each row by similarity.",
            lambda similarity, labels: torch.stack(
                [torch.cat([(labels == labels[q])[:q], (labels == labels[q])[q + 1 :]]) for q in range(len(labels))]
            ).double(),
        ),
        Mistake("sorted by columns", "The sort runs along the columns; a query is a row: dim=1.", by_columns),
        Mistake(
            "index for label", "The index of an item is compared with the query's label: look its label up first.",
            lambda similarity, labels: torch.tensor(
                [
                    [float(j == int(labels[q])) for j in order_of(similarity, labels, q) if j != q]
                    for q in range(len(labels))
                ]
            ),
        ),
        Mistake(
            "labels", "Those are the labels in rank order; asked for is whether they are the query's: 0 or 1.",
            lambda similarity, labels: torch.tensor(
                [
                    [float(labels[j]) for j in order_of(similarity, labels, q) if j != q]
                    for q in range(len(labels))
                ]
            ),
        ),
    ),
)  # fmt: skip

# 2. mean_ap

RULES = ("k", "relevant", "min", "hits", "R")


def rows_of(*lists: str) -> Tensor:
    """Lists written as "0101"."""
    return torch.tensor([[float(mark) for mark in row] for row in lists], dtype=torch.float64)


def ap_cases() -> list[Case]:
    """One case a rule: fewer and more relevant items than k, a list without a hit, a query without a positive."""
    lists = rows_of("10100110", "00000100", "11010111", "00000000", "01000000")
    return [Case(f"five queries, k = 4, rule {rule}", {"relevance": lists, "k": 4, "rule": rule}) for rule in RULES]


def hidden_ap(rng: torch.Generator) -> list[Case]:
    """Random lists of every rule; then a k beyond the list, all relevant, one list."""
    found = []
    for rule in RULES:
        n = size(rng, 9, 14)
        share = torch.tensor([0.1, 0.2, 0.5, 0.8, 0.35, 0.6], dtype=torch.float64)[:, None]
        lists = (torch.rand(6, n, generator=rng, dtype=torch.float64) < share).double()
        fixed = torch.zeros(3, n, dtype=torch.float64)  # whatever is drawn: no positive, a late hit, most relevant
        fixed[1, -1] = 1
        fixed[2, 1:] = 1
        lists = torch.cat([lists, fixed])[torch.randperm(9, generator=rng)]
        found.append(Case(f"hidden: rule {rule}", {"relevance": lists, "k": size(rng, 3, 5), "rule": rule}))
    short = rows_of("0110", "1001", "0001")
    found += [
        Case(f"hidden: k beyond the list, rule {rule}", {"relevance": short, "k": 9, "rule": rule}, edge=True)
        for rule in ("k", "min")
    ]
    perfect = torch.ones(2, 5, dtype=torch.float64)
    found.append(Case("hidden: all relevant", {"relevance": perfect, "k": 3, "rule": "relevant"}, edge=True))
    found.append(Case("hidden: one list", {"relevance": rows_of("01001"), "k": 3, "rule": "hits"}, edge=True))
    return found


def divisor(rule: str, k: int, relevant: int, hits: int) -> int:
    """What the sum is divided by."""
    return {"k": k, "relevant": relevant, "min": min(k, relevant), "hits": max(1, hits), "R": relevant}[rule]


def summed(row: Sequence[float], cut: int, first: int = 1) -> float:
    """Precision at every hit among the first `cut`, added up; first: the rank that the list is taken to start at."""
    hits, total = 0, 0.0
    for rank, relevant in enumerate(row[:cut], start=first):
        if relevant:
            hits += 1
            total += hits / max(1, rank)
    return total


def mean_ap(relevance: Tensor, k: int, rule: str) -> float:
    """Mean of Σ_{i≤k} rel_i · hits(i)/i / d over the queries that have a relevant item."""
    scores = []
    for row in relevance.tolist():
        relevant = int(sum(row))
        if relevant == 0:
            continue
        cut = relevant if rule == "R" else k
        scores.append(summed(row, cut) / divisor(rule, k, relevant, int(sum(row[:cut]))))
    return sum(scores) / len(scores)


def kept(relevance: Tensor) -> list[list[float]]:
    """Lists with a relevant item."""
    rows: list[list[float]] = relevance[relevance.sum(1) > 0].tolist()
    return rows


def pooled_ap(relevance: Tensor, k: int, rule: str) -> float:
    """All sums over all divisors."""
    above = below = 0.0
    for row in kept(relevance):
        cut = int(sum(row)) if rule == "R" else k
        above += summed(row, cut)
        below += divisor(rule, k, int(sum(row)), int(sum(row[:cut])))
    return above / below


def variant_ap(
    relevance: Tensor,
    k: int,
    rule: str,
    first: int = 1,
    extra: int = 0,
    cut_at_r: bool = True,
    cut_at_k: bool = True,
    everywhere: bool = False,
) -> float:
    """A mistake's version: ranks from `first`, R counts `extra` items more, no cut, precision at every rank."""
    scores = []
    for row in kept(relevance):
        relevant = int(sum(row)) + extra
        cut = (relevant if cut_at_r else k) if rule == "R" else (k if cut_at_k else len(row))
        total = summed(row, cut, first)
        if everywhere:
            total = sum(sum(row[: i + 1]) / (i + 1) for i in range(min(cut, len(row))))
        scores.append(total / divisor(rule, k, relevant, int(sum(row[:cut]))))
    return sum(scores) / len(scores)


def swapped_ap(relevance: Tensor, k: int, rule: str, change: dict[str, str]) -> float:
    """One rule taken for another."""
    return mean_ap(relevance, k, change.get(rule, rule))


def hits_of_query(relevance: Tensor, k: int, rule: str) -> float:
    """A list without a hit is left out of the mean, too."""
    if rule != "hits":
        return mean_ap(relevance, k, rule)
    return mean_ap(relevance[relevance[:, :k].sum(1) > 0], k, rule)


AVERAGE = Exercise(
    "mean_ap",
    "Mean average precision over the queries with a relevant item, divided by the rule named.",
    mean_ap,
    ap_cases,
    (
        Mistake(
            "queries without a positive counted",
            "A query without a relevant item has no score: leave it out of the mean, do not count it as 0.",
            lambda relevance, k, rule: mean_ap(relevance, k, rule) * len(kept(relevance)) / len(relevance),
        ),
        Mistake(
            "a sum", "It adds up over the queries; take the mean.",
            lambda relevance, k, rule: mean_ap(relevance, k, rule) * len(kept(relevance)),
        ),
        Mistake(
            "pooled", "All sums are divided by all divisors together; divide for each query first, then take the mean.",
            pooled_ap,
        ),
        Mistake(
            "precision at every rank", "It adds up precision at every rank; only ranks with a relevant item count.",
            lambda relevance, k, rule: variant_ap(relevance, k, rule, everywhere=True),
        ),
        Mistake(
            "ranks from zero", "It counts ranks from 0: the first item has rank 1.",
            lambda relevance, k, rule: variant_ap(relevance, k, rule, first=0),
        ),
        Mistake(
            "R not cut", "Rule R divides by R but cuts at k; MAP@R looks at the first R items of each query.",
            lambda relevance, k, rule: variant_ap(relevance, k, rule, cut_at_r=False),
        ),
        Mistake(
            "not cut", "It goes through the whole list: cut it at k (at R by rule R).",
            lambda relevance, k, rule: variant_ap(relevance, k, rule, cut_at_k=False),
        ),
        Mistake(
            "query counted", "R is one too large: the query is not a relevant item of its own list.",
            lambda relevance, k, rule: variant_ap(relevance, k, rule, extra=1),
        ),
        Mistake(
            "hits are relevant", "Rule hits divides by all relevant items; divide by those among the first k.",
            lambda relevance, k, rule: swapped_ap(relevance, k, rule, {"hits": "relevant"}),
        ),
        Mistake(
            "relevant are hits", "Rule relevant divides by the hits; divide by all relevant items of the list.",
            lambda relevance, k, rule: swapped_ap(relevance, k, rule, {"relevant": "hits"}),
        ),
        Mistake(
            "min is hits", "Rule min is the smaller of k and R, not the number of hits.",
            lambda relevance, k, rule: swapped_ap(relevance, k, rule, {"min": "hits"}),
        ),
        Mistake(
            "queries without a hit dropped",
            "By rule hits, a query whose list has no hit is left out. It has a positive: it counts, with 0.",
            hits_of_query,
        ),
    ),
)  # fmt: skip

# 3. disputed_pairs


def table(*rows: Sequence[float]) -> Tensor:
    """A row for each loss, a column for each seed."""
    return torch.tensor(rows, dtype=torch.float64)


def pair_cases() -> list[Case]:
    """Three losses, five losses, no pair, ties, a single seed."""
    return [
        Case(
            "three losses, three seeds",
            {"first": table([3, 4, 5], [2, 3, 4.5], [1, 3.5, 3]), "second": table([1, 2, 3], [2, 3, 4], [0, 5, 6])},
        ),
        Case(
            "five losses, three seeds",
            {
                "first": table([70, 71, 69], [72, 74, 71], [65, 72.5, 64], [73, 70, 72], [60, 61, 62]),
                "second": table([30, 31, 32], [29, 30, 31], [35, 29, 33], [31, 30.5, 33], [40, 28, 41]),
            },
        ),
        Case("one seed", {"first": table([1], [2], [3], [2.5]), "second": table([4], [3], [5], [2])}),
        Case(
            "equal in one seed",
            {"first": table([5, 5], [5, 4], [6, 7]), "second": table([1, 1], [2, 3], [0, 1])}, edge=True,
        ),
        Case(
            "they agree",
            {"first": table([1, 2], [2, 3], [3, 4]), "second": table([1, 1.5], [2, 2.5], [3, 9])}, edge=True,
        ),
    ]  # fmt: skip


def hidden_pairs(rng: torch.Generator) -> list[Case]:
    """Two metrics of losses that differ by more or less than the seeds do; ties; one loss."""
    found = []
    for label, seeds, noise in (("quiet seeds", 3, 0.3), ("noisy seeds", 4, 1.5), ("two seeds", 2, 0.8)):
        m = size(rng, 9, 12)
        skill = torch.randn(m, 1, generator=rng, dtype=torch.float64)
        other = 0.4 * skill + torch.randn(m, 1, generator=rng, dtype=torch.float64)
        shared = torch.randn(2, 1, seeds, generator=rng, dtype=torch.float64)  # a good seed is good for all losses
        first = skill + 3 * shared[0] + noise * torch.randn(m, seeds, generator=rng, dtype=torch.float64)
        second = other + 3 * shared[1] + noise * torch.randn(m, seeds, generator=rng, dtype=torch.float64)
        # two that must be there whatever is drawn, in both orders of their index
        first[0], second[0], first[-1], second[-1] = first[1] + 1, second[1] - 1, first[2] + 1, second[2] - 1
        # and two that are opposed in every seed, but not always the same way round
        turn = torch.tensor([1.0] * (seeds - 1) + [-0.5], dtype=torch.float64)
        first[3], second[3] = first[4] + turn, second[4] - turn
        found.append(Case(f"hidden: {label}", {"first": first, "second": second}))
    first, second = torch.randint(0, 4, (2, 10, 2), generator=rng).double()
    second[0], second[3] = second[1] - 1, second[2] - 1
    first[0], first[3] = first[1] + torch.tensor([0.0, 1.0]), first[2]
    found.append(Case("hidden: many ties", {"first": first, "second": second}, edge=True))
    one = torch.rand(1, 3, generator=rng, dtype=torch.float64)
    found.append(Case("hidden: one loss", {"first": one, "second": one}, edge=True))
    opposite = torch.rand(4, 1, generator=rng, dtype=torch.float64)
    found.append(Case("hidden: opposite metrics, one seed", {"first": opposite, "second": -opposite}))
    return found


def as_rows(wins: Sequence[tuple[int, int]]) -> Tensor:
    """(p, 2), also for p = 0."""
    return torch.tensor(sorted(wins), dtype=torch.int64).reshape(-1, 2)


def disputed_pairs(first: Tensor, second: Tensor) -> Tensor:
    """(i, j) with first_i > first_j and second_i < second_j, each in every seed."""
    m = len(first)
    found = [
        (i, j)
        for i in range(m)
        for j in range(m)
        if all(a > b for a, b in zip(first[i].tolist(), first[j].tolist()))
        and all(a < b for a, b in zip(second[i].tolist(), second[j].tolist()))
    ]
    return as_rows(found)


def pairs_by(better: Tensor, worse: Tensor) -> Tensor:
    """Pairs where better[i, j] and worse[i, j] hold, without those of an item with itself."""
    off = ~torch.eye(len(better), dtype=torch.bool)
    return (better & worse & off).nonzero()


def gaps(x: Tensor) -> Tensor:
    """(m, m, seeds): x_i − x_j."""
    return x[:, None] - x[None, :]


def least_of_one_beats_all(x: Tensor) -> Tensor:
    """The worst seed of i is above the best of j."""
    return x.amin(1)[:, None] > x.amax(1)[None, :]


DISPUTED = Exercise(
    "disputed_pairs",
    "All (i, j) for which the first metric prefers loss i in every seed, and the second prefers loss j in every seed.",
    disputed_pairs,
    pair_cases,
    (
        Mistake(
            "means", "It compares means over the seeds; a preference must hold in every seed.",
            lambda first, second: pairs_by(gaps(first).mean(2) > 0, gaps(second).mean(2) < 0),
        ),
        Mistake(
            "in some seed", "One seed is enough for it; a preference must hold in every seed.",
            lambda first, second: pairs_by((gaps(first) > 0).any(2), (gaps(second) < 0).any(2)),
        ),
        Mistake(
            "upper half",
            "Only pairs with i < j are looked at; the loss that the first metric prefers may have the larger index.",
            lambda first, second: pairs_by(
                (gaps(first) > 0).all(2).triu(), (gaps(second) < 0).all(2)
            ),
        ),
        Mistake(
            "both ways", "Every pair is there twice, (i, j) and (j, i): the first metric's choice comes first.",
            lambda first, second: pairs_by(
                (gaps(first) > 0).all(2) & (gaps(second) < 0).all(2)
                | (gaps(first) < 0).all(2) & (gaps(second) > 0).all(2),
                torch.ones(len(first), len(first), dtype=torch.bool),
            ),
        ),
        Mistake(
            "turned round", "The pair is turned round: i is the loss that the first metric prefers.",
            lambda first, second: disputed_pairs(second, first),
        ),
        Mistake(
            "lower index first",
            "The pairs are right, but sorted within: i is the loss that the first metric prefers, even if i > j.",
            lambda first, second: as_rows(
                [(min(i, j), max(i, j)) for i, j in disputed_pairs(first, second).tolist()]
            ),
        ),
        Mistake(
            "ties count", "An equal value is no preference: compare with > and <.",
            lambda first, second: pairs_by((gaps(first) >= 0).all(2), (gaps(second) <= 0).all(2)),
        ),
        Mistake(
            "not paired by seed",
            "The worst seed of one must beat the best of the other here; compare seed by seed: a good seed helps both.",
            lambda first, second: pairs_by(least_of_one_beats_all(first), least_of_one_beats_all(-second)),
        ),
        Mistake(
            "opposite in every seed",
            "It asks if the metrics are opposed in each seed; the same loss must be preferred in all of them.",
            lambda first, second: pairs_by(
                (gaps(first) * gaps(second) < 0).all(2), gaps(first).mean(2) > 0
            ),
        ),
        Mistake(
            "first seed", "Only the first seed is looked at.",
            lambda first, second: pairs_by(gaps(first)[:, :, 0] > 0, gaps(second)[:, :, 0] < 0),
        ),
        Mistake(
            "most seeds", "More than half of the seeds are enough for it; a preference must hold in every seed.",
            lambda first, second: pairs_by(
                2 * (gaps(first) > 0).sum(2) > first.shape[1], 2 * (gaps(second) < 0).sum(2) > first.shape[1]
            ),
        ),
        Mistake(
            "agreement", "Those are the pairs on which the metrics agree.",
            lambda first, second: pairs_by((gaps(first) > 0).all(2), (gaps(second) > 0).all(2)),
        ),
    ),
)  # fmt: skip

# 4. expected_ndcg


def graded(similarity: Sequence[float], grade: Sequence[int], k: int) -> dict[str, Tensor | int]:
    """Arguments of a case."""
    return {
        "similarity": torch.tensor(similarity, dtype=torch.float64),
        "grade": torch.tensor(grade, dtype=torch.float64),
        "k": k,
    }


def ndcg_cases() -> list[Case]:
    """Without ties, ties within and across the cut-off, several groups, all tied."""
    return [
        Case("no ties, k = 4", graded([0.9, 0.2, 0.7, 0.4, 0.8], [0, 3, 1, 2, 2], 4)),
        Case("three tied, k = 4", graded([0.5, 0.9, 0.5, 0.1, 0.5, 0.2], [3, 0, 0, 1, 1, 2], 4)),
        Case("a tie across the cut-off, k = 3", graded([0.3, 0.8, 0.3, 0.3, 0.9, 0.1], [2, 1, 0, 3, 0, 3], 3)),
        Case("two groups, k = 5", graded([0.4, 0.4, 0.6, 0.6, 0.6, 0.1, 0.4], [1, 0, 0, 3, 0, 2, 3], 5)),
        Case("all tied, k = 2", graded([0.5, 0.5, 0.5, 0.5], [0, 2, 0, 1], 2), edge=True),
    ]


def hidden_ndcg(rng: torch.Generator) -> list[Case]:
    """Random grades, few and many ties, a k beyond the list, grades 0 and 1 only, one relevant item."""
    found = []
    # with k = 2 the tie at the top reaches beyond the cut-off
    for label, levels, k in (("few ties", 12, 2), ("many ties", 4, size(rng, 3, 5)), ("hardly any tie", 1000, 4)):
        n = size(rng, 9, 14)
        similarity = torch.randint(0, levels, (n,), generator=rng).double() / levels - 0.4
        grade = torch.randint(0, 4, (n,), generator=rng).double()
        similarity[:3], grade[:3] = similarity.max() + 0.1, torch.tensor([0.0, 3.0, 1.0])  # a tie at the top
        similarity[3:5], grade[3:5] = similarity.min() - 0.1, torch.tensor([3.0, 2.0])  # the ideal list needs these
        order = torch.randperm(n, generator=rng)
        arguments = {"similarity": similarity[order], "grade": grade[order], "k": k}
        found.append(Case(f"hidden: {label}", arguments))
    similarity = torch.randint(0, 3, (10,), generator=rng).double()
    binary = torch.tensor([1.0, 0, 0, 1, 0, 1, 0, 0, 0, 1], dtype=torch.float64)[torch.randperm(10, generator=rng)]
    found += [
        Case("hidden: 0 and 1 only", {"similarity": similarity, "grade": binary, "k": size(rng, 3, 6)}),
        Case("hidden: k beyond the list", graded(similarity[:5].tolist(), [0, 1, 2, 0, 3], 20), edge=True),
        Case("hidden: all tied", graded([0.0] * 6, [0, 3, 0, 1, 0, 0], size(rng, 1, 4)), edge=True),
        Case("hidden: one relevant item, last", graded([0, 1, 2, 3, 4], [2, 0, 0, 0, 0], 3), edge=True),
    ]
    return found


def gain(grade: float) -> float:
    """2^grade − 1, MPA Eq. 19."""
    return float(2**grade - 1)


def discounted(gains: Sequence[float], k: int, first: int = 1) -> float:
    """Σ_{i≤k} gain_i / log₂(i + 1)."""
    return sum(g / math.log2(rank + 1) for rank, g in enumerate(gains[:k], start=first))


def best(grade: Tensor, k: int) -> float:
    """DCG@k of the best list."""
    return discounted([gain(g) for g in sorted(grade.tolist(), reverse=True)], k)


def groups(similarity: Tensor, grade: Tensor) -> list[list[float]]:
    """Grades of the items, most similar group first; a group is of equal similarity."""
    found = sorted(set(similarity.tolist()), reverse=True)
    return [[g for s, g in zip(similarity.tolist(), grade.tolist()) if s == value] for value in found]


def expected_gains(similarity: Tensor, grade: Tensor) -> list[float]:
    """What stands at each rank on average over the orders of tied items: the mean gain of the group."""
    return [sum(map(gain, group)) / len(group) for group in groups(similarity, grade) for _ in group]


def expected_ndcg(similarity: Tensor, grade: Tensor, k: int) -> float:
    """DCG@k of the expected gains over DCG@k of the best list."""
    return discounted(expected_gains(similarity, grade), k) / best(grade, k)


def in_order(similarity: Tensor, grade: Tensor, best_first: bool | None) -> list[float]:
    """Grades by falling similarity; on a tie the best first, the worst first, or by index (None)."""
    inside = [group if best_first is None else sorted(group, reverse=best_first) for group in groups(similarity, grade)]
    return [g for group in inside for g in group]


def ordered_ndcg(similarity: Tensor, grade: Tensor, k: int, best_first: bool | None) -> float:
    """nDCG@k of one order."""
    return discounted([gain(g) for g in in_order(similarity, grade, best_first)], k) / best(grade, k)


def gain_of_mean(similarity: Tensor, grade: Tensor, k: int) -> float:
    """The mean is taken before the power."""
    means = [gain(sum(group) / len(group)) for group in groups(similarity, grade) for _ in group]
    return discounted(means, k) / best(grade, k)


def shared_rank(similarity: Tensor, grade: Tensor, k: int, middle: bool) -> float:
    """Every tied item has the group's middle rank, or its first."""
    total, start = 0.0, 1
    for group in groups(similarity, grade):
        rank = start + (len(group) - 1) / 2 if middle else float(start)
        total += sum(gain(g) / math.log2(rank + 1) for g in group if rank <= k)
        start += len(group)
    return total / best(grade, k)


def whole_groups(similarity: Tensor, grade: Tensor, k: int, kept: bool) -> float:
    """A group that reaches beyond k counts as a whole, or not at all."""
    gains: list[float] = []
    for group in groups(similarity, grade):
        if len(gains) < k and (kept or len(gains) + len(group) <= k):
            gains += [sum(map(gain, group)) / len(group)] * len(group)
        else:
            break
    return discounted(gains, len(gains)) / best(grade, k)


def linear(similarity: Tensor, grade: Tensor, k: int) -> float:
    """The grade itself as gain, above and below."""
    means = [sum(group) / len(group) for group in groups(similarity, grade) for _ in group]
    return discounted(means, k) / discounted(sorted(grade.tolist(), reverse=True), k)


EXPECTED = Exercise(
    "expected_ndcg",
    "nDCG@k of one query with graded relevance, as its mean over all orders of items with equal similarity.",
    expected_ndcg,
    ndcg_cases,
    (
        Mistake(
            "pessimistic", "Of tied items the worst comes first; asked for is the mean over all orders.",
            lambda similarity, grade, k: ordered_ndcg(similarity, grade, k, False),
        ),
        Mistake(
            "optimistic", "Of tied items the best comes first; asked for is the mean over all orders.",
            lambda similarity, grade, k: ordered_ndcg(similarity, grade, k, True),
        ),
        Mistake(
            "by index", "Tied items stay in the order of their index; asked for is the mean over all orders.",
            lambda similarity, grade, k: ordered_ndcg(similarity, grade, k, None),
        ),
        Mistake(
            "between best and worst",
            "It is the mean of the best and the worst order; there are t! orders of t tied items.",
            lambda similarity, grade, k: (
                ordered_ndcg(similarity, grade, k, False) + ordered_ndcg(similarity, grade, k, True)
            ) / 2,
        ),
        Mistake(
            "gain of the mean grade",
            "It takes the mean grade of a group and then 2^grade − 1; the mean must be of the gains.",
            gain_of_mean,
        ),
        Mistake("linear gain", "The grade itself is taken for the gain: it is 2^grade − 1.", linear),
        Mistake(
            "middle rank",
            "Every tied item gets the group's middle rank; the mean is over discounts, not over ranks.",
            lambda similarity, grade, k: shared_rank(similarity, grade, k, middle=True),
        ),
        Mistake(
            "first rank", "Every tied item gets the group's first rank; t tied items take t ranks.",
            lambda similarity, grade, k: shared_rank(similarity, grade, k, middle=False),
        ),
        Mistake(
            "group kept whole", "A group that reaches beyond k counts as a whole; ranks beyond k count nothing.",
            lambda similarity, grade, k: whole_groups(similarity, grade, k, kept=True),
        ),
        Mistake(
            "group dropped", "A group that reaches beyond k is dropped; its first ranks are within the cut-off.",
            lambda similarity, grade, k: whole_groups(similarity, grade, k, kept=False),
        ),
        Mistake(
            "not normalised", "It is DCG: divide by that of the best list.",
            lambda similarity, grade, k: discounted(expected_gains(similarity, grade), k),
        ),
        Mistake(
            "best list not cut", "The best list is cut at k as well.",
            lambda similarity, grade, k: expected_ndcg(similarity, grade, k) * best(grade, k) / best(grade, len(grade)),
        ),
        Mistake(
            "best of the expected gains",
            "The best list is made of expected gains; it is made of the grades, all items by falling grade.",
            lambda similarity, grade, k: discounted(expected_gains(similarity, grade), k)
            / max(1e-9, discounted(sorted(expected_gains(similarity, grade), reverse=True), k)),
        ),
        Mistake(
            "rank + 2", "The discount is log2(rank + 1) with the first rank 1, so that the first item counts fully.",
            lambda similarity, grade, k: discounted(expected_gains(similarity, grade), k, first=2) / best(grade, k),
        ),
    ),
)  # fmt: skip

ASSIGNMENT = Assignment(
    "1_metrics",
    "Metrics you can trust",
    (
        Question(LISTS, 5, hidden_lists),
        Question(AVERAGE, 6, hidden_ap),
        Question(DISPUTED, 6, hidden_pairs),
        Question(EXPECTED, 7, hidden_ndcg),
    ),
    (
        Written(
            "which_denominators_disagree",
            3,
            (
                (1, "one query: k, R and min(k, R) are the same for both lists, so they order them alike"),
                (1, "one query: only the hits depend on the list; an example of two lists"),
                (1, "several queries: R differs between queries, so k, R and min weigh the queries differently"),
            ),
        ),
        Written(
            "first_column",
            3,
            (
                (1, "harmless without ties at the top, and if the copy has the query's label"),
                (1, "a copy under another label: the query itself may stay in the list, as a hit at rank 1: too high"),
                (1, "a test that shows it: copies under other labels, or vectors that are not normalised"),
            ),
        ),
    ),
)
