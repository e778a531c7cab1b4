"""∂L/∂S of MPA: how strongly every sample pulls or pushes every class."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from labkit.assignments.assignment import Question
from labkit.assignments.proxies.ragged_similarity import LOW
from labkit.lessons.draw import normal, seeded, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "∂L/∂S(x, c) of MPA (Eq. 6, C⁻ = all classes) for every sample and class: negative pulls, positive pushes."


def some_similarities(rng: torch.Generator, N: int, C: int, *K: int) -> Tensor:
    """Between −0.9 and 0.9, (N, C) or (N, C, K)."""
    return 0.9 * torch.tanh(normal(rng, N, C, *K))


def public_cases() -> list[Case]:
    """A class that is missing, two scales, no margin, and a scale at which e^α overflows."""
    S = some_similarities(seeded(4), 5, 4)
    y = torch.tensor([2, 0, 0, 2, 1])
    return [
        Case("5 samples, 4 classes, one missing, α = 4", {"similarity": S, "labels": y, "alpha": 4.0, "delta": 0.1}),
        Case("α = 16, δ = 0.3", {"similarity": S, "labels": y, "alpha": 16.0, "delta": 0.3}),
        Case("α = 1, no margin", {"similarity": S, "labels": y, "alpha": 1.0, "delta": 0.0}),
        Case("α = 2000", {"similarity": S, "labels": y, "alpha": 2000.0, "delta": 0.1}, edge=True),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes, shuffled labels; one class, one sample, a scale at which e^α overflows."""
    cases = []
    for alpha, delta in ((2.0, 0.1), (8.0, 0.2), (32.0, 0.1)):
        N, C = whole(rng, 5, 9), whole(rng, 3, 7)
        y = torch.randint(C - 1, (N,), generator=rng)  # the last class is missing
        S = some_similarities(rng, N, C)
        cases.append(
            Case(
                f"{N} samples, {C} classes, α = {alpha}", {"similarity": S, "labels": y, "alpha": alpha, "delta": delta}
            )
        )
    S, y = some_similarities(rng, 6, 5), torch.randint(5, (6,), generator=rng)
    one = torch.full((3,), whole(rng, 0, 2))
    return [
        *cases,
        Case("all of one class", {"similarity": S[:3, :3], "labels": one, "alpha": 4.0, "delta": 0.1}, edge=True),
        Case("one sample", {"similarity": S[:1], "labels": y[:1], "alpha": 4.0, "delta": 0.1}),
        Case("α = 3000", {"similarity": S, "labels": y, "alpha": 3000.0, "delta": 0.05}, edge=True),
    ]


def shares(u: Tensor, mask: Tensor, over: int = 0, one: bool = True) -> Tensor:
    """Slopes of log(1 + Σ e^u) over the masked entries along an axis; one=False: of log Σ e^u."""
    low = torch.where(mask, u, LOW)
    start = torch.full_like(u.select(over, 0), 0.0 if one else LOW).unsqueeze(over)
    return torch.softmax(torch.cat([start, low], over), over).narrow(over, 1, u.shape[over]) * mask


def own_places(S: Tensor, labels: Tensor) -> Tensor:
    """(N, C): the class is the sample's own."""
    return one_hot(labels, S.shape[1]).bool()


def parts(
    S: Tensor, labels: Tensor, alpha: float, delta: float, over: int = 0, one: bool = True
) -> tuple[Tensor, Tensor, int]:
    """Slopes of the positive and the negative part before they are averaged, and the number of classes present."""
    own = own_places(S, labels)
    pull = -alpha * shares(-alpha * (S - delta), own, over, one)
    push = alpha * shares(alpha * (S + delta), ~own, over, one)
    return pull, push, int(own.any(0).sum())


