"""Lesson 8, proxy losses on the unit circle: which way samples and proxies are pushed, what decides it, and why."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from labkit.figures import style
from labkit.figures.circle import CLASSES, PROXIES, SAMPLES, arrows, on_circle, ring
from labkit.losses import functional

if TYPE_CHECKING:
    import plotly.graph_objects as go

SCALE = 8.0  # of every loss here; the papers' 16 to 32 would make all but one weight vanish in a plane
LOSSES: dict[str, partial[Any]] = {
    "ProxyNCA": partial(functional.proxy_nca, scale=SCALE / 2),  # d² = 2 − 2s doubles it
    "ProxyAnchor": partial(functional.proxy_anchor, alpha=SCALE),
    "SoftTriple": partial(functional.soft_triple, lam=SCALE, tau=0.0),
    "MPA": partial(functional.mpa, alpha=SCALE, tau=0.0),
    "MPA-DW": partial(functional.mpa_data_wise, alpha=SCALE, tau=0.0),
    "MPA-AP": partial(functional.mpa_all_pairs, alpha=SCALE, tau=0.0),
}
ONE_PROXY = ("ProxyNCA", "ProxyAnchor")
SPREAD = {1: (0.0,), 2: (-25.0, 25.0), 3: (-30.0, 0.0, 30.0)}
INSIDE = 0.86  # proxies are unit vectors, too, but drawn here, so that a sample does not hide one
BAR = 0.16  # length of a bar for ∂L/∂S = 1
ZERO = 0.25  # where those bars begin
KINDS = ("itself", "P-P", "N-N", "P-N")

# for the relations: cosines of four samples (two of class A, one of B, one of C) with the three classes
SIMILARITIES = ((0.45, 0.20, -0.10), (0.30, 0.10, 0.25), (0.15, 0.50, 0.05), (-0.05, 0.20, 0.40))
LABELS = (0, 0, 1, 2)


def scene(angle: float, centers: int) -> tuple[Tensor, Tensor, Tensor]:
    """Samples (6, 2), labels (6,) and proxies (3, K, 2); the first sample is at the given angle."""
    x = on_circle([angle, *(degrees for degrees, _ in SAMPLES[1:])])
    w = torch.stack([on_circle([middle + offset for offset in SPREAD[centers]]) for middle in PROXIES])
    return x, torch.tensor([label for _, label in SAMPLES]), w


def gradients(
    loss: str, x: Tensor, labels: Tensor, w: Tensor, **options: float
) -> tuple[float, Tensor, Tensor, Tensor]:
    """Loss, −∂L/∂x, −∂L/∂w (both tangent: the loss normalises) and ∂L/∂S (N, C); options over those of LOSSES."""
    x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
    value, parts = LOSSES[loss](x, labels, w, return_parts=True, **options)
    dx, dw = torch.autograd.grad(value, (x, w))
    return value.item(), -dx, -dw, parts.dL_dS


def weights(slope: Tensor) -> list[Any]:
    """∂L/∂S(x, c) of the moved sample in the middle of the circle: bars to the left pull, to the right push."""
    import plotly.graph_objects as go

    rows = [0.2, -0.05, -0.3]
    traces: list[Any] = [
        go.Scatter(
            x=[ZERO, round(ZERO + BAR * weight, 3)],
            y=[y, y],
            mode="lines",
            showlegend=False,
            hoverinfo="skip",
            line={"color": style.COLORS[c], "width": 9},
        )
        for c, (y, weight) in enumerate(zip(rows, slope[0].tolist()))
    ]
    axis = {"color": style.TEXT, "width": 1}
    traces.append(
        go.Scatter(
            x=[ZERO] * 2, y=[0.3, -0.4], mode="lines", showlegend=False, hoverinfo="skip", line=axis, opacity=0.4
        )
    )
    said = [
        "∂L/∂S(x, c)",
        *(f"{name} {round(weight, 2) + 0.0:+.2f}" for name, weight in zip(CLASSES, slope[0].tolist())),
    ]
    traces.append(
        go.Scatter(
            x=[-0.7] * 4,
            y=[0.4, *(y - 0.015 for y in rows)],
            text=said,
            mode="text",
            textposition="middle right",
            showlegend=False,
            hoverinfo="skip",
            textfont={"size": style.FONT_SIZE},
        )
    )
    return traces


def gradient_arrows(angle: int, loss: str, centers: int, **options: float) -> go.Figure:
    """Three classes on the circle: what one step of gradient descent does to each sample and each proxy."""
    import plotly.graph_objects as go

    x, labels, w = scene(angle, 1 if loss in ONE_PROXY else centers)
    value, push_x, push_w, slope = gradients(loss, x, labels, w, **options)
    drawn = (INSIDE * w).round(decimals=3)
    traces = [ring(), *weights(slope)]
    for c, name in enumerate(CLASSES):
        own = x[labels == c].round(decimals=3)
        traces.append(
            go.Scatter(
                x=own[:, 0].tolist(),
                y=own[:, 1].tolist(),
                mode="markers",
                name=f"samples of {name}",
                marker=style.marker(c, size=11),
            )
        )
        traces.append(
            go.Scatter(
                x=drawn[c, :, 0].tolist(),
                y=drawn[c, :, 1].tolist(),
                mode="markers",
                name=f"proxies of {name}",
                marker={"symbol": "star", "size": 15, "color": style.COLORS[c]},
            )
        )
    for number, (name, start, step) in enumerate(
        (("−∂L/∂x, samples", x, push_x), ("−∂L/∂w, proxies", drawn.flatten(0, 1), push_w.flatten(0, 1)))
    ):
        xs, ys = arrows(start, step)
        line = {"color": style.COLORS[(3, 5)[number]], "width": 3}
        traces.append(go.Scatter(x=xs, y=ys, mode="lines", name=name, line=line, hoverinfo="skip"))
    moved = (1.2 * x[0]).round(decimals=3).tolist()
    traces.append(
        go.Scatter(
            x=moved[:1],
            y=moved[1:],
            text=["<b>x</b>"],
            mode="text",
            showlegend=False,
            hoverinfo="skip",
            textfont={"size": style.FONT_SIZE + 3},
        )
    )
    fig = style.figure(
        *traces,
        title=f"{loss}, {w.shape[1]} {'proxy' if w.shape[1] == 1 else 'proxies'} a class: L = {value:.2f}",
        height=560,
    )
    fig.update_xaxes(range=[-1.5, 1.5], visible=False, showgrid=False, zeroline=False)
    fig.update_yaxes(range=[-1.3, 1.3], visible=False, showgrid=False, zeroline=False, scaleanchor="x")
    fig.update_layout(margin={"l": 10, "r": 10, "b": 10})
    return fig


def with_similarities(S: Tensor) -> tuple[Tensor, Tensor]:
    """Embeddings and proxies (one a class) whose similarities are the S asked for; rows of S are shorter than 1."""
    rest = (1 - S.square().sum(1, keepdim=True)).sqrt()
    return torch.cat([S, rest], 1), torch.eye(S.shape[1], S.shape[1] + 1, dtype=S.dtype)


def second_derivatives(loss: str) -> Tensor:
    """∂²L/∂S∂S' (12, 12) at SIMILARITIES: an entry is 0 where S' has no say in the gradient of S."""

    def value(flat: Tensor) -> Tensor:
        x, w = with_similarities(flat.view(len(LABELS), len(CLASSES)))
        result: Tensor = LOSSES[loss](x, torch.tensor(LABELS), w)
        return result

    S = torch.tensor(SIMILARITIES, dtype=torch.float64).flatten()
    found: Tensor = torch.autograd.functional.hessian(value, S)
    return found


def kind(one: int, other: int) -> str:
    """Which relation of Table 1 two similarities have: both positive, both negative, or one of each."""
    if one == other:
        return "itself"
    positive = [LABELS[index // len(CLASSES)] == index % len(CLASSES) for index in (one, other)]
    return "P-P" if all(positive) else "P-N" if any(positive) else "N-N"


def relation_strengths(loss: str) -> dict[str, float]:
    """The columns of MPA Table 1 as numbers: the second derivative of largest size for each relation, with its sign.

    "other samples": similarities of two samples (they make a gradient depend on the batch, "stability" in Table 1);
    "a shift": how the gradient answers when all similarities rise together ("similarity" in Table 1).
    """
    H = second_derivatives(loss)
    size = len(H)
    pairs = [(a, b) for a in range(size) for b in range(size)]
    chosen = {name: [p for p in pairs if kind(*p) == name] for name in KINDS[1:]}
    chosen["other samples"] = [(a, b) for a, b in pairs if a // len(CLASSES) != b // len(CLASSES)]
    found = {name: max((float(H[p]) for p in some), key=abs) for name, some in chosen.items()}
    found["a shift"] = float(H.sum(1)[H.sum(1).abs().argmax()])
    return found


def relations(loss: str) -> go.Figure:
    """A mark where the column's similarity enters the gradient of the row's similarity: MPA Table 1, drawn."""
    import plotly.graph_objects as go

    H = second_derivatives(loss)
    names = [f"x{'₁₂₃₄'[i]}{c}" for i in range(len(LABELS)) for c in CLASSES]
    found = [(a, b) for a in range(len(H)) for b in range(len(H)) if abs(float(H[a, b])) > 1e-9]
    traces = []
    for number, name in enumerate(KINDS):
        some = [(a, b) for a, b in found if kind(a, b) == name]
        hover = [f"d²L / dS({names[a]}) dS({names[b]}) = {float(H[a, b]):+.3f}" for a, b in some]
        traces.append(
            go.Scatter(
                x=[b for _, b in some],
                y=[a for a, _ in some],
                mode="markers",
                name=name,
                text=hover,
                hoverinfo="text",
                marker=style.marker((6, 0, 1, 2)[number], symbol=style.MARKERS[number], size=11),
            )
        )
    fig = style.figure(*traces, x="similarity that changes", y="gradient that answers", title=loss, height=480)
    ticks = {"tickvals": list(range(len(names))), "ticktext": names, "zeroline": False}
    fig.update_xaxes(range=[-0.7, 11.7], **ticks)
    fig.update_yaxes(range=[11.7, -0.7], **ticks)
    return fig


# training images, training classes, batch size of the MPA paper (Omniglot: that of the preset)
TRAINING_SETS = {
    "CUB": (5864, 100, 180),
    "Cars196": (8054, 98, 64),
    "SOP": (59551, 11318, 32),
    "Omniglot": (16540, 827, 128),
}


def share_with_positive(images: int, classes: int, batch: int) -> float:
    """Chance that an item of a random batch has another of its class in it; classes of equal size."""
    size, none = images / classes, 1.0
    for drawn in range(batch - 1):
        none *= max(0.0, images - size - drawn) / (images - 1 - drawn)
    return 1 - none


def partners() -> go.Figure:
    """Share of the items of a random batch that have a positive in it, against the batch size."""
    import plotly.graph_objects as go

    sizes = [2, 4, 8, 16, 32, 64, 128, 256, 512]
    between = sorted({round(2 ** (n / 4)) for n in range(4, 37)})
    traces = []
    for number, (name, (images, classes, batch)) in enumerate(TRAINING_SETS.items()):
        share = [100 * share_with_positive(images, classes, size) for size in between]
        traces.append(
            go.Scatter(x=between, y=share, mode="lines", name=f"{name}, {classes:,} classes", line=style.line(number))
        )
        here = 100 * share_with_positive(images, classes, batch)
        traces.append(
            go.Scatter(x=[batch], y=[here], mode="markers", showlegend=False, marker=style.marker(number, size=11))
        )
    fig = style.figure(*traces, x="batch size (random sampling)", y="items with a positive in the batch (%)")
    fig.update_xaxes(type="log", tickvals=sizes, ticktext=[str(size) for size in sizes], range=[0.2, 2.8])
    return fig
