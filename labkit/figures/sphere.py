"""Embeddings in three dimensions, on the unit sphere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor
from torch.nn.functional import normalize

from labkit import metrics
from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

SYMBOLS = ("circle", "square", "diamond", "cross")  # what plotly draws in space in every font
CIRCLE = np.linspace(0, 2 * np.pi, 25)
APART = 0.35  # names closer than this would be printed over each other


def sphere(
    embeddings: Tensor, labels: Tensor, names: Sequence[str], *, per_class: int | None = None, title: str = ""
) -> go.Figure:
    """Points (n, 3) as directions, a colour and a symbol a class, on a faint sphere; names at the class means.

    per_class: draw only the first so many of each class; CSC in the title is that of all points.
    """
    import plotly.graph_objects as go

    unit = normalize(embeddings.float(), dim=1)
    centers = normalize(class_means(unit, labels, len(names)), dim=1)
    traces: list[Any] = [go.Scatter3d(**wires(), mode="lines", hoverinfo="skip", showlegend=False)]
    for number, name in enumerate(names):
        marker = {"color": style.COLORS[number % len(style.COLORS)], "symbol": SYMBOLS[number % len(SYMBOLS)]}
        points = unit[labels == number][:per_class]
        traces.append(
            go.Scatter3d(
                **coordinates(points), mode="markers", name=name, marker=marker | {"size": 3.5}, hoverinfo="name"
            )
        )  # fmt: skip
    traces.append(
        go.Scatter3d(
            **coordinates(1.2 * centers), mode="text", text=printable(centers, names), showlegend=False,
            textfont={"size": 12, "color": style.TEXT}, hoverinfo="skip",
        )
    )  # fmt: skip
    csc = metrics.csc(embeddings, labels)
    fig = style.figure(*traces, title=f"{title}{', ' if title else ''}CSC {csc:.1f}", height=560)
    axis = {"visible": False, "range": [-1.3, 1.3]}
    size = {"x": 1.7, "y": 1.7, "z": 1.7}  # larger than a camera nearer, which would undo the reader's turns
    # the same uirevision all the time: the view that the reader has turned to stays when the points change
    fig.update_layout(
        scene={"xaxis": axis, "yaxis": axis, "zaxis": axis, "aspectmode": "manual", "aspectratio": size},
        uirevision="sphere", margin={"l": 0, "r": 0, "t": 50, "b": 0}, legend={"itemsizing": "constant"},
    )  # fmt: skip
    return fig


def class_means(unit: Tensor, labels: Tensor, classes: int) -> Tensor:
    """The mean of each class (C, 3)."""
    sums = unit.new_zeros(classes, unit.shape[1]).index_add_(0, labels, unit)
    return sums / labels.bincount(minlength=classes)[:, None].clamp(min=1)


def coordinates(points: Tensor) -> dict[str, list[float]]:
    """x, y and z with three digits: short on a page."""
    columns = np.round(points.double().numpy(), 3).T
    return {axis: column.tolist() for axis, column in zip("xyz", columns)}


def printable(centers: Tensor, names: Sequence[str]) -> list[str]:
    """The names, but "" where another name stands already."""
    shown: list[int] = []
    for number in range(len(names)):
        if all(float((centers[number] - centers[other]).norm()) > APART for other in shown):
            shown.append(number)
    return [name if number in shown else "" for number, name in enumerate(names)]


def wires() -> dict[str, Any]:
    """Three parallels and three meridians as one broken line."""
    lines: list[list[float | None]] = [[], [], []]
    circles = [(np.cos(CIRCLE) * np.cos(t), np.sin(CIRCLE) * np.cos(t), np.full(25, np.sin(t))) for t in (-0.8, 0, 0.8)]
    circles += [(np.cos(CIRCLE) * np.cos(t), np.cos(CIRCLE) * np.sin(t), np.sin(CIRCLE)) for t in (0, 1.047, 2.094)]
    for circle in circles:
        for line, values in zip(lines, circle):
            line += [*np.round(values, 2).tolist(), None]
    return dict(zip("xyz", lines)) | {"line": {"color": style.TEXT, "width": 1.5}, "opacity": 0.4}
