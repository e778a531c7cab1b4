"""Three arrangements of classes on a circle, where separability and retrieval say opposite things."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit import metrics
from labkit.base.checks import check_choice
from labkit.figures import style

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


def separability(shape: str, spread: float) -> go.Figure:
    """The points, drawn on rings of slightly different radius so that classes do not hide each other."""
    import plotly.graph_objects as go

    points, label = arrangement(shape, spread)
    found = metrics.evaluate(points, label, ks=(1,), nmi=True, progress=False)
    ring = (1 + 0.07 * label[:, None]) * points
    traces = [
        go.Scatter(
            x=ring[label == c, 0].round(decimals=3).tolist(), y=ring[label == c, 1].round(decimals=3).tolist(),
            mode="markers", name=f"class {c + 1}", marker=style.marker(c, size=8), hoverinfo="name",
        )
        for c in range(CLASSES)
    ]  # fmt: skip
    csc = f"{found['CSC']:.0f}" if found["CSC"] >= 10 else f"{found['CSC']:.2g}"
    told = f"CSC {csc}<br>R@1 {100 * found['R@1']:.0f} %<br>NMI {100 * found['NMI']:.0f} %"
    fig = style.figure(*traces, height=430)
    fig.add_annotation(x=0, y=0, text=told, showarrow=False, font={"size": style.FONT_SIZE + 2})
    for axis in (fig.layout.xaxis, fig.layout.yaxis):
        axis.range, axis.visible = [-1.5, 1.5], False
    fig.update_yaxes(scaleanchor="x")
    return fig
