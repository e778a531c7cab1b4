"""PNP-D_q of a batch, as if every query had a given number of negatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import cosines, number, seeded, shuffled, uniform, whole
from labkit.lessons.exercise import Case, Exercise, Mistake

TASK = "PNP-D_q of a batch, with R counted as if every query had a given number of negatives."


def public_cases() -> list[Case]:
    """Equal and unequal classes, a singleton, several steepnesses, one class only."""
    rng = seeded(3)
    unequal = torch.tensor([0, 1, 0, 2, 1, 0, 3, 1, 0])  # 2 and 3 have no positive
    equal = torch.tensor([0, 1, 2, 2, 1, 0])
    nine, six = cosines(rng, 9, 3), cosines(rng, 6, 3)
    return [
        Case("unequal classes, α = 1", batch_of(nine, unequal, 1.0, 0.1, 10.0)),
        Case("unequal classes, α = 3", batch_of(nine, unequal, 3.0, 0.05, 4.0)),
        Case("equal classes, α = 2", batch_of(six, equal, 2.0, 0.1, 20.0)),
        Case("a gallery as large as the batch's", batch_of(six, equal, 1.0, 0.2, 4.0)),
        Case("one class", batch_of(six[:4, :4], torch.zeros(4, dtype=torch.int64), 1.0, 0.1, 10.0), edge=True),
    ]


def batch_of(similarity: Tensor, labels: Tensor, alpha: float, tau: float, negatives: float) -> dict[str, Any]:
    """Arguments of a case."""
    return {"similarity": similarity, "labels": labels, "alpha": alpha, "tau": tau, "negatives": negatives}


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random batches; pairs, one class, a large gallery, a similarity that is not symmetric."""

    def settings() -> tuple[float, float, float]:
        return number(rng, 1.5, 3), number(rng, 0.05, 0.2), number(rng, 5, 40)

    # two classes of different size, one item alone, and more of the first class or of a fourth
    labels = shuffled(rng, [0, 0, 0, 0, 1, 1, 2, *[3 * whole(rng, 0, 1) for _ in range(whole(rng, 2, 4))]]) * 4
    n = len(labels)
    pairs = shuffled(rng, [0, 0, 1, 1, 2, 2])
    return [
        Case("hidden: unequal classes", batch_of(cosines(rng, n, 3), labels, *settings())),
        Case("hidden: not symmetric", batch_of(2 * uniform(rng, n, n) - 1, labels, *settings())),
        Case("hidden: the same with more noise", batch_of(cosines(rng, n, 6), labels, *settings())),
        Case("hidden: pairs", batch_of(cosines(rng, 6, 3), pairs, *settings())),
        Case("hidden: one class", batch_of(cosines(rng, 4, 2), torch.full((4,), 2), *settings()), edge=True),
        Case("hidden: one pair", batch_of(cosines(rng, 2, 2), torch.full((2,), 1), *settings()), edge=True),
    ]


def losses_of_queries(
    similarity: Tensor,
    labels: Tensor,
    alpha: float,
    tau: float,
    negatives: float,
    scale: Callable[[float, int, int], float] = lambda negatives, found, batch: negatives / max(1, found),
    loss: Callable[[Tensor, float], Tensor] = lambda R, alpha: 1 - (1 + R) ** -alpha,
    all_items: bool = False,
    query_positive: bool = False,
    mean_first: bool = False,
) -> tuple[Tensor, Tensor]:
    """The loss of every query that has a positive, and |P|; what comes after negatives is for mistakes."""
    found, numbers_of = [], []
    for q in range(len(labels)):
        same = labels == labels[q]
        others = torch.arange(len(labels)) != q
        positive, counted = same & others, others if all_items else ~same
        if not positive.any():
            continue
        if query_positive:
            positive = same
        targets = positive.nonzero().flatten().tolist()
        before = torch.sigmoid((similarity[q][None, :] - similarity[q, targets][:, None]) / tau)  # [i, j]
        itself = torch.arange(len(labels))[None, :] == torch.tensor(targets)[:, None]
        R = (before * (counted[None, :] & ~itself)).sum(1)
        R = R * scale(negatives, int((~same).sum()), len(labels))
        found.append(loss(R.mean() if mean_first else R, alpha).mean())
        numbers_of.append(torch.tensor(float(positive.sum()), dtype=torch.float64))
    return torch.stack(found), torch.stack(numbers_of)


