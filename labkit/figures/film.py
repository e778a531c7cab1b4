"""One frame of a film, still: directions on two circles or on the sphere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.figures import style
from labkit.metrics.nearest import unit_rows
from labkit.runs.film import Film

if TYPE_CHECKING:
    import plotly.graph_objects as go

Ring = tuple[Any, Any]  # embeddings (n, 2) and labels (n,), arrays or tensors
SHOWN = 18  # points of a class on a circle
INNER = 0.6  # radius of the inner of two circles
SYMBOLS = ("circle", "square", "diamond", "cross")  # what plotly draws in space in every font
TURN = np.linspace(0, 2 * np.pi, 49)
APART = 0.35  # names closer than this would be printed over each other


def film_figure(film: Film, frame: int) -> go.Figure:
    """A frame of a film in two dimensions, training classes on the inner circle, or of one in three."""
    now, labels, unseen = film.unit[frame], film.numbers, film.unseen
    if film.kind == "sphere":
        return sphere(now, film.labels, film.classes)
    return on_circles(
        (now[~unseen], labels[~unseen]), (now[unseen], labels[unseen]), "inside: training<br>outside: unseen"
    )


def on_circles(inner: Ring, outer: Ring, middle: str, title: str = "", height: int = 460) -> go.Figure:
    """Unit embeddings on two circles, each given with its labels; middle: words in the centre that say which is which.

    Points are moved a little off their circle, outwards or inwards, because many coincide.
    """
    import plotly.graph_objects as go

    look = {"mode": "lines", "line": {"color": style.COLORS[6], "width": 1}, "showlegend": False, "hoverinfo": "skip"}
    traces: list[go.Scatter] = [
        go.Scatter(x=(radius * np.cos(TURN)).round(3).tolist(), y=(radius * np.sin(TURN)).round(3).tolist(), **look)
        for radius in (INNER, 1.0)
    ]
    for number, (radius, (embeddings, labels)) in enumerate(((INNER, inner), (1.0, outer))):
        x, y = np.asarray(embeddings, np.float64).T
        angle = np.arctan2(y, x)
        far = radius + 0.06 * np.cos(2.4 * np.arange(len(angle)))  # the same in every frame: points do not flicker
        placed = np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1)
        traces += points(placed, labels, "class", size=7 + 2 * number, most=SHOWN, legend=number == 1)
    fig = style.figure(*traces, title=title, height=height, margin={"l": 10, "r": 10, "t": 50, "b": 10})
    fig.update_xaxes(range=[-1.15, 1.15], visible=False)
    fig.update_yaxes(range=[-1.15, 1.15], visible=False, scaleanchor="x")
    fig.add_annotation(x=0, y=0, text=middle, showarrow=False, font={"size": style.FONT_SIZE - 3})
    return fig


def points(
    placed: Any, labels: Any, name: str, *, size: int, most: int, legend: bool = True, rim: bool = False
) -> list[go.Scatter]:
    """One trace a class of points (n, 2), evenly thinned to `most` points and rounded: pictures stay small."""
    import plotly.graph_objects as go

    placed, labels, traces = np.asarray(placed, np.float64), np.asarray(labels), []
    for label in np.unique(labels).tolist():
        own = placed[labels == label]
        own = own[np.linspace(0, len(own) - 1, min(most, len(own))).round().astype(int)]
        x, y = own.T.round(3).tolist()
        look = style.marker(label, size=size, opacity=0.9 if rim else 0.7)
        if rim:
            look["line"] = {"color": style.TEXT, "width": 1.5}
        called = f"{name} {label}"
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                mode="markers",
                marker=look,
                name=called,
                legendgroup=called,
                showlegend=legend,
                hoverinfo="name",
            )
        )
    return traces


def sphere(embeddings: Any, labels: Any, names: Sequence[str], title: str = "") -> go.Figure:
    """Points (n, 3) as directions, a colour and a symbol a class, on a faint sphere; names at the class means."""
    import plotly.graph_objects as go

    unit, labels = unit_rows(np.asarray(embeddings, np.float64)), np.asarray(labels)
    centers = unit_rows(np.stack([unit[labels == number].sum(axis=0) for number in range(len(names))]))
    traces: list[Any] = [go.Scatter3d(**wires(), mode="lines", hoverinfo="skip", showlegend=False)]
    for number, name in enumerate(names):
        marker = {"color": style.COLORS[number % len(style.COLORS)], "symbol": SYMBOLS[number % len(SYMBOLS)]}
        own = coordinates(unit[labels == number])
        traces.append(go.Scatter3d(**own, mode="markers", name=name, marker=marker | {"size": 3.5}, hoverinfo="name"))
    traces.append(
        go.Scatter3d(
            **coordinates(1.2 * centers),
            mode="text",
            text=printable(centers, names),
            showlegend=False,
            textfont={"size": 12, "color": style.TEXT},
            hoverinfo="skip",
        )
    )
    fig = style.figure(*traces, title=title, height=560)
    axis = {"visible": False, "range": [-1.3, 1.3]}
    fig.update_layout(scene={"xaxis": axis, "yaxis": axis, "zaxis": axis}, margin={"l": 0, "r": 0, "t": 50, "b": 0})
    return fig


def coordinates(points: Any) -> dict[str, list[float]]:
    """x, y and z with three digits: short on a page."""
    return {axis: column.tolist() for axis, column in zip("xyz", np.round(points, 3).T)}


def printable(centers: Any, names: Sequence[str]) -> list[str]:
    """The names, but "" where another name stands already."""
    shown: list[int] = []
    for number in range(len(names)):
        if all(np.linalg.norm(centers[number] - centers[other]) > APART for other in shown):
            shown.append(number)
    return [name if number in shown else "" for number, name in enumerate(names)]


def wires() -> dict[str, Any]:
    """Three parallels and three meridians as one broken line."""
    lines: list[list[float | None]] = [[], [], []]
    cos, sin = np.cos(TURN), np.sin(TURN)
    circles = [(cos * np.cos(t), sin * np.cos(t), np.full(len(TURN), np.sin(t))) for t in (-0.8, 0, 0.8)]
    circles += [(cos * np.cos(t), cos * np.sin(t), sin) for t in (0, 1.047, 2.094)]
    for circle in circles:
        for line, values in zip(lines, circle):
            line += [*np.round(values, 2).tolist(), None]
    return dict(zip("xyz", lines)) | {"line": {"color": style.TEXT, "width": 1.5}, "opacity": 0.4}
