"""Lesson 5: SiMix's virtual samples in the plane, and the memory of a batch in one pass and in two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go


def mixed_pair(a: float, angle: float) -> go.Figure:
    """x and z on the unit circle, `angle` degrees apart, and v = a·x + (1−a)·z on the chord between them."""
    import plotly.graph_objects as go

    half = np.radians(angle) / 2
    x, z = np.array([np.cos(half), np.sin(half)]), np.array([np.cos(half), -np.sin(half)])
    v = a * x + (1 - a) * z
    turn = np.linspace(-np.pi / 2, np.pi / 2, 91)
    named = {"x": x, "z": z, "v": v}
    points = [
        go.Scatter(
            x=[0, point[0]],
            y=[0, point[1]],
            mode="lines+markers",
            name=name,
            line=style.line(number),
            marker=style.marker(number, size=11),
        )
        for number, (name, point) in enumerate(named.items())
    ]
    grey = {"color": style.COLORS[6], "width": 1.5}
    circle = go.Scatter(x=np.cos(turn), y=np.sin(turn), mode="lines", name="length 1", line=grey)
    chord = go.Scatter(x=[x[0], z[0]], y=[x[1], z[1]], mode="lines", line=grey | {"dash": "dot"}, showlegend=False)
    title = f"s(v, x) = {v @ x:.3f}, s(v, z) = {v @ z:.3f}, s(v, v) = {v @ v:.3f}"
    fig = style.figure(circle, chord, *points, title=title, height=430)
    fig.update_xaxes(range=[-0.15, 1.15], constrain="domain")
    fig.update_yaxes(range=[-1.1, 1.1], scaleanchor="x")
    return fig


def parents(similarity: float) -> go.Figure:
    """Similarities of a virtual sample to its parents and to itself over a: one parent is always the nearest."""
    import plotly.graph_objects as go

    a = np.linspace(0, 1, 101)
    curves = {
        "s(v, x)": a + (1 - a) * similarity,
        "s(v, z)": (1 - a) + a * similarity,
        "s(v, v) = |v|²": a**2 + (1 - a) ** 2 + 2 * a * (1 - a) * similarity,
    }
    traces = [
        go.Scatter(x=a, y=y, name=name, line=style.line(number)) for number, (name, y) in enumerate(curves.items())
    ]
    fig = style.figure(*traces, x="mixing weight a", y="similarity", title=f"s(x, z) = {similarity:g}")
    fig.update_yaxes(range=[-0.55, 1.05])
    return fig


def batch_difficulty(found: Mapping[str, Mapping[int, float]]) -> go.Figure:
    """Any-hit recall@1 when the gallery is only a batch, against the size of the batch; one line for each network."""
    import plotly.graph_objects as go

    traces = [
        go.Scatter(
            x=list(recall),
            y=[100 * value for value in recall.values()],
            mode="lines+markers",
            name=name,
            line=style.line(number),
            marker=style.marker(number),
        )
        for number, (name, recall) in enumerate(found.items())
    ]
    sizes = sorted({size for recall in found.values() for size in recall})
    fig = style.figure(*traces, x="items in the batch", y="recall@1 within the batch (%)")
    fig.update_xaxes(type="log", tickvals=sizes, ticktext=[str(size) for size in sizes])
    fig.update_yaxes(range=[0, 102])
    return fig


def memory(measured: Mapping[str, Mapping[int, float]], micro_batch: int) -> go.Figure:
    """Memory against the batch size: all at once, in two passes of this micro-batch, and the loss alone.

    measured: MB by batch size, under the keys "one pass", "loss alone" and each micro-batch as text.
    """
    import plotly.graph_objects as go

    lines = {
        "one pass": "one pass",
        f"two passes, {micro_batch} at a time": str(micro_batch),
        "loss alone": "loss alone",
    }
    traces = [
        go.Scatter(
            x=list(measured[key]),
            y=list(measured[key].values()),
            mode="lines+markers",
            name=name,
            line=style.line(number),
            marker=style.marker(number),
        )
        for number, (name, key) in enumerate(lines.items())
    ]
    fig = style.figure(*traces, x="batch size", y="kept for backward (MB)", title=f"micro-batch {micro_batch}")
    sizes = list(measured["one pass"])
    fig.update_xaxes(type="log", tickvals=sizes, ticktext=[str(size) for size in sizes])
    fig.update_yaxes(type="log", dtick=1)
    return fig


def memory_over_time(kept: Mapping[str, Sequence[float]]) -> go.Figure:
    """Megabytes that wait for the backward pass, from one change to the next, for each way to make a step."""
    import plotly.graph_objects as go

    traces = [
        go.Scatter(
            x=list(range(len(values))),
            y=[round(value, 3) for value in values],
            mode="lines",
            name=name,
            line=style.line(number) | {"shape": "hv"},
        )
        for number, (name, values) in enumerate(kept.items())
    ]
    return style.figure(*traces, x="tensors put aside or let go so far", y="kept for backward (MB)")
