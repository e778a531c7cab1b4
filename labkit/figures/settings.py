"""A metric against one setting of the runs, such as the number of proxies or of training steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from labkit.base.words import is_share
from labkit.figures import style
from labkit.runs.compare import table

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from labkit.runs.run import Run

APART = 0.07  # neighbouring losses stand beside each other, so that their intervals can be told apart


def against_setting(
    runs: Iterable[Run],
    setting: Callable[[Run], float],
    values: Sequence[float],
    x: str,
    metric: str = "R@1",
    split: str = "test",
) -> go.Figure:
    """One line a loss: the mean over seeds at each value of the setting, with its 95 % t interval.

    The values stand at equal distances, also those that have no runs yet. A point with one seed has no interval.
    """
    import plotly.graph_objects as go

    known = list(runs)
    place = {run.group: values.index(setting(run)) for run in known}
    frame = table(known, metric, split)
    scale, unit = (100, " (%)") if is_share(metric) else (1, "")
    losses = list(dict.fromkeys(run.loss for run in known))
    traces = []
    for number, loss in enumerate(losses):
        part = frame[frame["loss"] == loss]
        part = part.assign(at=[place[group] for group in part["group"]]).sort_values("at")
        shift = APART * (number - (len(losses) - 1) / 2)
        half = ((part["high"] - part["mean"]) * scale).fillna(0.0)
        said = [
            f"{loss}, {values[at]:g}: {scale * mean:.1f}, seeds: {n}"
            for at, mean, n in zip(part["at"], part["mean"], part["n"])
        ]
        traces.append(
            go.Scatter(
                x=[at + shift for at in part["at"]],
                y=list(scale * part["mean"]),
                mode="lines+markers",
                name=loss,
                text=said,
                hoverinfo="text",
                line=style.line(number),
                marker=style.marker(number),
                error_y={"type": "data", "array": list(half), "color": style.COLORS[number], "thickness": 1.5},
            )
        )
    fig = style.figure(*traces, x=x, y=f"{split} {metric}{unit}")
    ticks = list(range(len(values)))
    fig.update_xaxes(range=[-0.5, len(values) - 0.5], tickvals=ticks, ticktext=[f"{value:g}" for value in values])
    return fig


def centers_of(run: Run) -> float:
    """K, the proxies per class of a run's loss; 10 where it was left alone."""
    return float(run.record.config.loss_options.get("centers", 10))


def steps_of(run: Run) -> float:
    """The steps that a run was to train for."""
    return float(run.record.config.train.steps)
