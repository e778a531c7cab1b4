"""One frame of an embedding that moves while a run learns: on the circle, on the sphere, or its two main directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit.figures import style
from labkit.figures.sphere import sphere
from labkit.figures.toy import on_circles, points

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from labkit.training.moving import Moving

CLASSES = len(style.COLORS)  # as many as colours and shapes can tell apart
PER_CLASS = 60
NAME = 24  # letters of a class's name in the legend


def moving_figure(moving: Moving, frame: int) -> tuple[go.Figure, str]:
    """The figure of a frame, and what it shows in words ("showing n of N classes")."""
    names, labels = moving.points.names, moving.points.labels
    shown = sorted(names)[:CLASSES]
    chosen = moving.points.is_test & torch.isin(labels, torch.tensor(shown, dtype=labels.dtype))
    now, dim, title = moving.frames[frame], moving.frames.shape[2], f"step {moving.steps[frame]}"
    what = f"Showing {len(shown)} of {len(names)} unseen classes"
    if dim == 2:
        seen = ~moving.points.is_test & (labels < CLASSES)
        both = "inside: training<br>outside: unseen" if bool(seen.any()) else ""
        fig = on_circles((now[seen], labels[seen]), (now[chosen], labels[chosen]), both, title)
        return fig, f"{what}, as directions; training classes inside." if both else f"{what}, as directions."
    if dim == 3:
        number = torch.tensor([shown.index(label) for label in labels[chosen].tolist()])
        called = [f"{names[label]:.{NAME}}" for label in shown]
        return sphere(now[chosen], number, called, per_class=PER_CLASS, title=title), f"{what}, as directions."
    own = moving.points.is_test
    placed = main_directions(moving.frames[-1][own])
    unit = torch.nn.functional.normalize(now[chosen], dim=1)
    traces = points((unit - placed[0]) @ placed[1], labels[chosen], "class", size=7, most=PER_CLASS)
    fig = style.figure(*traces, x="first main direction", y="second main direction", title=title, height=460)
    fig.update_xaxes(range=[-1.2, 1.2])
    fig.update_yaxes(range=[-1.2, 1.2], scaleanchor="x")
    return fig, f"{what}, in the two main directions (PCA) of the last frame."


def main_directions(embeddings: Tensor) -> tuple[Tensor, Tensor]:
    """The mean of the unit vectors and their two directions of largest variance (d, 2)."""
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    mean = unit.mean(0)
    _, _, across = torch.linalg.svd(unit - mean, full_matrices=False)
    return mean, across[:2].T
