"""Results of runs: every seed as a point, the mean, and its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from labkit.base.words import is_share
from labkit.figures import style
from labkit.runs.compare import curves, table

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from labkit.runs.run import Run


HOVER = "%{y}: %{x:.4g}"
NAMES = {"intra": "mean distance within a class", "inter": "mean distance between classes"}


def results(
    runs: Iterable[Run], metric: str = "R@1", names: Mapping[str, str] | None = None, split: str = "test"
) -> go.Figure:
    """One line a group, best on top: seeds as circles, mean as a diamond with its 95 % t interval over seeds.

    names: what to call a group, by its name in ids; by default what it is called for people.
    """
    import plotly.graph_objects as go

    frame = table(runs, metric, split).sort_values("mean")
    scale, unit = (100, " (%)") if is_share(metric) else (1, "")
    shown = [(names or {}).get(group, title) for group, title in zip(frame["group"], frame["title"])]
    half = ((frame["high"] - frame["mean"]) * scale).where(frame["n"] > 2, 0.0)  # two seeds are too few for one
    points = [(scale * value, name) for name, values in zip(shown, frame["values"]) for value in values]
    seeds = go.Scatter(
        x=[x for x, _ in points],
        y=[y for _, y in points],
        mode="markers",
        name="one seed",
        hovertemplate=HOVER,
        marker={"symbol": "circle", "size": 7, "color": style.COLORS[4]},
    )
    means = go.Scatter(
        x=list(scale * frame["mean"]),
        y=shown,
        mode="markers",
        name="mean, 95 % interval",
        hovertemplate=HOVER,
        marker={"symbol": "diamond", "size": 10, "color": style.COLORS[0]},
        error_x={"type": "data", "array": list(half), "color": style.COLORS[0], "thickness": 2, "width": 5},
    )
    what = f"{NAMES[metric]} ({split})" if metric in NAMES else f"{split} {metric}{unit}"
    fig = style.figure(seeds, means, x=what, height=130 + 28 * len(frame))
    fig.update_layout(margin={"l": 30 + 8 * max(map(len, shown), default=10)})
    fig.update_yaxes(categoryorder="array", categoryarray=shown)
    if is_share(metric):
        fig.update_xaxes(minallowed=-1, maxallowed=101)  # an interval of a mean may pass 0 and 100 %; nothing else can
    return fig


def training_curves(
    runs: Iterable[Run], metric: str = "R@1", names: Mapping[str, str] | None = None, split: str = "validation"
) -> go.Figure:
    """A metric during training: the mean over seeds, one line a group, and each seed thin behind it."""
    import plotly.graph_objects as go

    frame = curves(runs, metric, split)
    share = is_share(metric)
    traces: list[go.Scatter] = []
    for number, (group, part) in enumerate(frame.groupby("group", sort=False)):
        name = (names or {}).get(str(group), str(part["title"].iloc[0]))
        for _, one in part.groupby("seed"):
            traces.append(
                go.Scatter(
                    x=one["step"],
                    y=one["value"] * (100 if share else 1),
                    showlegend=False,
                    opacity=0.4,
                    line=style.line(number, width=1),
                    hoverinfo="skip",
                )
            )
        mean = part.groupby("step")["value"].mean() * (100 if share else 1)
        traces.append(go.Scatter(x=mean.index, y=mean.to_numpy(), name=name, line=style.line(number)))
    return style.figure(*traces, x="training step", y=f"{split} {metric}{' (%)' if share else ''}")
