"""Lesson 2: metrics of one ranked list. relevance is a list of 0 and 1, best-ranked item first."""

from __future__ import annotations

import math
from collections.abc import Sequence

from labkit.lessons.exercise import Case, Exercise, Mistake
from labkit.metrics import average_precision_at_k, ndcg_at_k, recall_at_k

LISTS = {
    "hit at rank 1": ([1, 0, 0, 0, 0, 0], 1),
    "hits at 2 and 4": ([0, 1, 0, 1, 0, 0], 3),
    "no hit in the list": ([0, 0, 0, 0, 0, 0], 2),
    "all relevant": ([1, 1, 1, 1, 1, 1], 6),
    "hit at rank 5": ([0, 0, 0, 0, 1, 0], 1),
    "more relevant than k": ([1, 0, 1, 1, 0, 1], 9),
}


def cases() -> list[Case]:
    """Each list at two cut-offs."""
    return [
        Case(f"{label}, k = {k}", {"relevance": list(relevance), "k": k, "num_relevant": num_relevant})
        for label, (relevance, num_relevant) in LISTS.items()
        for k in (1, 4)
    ]


def hits(relevance: Sequence[int], k: int) -> int:
    """Relevant items among the first k."""
    return sum(relevance[:k])


def precisions(relevance: Sequence[int], k: int) -> list[float]:
    """Precision at each rank up to k."""
    return [sum(relevance[: i + 1]) / (i + 1) for i in range(min(k, len(relevance)))]


def dcg(relevance: Sequence[int], k: int, first: int = 1) -> float:
    """Discounted gain; first: rank that the list is taken to start at."""
    return sum(r / math.log2(i + first + 1) for i, r in enumerate(relevance[:k]))


def old_dcg(relevance: Sequence[int]) -> float:
    """Discounted by log2(rank), from rank 2 on."""
    return sum(r / math.log2(max(rank, 2)) for rank, r in enumerate(relevance, 1))


def by_rank(relevance: Sequence[int]) -> float:
    """Divided by the rank itself."""
    return sum(r / rank for rank, r in enumerate(relevance, 1))


def ideal(count: int) -> float:
    """The largest gain that `count` relevant items can give."""
    return dcg([1] * count, count)


RECALL = Exercise(
    "recall_at_k",
    "Recall@k of the retrieval papers: 1 if any of the first k items is relevant, else 0.",
    lambda relevance, k, num_relevant: recall_at_k(relevance, k, num_relevant, mode="any"),
    cases,
    (
        Mistake(
            "fraction",
            "That is the share of relevant items found. The retrieval papers only ask if there is any.",
            lambda relevance, k, num_relevant: hits(relevance, k) / num_relevant,
        ),
        Mistake(
            "capped",
            "That divides by the hits that were possible. The retrieval papers only ask if there is any.",
            lambda relevance, k, num_relevant: hits(relevance, k) / min(k, num_relevant),
        ),
        Mistake(
            "precision",
            "That is precision@k: the share of the first k that is relevant.",
            lambda relevance, k, num_relevant: hits(relevance, k) / k,
        ),
        Mistake(
            "whole list",
            "It looks at the whole list: cut it at k.",
            lambda relevance, k, num_relevant: float(any(relevance)),
        ),
        Mistake(
            "off by one",
            "It looks at k + 1 items: relevance[:k] are the first k.",
            lambda relevance, k, num_relevant: float(any(relevance[: k + 1])),
        ),
        Mistake(
            "at k only",
            "It looks at the k-th item alone.",
            lambda relevance, k, num_relevant: float(relevance[k - 1]),
        ),
        Mistake(
            "count",
            "It counts the hits; the metric is 0 or 1.",
            lambda relevance, k, num_relevant: float(hits(relevance, k)),
        ),
        Mistake(
            "all",
            "It asks for all relevant items; one is enough.",
            lambda relevance, k, num_relevant: float(hits(relevance, k) == num_relevant),
        ),
    ),
)

