"""Lesson 8's third exercise: the regulariser on a class's proxies, where the printed formula has no value or slope."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from labkit.lessons.draw import normal, seeded
from labkit.lessons.exercise import Case, Exercise, Mistake
from labkit.losses.class_similarity import proxy_regularizer


def regularizer_cases() -> list[Case]:
    """Ordinary proxies, one per class, coincident and opposite ones."""
    v = 2 * normal(seeded(6), 3, 4, 5)
    axis = torch.eye(5, dtype=torch.float64)
    return [
        Case("3 classes, 4 proxies", {"v": v}),
        Case("2 classes, 2 proxies", {"v": v[:2, :2]}),
        Case("one proxy per class", {"v": v[:, :1]}),
        Case("coincident proxies", {"v": torch.stack([axis[[0, 0, 1]], axis[[2, 3, 4]]])}),
        Case("all coincident", {"v": 2 * axis[[1, 1, 1]][None]}),
        Case("opposite proxies", {"v": torch.stack([axis[0], -axis[0]])[None]}),
    ]


def regularizer(v: Tensor) -> Tensor:
    """MPA Eq. 3 of normalised v; 0 for one proxy per class, gradient 0 at coincident ones."""
    return proxy_regularizer(F.normalize(v, dim=-1))


def cosines(v: Tensor) -> Tensor:
    """w_s·w_t of the pairs t < s of every class, (C, pairs)."""
    w = F.normalize(v, dim=-1)
    t, s = torch.triu_indices(w.shape[1], w.shape[1], offset=1)
    return (w[:, t] * w[:, s]).sum(-1)


def distances(v: Tensor) -> Tensor:
    """Of the same pairs; their gradient is 0 where proxies coincide."""
    w = F.normalize(v, dim=-1)
    t, s = torch.triu_indices(w.shape[1], w.shape[1], offset=1)
    apart: Tensor = (w[:, t] - w[:, s]).norm(dim=-1)
    return apart


def divisor(v: Tensor) -> int:
    """C K (K − 1)."""
    return v.shape[0] * v.shape[1] * (v.shape[1] - 1)


def unless_one(v: Tensor, value: Tensor) -> Tensor:
    """0 for one proxy per class, whose sum is empty."""
    return value / divisor(v) if v.shape[1] > 1 else value


REGULARIZER = Exercise(
    "proxy_regularizer",
    "Reg (MPA Eq. 3) of proxies v (C, K, D) that are not normalised yet: value and gradient without NaN.",
    regularizer,
    regularizer_cases,
    (
        Mistake(
            "as printed",
            "NaN twice: 0/0 for one proxy per class, and √ has an infinite slope at coincident proxies.",
            lambda v: torch.sqrt(2 - 2 * cosines(v)).sum() / divisor(v),
        ),
        Mistake(
            "one proxy",
            "One proxy per class has no pairs: Eq. 3 is 0/0 there. Return 0.",
            lambda v: regularizer(v) / (1 if v.shape[1] > 1 else 0),
        ),
        Mistake(
            "root of zero",
            "√ has an infinite slope at 0, so coincident proxies get NaN: take their gradient as 0.",
            lambda v: unless_one(v, torch.sqrt(2 - 2 * cosines(v)).sum()),
        ),
        Mistake(
            "released",
            "1e-5 inside the root, as in the released SoftTriple, makes a distance of 0 count 0.003. Mask "
            "the zeros, or use torch.cdist.",
            lambda v: unless_one(v, torch.sqrt(2 - 2 * cosines(v) + 1e-5).sum()),
        ),
        Mistake(
            "mean distance",
            "Twice too large: each pair counts once (t < s), and Eq. 3 divides by C K (K − 1), "
            "which is twice the number of pairs.",
            lambda v: 2 * regularizer(v),
            also=(lambda v: distances(v).mean(),),
        ),
        Mistake(
            "squared",
            "The root is missing: these are squared distances.",
            lambda v: unless_one(v, (2 - 2 * cosines(v)).sum()),
        ),
        Mistake(
            "cosines",
            "These are cosines; Eq. 3 has distances √(2 − 2 w·w).",
            lambda v: unless_one(v, cosines(v).sum()),
        ),
        Mistake(
            "not normalised", "v is not normalised yet: divide each proxy by its norm.", lambda v: proxy_regularizer(v)
        ),
        Mistake(
            "no class mean",
            "The number of classes C is missing in the divisor.",
            lambda v: regularizer(v) * len(v),
        ),
        Mistake(
            "across classes",
            "Pairs of different classes are in it: only proxies of one class attract each other.",
            lambda v: unless_one(v, regularizer(v.flatten(0, 1)[None]) * v[..., 0].numel() * (v[..., 0].numel() - 1)),
        ),
        Mistake(
            "wrong axis",
            "It compares the k-th proxies of different classes: the pairs are within a class, axis 1.",
            lambda v: regularizer(v.transpose(0, 1)),
        ),
        Mistake(
            "sign",
            "The sign is turned round: Reg grows with the distances, so that minimising it gathers a class.",
            lambda v: -regularizer(v),
        ),
    ),
    gradient="v",
)
