"""Any loss of the catalogue on the unit circle: one sample can be moved, arrows say where each would go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from labkit.figures import style
from labkit.figures.proxies import ARROW, CLASSES, PROXIES, SAMPLES, arrows, on_circle
from labkit.losses import CATALOG

if TYPE_CHECKING:
    import plotly.graph_objects as go

PAIRS = ((60.0, 0), (20.0, 1), (90.0, 0), (250.0, 1))  # degrees and class; the first two are moved
LONGEST = 0.6  # of an arrow on the page
NOTHING = 1e-6  # a gradient shorter than this is no gradient


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
    ring = on_circle([5.0 * n for n in range(73)]).round(decimals=3)
    traces: list[Any] = [
        go.Scatter(
            x=ring[:, 0].tolist(), y=ring[:, 1].tolist(), mode="lines", line={"color": style.TEXT, "width": 1},
            opacity=0.4, showlegend=False, hoverinfo="skip",
        )
    ]  # fmt: skip
    for label in labels.unique().tolist():
        own = labels == label
        traces.append(
            go.Scatter(
                x=x[own, 0].round(decimals=3).tolist(), y=x[own, 1].round(decimals=3).tolist(), mode="markers",
                name=f"samples of {CLASSES[label]}", marker=style.marker(label, size=12), hoverinfo="text",
                hovertext=[f"|∂L/∂x| = {size:.4g}" for size in step[own].norm(dim=1).tolist()],
            )
        )  # fmt: skip
    if CATALOG[loss].family == "softmax":
        vectors = on_circle(PROXIES).round(decimals=3)
        look = {"symbol": "star-open", "size": 17, "color": list(style.COLORS[: len(CLASSES)]), "line": {"width": 2}}
        traces.append(
            go.Scatter(
                x=vectors[:, 0].tolist(), y=vectors[:, 1].tolist(), mode="markers", name="class vectors", marker=look,
                hovertext=[f"class vector of {name}" for name in CLASSES], hoverinfo="text",
            )
        )  # fmt: skip
    scaled = step * (LONGEST / ARROW / largest) if largest > NOTHING else torch.zeros_like(step)
    xs, ys = arrows(x, scaled)
    line = {"color": style.COLORS[3], "width": 3}
    traces.append(go.Scatter(x=xs, y=ys, mode="lines", name="−∂L/∂x", line=line, hoverinfo="skip"))
    moved = 2 if CATALOG[loss].family == "pair" else 1
    beside = x[:moved] + 0.2 * on_circle([angle, other][:moved])
    traces.append(
        go.Scatter(
            x=beside[:, 0].round(decimals=3).tolist(), y=beside[:, 1].round(decimals=3).tolist(), mode="text",
            text=["<b>x</b>", "<b>z</b>"][:moved], showlegend=False, hoverinfo="skip",
            textfont={"size": style.FONT_SIZE + 3},
        )
    )  # fmt: skip
    said = f"longest arrow: |∂L/∂x| = {largest:.3g}" if largest > NOTHING else "no sample has a gradient"
    fig = style.figure(*traces, title=f"L = {value:.3g}; {said}", height=520)
    reach = max(1.5, length + 0.4)
    fig.update_xaxes(range=[-reach, reach], visible=False)
    fig.update_yaxes(range=[-reach, reach], visible=False, scaleanchor="x")
    fig.update_layout(margin={"l": 10, "r": 10, "b": 10})
    return fig