AVERAGE_PRECISION = Exercise(
    "average_precision_at_k",
    "AP@k with the denominator min(k, number of relevant items): a perfect list gets 1 whatever k is.",
    lambda relevance, k, num_relevant: average_precision_at_k(relevance, k, num_relevant, denominator="min"),
    cases,
    (
        Mistake(
            "over k",
            "It divides by k, so that a perfect list with fewer than k relevant items stays below 1.",
            lambda relevance, k, num_relevant: sum(p * r for p, r in zip(precisions(relevance, k), relevance)) / k,
        ),
        Mistake(
            "over relevant",
            "It divides by all relevant items, of which only k can be among the first k.",
            lambda relevance, k, num_relevant: (
                sum(p * r for p, r in zip(precisions(relevance, k), relevance)) / num_relevant
            ),
        ),
        Mistake(
            "over hits",
            "It divides by the hits found: one hit at rank 1 and nothing else would be perfect.",
            lambda relevance, k, num_relevant: (
                sum(p * r for p, r in zip(precisions(relevance, k), relevance)) / max(1, hits(relevance, k))
            ),
        ),
        Mistake(
            "no mask",
            "It adds up precision at every rank; only ranks with a relevant item count.",
            lambda relevance, k, num_relevant: sum(precisions(relevance, k)) / min(k, num_relevant),
            also=(lambda relevance, k, num_relevant: sum(precisions(relevance, k)) / k,),
        ),
        Mistake(
            "from zero",
            "It counts ranks from 0: the first item has rank 1.",
            lambda relevance, k, num_relevant: (
                sum(r * sum(relevance[: i + 1]) / max(1, i) for i, r in enumerate(relevance[:k])) / min(k, num_relevant)
            ),
        ),
        Mistake(
            "precision",
            "That is precision@k alone, without the ranks above.",
            lambda relevance, k, num_relevant: hits(relevance, k) / k,
        ),
        Mistake(
            "reciprocal ranks",
            "It adds up 1/rank; precision at a rank is hits so far divided by the rank.",
            lambda relevance, k, num_relevant: (
                sum(r / (i + 1) for i, r in enumerate(relevance[:k])) / min(k, num_relevant)
            ),
        ),
        Mistake(
            "not cut",
            "It goes through the whole list: cut it at k.",
            lambda relevance, k, num_relevant: (
                sum(p * r for p, r in zip(precisions(relevance, len(relevance)), relevance)) / min(k, num_relevant)
            ),
        ),
    ),
)

NDCG = Exercise(
    "ndcg_at_k",
    "nDCG@k with gains 0 and 1: gain divided by log2(rank + 1), added up, divided by the best possible sum.",
    lambda relevance, k, num_relevant: ndcg_at_k(relevance, k, num_relevant),
    cases,
    (
        Mistake(
            "not normalised",
            "It is DCG: divide by the best possible sum.",
            lambda relevance, k, num_relevant: dcg(relevance, k),
        ),
        Mistake(
            "ideal of all",
            "The best possible sum can use only k items: min(k, number of relevant items).",
            lambda relevance, k, num_relevant: dcg(relevance, k) / ideal(num_relevant),
        ),
        Mistake(
            "ideal of k",
            "The best possible sum has only as many terms as there are relevant items.",
            lambda relevance, k, num_relevant: dcg(relevance, k) / ideal(k),
        ),
        Mistake(
            "ideal of the found",
            "It sorts what was found; the best possible list holds all relevant items.",
            lambda relevance, k, num_relevant: dcg(relevance, k) / ideal(max(1, hits(relevance, k))),
        ),
        Mistake(
            "natural log above",
            "The numerator and the denominator use different logarithms: log2 in both.",
            lambda relevance, k, num_relevant: dcg(relevance, k) / math.log(2) / ideal(min(k, num_relevant)),
        ),
        Mistake(
            "rank + 2",
            "The discount is log2(rank + 1) with the first rank 1, so that the first item counts fully.",
            lambda relevance, k, num_relevant: dcg(relevance, k, first=2) / ideal(min(k, num_relevant)),
        ),
        Mistake(
            "log2(rank)",
            "The discount is log2(rank + 1); log2(rank), with rank 1 let off, is an older formula.",
            lambda relevance, k, num_relevant: old_dcg(relevance[:k]) / old_dcg([1] * min(k, num_relevant)),
        ),
        Mistake(
            "no discount",
            "Every rank counts the same: divide by log2(rank + 1).",
            lambda relevance, k, num_relevant: hits(relevance, k) / min(k, num_relevant),
        ),
        Mistake(
            "not cut",
            "It goes through the whole list: cut it at k.",
            lambda relevance, k, num_relevant: dcg(relevance, len(relevance)) / ideal(min(k, num_relevant)),
            also=(lambda relevance, k, num_relevant: dcg(relevance, len(relevance)) / ideal(num_relevant),),
        ),
        Mistake(
            "a count below",
            "It divides by a number of items; divide by the best possible sum, which is discounted as well.",
            lambda relevance, k, num_relevant: dcg(relevance, k) / min(k, num_relevant),
            also=(
                lambda relevance, k, num_relevant: dcg(relevance, k) / num_relevant,
                lambda relevance, k, num_relevant: dcg(relevance, k) / k,
            ),
        ),
        Mistake(
            "divided by the rank",
            "It divides by the rank; the discount is log2(rank + 1).",
            lambda relevance, k, num_relevant: by_rank(relevance[:k]) / by_rank([1] * min(k, num_relevant)),
        ),
    ),
)

EXERCISES = (RECALL, AVERAGE_PRECISION, NDCG)
