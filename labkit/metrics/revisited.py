"""ROxford and RParis: a landmark has easy, hard and junk pictures in the gallery (Radenović et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.base.tensors import check_float_matrix, unit_rows

AT = (1, 5, 10)  # ranks of mP@k
# for each protocol: which pictures count as right, and which are left out as if they were not in the gallery
PROTOCOLS = {
    "easy": (("easy",), ("junk", "hard")),
    "medium": (("easy", "hard"), ("junk",)),
    "hard": (("hard",), ("junk", "easy")),
}


@dataclass(frozen=True)
class Landmark:
    """The gallery's pictures of one query, by their numbers; all others show something else."""

    easy: tuple[int, ...] = ()
    hard: tuple[int, ...] = ()
    junk: tuple[int, ...] = ()


def evaluate_landmarks(queries: Tensor, gallery: Tensor, landmarks: Sequence[Landmark]) -> dict[str, float]:
    """The revisited protocol: mAP and mP@1, 5, 10 for "easy", "medium" and "hard", by cosine similarity.

    AP = sum over positives of (p_before + p_at) / 2 · 1/|P|, the area under the precision-recall curve by trapezoids
    mP@k = hits among the first k', divided by k' = min(k, rank of the last positive)

    Ranks are counted without the pictures that a protocol leaves out; queries without a positive do not count
    ("queries/easy" … say how many do). queries (Q, D), gallery (N, D), one Landmark for each query. Distractors (R1M)
    are further rows of the gallery: no landmark names them. Of equal similarities the earlier row counts as nearer.
    """
    check_float_matrix("queries", queries)
    check_float_matrix("gallery", gallery, columns=queries.shape[1])
    gallery = gallery.to(queries)
    if len(landmarks) != len(queries):
        raise ValueError(f"landmarks must have one entry for each of the {len(queries)} queries, got {len(landmarks)}")
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in PROTOCOLS}
    rows = unit_rows(gallery)
    for number, (query, landmark) in enumerate(zip(unit_rows(queries), landmarks)):
        check_landmark(number, landmark, len(gallery))
        order = (rows @ query).argsort(descending=True, stable=True)
        for name, (right, left_out) in PROTOCOLS.items():
            ranks = positive_ranks(order, picked(landmark, right), picked(landmark, left_out))
            if len(ranks):
                found[name].append((average_precision(ranks), *(precision(ranks, k) for k in AT)))
    out: dict[str, float] = {}
    for name, values in found.items():
        means = torch.tensor(values, dtype=torch.float64).reshape(-1, 1 + len(AT)).mean(0).tolist()
        out |= {f"{metric}/{name}": mean for metric, mean in zip(("mAP", *(f"mP@{k}" for k in AT)), means)}
        out[f"queries/{name}"] = len(values)
    return out


def check_landmark(number: int, landmark: Landmark, size: int) -> None:
    """Every picture is in the gallery, and is of one kind only."""
    named = [*landmark.easy, *landmark.hard, *landmark.junk]
    if any(not isinstance(picture, int) or not 0 <= picture < size for picture in named):
        raise ValueError(f"landmarks[{number}] names a picture that is not in 0 … {size - 1}, the gallery's rows")
    if len(set(named)) < len(named):
        raise ValueError(f"landmarks[{number}] names a picture twice")


def picked(landmark: Landmark, kinds: Sequence[str]) -> Tensor:
    """The pictures of some kinds."""
    return torch.tensor([picture for kind in kinds for picture in getattr(landmark, kind)], dtype=torch.long)


def positive_ranks(order: Tensor, positive: Tensor, left_out: Tensor) -> Tensor:
    """Ranks of the positives from 0 on, ascending, in the order without what is left out."""
    order = order.cpu()
    kept = order[~torch.isin(order, left_out)]
    return torch.isin(kept, positive).nonzero().flatten().double()


def average_precision(ranks: Tensor) -> float:
    """The area under the precision-recall curve, by trapezoids, from ascending ranks (0 is the top)."""
    nth = torch.arange(len(ranks), dtype=torch.float64)
    before = torch.where(ranks == 0, 1.0, nth / ranks.clamp_min(1))
    return float(((before + (nth + 1) / (ranks + 1)) / 2).mean())


def precision(ranks: Tensor, k: int) -> float:
    """Hits among the first k, or among those up to the last positive where that comes earlier."""
    within = min(k, int(ranks[-1]) + 1)
    return float((ranks < within).sum()) / within
