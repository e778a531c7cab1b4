"""Do the metrics rank the losses alike? Recorded runs, metric against metric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from labkit.base.words import is_share
from labkit.figures import style
from labkit.runs.compare import by_seed, table

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from labkit.runs.read import Run

FAMILIES = {
    "ranking": ("smooth-ap", "pnp", "recall-at-k"),
    "proxy": ("proxy", "soft-triple", "mpa"),
    "softmax": ("softmax", "norm-softmax", "sgsl"),
    "pair": ("contrastive", "triplet", "multi-similarity"),
    "not trained": ("untrained", "pixels"),
}
NAMED = 7  # losses that get their name in a figure of two metrics


def means(runs: Iterable[Run], metrics: Sequence[str]) -> pd.DataFrame:
    """One row a loss, one column a metric: the mean over seeds; losses that lack a metric are left out."""
    import pandas as pd

    known = list(runs)
    columns = {metric: table(known, metric).set_index("loss")["mean"] for metric in metrics}
    return pd.DataFrame(columns).dropna()


def rank_correlation(frame: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rank correlation of every two columns: 1 if they order the rows alike, −1 if the other way round."""
    return frame.rank().corr()


def correlation_heatmap(frame: pd.DataFrame) -> go.Figure:
    """The rank correlations of all columns, as colours and numbers."""
    import plotly.graph_objects as go

    found = rank_correlation(frame)
    names = list(found.columns)
    squares = go.Heatmap(
        z=found.to_numpy(), x=names, y=names, zmin=0, zmax=1, colorscale=style.SEQUENTIAL,
        texttemplate="%{z:.2f}", hovertemplate="%{y} and %{x}: %{z:.3f}<extra></extra>",
        colorbar={"title": {"text": "rank correlation"}},
    )  # fmt: skip
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
        hover = [f"{loss}: rank {ranks[first][loss]:.0f} by {first}, {ranks[second][loss]:.0f} by {second}"
                 for loss in part.index]  # fmt: skip
        traces.append(
            go.Scatter(
                x=list(scale[0] * part[first]), y=list(scale[1] * part[second]), name=family, mode="markers+text",
                marker=style.marker(number), text=[loss if loss in named else "" for loss in part.index],
                textposition="top center", hovertext=hover, hoverinfo="text", cliponaxis=False,
            )
        )  # fmt: skip
    correlation = 1.0 if first == second else float(rank_correlation(shown).to_numpy()[0, 1])
    unit = [" (%)" if is_share(metric) else "" for metric in (first, second)]
    title = f"{len(shown)} losses, rank correlation {correlation:.2f}"
    return style.figure(*traces, x=first + unit[0], y=second + unit[1], title=title, height=430)


def family_of(loss: str) -> str:
    """The family of a loss of the catalogue."""
    return next(family for family, starts in FAMILIES.items() if loss.startswith(starts))


def seeds_agreement(runs: Iterable[Run], metric: str, seeds: tuple[int, int] = (0, 1)) -> tuple[float, int]:
    """The yardstick: rank correlation of one metric with itself between two seeds, and over how many losses."""
    import pandas as pd

    groups, _ = by_seed(runs, metric, "test")
    rows = [[found[seed].value(metric) for seed in seeds] for found in groups.values() if set(seeds) <= set(found)]
    frame = pd.DataFrame(rows, columns=list(seeds))
    return (float(rank_correlation(frame).to_numpy()[0, 1]) if len(frame) > 1 else float("nan")), len(frame)
