"""What a few seeds can show: how often the worse loss wins a table, and how often an interval holds the truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from labkit.figures import style
from labkit.runs.compare import curves

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from labkit.runs.read import Run

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def chance_of_wrong_winner(difference: float, sd: float, seeds: int) -> float:
    """How often the worse of two losses has the higher mean; both scatter normally with sd over seeds."""
    from scipy.special import ndtr

    return float(ndtr(-difference / (sd * (2 / seeds) ** 0.5)))


def wrong_winner(difference: float, sd: float, seeds: int) -> go.Figure:
    """The observed difference of two means as a density, the part where the worse loss wins filled."""
    import plotly.graph_objects as go

    spread = sd * (2 / seeds) ** 0.5
    x = np.linspace(-4, 6, 501)
    density = np.exp(-0.5 * ((x - difference) / spread) ** 2) / (spread * (2 * np.pi) ** 0.5)
    wrong = 100 * chance_of_wrong_winner(difference, sd, seeds)
    below = x <= 0
    return style.figure(
        go.Scatter(x=x, y=density, name="observed difference", line=style.line(0)),
        go.Scatter(
            x=x[below], y=density[below], name="the worse loss wins", fill="tozeroy", line=style.line(1),
            fillcolor="rgba(213, 94, 0, 0.3)",
        ),
        x="difference of the means (points of R@1)", y="density (1/point)",
        title=f"{seeds} seed{'s' if seeds > 1 else ''}: the worse loss wins in {wrong:.1f} % of tables",
    )  # fmt: skip


def coverage(seeds: Sequence[int] = (2, 3, 5, 10, 20), trials: int = 4000, seed: int = 0) -> go.Figure:
    """How often three kinds of "±" hold the true mean, simulated on normal values."""
    import plotly.graph_objects as go

    share: dict[str, list[float]] = {name: [] for name in INTERVALS}
    rng = np.random.default_rng(seed)
    for n in seeds:
        values = rng.standard_normal((trials, n))
        for name, half in half_widths(values, rng).items():
            low, high = half
            share[name].append(100 * float(((low <= 0) & (high >= 0)).mean()))
    traces = [
        go.Scatter(
            x=list(seeds),
            y=found,
            name=name,
            mode="lines+markers",
            line=style.line(number),
            marker=style.marker(number),
        )
        for number, (name, found) in enumerate(share.items())
    ]
    fig = style.figure(*traces, x="seeds", y="holds the true mean (% of tables)")
    fig.update_yaxes(range=[30, 100])
    return fig


INTERVALS = ("t interval, 95 %", "bootstrap, 95 %", "mean ± standard error")


def half_widths(values: np.ndarray, rng: np.random.Generator) -> dict[str, tuple[Floats, Floats]]:
    """Lower and upper ends, one for each row of values (trials, n)."""
    from scipy.special import stdtrit

    n = values.shape[1]
    mean, error = values.mean(1), values.std(1, ddof=1) / n**0.5
    t = float(stdtrit(n - 1, 0.975)) * error
    drawn = rng.integers(n, size=(len(values), 400, n))
    resampled = np.take_along_axis(values[:, None, :], drawn, axis=2).mean(2)
    low, high = np.percentile(resampled, [2.5, 97.5], axis=1)
    return dict(zip(INTERVALS, ((mean - t, mean + t), (low, high), (mean - error, mean + error))))


def gain_of_picking(runs: Iterable[Run], metric: str = "R@1") -> pd.DataFrame:
    """For each loss, in points: the best evaluation during training minus the last, mean over seeds (validation)."""
    frame = curves(runs, metric, "validation").sort_values("step")
    by_run = frame.groupby(["loss", "seed"])["value"]
    gain = 100 * (by_run.max() - by_run.last())
    return gain.groupby("loss").agg(["mean", "max", "count"]).sort_values("mean", ascending=False)
