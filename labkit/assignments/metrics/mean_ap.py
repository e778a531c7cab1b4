"""Mean average precision, whose name hides five divisors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "Mean average precision over the queries with a relevant item, divided by the rule named."

RULES = ("k", "relevant", "min", "hits", "R")


def rows_of(*lists: str) -> Tensor:
    """Lists written as "0101"."""
    return torch.tensor([[float(mark) for mark in row] for row in lists], dtype=torch.float64)


def public_cases() -> list[Case]:
    """One case a rule: fewer and more relevant items than k, a list without a hit, a query without a positive."""
    lists = rows_of("10100110", "00000100", "11010111", "00000000", "01000000")
    return [Case(f"five queries, k = 4, rule {rule}", {"relevance": lists, "k": 4, "rule": rule}) for rule in RULES]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random lists of every rule; then a k beyond the list, all relevant, one list."""
    found = []
    for rule in RULES:
        n = whole(rng, 9, 14)
        share = torch.tensor([0.1, 0.2, 0.5, 0.8, 0.35, 0.6], dtype=torch.float64)[:, None]
        lists = (uniform(rng, 6, n) < share).double()
        fixed = torch.zeros(3, n, dtype=torch.float64)  # whatever is drawn: no positive, a late hit, most relevant
        fixed[1, -1] = 1
        fixed[2, 1:] = 1
        lists = torch.cat([lists, fixed])[torch.randperm(9, generator=rng)]
        found.append(Case(f"hidden: rule {rule}", {"relevance": lists, "k": whole(rng, 3, 5), "rule": rule}))
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


MISTAKES = (
    Mistake(
        "queries without a positive counted",
        "A query without a relevant item has no score: leave it out of the mean, do not count it as 0.",
        lambda relevance, k, rule: mean_ap(relevance, k, rule) * len(kept(relevance)) / len(relevance),
    ),
    Mistake(
        "a sum",
        "It adds up over the queries; take the mean.",
        lambda relevance, k, rule: mean_ap(relevance, k, rule) * len(kept(relevance)),
    ),
    Mistake(
        "pooled",
        "All sums are divided by all divisors together; divide for each query first, then take the mean.",
        pooled_ap,
    ),
    Mistake(
        "precision at every rank",
        "It adds up precision at every rank; only ranks with a relevant item count.",
        lambda relevance, k, rule: variant_ap(relevance, k, rule, everywhere=True),
    ),
    Mistake(
        "ranks from zero",
        "It counts ranks from 0: the first item has rank 1.",
        lambda relevance, k, rule: variant_ap(relevance, k, rule, first=0),
    ),
    Mistake(
        "R not cut",
        "Rule R divides by R but cuts at k; MAP@R looks at the first R items of each query.",
        lambda relevance, k, rule: variant_ap(relevance, k, rule, cut_at_r=False),
    ),
    Mistake(
        "not cut",
        "It goes through the whole list: cut it at k (at R by rule R).",
        lambda relevance, k, rule: variant_ap(relevance, k, rule, cut_at_k=False),
    ),
    Mistake(
        "query counted",
        "R is one too large: the query is not a relevant item of its own list.",
        lambda relevance, k, rule: variant_ap(relevance, k, rule, extra=1),
    ),
    Mistake(
        "hits are relevant",
        "Rule hits divides by all relevant items; divide by those among the first k.",
        lambda relevance, k, rule: swapped_ap(relevance, k, rule, {"hits": "relevant"}),
    ),
    Mistake(
        "relevant are hits",
        "Rule relevant divides by the hits; divide by all relevant items of the list.",
        lambda relevance, k, rule: swapped_ap(relevance, k, rule, {"relevant": "hits"}),
    ),
    Mistake(
        "min is hits",
        "Rule min is the smaller of k and R, not the number of hits.",
        lambda relevance, k, rule: swapped_ap(relevance, k, rule, {"min": "hits"}),
    ),
    Mistake(
        "queries without a hit dropped",
        "By rule hits, a query whose list has no hit is left out. It has a positive: it counts, with 0.",
        hits_of_query,
    ),
)

QUESTION = Question(
    Exercise("mean_ap", TASK, mean_ap, public_cases, MISTAKES),
    points=6,
    hidden=hidden_cases,
)
