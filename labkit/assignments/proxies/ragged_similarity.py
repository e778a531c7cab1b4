"""Similarity to classes that have unequal numbers of proxies."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import normalize

from labkit.assignments.assignment import Question
from labkit.lessons.draw import normal, seeded, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "S(x, c) of every sample with every class (MPA Eq. 1), where classes have different numbers of proxies."

LOW = -1e300  # stands for −∞ where a mask must stay finite


def some_proxies(rng: torch.Generator, N: int, C: int, K: int, D: int, gamma: float) -> dict[str, Tensor | float]:
    """A class has 1 to K proxies, at any of its places; one class has K, one has a single one."""
    order = torch.rand(C, K, generator=rng).argsort(1)
    count = torch.randint(1, K + 1, (C,), generator=rng)
    count[0], count[-1] = K, 1
    x, v = 3 * normal(rng, N, D), 2 * normal(rng, C, K, D)
    return {"embeddings": x, "proxies": v, "exists": order < count[:, None], "gamma": gamma}


def public_cases() -> list[Case]:
    """Soft and sharp γ, unequal numbers, one proxy each, and rows of zeros where no proxy is."""
    rng = seeded(0)
    base = some_proxies(rng, 4, 3, 4, 5, 0.1)
    exists = base["exists"]
    assert isinstance(exists, Tensor)
    return [
        Case("4 samples, classes with 4, 1 to 4, and 1 proxies, γ = 0.1", base),
        Case("the same, γ = 1", base | {"gamma": 1.0}),
        Case("every place holds a proxy, γ = 0.3", base | {"exists": torch.ones_like(exists), "gamma": 0.3}),
        Case(
            "zeros where no proxy is", base | {"proxies": base["proxies"] * exists[..., None], "gamma": 0.5}, edge=True
        ),
    ]


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Random sizes; huge rows where no proxy is, a very sharp γ, one class, one sample."""
    cases = []
    for gamma in (0.1, 0.5, 2.0):
        N, C, K, D = whole(rng, 2, 7), whole(rng, 2, 6), whole(rng, 3, 5), whole(rng, 2, 6)
        cases.append(Case(f"{N} samples, {C} classes, K = {K}, γ = {gamma}", some_proxies(rng, N, C, K, D, gamma)))
    base = some_proxies(rng, 5, 4, 3, 4, 0.2)
    huge = torch.where(base["exists"][..., None], base["proxies"], 1e6)  # type: ignore[index]
    zero = torch.where(base["exists"][..., None], base["proxies"], 0.0)  # type: ignore[index]
    single = some_proxies(rng, 1, 1, 3, 4, 0.3)
    return [
        *cases,
        Case("huge rows where no proxy is", base | {"proxies": huge}),
        Case("zeros where no proxy is, γ = 0.2", base | {"proxies": zero}, edge=True),
        Case("γ = 0.0005", base | {"gamma": 0.0005}, edge=True),
        Case("one sample, one class", single | {"exists": torch.tensor([[True, False, True]])}),
    ]


def cosines(embeddings: Tensor, proxies: Tensor) -> Tensor:
    """Of every sample with every place, (N, C, K)."""
    return torch.einsum("nd,ckd->nck", normalize(embeddings, dim=-1), normalize(proxies, dim=-1))


def ragged_similarity(embeddings: Tensor, proxies: Tensor, exists: Tensor, gamma: float) -> Tensor:
    """Eq. 1 over the proxies that a class has."""
    s = cosines(embeddings, proxies)
    return (torch.softmax((s / gamma).masked_fill(~exists, -torch.inf), 2) * s).sum(2)


def of_cosines(measure: Answer) -> Answer:
    """A wrong answer whose cosines are right: measure(s, exists, gamma)."""
    return lambda embeddings, proxies, exists, gamma: measure(cosines(embeddings, proxies), exists, gamma)


def filled(s: Tensor, exists: Tensor, gamma: float, fill: float) -> Tensor:
    """Missing places take part with the similarity `fill`."""
    s = torch.where(exists, s, fill)
    return (torch.softmax(s / gamma, 2) * s).sum(2)


