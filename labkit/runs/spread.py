"""How far results scatter: what a few seeds can show, and whether metrics and seeds rank the losses alike."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from labkit.runs.compare import by_seed, curves, table

if TYPE_CHECKING:
    import pandas as pd

    from labkit.runs.run import Run

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

INTERVALS = ("t interval, 95 %", "bootstrap, 95 %", "mean ± standard error")


def chance_of_wrong_winner(difference: float, sd: float, seeds: int) -> float:
    """How often the worse of two losses has the higher mean; both scatter normally with sd over seeds."""
    from scipy.special import ndtr

    return float(ndtr(-difference / (sd * (2 / seeds) ** 0.5)))


def coverage(seeds: Sequence[int], trials: int = 4000, seed: int = 0) -> dict[str, list[float]]:
    """How often (in %) each kind of "±" holds the true mean of normal values, simulated, for each number of seeds."""
    share: dict[str, list[float]] = {name: [] for name in INTERVALS}
    rng = np.random.default_rng(seed)
    for n in seeds:
        for name, (low, high) in ends(rng.standard_normal((trials, n)), rng).items():
            share[name].append(100 * float(((low <= 0) & (high >= 0)).mean()))
    return share


def ends(values: np.ndarray, rng: np.random.Generator) -> dict[str, tuple[Floats, Floats]]:
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


def means(runs: Iterable[Run], metrics: Sequence[str]) -> pd.DataFrame:
    """One row a loss, one column a metric: the mean over seeds; losses that lack a metric are left out."""
    import pandas as pd

    known = list(runs)
    columns = {metric: table(known, metric).set_index("loss")["mean"] for metric in metrics}
    return pd.DataFrame(columns).dropna()


def rank_correlation(frame: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rank correlation of every two columns: 1 if they order the rows alike, −1 if the other way round."""
    return frame.rank().corr()


def seeds_agreement(runs: Iterable[Run], metric: str, seeds: tuple[int, int] = (0, 1)) -> tuple[float, int]:
    """The yardstick: rank correlation of one metric with itself between two seeds, and over how many losses."""
    import pandas as pd

    groups, _ = by_seed(runs, metric, "test")
    rows = [[found[seed].value(metric) for seed in seeds] for found in groups.values() if set(seeds) <= set(found)]
    frame = pd.DataFrame(rows, columns=list(seeds))
    return (float(rank_correlation(frame).to_numpy()[0, 1]) if len(frame) > 1 else float("nan")), len(frame)
