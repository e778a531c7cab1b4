"""One ranked list, every metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from labkit import metrics
from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

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
        x=[100 * found[name] for name in names], y=names, orientation="h", marker={"color": style.COLORS[0]},
        text=[f"{100 * found[name]:.1f}" for name in names], textposition="outside", cliponaxis=False,
        hovertext=[OF_A_LIST[name] for name in names], hoverinfo="text+x",
    )  # fmt: skip
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
            x=list(ks), y=[100 * found[f"{key}{k}"] for k in ks], name=name, mode="lines+markers",
            line=style.line(number), marker=style.marker(number),
        )
        for number, (name, key) in enumerate(kinds.items())
    ]  # fmt: skip
    fig = style.figure(*traces, x="cut-off k", y="recall@k (%)")
    fig.update_xaxes(type="log", tickvals=list(ks), ticktext=[str(k) for k in ks])
    fig.update_yaxes(range=[0, 104])
    return fig
