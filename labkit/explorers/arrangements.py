"""Three arrangements of classes on a circle, where separability and retrieval say opposite things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit import metrics
from labkit.base.checks import check_choice
from labkit.figures.lessons.metrics_that_disagree import separability

if TYPE_CHECKING:
    import plotly.graph_objects as go

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


def draw(shape: str, spread: float) -> go.Figure:
    """The arrangement with its metrics."""
    points, label = arrangement(shape, spread)
    return separability(points, label, metrics.evaluate(points, label, ks=(1,), nmi=True, progress=False))
