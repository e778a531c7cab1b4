"""Comparing runs over seeds: means with intervals, paired differences, curves, and tables for papers.

The interval shown is Student's t interval of the mean: with 3 seeds it is wide (4.3 standard errors), and that is the
truth. The percentile bootstrap, given besides, is too narrow with few seeds, since it never sees a value that was not
drawn: simulated on normal values, an interval said to hold 95 % holds the mean in 51, 74, 83 and 90 % of the cases
with 2, 3, 5 and 10 seeds, the t interval in 95 % of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from labkit.base.checks import check_choice
from labkit.base.typed import finite
from labkit.base.words import axis_title, scale_of, with_interval
from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.runs.variant import Variant

if TYPE_CHECKING:
    import pandas as pd

SPLITS = ("test", "validation", "test_last")
RESAMPLES = 10_000
BLOCK = 2**20  # values that are drawn at a time: thousands of runs of one configuration would take gigabytes
BOOTSTRAP_SEED = 0
Interval = tuple[float, float]
NONE: Interval = (float("nan"), float("nan"))


@dataclass(frozen=True)
class PairedDifference:
    """How much better a group is than a baseline, seed by seed; the interval is a t interval, NaN for one seed."""

    group: Variant
    baseline: Variant
    metric: str
    seeds: tuple[int, ...]
    differences: tuple[float, ...]
    mean: float
    low: float
    high: float
    wins: int
    losses: int


def table(runs: Iterable[Run], metric: str = "R@1", split: str = "test") -> pd.DataFrame:
    """One row a group of finished runs, by preset and then from the highest mean down.

    Columns: group (the variant's name), title (its name for people), preset, loss, n, mean, sd, low and high (95 % t
    interval of the mean), bootstrap_low and bootstrap_high (percentile bootstrap, 10,000 resamples, seed 0), seeds,
    values, variant. Fewer than two seeds have no sd and no interval (NaN). `attrs["notes"]` says what a reader must
    know, e.g. that a seed was there twice.
    """
    import pandas as pd

    chosen, notes = by_seed(runs, metric, split)
    rows = []
    for variant, seeds in chosen.items():
        values = np.array([seeds[seed].value(metric, split) for seed in sorted(seeds)], dtype=float)
        (low, high), (bootstrap_low, bootstrap_high) = t_interval(values), bootstrap_interval(values)
        rows.append(
            {
                "group": variant.name,
                "title": variant.title,
                "preset": variant.preset,
                "loss": variant.loss,
                "n": len(values),
                "mean": values.mean(),
                "sd": values.std(ddof=1) if len(values) > 1 else np.nan,
                "low": low,
                "high": high,
                "bootstrap_low": bootstrap_low,
                "bootstrap_high": bootstrap_high,
                "seeds": tuple(sorted(seeds)),
                "values": tuple(values.tolist()),
                "variant": variant,
            }
        )
    rows.sort(key=lambda row: (row["preset"], -row["mean"], row["group"]))
    columns = ["group", "title", "preset", "loss", "n", "mean", "sd", "low", "high"]
    frame = pd.DataFrame(rows, columns=[*columns, "bootstrap_low", "bootstrap_high", "seeds", "values", "variant"])
    frame.attrs |= {"metric": metric, "split": split, "notes": notes}
    return frame


def by_seed(runs: Iterable[Run], metric: str, split: str) -> tuple[dict[Variant, dict[int, Run]], list[str]]:
    """The finished runs that have a value, by variant and seed, and notes on what is left out and what seeds mix.

    A run that cannot be read in full is left out: what is not known of it could make it another configuration.
    """
    check_choice("split", split, SPLITS)
    groups: dict[Variant, dict[int, Run]] = {}
    notes = []
    for run in sorted(runs, key=lambda run: (run.record.started, str(run.path))):
        if run.problems:
            notes.append(f"{run.id} is left out: {run.broken}")
            continue
        if run.status != "finished" or run.seed is None or run.value(metric, split) is None:
            if run.lacks(metric, split):
                notes.append(f"{run.id} is left out: {metric} on {split} came out as no number (summary.json)")
            continue
        seeds = groups.setdefault(run.variant, {})
        if run.seed in seeds:
            notes.append(f"{run.variant}: seed {run.seed} is there twice, the run started later counts ({run.path})")
        seeds[run.seed] = run
    for variant, seeds in groups.items():
        records = [run.record for run in seeds.values()]
        if any(record.data != records[0].data for record in records):
            notes.append(f"{variant}: its seeds ran on different data (data in run.json), so the mean mixes them")
        if any(record.config != records[0].config for record in records):
            notes.append(
                f"{variant}: its seeds ran with different settings (config in run.json), so the mean mixes them"
            )
        if any(record.loss_file != records[0].loss_file for record in records):
            notes.append(f"{variant}: the file of its loss changed between the seeds, so the mean mixes them")
    return groups, notes


def t_interval(values: np.ndarray) -> Interval:
    """Student's 95 % interval of the mean; NaN for fewer than two values."""
    from scipy.special import stdtrit

    if len(values) < 2:
        return NONE
    half = float(stdtrit(len(values) - 1, 0.975)) * values.std(ddof=1) / len(values) ** 0.5
    return float(values.mean() - half), float(values.mean() + half)