def pnp_batch(**case: Any) -> Tensor:
    """Mean over queries with a positive of 1 − 1/|P| Σ (1 + M R / |S_N|)^−α."""
    return losses_of_queries(**case)[0].mean()


def scaled_outside(**case: Any) -> Tensor:
    """The loss, not R, is scaled."""
    labels = case["labels"]
    found, _ = losses_of_queries(**case, scale=lambda negatives, found, batch: 1.0)
    kept = [q for q in range(len(labels)) if int((labels == labels[q]).sum()) > 1]
    factor = torch.stack([case["negatives"] / (labels != labels[q]).sum().clamp_min(1) for q in kept])
    return (found * factor).mean()


def singletons_counted(**case: Any) -> Tensor:
    """A query without a positive counts as 0."""
    return losses_of_queries(**case)[0].sum() / len(case["labels"])


def weighed_by_positives(**case: Any) -> Tensor:
    """Every (query, positive) pair counts the same."""
    found, count = losses_of_queries(**case)
    return (found * count).sum() / count.sum()


MISTAKES = (
    Mistake(
        "not scaled",
        "R is the count in this batch: scale it to the given number of negatives.",
        lambda **case: losses_of_queries(**case, scale=lambda negatives, found, batch: 1.0)[0].mean(),
    ),
    Mistake(
        "scaled the wrong way",
        "The scale is upside down: it is the share R / |S_N|, times the given number.",
        lambda **case: losses_of_queries(**case, scale=lambda negatives, found, batch: found / negatives)[0].mean(),
    ),
    Mistake(
        "share only",
        "R / |S_N| is the share of the negatives; multiply it by the given number.",
        lambda **case: losses_of_queries(**case, scale=lambda negatives, found, batch: 1 / max(1, found))[0].mean(),
    ),
    Mistake(
        "over the gallery",
        "R is divided by the whole gallery, B − 1; only negatives can count: divide by |S_N|.",
        lambda **case: losses_of_queries(**case, scale=lambda negatives, found, batch: negatives / (batch - 1))[
            0
        ].mean(),
    ),
    Mistake("loss scaled", "The loss is scaled; scale R, before the power is taken.", scaled_outside),
    Mistake(
        "all items counted",
        "R counts positives, too; PNP counts negatives only.",
        lambda **case: losses_of_queries(**case, all_items=True)[0].mean(),
    ),
    Mistake(
        "query as positive",
        "The query is its own positive, as in the released code: leave it out.",
        lambda **case: losses_of_queries(**case, query_positive=True)[0].mean(),
    ),
    Mistake(
        "not a loss",
        "It is 1 minus the loss: the released code made this mistake until February 2023.",
        lambda **case: 1 - pnp_batch(**case),
    ),
    Mistake(
        "mean of R first",
        "The mean of R is taken before the power: every positive has a loss of its own.",
        lambda **case: losses_of_queries(**case, mean_first=True)[0].mean(),
    ),
    Mistake(
        "alpha as a factor",
        "α is an exponent here; as a factor it stands in the derivative only.",
        lambda **case: losses_of_queries(**case, loss=lambda R, alpha: 1 - alpha / (1 + R))[0].mean(),
    ),
    Mistake(
        "queries without a positive",
        "A query without a positive has no loss: leave it out of the mean.",
        singletons_counted,
    ),
    Mistake(
        "pairs for queries",
        "Every (query, positive) pair has the same weight; every query should have it.",
        weighed_by_positives,
    ),
    Mistake(
        "sum",
        "It adds up over the queries; take the mean.",
        lambda **case: losses_of_queries(**case)[0].sum(),
    ),
    Mistake(
        "sign",
        "The sign is turned round: a negative j counts as before i when s_qj is larger than s_qi.",
        lambda **case: pnp_batch(**case | {"similarity": -case["similarity"]}),
    ),
)

QUESTION = Question(
    Exercise("pnp_batch", TASK, pnp_batch, public_cases, MISTAKES, gradient="similarity"),
    points=7,
    hidden=hidden_cases,
)
