"""nDCG with graded relevance, as its mean over all orders of tied items."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "nDCG@k of one query with graded relevance, as its mean over all orders of items with equal similarity."


def graded(similarity: Sequence[float], grade: Sequence[int], k: int) -> dict[str, Tensor | int]:
    """Arguments of a case."""
    return {
        "similarity": torch.tensor(similarity, dtype=torch.float64),
        "grade": torch.tensor(grade, dtype=torch.float64),
        "k": k,
    }


def public_cases() -> list[Case]:
    """Without ties, ties within and across the cut-off, several groups, all tied."""
    return [
        Case("no ties, k = 4", graded([0.9, 0.2, 0.7, 0.4, 0.8], [0, 3, 1, 2, 2], 4)),
        Case("three tied, k = 4", graded([0.5, 0.9, 0.5, 0.1, 0.5, 0.2], [3, 0, 0, 1, 1, 2], 4)),
        Case("a tie across the cut-off, k = 3", graded([0.3, 0.8, 0.3, 0.3, 0.9, 0.1], [2, 1, 0, 3, 0, 3], 3)),
        Case("two groups, k = 5", graded([0.4, 0.4, 0.6, 0.6, 0.6, 0.1, 0.4], [1, 0, 0, 3, 0, 2, 3], 5)),
        Case("all tied, k = 2", graded([0.5, 0.5, 0.5, 0.5], [0, 2, 0, 1], 2), edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random grades, few and many ties, near ties, a k beyond the list, grades 0 and 1 only, one relevant item."""
    found = []
    # with k = 2 the tie at the top reaches beyond the cut-off
    for label, levels, k in (("few ties", 12, 2), ("many ties", 4, whole(rng, 3, 5)), ("hardly any tie", 1000, 4)):
        n = whole(rng, 9, 14)
        similarity = torch.randint(0, levels, (n,), generator=rng).double() / levels - 0.4
        grade = torch.randint(0, 4, (n,), generator=rng).double()
        similarity[:3], grade[:3] = similarity.max() + 0.1, torch.tensor([0.0, 3.0, 1.0])  # a tie at the top
        similarity[3:5], grade[3:5] = similarity.min() - 0.1, torch.tensor([3.0, 2.0])  # the ideal list needs these
        order = torch.randperm(n, generator=rng)
        arguments = {"similarity": similarity[order], "grade": grade[order], "k": k}
        found.append(Case(f"hidden: {label}", arguments))
    similarity = torch.randint(0, 3, (10,), generator=rng).double()
    binary = torch.tensor([1.0, 0, 0, 1, 0, 1, 0, 0, 0, 1], dtype=torch.float64)[torch.randperm(10, generator=rng)]
    nearly = 0.3 + 1e-6 * torch.randperm(n, generator=rng).double()
    found += [
        Case("hidden: 0 and 1 only", {"similarity": similarity, "grade": binary, "k": whole(rng, 3, 6)}),
        Case("hidden: k beyond the list", graded(similarity[:5].tolist(), [0, 1, 2, 0, 3], 20), edge=True),
        Case("hidden: nearly tied", {"similarity": nearly, "grade": grade, "k": whole(rng, 3, 5)}, edge=True),
        Case("hidden: all tied", graded([0.0] * 6, [0, 3, 0, 1, 0, 0], whole(rng, 1, 4)), edge=True),
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


MISTAKES = (
    Mistake(
        "pessimistic",
        "Of tied items the worst comes first; asked for is the mean over all orders.",
        lambda similarity, grade, k: ordered_ndcg(similarity, grade, k, False),
    ),
    Mistake(
        "optimistic",
        "Of tied items the best comes first; asked for is the mean over all orders.",
        lambda similarity, grade, k: ordered_ndcg(similarity, grade, k, True),
    ),
    Mistake(
        "by index",
        "Tied items stay in the order of their index; asked for is the mean over all orders.",
        lambda similarity, grade, k: ordered_ndcg(similarity, grade, k, None),
    ),
    Mistake(
        "between best and worst",
        "It is the mean of the best and the worst order; there are t! orders of t tied items.",
        lambda similarity, grade, k: (
            (ordered_ndcg(similarity, grade, k, False) + ordered_ndcg(similarity, grade, k, True)) / 2
        ),
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
        "first rank",
        "Every tied item gets the group's first rank; t tied items take t ranks.",
        lambda similarity, grade, k: shared_rank(similarity, grade, k, middle=False),
    ),
    Mistake(
        "group kept whole",
        "A group that reaches beyond k counts as a whole; ranks beyond k count nothing.",
        lambda similarity, grade, k: whole_groups(similarity, grade, k, kept=True),
    ),
    Mistake(
        "group dropped",
        "A group that reaches beyond k is dropped; its first ranks are within the cut-off.",
        lambda similarity, grade, k: whole_groups(similarity, grade, k, kept=False),
    ),
    Mistake(
        "not normalised",
        "It is DCG: divide by that of the best list.",
        lambda similarity, grade, k: discounted(expected_gains(similarity, grade), k),
    ),
    Mistake(
        "best list not cut",
        "The best list is cut at k as well.",
        lambda similarity, grade, k: expected_ndcg(similarity, grade, k) * best(grade, k) / best(grade, len(grade)),
    ),
    Mistake(
        "best of the expected gains",
        "The best list is made of expected gains; it is made of the grades, all items by falling grade.",
        lambda similarity, grade, k: (
            discounted(expected_gains(similarity, grade), k)
            / max(1e-9, discounted(sorted(expected_gains(similarity, grade), reverse=True), k))
        ),
    ),
    Mistake(
        "rank + 2",
        "The discount is log2(rank + 1) with the first rank 1, so that the first item counts fully.",
        lambda similarity, grade, k: discounted(expected_gains(similarity, grade), k, first=2) / best(grade, k),
    ),
)

QUESTION = Question(
    Exercise("expected_ndcg", TASK, expected_ndcg, public_cases, MISTAKES),
    points=7,
    hidden=hidden_cases,
)
