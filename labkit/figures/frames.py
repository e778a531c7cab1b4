"""Embeddings of a run at one step of its training: two dimensions on circles, three on the sphere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from labkit.figures import style
from labkit.figures.sphere import sphere
from labkit.figures.toy import nearest_is_same

if TYPE_CHECKING:
    import plotly.graph_objects as go

DRAWN = (2, 3)  # dimensions
LONGEST = 40  # letters of a name in the legend
SHAPES = (*style.MARKERS, "triangle-down", "circle-open", "square-open")  # the explorer's, so that classes look alike


def frame_figure(
    embeddings: Tensor, labels: Tensor, names: Sequence[str], parts: Sequence[str], title: str = ""
) -> go.Figure:
    """Embeddings (n, 2) or (n, 3) of one frame; labels are rows of `names`, parts the split of every point.

    R@1 of each split in the title looks for neighbours within the split. Names may hold anything: they become text.
    """
    names = [escape(name if len(name) <= LONGEST else f"{name[:LONGEST]}…") for name in names]
    splits = sorted(set(parts), reverse=True)  # train before test: unseen classes are on the outer circle
    rows = {split: torch.tensor([i for i, part in enumerate(parts) if part == split]) for split in splits}
    recall = [
        f"R@1 of {escape(split)} {100 * nearest_is_same(embeddings[own], labels[own]):.0f} %"
        for split, own in rows.items()
    ]
    said = ", ".join([title, *recall] if title else recall)
    if embeddings.shape[1] == 3:
        return sphere(embeddings, labels, names, title=said)
    return circles(embeddings, labels, names, rows, said)


def circles(
    embeddings: Tensor, labels: Tensor, names: Sequence[str], rows: dict[str, Tensor], title: str = ""
) -> go.Figure:
    """Directions of embeddings (n, 2), a circle for each split; points lie a little off it, as many coincide."""
    import plotly.graph_objects as go

    turn = np.linspace(0, 2 * np.pi, 73)
    radii = dict(zip(rows, np.linspace(0.6, 1.0, len(rows)) if len(rows) > 1 else [1.0]))
    traces = [
        go.Scatter(
            x=(radius * np.cos(turn)).astype(np.float32), y=(radius * np.sin(turn)).astype(np.float32), mode="lines",
            line={"color": style.GRID, "width": 2}, showlegend=False, hoverinfo="skip",
        )
        for radius in radii.values()
    ]  # fmt: skip
    angle = torch.atan2(embeddings[:, 1].double(), embeddings[:, 0].double()).numpy()
    off = 0.06 * np.cos(2.4 * np.arange(len(angle)))  # the same in every frame, so that points do not flicker
    far = np.ones(len(angle))
    for split, own in rows.items():
        far[own.numpy()] = radii[split]
    x, y = (far + off) * np.cos(angle), (far + off) * np.sin(angle)
    numbers = labels.numpy()
    for number, name in enumerate(names):
        look = {"color": style.COLORS[number % len(style.COLORS)], "symbol": SHAPES[number % len(SHAPES)], "size": 8}
        own = numbers == number
        traces.append(
            go.Scatter(
                x=x[own].astype(np.float32), y=y[own].astype(np.float32), mode="markers", name=name,
                marker=look | {"opacity": 0.8}, hoverinfo="name",
            )
        )  # fmt: skip
    fig = style.figure(
        *traces, title=title, height=560, uirevision="circles", margin={"l": 10, "r": 10, "t": 50, "b": 10}
    )
    fig.update_xaxes(range=[-1.1, 1.1], visible=False, constrain="domain")  # directions: the radius only tells splits
    fig.update_yaxes(range=[-1.1, 1.1], visible=False, scaleanchor="x", constrain="domain")
    fig.update_layout(legend={"orientation": "h", "x": 0.5, "xanchor": "center", "y": 0, "yanchor": "top"})
    if len(rows) == 2:
        inner, outer = rows
        text = f"inside: {escape(inner)}<br>outside: {escape(outer)}"
        fig.add_annotation(x=0, y=0, text=text, showarrow=False)
    return fig
