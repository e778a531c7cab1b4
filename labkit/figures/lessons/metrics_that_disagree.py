"""Lesson 2: one ranked list by every metric, losses ranked by two metrics, classes on a circle beside their metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from labkit import metrics
from labkit.base.words import is_share
from labkit.figures import style
from labkit.losses import CATALOG
from labkit.runs.spread import rank_correlation

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go
    from torch import Tensor

# metric: who uses it under the plain name
OF_A_LIST = {
    "recall@k, any hit": "retrieval papers",
    "recall@k, hits / R": "information retrieval",
    "recall@k, hits / min(k, R)": "released RS@k code",
    "precision@k": "",
    "AP@k / k": "MPA paper",
    "AP@k / R": "pytorch-metric-learning",
    "AP@k / min(k, R)": "textbook",
    "AP@k / hits": "torchmetrics",
    "MAP@R": "Musgrave et al.",
    "nDCG@k": "MPA paper's proposal",
}


def metrics_of_a_list(relevance: tuple[int, ...], k: int, num_relevant: int) -> dict[str, float]:
    """Every metric of one list, by the names of OF_A_LIST; relevance: 1 and 0, best-ranked item first."""
    recall = [metrics.recall_at_k(relevance, k, num_relevant, mode) for mode in ("any", "fraction", "capped")]
    precision = metrics.precision_at_k(relevance, k)
    average = [
        metrics.average_precision_at_k(relevance, k, num_relevant, denominator)
        for denominator in ("k", "relevant", "min", "hits")
    ]
    at_r = metrics.map_at_r(relevance, num_relevant)
    found = [*recall, precision, *average, at_r, metrics.ndcg_at_k(relevance, k, num_relevant)]
    return {name: float(value) for name, value in zip(OF_A_LIST, found)}


def ranking_metrics(relevance: tuple[int, ...], k: int = 10, num_relevant: int = 4) -> go.Figure:
    """Bars of every metric of one list; the list itself is in the title, its first k items before the bar."""
    import plotly.graph_objects as go

    found = metrics_of_a_list(relevance, k, num_relevant)
    names = list(found)[::-1]
    marks = ["✓" if r else "·" for r in relevance]
    listed = " ".join(marks[:k]) + (" | " + " ".join(marks[k:]) if k < len(marks) else "")
    bars = go.Bar(
        x=[100 * found[name] for name in names],
        y=names,
        orientation="h",
        marker={"color": style.COLORS[0]},
        text=[f"{100 * found[name]:.1f}" for name in names],
        textposition="outside",
        cliponaxis=False,
        hovertext=[OF_A_LIST[name] for name in names],
        hoverinfo="text+x",
    )
    fig = style.figure(bars, x="value (%)", title=f"ranking: {listed}", height=420)
    fig.update_xaxes(range=[0, 112], tickvals=[0, 25, 50, 75, 100])
    fig.update_layout(margin={"l": 190}, showlegend=False)
    return fig


RECALLS = {"any hit": "R@", "hits / min(k, R)": "recall-capped@", "hits / R": "recall-fraction@"}


def recall_over_k(
    found: Mapping[str, float], ks: Sequence[int] = (1, 2, 4, 8, 10, 16, 100), kinds: Mapping[str, str] = RECALLS
) -> go.Figure:
    """Recalls of one run over the cut-off; found: metrics of `evaluate`, or of a run's summary; kinds: name -> key."""
    import plotly.graph_objects as go

    traces = [
        go.Scatter(
            x=list(ks),
            y=[100 * found[f"{key}{k}"] for k in ks],
            name=name,
            mode="lines+markers",
            line=style.line(number),
            marker=style.marker(number),
        )
        for number, (name, key) in enumerate(kinds.items())
    ]
    fig = style.figure(*traces, x="cut-off k", y="recall@k (%)")
    fig.update_xaxes(type="log", tickvals=list(ks), ticktext=[str(k) for k in ks])
    fig.update_yaxes(range=[0, 104])
    return fig


FAMILIES = ("ranking", "proxy", "softmax", "pair", "not trained", "your own")
NOT_TRAINED = ("untrained", "pixels")
NAMED = 7  # losses that get their name in a figure of two metrics


