"""Lesson 9, SGSL: floors of losses on cosines, γ as a soft maximum, the gate, and class separability beside recall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from labkit.figures import style
from labkit.figures.results import training_curves
from labkit.losses.softmax import smoothed_floor

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from labkit.runs.run import Run

# cosines of one sample with the other classes
OTHERS = {
    "one near class": (0.6, 0.1, 0.0, -0.2, -0.3),
    "two near classes": (0.6, 0.55, 0.0, -0.2, -0.3),
    "all classes alike": (0.2, 0.2, 0.2, 0.2, 0.2),
    "one near, 98 far": (0.6, *(0.0,) * 98),
}
GAMMAS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 70.0)
# training classes
DATA_SETS = {"Fashion-MNIST": 10, "CUB": 100, "Omniglot": 827, "SOP": 11_318}


def floor(classes: float, gamma: float = 1.0) -> float:
    """Least SGSL with C classes, log(1 + (C−1)^{1/γ} e^{−C/(C−1)}); γ = 1 is the unscaled softmax on unit vectors."""
    return float(np.log1p((classes - 1) ** (1 / gamma) * np.exp(-classes / (classes - 1))))


def floors(gammas: Sequence[float] = (1.0, 2.0, 30.0)) -> go.Figure:
    """The least value over the number of classes, beside log C, the loss of a guess."""
    import plotly.graph_objects as go

    C = np.geomspace(2, 20_000, 60)
    traces = [go.Scatter(x=C, y=np.log(C), name="log C: a guess", line=style.line(6))]
    for number, gamma in enumerate(gammas):
        name = "γ = 1: unscaled softmax on unit vectors" if gamma == 1 else f"γ = {gamma:g}"
        traces.append(go.Scatter(x=C, y=[floor(c, gamma) for c in C], name=name, line=style.line(number)))
    fig = style.figure(*traces, x="number of classes C", y="least possible loss (nats)")
    fig.update_xaxes(type="log", tickvals=[2, 10, 100, 1000, 10_000], ticktext=["2", "10", "100", "1,000", "10,000"])
    return fig


def against_floors(runs: Iterable[Run], names: Mapping[str, str], lines: Mapping[str, float]) -> go.Figure:
    """Training loss of recorded runs, and values that it cannot pass as level lines."""
    import plotly.graph_objects as go

    fig = training_curves(runs, "loss", names, split="training")
    groups = sum(trace.showlegend is not False for trace in fig.data)
    end = max(int(max(trace.x)) for trace in fig.data)
    for number, (name, value) in enumerate(lines.items(), groups):
        level = style.line(number, width=1.5)
        fig.add_trace(go.Scatter(x=[0, end], y=[value, value], mode="lines", name=name, line=level))
    fig.update_yaxes(title={"text": "training loss (nats)"}, rangemode="tozero")
    return fig


def lse(cosines: Sequence[float], gamma: float) -> float:
    """LSE^γ = 1/γ log Σ e^{γ x}, the largest taken out first."""
    x = np.asarray(cosines)
    return float(x.max() + np.log(np.exp(gamma * (x - x.max())).sum()) / gamma)


def soft_maximum(others: str, gamma: float) -> go.Figure:
    """LSE^γ over γ between the maximum and the maximum + log(n)/γ; a point at the present γ."""
    import plotly.graph_objects as go

    cosines, x = OTHERS[others], np.geomspace(0.5, 100, 80)
    largest, count = max(cosines), len(cosines)
    gap, bound = lse(cosines, gamma) - largest, np.log(count) / gamma
    fig = style.figure(
        go.Scatter(x=x, y=largest + np.log(count) / x, name="maximum + log(C−1)/γ", line=style.line(1)),
        go.Scatter(x=x, y=[lse(cosines, g) for g in x], name="LSE with γ", line=style.line(0)),
        go.Scatter(x=x, y=np.full(len(x), largest), name="maximum", line=style.line(2)),
        go.Scatter(x=[gamma], y=[largest + gap], mode="markers", name="the chosen γ", marker=style.marker(5, size=13)),
        x="γ",
        y="value",
        title=f"γ = {gamma:g}: {gap:.3f} above the maximum, at most {bound:.3f}",
    )
    fig.update_xaxes(type="log", tickvals=[0.5, 1, 3, 10, 30, 100], ticktext=["0.5", "1", "3", "10", "30", "100"])
    fig.update_yaxes(range=[largest - 0.25, largest + min(10.0, 2.2 * np.log(count) + 0.2)])
    return fig


def shares(others: str, gamma: float) -> go.Figure:
    """How the gradient of LSE^γ is shared out among the other classes: a softmax with factor γ."""
    import plotly.graph_objects as go

    cosines = OTHERS[others][:5]
    weight = np.exp(gamma * (np.asarray(cosines) - max(cosines)))
    percent = 100 * weight / np.exp(gamma * (np.asarray(OTHERS[others]) - max(cosines))).sum()
    names = [f"class {number}: {cosine:g}" for number, cosine in enumerate(cosines, 1)]
    bars = go.Bar(
        x=names,
        y=percent,
        marker={"color": style.COLORS[0]},
        text=[f"{p:.1f}" for p in percent],
        textposition="outside",
        cliponaxis=False,
    )
    count = len(OTHERS[others])
    title = f"γ = {gamma:g}" + (f"; five of the {count} other classes" if count > len(cosines) else "")
    fig = style.figure(bars, x="other class: its cosine", y="share of the gradient (%)", title=title)
    fig.update_yaxes(range=[0, 112])
    fig.update_xaxes(tickvals=list(range(len(names))), ticktext=[f"{c:g}" for c in cosines])
    return fig


def softplus_and_hinge() -> go.Figure:
    """Eq. 6's softplus beside Eq. 8's hinge, over the arguments that cosines can give."""
    import plotly.graph_objects as go

    x = np.linspace(-2, 2, 161)
    return style.figure(
        go.Scatter(x=x, y=np.log1p(np.exp(x)), name="Eq. 6: softplus", line=style.line(0)),
        go.Scatter(x=x, y=np.maximum(x, 0), name="Eq. 8: hinge", line=style.line(1)),
        x="largest other cosine − own cosine",
        y="loss",
        height=320,
    )


def gate(threshold: float = 3.0) -> go.Figure:
    """The floor of the label-smoothed softmax over ε, for several numbers of classes, and the gate."""
    import plotly.graph_objects as go

    epsilon = np.linspace(0, 0.5, 101)
    traces = [
        go.Scatter(
            x=epsilon,
            y=[smoothed_floor(float(e), classes) for e in epsilon],
            name=f"{name}, C = {classes:,}",
            line=style.line(number),
        )
        for number, (name, classes) in enumerate(DATA_SETS.items())
    ]
    level = go.Scatter(
        x=[0, 0.5], y=[threshold] * 2, mode="lines", name=f"gate: SGSL joins below {threshold:g}", line=style.line(6)
    )
    return style.figure(*traces, level, x="label smoothing ε", y="least softmax loss (nats)")


def separability(runs: Iterable[Run], metric: str = "CSC", kinds: Mapping[str, str] | None = None) -> go.Figure:
    """Class separability against R@1, one point a run; title: their rank correlation. kinds: of each group, by its id.

    Named in the figure: the loss with the highest separability, and the one with the highest recall.
    """
    import pandas as pd
    import plotly.graph_objects as go

    from labkit.losses import CATALOG

    rows = [
        (
            run.loss,
            (kinds or {}).get(run.group, CATALOG[run.loss].family),
            run.value(metric),
            run.value("R@1"),
            str(run),
        )
        for run in runs
        if run.loss in CATALOG and run.status == "finished"
    ]
    frame = pd.DataFrame(rows, columns=["loss", "kind", "x", "y", "run"])
    frame["y"] *= 100
    traces = [
        go.Scatter(
            x=part["x"],
            y=part["y"],
            mode="markers",
            name=str(kind),
            marker=style.marker(number),
            hovertext=part["run"],
        )
        for number, (kind, part) in enumerate(frame.groupby("kind", sort=True))
    ]
    best = frame[(frame["x"] == frame["x"].max()) | (frame["y"] == frame["y"].max())]
    traces.append(
        go.Scatter(
            x=best["x"],
            y=best["y"],
            mode="text",
            text=best["kind" if kinds else "loss"],
            textposition="top left",
            showlegend=False,
            hoverinfo="skip",
        )
    )
    rho = frame["x"].rank().corr(frame["y"].rank())
    what = "CSC on unit vectors" if metric == "CSC" else "CSC on features as they are"
    fig = style.figure(*traces, x=what, y="test R@1 (%)", title=f"{len(frame)} runs, rank correlation {rho:+.2f}")
    room = 0.08 * (frame["y"].max() - frame["y"].min())
    fig.update_yaxes(range=[frame["y"].min() - room, frame["y"].max() + 2 * room])
    return fig