def mpa_weights(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """∂L/∂S of Eq. 6, as Eq. 8 has it; C⁻ are all classes."""
    pull, push, present = parts(similarity, labels, alpha, delta)
    return pull / present + push / similarity.shape[1]


def naive_weights(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """Eq. 8 as it is printed."""
    own = own_places(similarity, labels)
    pull = torch.where(own, torch.exp(-alpha * (similarity - delta)), 0.0)
    push = torch.where(own, 0.0, torch.exp(alpha * (similarity + delta)))
    C = similarity.shape[1]
    return -alpha * pull / (1 + pull.sum(0)) / own.any(0).sum() + alpha * push / (1 + push.sum(0)) / C


def alone(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """Every pair in a logarithm of its own."""
    own = own_places(similarity, labels)
    pull = -alpha * torch.sigmoid(-alpha * (similarity - delta)) * own
    push = alpha * torch.sigmoid(alpha * (similarity + delta)) * ~own
    return pull / own.any(0).sum() + push / similarity.shape[1]


def all_pairs(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
    """MPA-AP."""
    sign = 1.0 - 2.0 * own_places(similarity, labels)
    share = shares(alpha * (sign * similarity + delta), torch.ones_like(sign, dtype=torch.bool), 1)
    return alpha * sign * share / len(similarity)


def combined(pull: float, push: float, over: int = 0, one: bool = True, margins: tuple[int, int] = (1, 1)) -> Answer:
    """A wrong answer from right parts: divisors (1 right, 2 exchanged, 0 none), axis, the "1 +", the margins' signs."""

    def answer(similarity: Tensor, labels: Tensor, alpha: float, delta: float) -> Tensor:
        a, _, present = parts(similarity, labels, alpha, margins[0] * delta, over, one)
        _, b, _ = parts(similarity, labels, alpha, margins[1] * delta, over, one)
        C = similarity.shape[1]
        return a / (present if pull == 1 else C if pull == 2 else 1) + b / (
            C if push == 1 else present if push == 2 else 1
        )

    return answer


MISTAKES = (
    Mistake(
        "overflow", "e^(α…) overflows at large α, and ∞/∞ is NaN: use a softmax with one more entry, 0.", naive_weights
    ),
    Mistake(
        "sign",
        "The sign is turned round: ∂L/∂S is below 0 for the own class, since L falls when S rises.",
        lambda similarity, labels, alpha, delta: -mpa_weights(similarity, labels, alpha, delta),
    ),
    Mistake(
        "no alpha",
        "The inner derivative is missing: the exponent has the factor ∓α.",
        lambda similarity, labels, alpha, delta: mpa_weights(similarity, labels, alpha, delta) / alpha,
    ),
    Mistake(
        "no one",
        "The 1 inside the logarithm is missing: without it the shares of a class always add up to 1.",
        combined(1, 1, one=False),
    ),
    Mistake(
        "pull over all classes",
        "The positive part is divided by all classes; divide by those in the batch.",
        combined(2, 1),
    ),
    Mistake(
        "push over present classes",
        "The negative part is divided by the batch's classes; all classes push.",
        combined(1, 2),
    ),
    Mistake("not divided", "Both parts are means over classes: the divisors are missing.", combined(0, 0)),
    Mistake(
        "by sample",
        "The sums run over classes for each sample; MPA sums over samples for each class.",
        lambda similarity, labels, alpha, delta: sum(parts(similarity, labels, alpha, delta, 1)[:2]) / len(similarity),
    ),
    Mistake("all pairs", "Own class and others share one logarithm: that is MPA-AP. MPA has two per class.", all_pairs),
    Mistake(
        "alone", "Every pair is treated alone: the denominator sums over all samples in the same logarithm.", alone
    ),
    Mistake(
        "margin turned",
        "The margin has the wrong sign: it is S − δ for the own class, S + δ for the others.",
        lambda similarity, labels, alpha, delta: mpa_weights(similarity, labels, alpha, -delta),
    ),
    Mistake(
        "one margin", "Both parts have S − δ; the others' similarities have S + δ.", combined(1, 1, margins=(1, -1))
    ),
    Mistake(
        "margin unscaled",
        "δ stands outside the scale: it is α(S ± δ), not αS ± δ.",
        lambda similarity, labels, alpha, delta: mpa_weights(similarity, labels, alpha, delta / alpha),
    ),
    Mistake(
        "pull only",
        "The negative part is missing: other classes push.",
        lambda similarity, labels, alpha, delta: torch.where(
            own_places(similarity, labels), mpa_weights(similarity, labels, alpha, delta), 0.0
        ),
    ),
)

QUESTION = Question(
    Exercise("mpa_weights", TASK, mpa_weights, public_cases, MISTAKES),
    points=6,
    hidden=hidden_cases,
)