def correlation_heatmap(frame: pd.DataFrame) -> go.Figure:
    """The rank correlations of all columns, as colours and numbers."""
    import plotly.graph_objects as go

    found = rank_correlation(frame)
    names = list(found.columns)
    squares = go.Heatmap(
        z=found.to_numpy(),
        x=names,
        y=names,
        zmin=0,
        zmax=1,
        colorscale=style.SEQUENTIAL,
        texttemplate="%{z:.2f}",
        hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        colorbar={"title": {"text": "rank correlation"}},
    )
    fig = style.figure(squares, height=430)
    fig.update_yaxes(autorange="reversed", showgrid=False)
    fig.update_xaxes(showgrid=False)
    fig.update_layout(margin={"l": 90})
    return fig


def two_metrics(frame: pd.DataFrame, first: str, second: str) -> go.Figure:
    """Every loss as a point; the best by each metric and those that the two rank most differently have their name."""
    import plotly.graph_objects as go

    shown = frame[[first, second]].copy() if first != second else frame[[first]].copy()
    scale = [100.0 if is_share(metric) else 1.0 for metric in (first, second)]
    ranks = shown.rank(ascending=False)
    apart = (ranks[first] - ranks[second]).abs()
    named = set(apart.nlargest(NAMED - 2).index) | {shown[first].idxmax(), shown[second].idxmax()}
    traces = []
    for number, family in enumerate(FAMILIES):
        part = shown[[family_of(str(loss)) == family for loss in shown.index]]
        if part.empty:
            continue
        hover = [
            f"{loss}: rank {ranks[first][loss]:.0f} by {first}, {ranks[second][loss]:.0f} by {second}"
            for loss in part.index
        ]
        traces.append(
            go.Scatter(
                x=list(scale[0] * part[first]),
                y=list(scale[1] * part[second]),
                name=family,
                mode="markers+text",
                marker=style.marker(number),
                text=[loss if loss in named else "" for loss in part.index],
                textposition="top center",
                hovertext=hover,
                hoverinfo="text",
                cliponaxis=False,
            )
        )
    correlation = 1.0 if first == second else float(rank_correlation(shown).to_numpy()[0, 1])
    unit = [" (%)" if is_share(metric) else "" for metric in (first, second)]
    title = f"{len(shown)} losses, rank correlation {correlation:.2f}"
    return style.figure(*traces, x=first + unit[0], y=second + unit[1], title=title, height=430)


def family_of(loss: str) -> str:
    """The family of a loss: the catalogue's, or that of a network that no loss of the catalogue has trained."""
    if loss in NOT_TRAINED:
        return "not trained"
    return CATALOG[loss].family if loss in CATALOG else "your own"


def separability(points: Tensor, label: Tensor, found: Mapping[str, float]) -> go.Figure:
    """Points (N, 2) on the circle, and CSC, R@1 and NMI that `evaluate` has found for them.

    Rings have slightly different radii, so that classes do not hide each other.
    """
    import plotly.graph_objects as go

    ring = (1 + 0.07 * label[:, None]) * points
    traces = [
        go.Scatter(
            x=ring[label == c, 0].round(decimals=3).tolist(),
            y=ring[label == c, 1].round(decimals=3).tolist(),
            mode="markers",
            name=f"class {c + 1}",
            marker=style.marker(c, size=8),
            hoverinfo="name",
        )
        for c in label.unique().tolist()
    ]
    csc = f"{found['CSC']:.0f}" if found["CSC"] >= 10 else f"{found['CSC']:.2g}"
    told = f"CSC {csc}<br>R@1 {100 * found['R@1']:.0f} %<br>NMI {100 * found['NMI']:.0f} %"
    fig = style.figure(*traces, height=430)
    fig.add_annotation(x=0, y=0, text=told, showarrow=False, font={"size": style.FONT_SIZE + 2})
    for axis in (fig.layout.xaxis, fig.layout.yaxis):
        axis.range, axis.visible = [-1.5, 1.5], False
    fig.update_yaxes(scaleanchor="x")
    return fig