def bootstrap_interval(values: np.ndarray) -> Interval:
    """The percentile bootstrap's 95 % interval of the mean, with a fixed seed; NaN for fewer than two values."""
    return NONE if len(values) < 2 else resampled(tuple(values.tolist()))


@lru_cache(maxsize=2000)  # a page asks for the same values several times
def resampled(seeds: tuple[float, ...]) -> Interval:
    """The percentiles of the means of RESAMPLES samples of these values, drawn in blocks that stay small."""
    values, rng = np.array(seeds), np.random.default_rng(BOOTSTRAP_SEED)
    rows = max(1, BLOCK // len(values))
    blocks = [min(rows, RESAMPLES - first) for first in range(0, RESAMPLES, rows)]
    means = [values[rng.integers(len(values), size=(count, len(values)))].mean(axis=1) for count in blocks]
    low, high = np.percentile(np.concatenate(means), [2.5, 97.5])
    return float(low), float(high)


def paired_difference(
    runs: Iterable[Run], group: Variant | str, baseline: Variant | str, metric: str = "R@1", split: str = "test"
) -> PairedDifference:
    """A group minus a baseline, paired by seed: what the seed does to both alike (first weights, batches) cancels.

    Both are variants, or their names.
    """
    chosen, _ = by_seed(runs, metric, split)
    ours, theirs = (meant(wanted, chosen, name) for name, wanted in (("group", group), ("baseline", baseline)))
    seeds = tuple(sorted(chosen[ours].keys() & chosen[theirs].keys()))
    if not seeds:
        raise RunError(
            f"{ours} (seeds {sorted(chosen[ours])}) and {theirs} (seeds {sorted(chosen[theirs])}) share no seed with "
            f"{metric} on {split}: train one of them with a seed of the other"
        )
    values = [[chosen[side][seed].value(metric, split) for seed in seeds] for side in (ours, theirs)]
    return difference_of(ours, theirs, metric, seeds, np.subtract(*np.array(values, dtype=float)))


def difference_of(
    group: Variant, baseline: Variant, metric: str, seeds: tuple[int, ...], differences: np.ndarray
) -> PairedDifference:
    """The differences seed by seed, with what follows from them."""
    low, high = t_interval(differences)
    return PairedDifference(
        group=group,
        baseline=baseline,
        metric=metric,
        seeds=seeds,
        differences=tuple(differences.tolist()),
        mean=float(differences.mean()),
        low=low,
        high=high,
        wins=int((differences > 0).sum()),
        losses=int((differences < 0).sum()),
    )


def first_seeds(found: PairedDifference, count: int) -> PairedDifference:
    """The same difference as if only its first seeds had been trained."""
    fewer = np.array(found.differences[:count])
    return difference_of(found.group, found.baseline, found.metric, found.seeds[:count], fewer)


def meant(wanted: Variant | str, known: Iterable[Variant], name: str) -> Variant:
    """The variant that is meant, among those that are known; name: the argument, for the error."""
    for variant in known:
        if variant.is_named(wanted) if isinstance(wanted, str) else variant == wanted:
            return variant
    called = wanted if isinstance(wanted, str) else wanted.name
    there = ", ".join(sorted(variant.name for variant in known)[:20]) or "none"
    raise RunError(f"{name}: no finished runs of {called!r} with these results; groups with them: {there}")


def curves(runs: Iterable[Run], metric: str = "R@1", split: str = "validation") -> pd.DataFrame:
    """A metric while training, one row a point: id, group, title, loss, seed, step, value.

    "loss" and "lr" are logged for training batches and have no split; all others come from evaluations on `split`.
    """
    import pandas as pd

    points = []
    groups: dict[Variant, str] = {}  # the same choice may be spelt in several ways
    for run in runs:
        group = groups.setdefault(run.variant, run.group)
        for row in run.curves():
            value = finite(row.get(metric))
            if value is not None and row.get("split", split) == split:
                points.append((run.id, group, run.variant.title, run.loss, run.seed, row["step"], value))
    return pd.DataFrame(points, columns=["id", "group", "title", "loss", "seed", "step", "value"])


def to_csv(frame: pd.DataFrame) -> str:
    """A comparison as CSV; a text that a spreadsheet would take for a formula gets an apostrophe in front."""
    plain = frame.drop(columns="variant")
    for column in ("seeds", "values"):
        plain[column] = [" ".join(map(repr, cell)) for cell in plain[column]]
    for column in ("group", "title", "preset", "loss"):
        plain[column] = [
            f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text for text in plain[column]
        ]
    return plain.to_csv(index=False, lineterminator="\n")


def to_latex(frame: pd.DataFrame) -> str:
    """A comparison as a LaTeX table (package booktabs): mean ± half the t interval, shares in per cent."""
    metric = frame.attrs.get("metric", "value")
    scale, header = scale_of(metric), escape_latex(axis_title(metric))
    lines = [r"\begin{tabular}{llrr}", r"\toprule", rf"preset & configuration & seeds & {header} \\", r"\midrule"]
    for preset, title, n, mean, low, high in zip(
        *(frame[name] for name in ("preset", "title", "n", "mean", "low", "high"))
    ):
        value = with_interval(mean, low, high, scale).replace("±", r"\pm")
        lines.append(rf"{escape_latex(preset)} & {escape_latex(title)} & {n} & ${value}$ \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is."""
    special = {mark: f"\\{mark}" for mark in "&%$#_{}"}
    special |= {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(special.get(mark, mark) for mark in text)
