"""Softmax with label smoothing, which SGSL joins once the gate is open."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot, softplus

from labkit.assignments.assignment import Question
from labkit.assignments.softmax.sgsl_gradient import cosines, others_share
from labkit.lessons.draw import normal, number, seeded, uniform, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "Softmax with label smoothing plus β times SGSL, which joins once the mean softmax loss is below the gate."


def easy_features(rng: torch.Generator, N: int, C: int, D: int, size: float) -> dict[str, Tensor]:
    """Features that lean to their class vectors; the larger `size`, the smaller the softmax loss."""
    W = normal(rng, C, D)
    labels = torch.randint(C, (N,), generator=rng)
    return {"embeddings": size * W[labels] + 0.5 * normal(rng, N, D), "labels": labels, "weight": W}


def mean_loss(batch: dict[str, Tensor], epsilon: float) -> float:
    """Of the smoothed softmax."""
    return float(smoothed(batch["embeddings"] @ batch["weight"].T, batch["labels"], epsilon))


def public_cases() -> list[Case]:
    """Above the gate, below it, open from before, and a gate between the smoothed and the plain loss."""
    batch = easy_features(seeded(3), 6, 5, 4, 0.5)
    base = {**batch, "gamma": 30.0, "beta": 1.0, "epsilon": 0.1, "was_open": False}
    plain, smooth = mean_loss(batch, 0.0), mean_loss(batch, 0.1)
    return [
        Case("above the gate", {**base, "gate": smooth - 0.3}),
        Case("below the gate, β = 0.5", {**base, "gate": smooth + 0.3, "beta": 0.5}),
        Case("above the gate, but open from before", {**base, "gate": plain - 0.2, "was_open": True, "gamma": 5.0}),
        Case("a gate between smoothed and plain loss, β = 2", {**base, "gate": (plain + smooth) / 2, "beta": 2.0}),
        Case("no smoothing, γ = 10", {**base, "epsilon": 0.0, "gate": plain + 0.1, "beta": 0.7, "gamma": 10.0}),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random batches on both sides of the gate and at it, two classes, an infinite gate, one that cannot open."""
    cases = []
    for above, was_open in ((True, False), (True, True), (False, False), (False, True)):
        batch = easy_features(rng, whole(rng, 4, 8), whole(rng, 3, 6), whole(rng, 3, 5), number(rng, 0.3, 0.8))
        epsilon, beta = number(rng, 0.1, 0.3), number(rng, 0.3, 2.0)
        gate = mean_loss(batch, epsilon) + (-0.2 if above else 0.2)
        told = f"drawn: {'above' if above else 'below'} the gate{', open from before' if was_open else ''}"
        more = {"gamma": number(rng, 2, 30), "beta": beta, "gate": gate, "epsilon": epsilon, "was_open": was_open}
        cases.append(Case(told, batch | more))
    two = easy_features(rng, 5, 2, 3, 0.5)
    many = easy_features(rng, 6, 4, 3, 0.6)
    sure = {"embeddings": 50.0 * torch.eye(3, dtype=torch.float64), "labels": torch.arange(3)}
    sure["weight"] = 20 * torch.eye(3, dtype=torch.float64) + uniform(rng, 3, 3)
    between_both = (mean_loss(many, 0.0) + mean_loss(many, 0.3)) / 2
    base = {"gamma": 20.0, "beta": 0.5, "epsilon": 0.2, "was_open": False}
    return [
        *cases,
        Case("between smoothed and plain loss", {**many, **base, "epsilon": 0.3, "gate": between_both}),
        Case("two classes", {**two, **base, "gate": mean_loss(two, 0.2) + 0.1}),
        # e^−1000 is 0, so the softmax loss is exactly 0 however it is computed: not below the gate
        Case("a loss exactly at the gate", {**sure, **base, "epsilon": 0.0, "gate": 0.0}, edge=True),
        Case("a gate at infinity", {**many, **base, "gate": math.inf}, edge=True),
        Case("a gate at 0, no smoothing", {**many, **base, "epsilon": 0.0, "gate": 0.0}, edge=True),
    ]


def smoothed(logits: Tensor, labels: Tensor, epsilon: float, reduction: str = "mean") -> Tensor:
    """Cross-entropy with the target 1 − ε, and ε/(C − 1) for each other class."""
    own = one_hot(labels, logits.shape[1])
    target = (1 - epsilon) * own + epsilon / (logits.shape[1] - 1) * (1 - own)
    each = -(target * torch.log_softmax(logits, 1)).sum(1)
    return each.mean() if reduction == "mean" else each


def sgsl_each(embeddings: Tensor, labels: Tensor, weight: Tensor, gamma: float) -> Tensor:
    """Eq. 6 of every sample; no stop-gradient here."""
    return softplus(others_share(cosines(embeddings, weight), labels, gamma)[1])


