"""The unit circle with samples and arrows, and any loss of the catalogue on it: arrows say where samples would go."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from labkit.figures import style
from labkit.losses import CATALOG

if TYPE_CHECKING:
    import plotly.graph_objects as go

CLASSES = ("A", "B", "C")
SAMPLES = ((60, 0), (110, 0), (185, 1), (240, 1), (300, 2), (345, 2))  # degrees and class; the first is moved
PROXIES = (90.0, 210.0, 330.0)  # degrees, the middle of each class's proxies
PAIRS = ((60.0, 0), (20.0, 1), (90.0, 0), (250.0, 1))  # degrees and class; the first two are moved
ARROW = 0.3  # length on the page of a gradient of 1
LONGEST = 1.1  # of an arrow
SAME_LENGTH = 0.6  # of the longest arrow, where all are scaled
NOTHING = 1e-6  # a gradient shorter than this is no gradient


def on_circle(degrees: Sequence[float]) -> Tensor:
    """Unit vectors (n, 2) at these angles, counted from the x-axis."""
    angle = torch.deg2rad(torch.tensor(degrees, dtype=torch.float64))
    return torch.stack([angle.cos(), angle.sin()], 1)


def ring() -> go.Scatter:
    """The unit circle itself."""
    import plotly.graph_objects as go

    x, y = on_circle([5.0 * n for n in range(73)]).round(decimals=3).T.tolist()
    line = {"color": style.TEXT, "width": 1}
    return go.Scatter(x=x, y=y, mode="lines", line=line, opacity=0.4, showlegend=False, hoverinfo="skip")


def arrows(start: Tensor, step: Tensor) -> tuple[list[float | None], list[float | None]]:
    """Arrows (n, 2) as one line with gaps, so that every kind of page can draw them."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for (px, py), (dx, dy) in zip(start.tolist(), (ARROW * step).tolist()):
        length = math.hypot(dx, dy)
        if length < 0.02:
            continue
        short = min(1.0, LONGEST / length)
        tip_x, tip_y, ux, uy = px + short * dx, py + short * dy, dx / length, dy / length
        head = min(0.1, 0.5 * length)
        left = (tip_x - head * (ux - 0.5 * uy), tip_y - head * (uy + 0.5 * ux))
        right = (tip_x - head * (ux + 0.5 * uy), tip_y - head * (uy - 0.5 * ux))
        for point in ((px, py), (tip_x, tip_y), left, (tip_x, tip_y), right):
            xs.append(round(point[0], 3))
            ys.append(round(point[1], 3))
        xs.append(None)
        ys.append(None)
    return xs, ys


def scene(loss: str, angle: float, other: float, length: float) -> tuple[Tensor, Tensor]:
    """Samples (n, 2) and labels (n,): the first at the given angle and length; of pair losses also the second moves."""
    pair = CATALOG[loss].family == "pair"
    placed = [angle, other, *(degrees for degrees, _ in PAIRS[2:])] if pair else [angle, *(d for d, _ in SAMPLES[1:])]
    x = on_circle(placed)
    x[0] *= length
    return x, torch.tensor([label for _, label in (PAIRS if pair else SAMPLES)])


def build(loss: str, **options: Any) -> nn.Module:
    """The loss for three classes in the plane; its class vectors are unit vectors at PROXIES."""
    module = CATALOG[loss].build(len(CLASSES), 2, **options).double()
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.shape == (len(CLASSES), 2):
                parameter.copy_(on_circle(PROXIES))
    return module


def descent(loss: str, x: Tensor, labels: Tensor, **options: Any) -> tuple[float, Tensor]:
    """The loss, and −∂L/∂x (n, 2): where a step of gradient descent takes each sample."""
    x = x.clone().requires_grad_()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # SiMix mixes at random: the same in every picture
        value = build(loss, **options)(x, labels)
    (gradient,) = torch.autograd.grad(value, x)
    return value.item(), -gradient


def loss_arrows(loss: str, angle: float = 60.0, other: float = 20.0, length: float = 1.0, **options: Any) -> go.Figure:
    """Samples on the circle with −∂L/∂x as arrows; the longest has always the same length, the title says its value."""
    import plotly.graph_objects as go

    x, labels = scene(loss, angle, other, length)
    value, step = descent(loss, x, labels, **options)
    largest = float(step.norm(dim=1).max())
    traces: list[Any] = [ring()]
    for label in labels.unique().tolist():
        own = labels == label
        traces.append(
            go.Scatter(
                x=x[own, 0].round(decimals=3).tolist(),
                y=x[own, 1].round(decimals=3).tolist(),
                mode="markers",
                name=f"samples of {CLASSES[label]}",
                marker=style.marker(label, size=12),
                hoverinfo="text",
                hovertext=[f"|∂L/∂x| = {size:.4g}" for size in step[own].norm(dim=1).tolist()],
            )
        )
    if CATALOG[loss].family == "softmax":
        vectors = on_circle(PROXIES).round(decimals=3)
        look = {"symbol": "star-open", "size": 17, "color": list(style.COLORS[: len(CLASSES)]), "line": {"width": 2}}
        traces.append(
            go.Scatter(
                x=vectors[:, 0].tolist(),
                y=vectors[:, 1].tolist(),
                mode="markers",
                name="class vectors",
                marker=look,
                hovertext=[f"class vector of {name}" for name in CLASSES],
                hoverinfo="text",
            )
        )
    scaled = step * (SAME_LENGTH / ARROW / largest) if largest > NOTHING else torch.zeros_like(step)
    xs, ys = arrows(x, scaled)
    line = {"color": style.COLORS[3], "width": 3}
    traces.append(go.Scatter(x=xs, y=ys, mode="lines", name="−∂L/∂x", line=line, hoverinfo="skip"))
    moved = 2 if CATALOG[loss].family == "pair" else 1
    beside = x[:moved] + 0.2 * on_circle([angle, other][:moved])
    traces.append(
        go.Scatter(
            x=beside[:, 0].round(decimals=3).tolist(),
            y=beside[:, 1].round(decimals=3).tolist(),
            mode="text",
            text=["<b>x</b>", "<b>z</b>"][:moved],
            showlegend=False,
            hoverinfo="skip",
            textfont={"size": style.FONT_SIZE + 3},
        )
    )
    said = f"longest arrow: |∂L/∂x| = {largest:.3g}" if largest > NOTHING else "no sample has a gradient"
    fig = style.figure(*traces, title=f"L = {value:.3g}; {said}", height=520)
    reach = max(1.5, length + 0.4)
    fig.update_xaxes(range=[-reach, reach], visible=False)
    fig.update_yaxes(range=[-reach, reach], visible=False, scaleanchor="x")
    fig.update_layout(margin={"l": 10, "r": 10, "b": 10})
    return fig
