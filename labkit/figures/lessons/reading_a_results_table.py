"""Lesson 12: how often the worse loss wins a table of few seeds, and how often an interval holds the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from labkit.figures import style
from labkit.runs.spread import chance_of_wrong_winner

if TYPE_CHECKING:
    import plotly.graph_objects as go


def wrong_winner(difference: float, sd: float, seeds: int) -> go.Figure:
    """The observed difference of two means as a density, the part where the worse loss wins filled."""
    import plotly.graph_objects as go

    spread = sd * (2 / seeds) ** 0.5
    x = np.linspace(-4, 6, 501)
    density = np.exp(-0.5 * ((x - difference) / spread) ** 2) / (spread * (2 * np.pi) ** 0.5)
    wrong = 100 * chance_of_wrong_winner(difference, sd, seeds)
    below = x <= 0
    return style.figure(
        go.Scatter(x=x, y=density, name="observed difference", line=style.line(0)),
        go.Scatter(
            x=x[below],
            y=density[below],
            name="the worse loss wins",
            fill="tozeroy",
            line=style.line(1),
            fillcolor="rgba(213, 94, 0, 0.3)",
        ),
        x="difference of the means (points of R@1)",
        y="density (1/point)",
        title=f"{seeds} seed{'s' if seeds > 1 else ''}: the worse loss wins in {wrong:.1f} % of tables",
    )


def coverage(found: Mapping[str, Sequence[float]], seeds: Sequence[int]) -> go.Figure:
    """How often each kind of "±" holds the true mean, in % of tables, over the number of seeds."""
    import plotly.graph_objects as go

    traces = [
        go.Scatter(
            x=list(seeds),
            y=share,
            name=name,
            mode="lines+markers",
            line=style.line(number),
            marker=style.marker(number),
        )
        for number, (name, share) in enumerate(found.items())
    ]
    fig = style.figure(*traces, x="seeds", y="holds the true mean (% of tables)")
    fig.update_yaxes(range=[30, 100])
    return fig
