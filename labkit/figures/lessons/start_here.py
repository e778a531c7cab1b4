"""Lesson 1: a metric and a loss of one query that turns among five items: one jumps, the other slides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit import metrics
from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

# five items on the unit circle: angle in degrees, and whether it is of the query's class
ITEMS = ((5.0, False), (32.0, True), (50.0, False), (74.0, True), (88.0, False))
MARGIN = 0.5


def items() -> tuple[Tensor, Tensor]:
    """Angles (5,) in degrees and which are positives (5,)."""
    return torch.tensor([a for a, _ in ITEMS], dtype=torch.float64), torch.tensor([p for _, p in ITEMS])


def measured(angle: float) -> dict[str, float]:
    """R@1, average precision and pair loss (contrastive, mean over the five pairs) of the query at an angle."""
    angles, positive = items()
    apart = torch.deg2rad((angles - angle).abs())
    relevance = positive[apart.argsort(stable=True)].double()
    D = 2 * torch.sin(apart / 2)  # distance of unit vectors
    pairs = torch.where(positive, D.square() / 2, (MARGIN - D).clamp_min(0).square() / 2)
    return {
        "R@1": float(relevance[0]),
        "average precision": float(metrics.average_precision_at_k(relevance, 5, 2, "relevant")),
        "pair loss": float(pairs.mean()),
    }


def turning(step: float = 0.25) -> go.Figure:
    """Metrics and loss over the angle of the query."""
    import plotly.graph_objects as go

    angles = torch.arange(0, 90 + step, step).tolist()
    found = [measured(angle) for angle in angles]
    traces = [
        go.Scatter(
            x=angles,
            y=[one[name] for one in found],
            name=name,
            line=style.line(number, shape="linear" if name == "pair loss" else "hv"),
        )
        for number, name in enumerate(found[0])
    ]
    return style.figure(*traces, x="angle of the query (degrees)", y="value")


def on_the_circle(angle: float) -> go.Figure:
    """Query and items on a quarter of the circle; beside each item its rank."""
    import plotly.graph_objects as go

    angles, positive = items()
    found = measured(angle)
    rank = 1 + (angles - angle).abs().argsort(stable=True).argsort()
    radians = torch.deg2rad(angles)
    x, y = radians.cos(), radians.sin()
    arc = torch.deg2rad(torch.linspace(0, 90, 91))
    kinds = ((positive, "positive", 0), (~positive, "negative", 1))
    points = [
        go.Scatter(
            x=x[kind].tolist(),
            y=y[kind].tolist(),
            mode="markers+text",
            name=name,
            marker=style.marker(number, size=13),
            text=[f"rank {r}" for r in rank[kind].tolist()],
            textposition="top right",
            cliponaxis=False,
            hovertext=[f"{name} at {a:g}°" for a in angles[kind].tolist()],
            hoverinfo="text",
        )
        for kind, name, number in kinds
    ]
    turned = torch.deg2rad(torch.tensor(angle))
    query = go.Scatter(
        x=[0.86 * float(turned.cos())],
        y=[0.86 * float(turned.sin())],
        mode="markers",
        name="query",
        marker=style.marker(6, size=16),
        hovertext=f"query at {angle:g}°",
        hoverinfo="text",
    )
    circle = go.Scatter(
        x=arc.cos().tolist(),
        y=arc.sin().tolist(),
        mode="lines",
        showlegend=False,
        hoverinfo="skip",
        line={"color": style.TEXT, "width": 1},
        opacity=0.5,
    )
    told = "<br>".join(
        f"{name} {value:.3f}" if name == "pair loss" else f"{name} {value:.2f}" for name, value in found.items()
    )
    fig = style.figure(circle, query, *points, height=400)
    fig.add_annotation(x=0.3, y=0.28, text=told, showarrow=False, align="left", font={"size": style.FONT_SIZE + 1})
    fig.update_xaxes(range=[-0.05, 1.3], visible=False)
    fig.update_yaxes(range=[-0.05, 1.15], visible=False, scaleanchor="x")
    return fig


def loss_against_metric(paths: Mapping[str, Sequence[tuple[float, float]]]) -> go.Figure:
    """Each path as a line of (loss, metric) points; its end has the larger mark."""
    import plotly.graph_objects as go

    traces = [
        go.Scatter(
            x=[loss for loss, _ in path],
            y=[100 * value for _, value in path],
            mode="lines+markers",
            name=name,
            line=style.line(number),
            marker=style.marker(number, size=[6] * (len(path) - 1) + [13]),
        )
        for number, (name, path) in enumerate(paths.items())
    ]
    return style.figure(*traces, x="pair loss (lower is better)", y="R@1 (%)")
