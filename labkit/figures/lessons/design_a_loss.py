"""Lesson 6: how hard a loss pulls a positive that has R negatives before it (PNP, Figs 1, 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from labkit.figures import style
from labkit.losses.pnp import pnp_derivative, pnp_value

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {"O": "O", "Iu": "I_u (Eq. 7)", "Iu-exact": "I_u, integral of Eq. 6", "Ib": "I_b", "Ds": "D_s", "Dq": "D_q"}


def line_of(variant: str) -> dict[str, Any]:
    """One colour and dash for a variant in every figure."""
    return style.line(list(NAMES).index(variant))


def curves(of: str, variants: Sequence[str], alpha: float, b: float, largest: float, title: str = "") -> go.Figure:
    """The losses ("value") or their derivatives ("derivative") over R."""
    import plotly.graph_objects as go

    R = largest * torch.linspace(0, 1, 121, dtype=torch.float64) ** 2  # closer together near 0, where most bend
    function = pnp_value if of == "value" else pnp_derivative
    traces = [
        go.Scatter(
            x=R.numpy(),
            y=function(R, variant, alpha, b).numpy(),
            name=NAMES[variant],
            line=line_of(variant),
        )
        for variant in variants
    ]
    y = "loss" if of == "value" else "∂L/∂R"
    return style.figure(*traces, x="R: negatives before the positive", y=y, title=title)


def gradient_assignment(alpha: float = 1.0, b: float = 4.0, largest: float = 10.0) -> go.Figure:
    """All variants' derivatives: increasing for I, decreasing for D (PNP Fig. 3)."""
    fig = curves("derivative", ("O", "Iu", "Ib", "Ds", "Dq"), alpha, b, largest, f"α = {alpha:g}, b = {b:g}")
    fig.update_yaxes(range=[0, 4.2])
    return fig


def ap_against_pnp(alpha: float = 2.0, largest: float = 5.0) -> go.Figure:
    """AP's derivative at R(i, S_P) = 0, 1, 2, 3 and that of D_q (PNP Fig. 5): AP pulls less where positives lead."""
    import plotly.graph_objects as go

    R = largest * np.linspace(0, 1, 121) ** 2
    traces = [
        go.Scatter(
            x=R, y=(1 + leading) / (1 + leading + R) ** 2, name=f"AP, R(i, S_P) = {leading}", line=style.line(leading)
        )
        for leading in range(4)
    ]
    steep = pnp_derivative(torch.from_numpy(R), "Dq", alpha, 1.0).numpy()
    traces.append(go.Scatter(x=R, y=steep, name="D_q", line=style.line(4, width=4)))
    return style.figure(*traces, x="R: negatives before the positive", y="∂L/∂R", title=f"α = {alpha:g}")


def gradient_share(R: Tensor, alphas: Sequence[float] = (1.0, 4.0), b: float = 4.0) -> go.Figure:
    """Which positives get the gradient: its share that goes to those with at most R negatives before them."""
    import plotly.graph_objects as go

    order = R.sort().values
    kinds = [("O", 1.0), ("Ib", 1.0), ("Ds", 1.0), *(("Dq", alpha) for alpha in alphas)]
    traces = []
    for variant, alpha in kinds:
        gradient = pnp_derivative(order, variant, alpha, b)
        share = 100 * gradient.cumsum(0) / gradient.sum()
        name = NAMES[variant] + (f", α = {alpha:g}" if variant == "Dq" else "")
        pick = torch.linspace(0, len(order) - 1, 121).round().long()
        look = line_of(variant) if alpha == 1 else style.line(len(NAMES))  # a steeper D_q has a line of its own
        traces.append(go.Scatter(x=1 + order[pick].numpy(), y=share[pick].numpy(), name=name, line=look))
    fig = style.figure(*traces, x="1 + R (R: negatives before the positive)", y="share of the gradient (%)")
    fig.update_xaxes(type="log", range=[0, 2.12], tickvals=[1, 2, 5, 10, 20, 50, 100])
    fig.update_yaxes(range=[0, 104])
    return fig
