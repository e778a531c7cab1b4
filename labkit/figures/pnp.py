"""Gradient assignment: how hard a loss pulls a positive that has R negatives before it (PNP, Figs 1, 3 and 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from labkit.figures import style
from labkit.losses.pnp import pnp_derivative, pnp_value

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {"O": "O", "Iu": "I_u (Eq. 7)", "Iu-exact": "I_u, integral of Eq. 6", "Ib": "I_b", "Ds": "D_s", "Dq": "D_q"}


def curves(of: str, variants: Sequence[str], alpha: float, b: float, largest: float) -> go.Figure:
    """The losses ("value") or their derivatives ("derivative") over R."""
    import plotly.graph_objects as go

    R = torch.linspace(0, largest, 401, dtype=torch.float64)
    function = pnp_value if of == "value" else pnp_derivative
    traces = [
        go.Scatter(
            x=R.numpy(), y=function(R, variant, alpha, b).numpy(), name=NAMES[variant],
            line=style.line(list(NAMES).index(variant)),
        )
        for variant in variants
    ]  # fmt: skip
    return style.figure(*traces, x="R: negatives before the positive", y="loss" if of == "value" else "∂L/∂R")


def gradient_assignment(alpha: float = 1.0, b: float = 4.0, largest: float = 10.0) -> go.Figure:
    """All variants' derivatives: increasing for I, decreasing for D (PNP Fig. 3)."""
    fig = curves("derivative", ("O", "Iu", "Ib", "Ds", "Dq"), alpha, b, largest)
    fig.update_layout(title={"text": f"α = {alpha:g}, b = {b:g}"})
    fig.update_yaxes(range=[0, 3])
    return fig


def ap_against_pnp(alpha: float = 2.0, largest: float = 10.0) -> go.Figure:
    """AP's derivative at R(i, S_P) = 0, 1, 2, 3 and that of D_q (PNP Fig. 5): AP pulls less where positives lead."""
    import plotly.graph_objects as go

    R = np.linspace(0, largest, 401)
    traces = [
        go.Scatter(
            x=R, y=(1 + leading) / (1 + leading + R) ** 2, name=f"AP, R(i, S_P) = {leading}", line=style.line(leading)
        )
        for leading in range(4)
    ]
    steep = pnp_derivative(torch.from_numpy(R), "Dq", alpha, 1.0).numpy()
    traces.append(go.Scatter(x=R, y=steep, name=f"D_q, α = {alpha:g}", line=style.line(4, width=4)))
    return style.figure(*traces, x="R: negatives before the positive", y="∂L/∂R", title=f"α = {alpha:g}")
