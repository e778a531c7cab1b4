"""Readers of words: what every arm gains over its base, and how near a surrogate comes to its metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from labkit.base.titles import TITLES
from labkit.base.words import is_share, shortened
from labkit.figures import style
from labkit.runs.gains import READER, Gain

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

ROW = 30  # pixels
LONGEST = 34  # letters of a name
KINDS = {"reader": "what the reader makes of test words", "generator": "random pairs of test words"}


def unit_of(metric: str) -> tuple[float, str]:
    """By what a difference is multiplied to be read, and what it is then counted in."""
    return (100.0, "points") if is_share(metric) else (1.0, "edits")


def arms(gains: Sequence[Gain]) -> go.Figure:
    """One line an arm, the best on top: the gain over the base with its 95 % interval; controls are squares."""
    import plotly.graph_objects as go

    metric = gains[0].difference.metric if gains else "TED"
    scale, unit = unit_of(metric)
    ordered = sorted(gains, key=lambda gain: gain.mean)
    traces = []
    for number, (is_control, name) in enumerate(((False, "learned surrogate"), (True, "control"))):
        chosen = [(place, gain) for place, gain in enumerate(ordered) if gain.is_control == is_control]
        told = [f"{gain.title}, {len(gain.difference.seeds)} seeds" for _, gain in chosen]
        traces.append(
            go.Scatter(
                x=[scale * gain.mean for _, gain in chosen],
                y=[place for place, _ in chosen],
                mode="markers",
                name=name,
                marker=style.marker(number, size=11),
                error_x=bars([gain for _, gain in chosen], scale, number),
                customdata=told,
                hovertemplate="%{customdata}: %{x:+.2f}<extra></extra>",
            )
        )
    fig = style.figure(*traces, x=f"gain in {metric} ({unit})", height=150 + ROW * len(ordered))
    names = [shortened(gain.title, LONGEST) for gain in ordered]
    places = list(range(len(names)))
    fig.update_yaxes(tickmode="array", tickvals=places, ticktext=names, range=[-0.6, len(names) - 0.4])
    fig.update_xaxes(zeroline=True, zerolinecolor=style.TEXT, zerolinewidth=1.5)
    return fig.update_layout(
        margin={"l": 30 + 7.2 * max(map(len, names), default=10), "r": 20},
        legend={"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom"},
    )


def bars(gains: Sequence[Gain], scale: float, number: int) -> dict[str, object]:
    """Intervals as plotly's error bars; none where there is no interval."""
    ends = [np.nan_to_num(gain.interval, nan=gain.mean) for gain in gains]
    return {
        "type": "data",
        "symmetric": False,
        "array": [scale * float(high - gain.mean) for gain, (_, high) in zip(gains, ends)],
        "arrayminus": [scale * float(gain.mean - low) for gain, (low, _) in zip(gains, ends)],
        "color": style.COLORS[number],
        "thickness": 2,
        "width": 5,
    }


def share_of_training(reader: str) -> int:
    """How far a base was trained, in percent: base-15 is 15, base is 100."""
    share = reader.removeprefix("base-")
    return int(share) if share.isdigit() else 100


def over_bases(gains: Sequence[Gain], losses: Sequence[str]) -> go.Figure:
    """What the plain arms of some losses gain, over how far their base had been trained."""
    import plotly.graph_objects as go

    metric = gains[0].difference.metric if gains else "TED"
    scale, unit = unit_of(metric)
    traces = []
    for number, loss in enumerate(losses):
        plain = [gain for gain in gains if gain.variant.loss == loss and set(gain.variant.changes) <= {READER}]
        plain.sort(key=lambda gain: share_of_training(gain.reader))
        traces.append(
            go.Scatter(
                x=[share_of_training(gain.reader) for gain in plain],
                y=[scale * gain.mean for gain in plain],
                name=TITLES.get(loss, loss),
                mode="lines+markers",
                line=style.line(number),
                marker=style.marker(number),
                error_y=bars(plain, scale, number),
            )
        )
    fig = style.figure(*traces, x="training of the base (%)", y=f"gain in {metric} ({unit})")
    return fig.update_yaxes(zeroline=True, zerolinecolor=style.TEXT, zerolinewidth=1.5)


def approximation_figure(pairs: pd.DataFrame) -> go.Figure:
    """ê against e, a dot a pair, the mean of every e, and where both are equal."""
    import plotly.graph_objects as go

    traces = []
    for number, (kind, part) in enumerate(pairs.groupby("kind", sort=False)):
        exact, estimate = part["exact"].to_numpy(float), part["estimate"].to_numpy(float)
        aside = ((np.arange(len(exact)) * 37) % 61 / 61 - 0.5) * 0.35 + (number - 0.5) * 0.4
        look = style.marker(number, size=4, opacity=0.45)
        name = KINDS.get(str(kind), str(kind))
        traces.append(go.Scatter(x=exact + aside, y=estimate, mode="markers", name=name, marker=look, hoverinfo="skip"))
        whole = np.unique(exact)
        means = [float(estimate[exact == e].mean()) for e in whole]
        line = {"line": style.line(number), "marker": style.marker(number)}
        traces.append(go.Scatter(x=whole, y=means, mode="lines+markers", name=f"mean ({kind})", **line))
    end = float(pairs["exact"].max()) if len(pairs) else 1.0
    traces.append(go.Scatter(x=[0, end], y=[0, end], mode="lines", name="ê = e", line=style.line(6, dash="dot")))
    fig = style.figure(*traces, x="e, true edit distance", y="ê, the surrogate", height=440)
    fig.update_yaxes(rangemode="tozero")
    return fig