def gated_sgsl(
    embeddings: Tensor,
    labels: Tensor,
    weight: Tensor,
    gamma: float,
    beta: float,
    gate: float,
    epsilon: float,
    was_open: bool,
) -> Tensor:
    """Eqs 7 and 10, the gate as the paper describes it: open for good from the first mean softmax loss below it."""
    loss = smoothed(embeddings @ weight.T, labels, epsilon)
    if was_open or bool(loss < gate):
        loss = loss + beta * sgsl_each(embeddings, labels, weight.detach(), gamma).mean()
    return loss


def combine(
    join: Callable[[Tensor, Tensor, float, bool], bool | Tensor] = lambda each, plain, gate, was: (
        was or bool(each.mean() < gate)
    ),
    total: Callable[[Tensor, Tensor, float], Tensor] = lambda softmax, sgsl, beta: softmax + beta * sgsl,
    *,
    spread: bool = False,
    unit: bool = False,
    stop: str = "sgsl",
) -> Answer:
    """A wrong answer from right parts, one of which is changed.

    join(smoothed losses, plain losses, gate, was_open): whether SGSL counts; total: how the terms add up; spread: ε
    over all C classes, as torch has it; unit: softmax on cosines; stop: which term passes no gradient on to W.
    """

    def answer(
        embeddings: Tensor,
        labels: Tensor,
        weight: Tensor,
        gamma: float,
        beta: float,
        gate: float,
        epsilon: float,
        was_open: bool,
    ) -> Tensor:
        W = weight.detach() if stop == "both" else weight
        logits = cosines(embeddings, W) if unit else embeddings @ W.T
        each = (
            cross_entropy(logits, labels, label_smoothing=epsilon, reduction="none")
            if spread
            else smoothed(logits, labels, epsilon, "none")
        )
        plain = cross_entropy(logits, labels, reduction="none")
        extra = sgsl_each(embeddings, labels, weight if stop == "none" else weight.detach(), gamma)
        is_open = torch.as_tensor(join(each, plain, gate, was_open))
        return total(each, torch.where(is_open, extra, torch.zeros_like(extra)), beta).mean()

    return answer


MISTAKES = (
    Mistake(
        "asked anew",
        "The gate is asked anew, as in the released code: once open (`was_open`) it stays open.",
        combine(lambda each, plain, gate, was: bool(each.mean() < gate)),
    ),
    Mistake(
        "never opens",
        "SGSL joins only if it was in before: below the gate it must open.",
        combine(lambda each, plain, gate, was: was),
    ),
    Mistake(
        "always open",
        "The gate is not used: SGSL takes part in every case.",
        combine(lambda each, plain, gate, was: True),
    ),
    Mistake(
        "gate turned",
        "The gate is turned round: SGSL joins when the softmax loss is below it.",
        combine(lambda each, plain, gate, was: was or bool(each.mean() > gate)),
    ),
    Mistake(
        "gate on the plain loss",
        "The gate looks at the loss without label smoothing; here it looks at the "
        "smoothed one, which is what training shows.",
        combine(lambda each, plain, gate, was: was or bool(plain.mean() < gate)),
    ),
    Mistake(
        "gate for each sample",
        "Every sample has its own gate here; the gate looks at the mean of the batch.",
        combine(lambda each, plain, gate, was: (each < gate) | was),
    ),
    Mistake("no beta", "β is not used.", combine(total=lambda softmax, sgsl, beta: softmax + sgsl)),
    Mistake(
        "beta on the softmax",
        "β stands before the wrong term: it weighs SGSL.",
        combine(total=lambda softmax, sgsl, beta: beta * softmax + sgsl),
    ),
    Mistake(
        "mixture",
        "β does not mix the two terms: the softmax keeps its full weight (Eq. 7).",
        combine(total=lambda softmax, sgsl, beta: (1 - beta) * softmax + beta * sgsl),
    ),
    Mistake(
        "smoothing over all",
        "ε is spread over all C classes, as torch does; here over the others only.",
        combine(spread=True),
    ),
    Mistake(
        "softmax on cosines", "The softmax takes the plain products W·f; only SGSL takes cosines.", combine(unit=True)
    ),
    Mistake(
        "gradient through W",
        "The value is right, but W gets a gradient from SGSL: stop it there.",
        combine(stop="none"),
    ),
    Mistake(
        "W never moves", "The value is right, but W gets no gradient from the softmax either.", combine(stop="both")
    ),
    Mistake(
        "sum",
        "It adds up over the samples; both terms are means.",
        combine(total=lambda softmax, sgsl, beta: len(softmax) * (softmax + beta * sgsl)),
    ),
)

QUESTION = Question(
    Exercise("gated_sgsl", TASK, gated_sgsl, public_cases, MISTAKES, gradient=("embeddings", "weight")),
    points=6,
    hidden=hidden_cases,
)