def over_axis(s: Tensor, exists: Tensor, gamma: float) -> Tensor:
    """A softmax over classes, for each place."""
    return (torch.softmax((s / gamma).masked_fill(~exists, LOW), 1) * s * exists).sum(2)


def over_all(s: Tensor, exists: Tensor, gamma: float) -> Tensor:
    """One softmax over all proxies of all classes."""
    p = torch.softmax((s / gamma).masked_fill(~exists, LOW).flatten(1), 1).view_as(s)
    return (p * s).sum(2)


def with_lengths(x: bool) -> Answer:
    """Without normalising the embeddings (x), or the proxies."""

    def answer(embeddings: Tensor, proxies: Tensor, exists: Tensor, gamma: float) -> Tensor:
        a = embeddings if x else normalize(embeddings, dim=-1)
        b = normalize(proxies, dim=-1) if x else proxies
        s = torch.einsum("nd,ckd->nck", a, b)
        return (torch.softmax((s / gamma).masked_fill(~exists, LOW), 2) * s * exists).sum(2)

    return answer


MISTAKES = (
    Mistake(
        "mask ignored",
        "Places without a proxy take part: `exists` is not used.",
        of_cosines(lambda s, e, g: (torch.softmax(s / g, 2) * s).sum(2)),
    ),
    Mistake(
        "similarity zero",
        "A missing place has the similarity 0, and e⁰ = 1 still weighs: it must weigh 0.",
        of_cosines(lambda s, e, g: filled(s, e, g, 0.0)),
    ),
    Mistake(
        "similarity minus one",
        "A missing place has the similarity −1, and e^(−1/γ) still weighs something: it must weigh 0.",
        of_cosines(lambda s, e, g: filled(s, e, g, -1.0)),
    ),
    Mistake(
        "not renormalised",
        "Weights are set to 0 after the softmax, so the rest no longer adds up to 1.",
        of_cosines(lambda s, e, g: (torch.softmax(s / g, 2) * e * s).sum(2)),
    ),
    Mistake(
        "mean",
        "It takes the plain mean over the proxies; the weights are a softmax.",
        of_cosines(lambda s, e, g: (s * e).sum(2) / e.sum(1)),
    ),
    Mistake(
        "maximum",
        "It takes the nearest proxy only; Eq. 1 is a weighted mean.",
        of_cosines(lambda s, e, g: s.masked_fill(~e, -torch.inf).amax(2)),
    ),
    Mistake(
        "logsumexp",
        "γ·logsumexp(s/γ) is another soft maximum; Eq. 1 has weights times similarities.",
        of_cosines(lambda s, e, g: g * torch.logsumexp((s / g).masked_fill(~e, -torch.inf), 2)),
    ),
    Mistake(
        "over classes",
        "The softmax runs over the classes; each class has a softmax over its own proxies.",
        of_cosines(over_axis),
    ),
    Mistake(
        "over all proxies",
        "One softmax over all proxies of all classes; each class has one of its own.",
        of_cosines(over_all),
    ),
    Mistake(
        "times gamma",
        "The similarity is multiplied by γ; it must be divided, so that a small γ is sharp.",
        of_cosines(lambda s, e, g: (torch.softmax((s * g).masked_fill(~e, -torch.inf), 2) * s).sum(2)),
    ),
    Mistake(
        "no gamma",
        "γ is not used.",
        of_cosines(lambda s, e, g: (torch.softmax(s.masked_fill(~e, -torch.inf), 2) * s).sum(2)),
    ),
    Mistake(
        "stopped weights",
        "The value is right, but the softmax is detached: the weights have a gradient, too.",
        of_cosines(lambda s, e, g: (torch.softmax((s / g).masked_fill(~e, -torch.inf), 2).detach() * s).sum(2)),
    ),
    Mistake(
        "embeddings not normalised", "The embeddings keep their length: divide each by its norm.", with_lengths(x=True)
    ),
    Mistake("proxies not normalised", "The proxies keep their length: divide each by its norm.", with_lengths(x=False)),
)

QUESTION = Question(
    Exercise("ragged_similarity", TASK, ragged_similarity, public_cases, MISTAKES, gradient=("embeddings", "proxies")),
    points=5,
    hidden=hidden_cases,
)
