"""Runs beside each other: paired differences to a baseline, every metric at once, cost against quality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from labkit.base.words import is_share
from labkit.figures import style
from labkit.runs.compare import paired_difference, table
from labkit.runs.schema import RunError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from labkit.runs.compare import PairedDifference
    from labkit.runs.run import Run
    from labkit.runs.variant import Variant

METRICS = ("R@1", "R@10", "nDCG@10", "MAP@R", "NMI", "CSC", "intra", "inter")


def differences_to(
    runs: Sequence[Run], groups: Iterable[Variant], baseline: Variant, metric: str, split: str = "test"
) -> list[PairedDifference]:
    """Every group minus the baseline, from the best down; groups that share no seed with it are left out."""
    found = []
    for group in groups:
        try:
            found.append(paired_difference(runs, group, baseline, metric, split))
        except RunError:
            continue
    return sorted((d for d in found if d.group != d.baseline), key=lambda d: -d.mean)


def differences(found: Sequence[PairedDifference], names: Mapping[str, str]) -> go.Figure:
    """Differences with their intervals: filled where the interval leaves out zero, hollow where it does not."""
    import plotly.graph_objects as go

    rows = list(found)[::-1]

    def called(variant: Variant) -> str:
        return names.get(variant.name, variant.title)

    scale, unit = (100, "points") if rows and is_share(rows[0].metric) else (1, "")
    enough = [len(d.seeds) > 2 for d in rows]  # two are too few for an interval
    clear = [some and (d.low > 0 or d.high < 0) for some, d in zip(enough, rows)]
    half = [scale * (d.high - d.mean) if some else 0.0 for some, d in zip(enough, rows)]
    means = go.Scatter(
        x=[scale * d.mean for d in rows],
        y=[called(d.group) for d in rows],
        mode="markers",
        name="mean, 95 % interval",
        marker={"symbol": ["diamond" if c else "diamond-open" for c in clear], "size": 11, "color": style.COLORS[0]},
        error_x={"type": "data", "array": half, "color": style.COLORS[0], "thickness": 2, "width": 5},
        hovertext=[f"higher in {d.wins} of {len(d.seeds)} seeds" for d in rows],
        hoverinfo="x+y+text",
    )
    title = f"{rows[0].metric}, difference to {called(rows[0].baseline)}{f' ({unit})' if unit else ''}" if rows else ""
    fig = style.figure(means, x=title, height=130 + 28 * len(rows))
    longest = max((len(called(d.group)) for d in rows), default=10)
    fig.update_layout(margin={"l": 30 + 8 * longest}, showlegend=False)
    fig.add_vline(x=0, line={"color": style.TEXT, "dash": "dot"})
    return fig


def profiles(runs: Sequence[Run], names: Mapping[str, str], metrics: Sequence[str] = METRICS) -> go.Figure:
    """Every metric at once: one line a group, each axis from the lowest to the highest group."""
    import plotly.graph_objects as go

    means = {metric: dict(zip(f["variant"], f["mean"])) for metric in metrics if len(f := table(runs, metric))}
    variants = list(dict.fromkeys(variant for column in means.values() for variant in column))
    traces = []
    for number, variant in enumerate(variants):
        x, y, told = [], [], []
        for metric, column in means.items():
            if variant in column:
                low, high = min(column.values()), max(column.values())
                x.append(metric)
                y.append(100 * (column[variant] - low) / (high - low) if high > low else 50.0)
                told.append(f"{metric} {shown(column[variant], metric)}")
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                name=names.get(variant.name, variant.title),
                mode="lines+markers",
                line=style.line(number, width=1.5),
                marker=style.marker(number),
                hovertext=told,
                hoverinfo="name+text",
            )
        )
    fig = style.figure(*traces, y="lowest group … highest group (%)", height=420)
    fig.update_yaxes(range=[-5, 105])
    return fig


def cost_against_quality(runs: Iterable[Run], metric: str, names: Mapping[str, str]) -> go.Figure:
    """CPU time of a run against what it reached, one point a group; the best for their cost have names."""
    import plotly.graph_objects as go

    known = list(runs)
    frame = table(known, metric)
    scale, unit = (100, " (%)") if is_share(metric) else (1, "")
    seconds: dict[Variant, list[float]] = {}
    for run in known:
        if run.summary is not None and run.summary.cpu_seconds is not None:
            seconds.setdefault(run.variant, []).append(run.summary.cpu_seconds)
    kept = [(variant, mean) for variant, mean in zip(frame["variant"], frame["mean"]) if variant in seconds]
    cost = [float(np.mean(seconds[variant])) for variant, _ in kept]
    value = [scale * mean for _, mean in kept]
    # only the best for their cost carry their name: the others, which lie close together, have it under the cursor
    front = [all(v > w for c, w in zip(cost, value) if (c, w) != (t, v) and c <= t) for t, v in zip(cost, value)]
    label = [names.get(variant.name, variant.title) for variant, _ in kept]
    points = go.Scatter(
        x=cost,
        y=value,
        text=[name if best else "" for name, best in zip(label, front)],
        mode="markers+text",
        textposition="top center",
        hovertext=label,
        hoverinfo="text+x+y",
        cliponaxis=False,
        marker=style.marker(0, symbol=["diamond" if best else "circle-open" for best in front], size=10),
    )
    return style.figure(points, x="CPU time of a run (s)", y=f"test {metric}{unit}", height=440)


def shown(value: float, metric: str) -> str:
    """A value as people read it."""
    return f"{100 * value:.1f} %" if is_share(metric) else f"{value:.3g}"
