"""Lesson 2: a ranking to rearrange by hand with every metric beside it, and arrangements of classes on a circle."""

from __future__ import annotations

import base64
import io
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit import metrics
from labkit.base.checks import check_choice
from labkit.data import Dataset, load
from labkit.data.sprites import picture
from labkit.explorers.drag import show_drag
from labkit.figures.lessons.metrics_that_disagree import ranking_metrics, separability

if TYPE_CHECKING:
    import plotly.graph_objects as go

PANDA = "panda"
LISTS = {
    "one hit at the top": (1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "hits at 1 and 10": (1, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    "hits at 1 and 3": (1, 0, 1, 0, 0, 0, 0, 0, 0, 0),
    "hits at 1, 3, 7, 10": (1, 0, 1, 0, 0, 0, 1, 0, 0, 1),
    "hits at 1 to 4": (1, 1, 1, 1, 0, 0, 0, 0, 0, 0),
}  # Table 3 of the MPA paper


def explore_ranking(num_relevant: int = 4) -> None:
    """Drag drawings of emoji to other ranks; every metric answers at once. The still picture: lists of MPA Table 3."""
    start = "hits at 1, 3, 7, 10"
    values = {
        "kind": "order",
        "items": list(LISTS[start]),
        "total": num_relevant,
        "k": 10,
        "lists": LISTS,
        "list": start,
        "pictures": {kind: [drawing(i) for i in found] for kind, found in drawings().items()},
    }
    alt = (
        "A ranking of ten drawings, four of them pandas, which are relevant (solid frame, ✓). Drag one elsewhere, "
        "or move it with the arrow keys: bars are the metrics, ticks where they were before, small drawings the places "
        "before."
    )
    beneath = (
        "The still picture has three lists: recall@10 (any hit) is 100 % for all three, and AP@10 divided by the hits "
        "for the first and the last; nDCG@10, MAP@R and AP@10 with its other denominators tell all three apart, and "
        "disagree about by how much."
    )
    chosen = ("one hit at the top", start, "hits at 1 to 4")
    show_drag(values, lambda: [ranking_metrics(LISTS[name], 10, num_relevant) for name in chosen], chosen, alt, beneath)


@cache
def emoji_test() -> Dataset:
    """The drawings of unseen emoji."""
    return load("emoji").test


def drawings() -> dict[str, list[int]]:
    """Drawings of the panda, and one each of other emoji."""
    names = emoji_test().columns["name"]
    others = [names.index(name) for name in dict.fromkeys(names) if name != PANDA]
    return {
        "relevant": [i for i, name in enumerate(names) if name == PANDA],
        "other": others[:: len(others) // 10][:10],
    }


def drawing(i: int, side: int = 48) -> str:
    """A drawing as the address of an image that holds itself."""
    file = io.BytesIO()
    picture(emoji_test(), i, side).save(file, "webp", quality=80)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"


SHAPES = ("each class in its own place", "two classes share a place", "each class in four places")
CLASSES, A_CLASS = 6, 24


def arrangement(shape: str, spread: float, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Unit vectors (N, 2) and labels (N,): six classes, as the shape says, with an angular spread in degrees."""
    check_choice("shape", shape, SHAPES)
    label = torch.arange(CLASSES).repeat_interleave(A_CLASS)
    place = {
        SHAPES[0]: 60.0 * label,
        SHAPES[1]: 120.0 * (label // 2),
        SHAPES[2]: 15.0 * label + 90.0 * (torch.arange(len(label)) % 4),
    }[shape]
    noise = torch.randn(len(label), generator=torch.Generator().manual_seed(seed))
    angle = torch.deg2rad(place + spread * noise)
    return torch.stack([angle.cos(), angle.sin()], 1), label


def draw_arrangement(shape: str, spread: float) -> go.Figure:
    """The arrangement with its metrics."""
    points, label = arrangement(shape, spread)
    return separability(points, label, metrics.evaluate(points, label, ks=(1,), nmi=True, progress=False))
