"""Lesson 7: the toy's points, what happens to them during training, and what merging training labels costs a loss."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from labkit.base.words import is_share
from labkit.figures import style
from labkit.figures.film import SHOWN, points
from labkit.runs.compare import paired_difference
from labkit.runs.schema import RunError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from labkit.runs.film import Film
    from labkit.runs.run import Run

Placed = tuple[Any, Any]  # (n, 2) and their labels (n,)


def layout_figure(train: Placed, test: Placed, title: str = "") -> go.Figure:
    """The toy's points (PNP Fig. 6 a): training classes are made of several clusters, each unseen class of one."""
    traces = points(*train, "training class", size=5, most=40)
    traces += points(*test, "unseen class", size=11, most=SHOWN, rim=True)
    fig = style.figure(*traces, x="first coordinate", y="second coordinate", title=title, height=460)
    fig.update_yaxes(scaleanchor="x")
    return fig


def during_training(of: str, films: Mapping[str, Film], title: str = "") -> go.Figure:
    """The training classes' circular variance ("variance") or R@1 of the unseen classes ("recall") over the steps."""
    import plotly.graph_objects as go

    traces = []
    for number, (name, film) in enumerate(films.items()):
        frames = range(len(film.steps))
        value = [film.variance(k) if of == "variance" else 100 * film.recall(k) for k in frames]
        traces.append(go.Scatter(x=film.steps, y=[round(v, 3) for v in value], name=name, line=style.line(number)))
    y = "circular variance of a training class" if of == "variance" else "R@1 of unseen classes (%)"
    fig = style.figure(*traces, x="training step", y=y, title=title)
    fig.update_yaxes(range=[0, 1.05 if of == "variance" else 105])
    return fig


def drops(
    runs: Iterable[Run],
    losses: Sequence[str],
    names: Mapping[str, str],
    metric: str = "R@1",
    plain: str = "omniglot",
    merged: str = "omniglot-merged",
) -> go.Figure:
    """Merged minus plain, one line a loss: every seed, the mean, and its 95 % t interval where two seeds are there."""
    import plotly.graph_objects as go

    everything = list(runs)
    scale, unit = (100, " (points)") if is_share(metric) else (1, "")
    found = {}
    for loss in losses:
        try:
            found[names.get(loss, loss)] = paired_difference(everything, f"{merged}_{loss}", f"{plain}_{loss}", metric)
        except RunError:
            continue  # a loss whose runs are not there yet is left out
    order = sorted(found, key=lambda name: found[name].mean)
    dots = [(scale * value, name) for name in order for value in found[name].differences]
    half = [0.0 if d.high != d.high else scale * (d.high - d.mean) for d in (found[name] for name in order)]
    seeds = go.Scatter(
        x=[x for x, _ in dots],
        y=[y for _, y in dots],
        mode="markers",
        name="one seed",
        marker={"symbol": "circle", "size": 7, "color": style.COLORS[4]},
    )
    means = go.Scatter(
        x=[scale * found[name].mean for name in order],
        y=order,
        mode="markers",
        name="mean, 95 % interval",
        marker={"symbol": "diamond", "size": 10, "color": style.COLORS[0]},
        error_x={"type": "data", "array": half, "color": style.COLORS[0], "thickness": 2, "width": 5},
    )
    fig = style.figure(seeds, means, x=f"test {metric}, merged minus plain{unit}", height=130 + 30 * len(order))
    fig.update_layout(margin={"l": 30 + 8 * max(map(len, order), default=10)})
    fig.update_yaxes(categoryorder="array", categoryarray=order)
    return fig
