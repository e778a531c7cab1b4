"""What several losses make of the same base: the mean over seeds with its interval, and every seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labkit.figures import style

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go


def outcomes_figure(table: pd.DataFrame, x: str) -> go.Figure:
    """One line a loss, the first on top; a colour and a shape for each start. x: what is measured."""
    import plotly.graph_objects as go

    losses = list(dict.fromkeys(table["loss"]))
    starts = list(dict.fromkeys(table["start"]))
    traces = []
    for number, start in enumerate(starts):
        rows = table[table["start"] == start].to_dict("records")
        aside = 0.16 * (number - (len(starts) - 1) / 2)  # so that equal values do not hide each other
        y = [-losses.index(row["loss"]) - aside for row in rows]
        seeds = [(value, place) for row, place in zip(rows, y) for value in row["values"] if row["n"] > 1]
        look = style.marker(number, size=11)
        bars = {
            "type": "data",
            "symmetric": False,
            "array": [row["high"] - row["mean"] if row["n"] > 1 else 0 for row in rows],
            "arrayminus": [row["mean"] - row["low"] if row["n"] > 1 else 0 for row in rows],
            "thickness": 2,
            "width": 5,
        }
        traces.append(
            go.Scatter(
                x=[row["mean"] for row in rows],
                y=y,
                mode="markers",
                name=start or "mean over seeds",
                marker=look,
                error_x=bars | {"color": style.COLORS[number]},
                hovertemplate="%{x:.4f}<extra></extra>",
            )
        )
        small = style.marker(number, size=5, opacity=0.5)
        where = {"x": [value for value, _ in seeds], "y": [place - 0.2 for _, place in seeds]}
        traces.append(go.Scatter(**where, mode="markers", marker=small, showlegend=False, hoverinfo="x"))
    fig = style.figure(*traces, x=x, height=140 + 44 * len(losses))
    fig.update_yaxes(tickmode="array", tickvals=[-n for n in range(len(losses))], ticktext=losses)
    fig.update_yaxes(range=[0.4 - len(losses), 0.5])
    return fig
