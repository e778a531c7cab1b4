"""Lesson 3: the sigmoids that smooth a comparison of similarities or of ranks, and Smooth-AP beside AP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def sigmoid(x: Floats, tau: float) -> Floats:
    """G(x; τ) = 1 / (1 + e^(−x/τ)), without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * x / tau))


def slope(x: Floats, tau: float) -> Floats:
    """The sigmoid's derivative, G (1 − G) / τ."""
    value = sigmoid(x, tau)
    return value * (1 - value) / tau


def smoothed_step(tau: float) -> go.Figure:
    """The indicator of s_j > s_i and its sigmoid: what a soft rank counts."""
    import plotly.graph_objects as go

    x = np.linspace(-0.5, 0.5, 401)
    return style.figure(
        go.Scatter(x=x, y=(x > 0) * 1.0, name="indicator", line=style.line(1, shape="hv")),
        go.Scatter(x=x, y=sigmoid(x, tau), name="sigmoid G(x; τ)", line=style.line(0)),
        x="sⱼ − sᵢ (difference of cosine similarities)",
        y="counted as before i",
        title=f"τ = {tau:g}",
    )


def smoothed_step_slope(tau: float) -> go.Figure:
    """Where the sigmoid passes a gradient: the indicator passes none anywhere."""
    import plotly.graph_objects as go

    x = np.linspace(-0.5, 0.5, 1001)
    return style.figure(
        go.Scatter(x=x, y=slope(x, tau), name="slope of G", line=style.line(0)),
        x="sⱼ − sᵢ (difference of cosine similarities)",
        y="dG/dx",
        title=f"τ = {tau:g}: largest slope 1/(4τ) = {0.25 / tau:.3g}",
    )


def share_with_gradient(differences: Floats, tau: float, threshold: float = 0.01) -> float:
    """Share of similarity differences at which the slope is at least `threshold` of its maximum."""
    return float((slope(differences, tau) * 4 * tau >= threshold).mean())


def gradient_density(differences: Floats, taus: Sequence[float]) -> go.Figure:
    """Approximation against gradient: a small τ counts well but passes a gradient at few pairs."""
    import plotly.graph_objects as go

    error = [float(np.abs(sigmoid(differences, tau) - (differences > 0)).mean()) for tau in taus]
    share = [share_with_gradient(differences, tau) for tau in taus]
    fig = style.figure(
        go.Scatter(x=list(taus), y=[100 * s for s in share], name="pairs with a gradient (%)", line=style.line(0)),
        go.Scatter(x=list(taus), y=[100 * e for e in error], name="mean error of a comparison (%)", line=style.line(1)),
        x="temperature τ",
        y="share of pairs, or error (%)",
    )
    fig.update_xaxes(type="log", dtick=1)
    return fig


def smoothed_cutoff(tau_rank: float, ks: Sequence[int] = (1, 2, 4, 8, 16)) -> go.Figure:
    """σ_τ1(k − 1 − r) over the number r of items before a positive: RS@k's smoothed "among the first k"."""
    import plotly.graph_objects as go

    before = np.linspace(0, 24, 481)
    traces = [
        go.Scatter(x=before, y=sigmoid(k - 1 - before, tau_rank), name=f"k = {k}", line=style.line(number))
        for number, k in enumerate(ks)
    ]
    return style.figure(
        *traces, x="items before the positive", y="counted as among the first k", title=f"τ₁ = {tau_rank:g}"
    )


def average_precisions(similarity: Tensor, positive: Tensor, tau: float | None) -> Tensor:
    """AP of each row of similarities (m, n); comparisons are hard with tau=None and sigmoids otherwise."""
    difference = similarity[:, None, :] - similarity[:, :, None]
    before = (difference > 0).double() if tau is None else torch.sigmoid(difference / tau)
    before = before * ~torch.eye(similarity.shape[1], dtype=torch.bool)
    R_pos, R_neg = before[:, positive][:, :, positive].sum(2), before[:, positive][:, :, ~positive].sum(2)
    return ((1 + R_pos) / (1 + R_pos + R_neg)).mean(1)


def moved_positive(negatives: Tensor, other_positive: float, tau: float = 0.01) -> go.Figure:
    """AP and Smooth-AP of one query while one positive moves from similarity 0 to 1; the other items stay."""
    import plotly.graph_objects as go

    x = torch.linspace(0, 1, 800, dtype=torch.float64)
    fixed = torch.tensor([other_positive, *negatives.tolist()], dtype=torch.float64)
    rows = torch.cat([x[:, None], fixed.expand(len(x), -1)], 1)
    positive = torch.arange(rows.shape[1]) < 2
    hard, soft = average_precisions(rows, positive, None), average_precisions(rows, positive, tau)
    return style.figure(
        go.Scatter(x=x.numpy(), y=hard.numpy(), name="average precision", line=style.line(1, shape="hv")),
        go.Scatter(x=x.numpy(), y=soft.numpy(), name=f"Smooth-AP, τ = {tau:g}", line=style.line(0)),
        x="similarity of the moved positive",
        y="value (1 is perfect)",
    )
