"""Random search: on every data set each loss gets the same eight trials, judged on validation classes.

A trial chooses three numbers at once: the learning rate, the loss's own scale, and the rate of its class vectors. The
first trial has what pilot runs settled on; the others are the same seven random draws for all losses and data sets.
A trial is half as long as the comparison. All trials stay in trials.csv; the best one so far is what the presets use
(labkit/training/presets/tuned, written by `record.py tuned`). `gate` says whether every loss ends above raw pixels and
the untrained network.
"""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labkit.losses import CATALOG
from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.training.config import load_config
from labkit.training.queue import Job

TRIALS = 8
SEED = 100  # not a seed that results use
BASELINES = ("pixels", "untrained")
# those that came after the comparison's protocol was written, and the one that is any loss, by its derivative
NOT_COMPARED = ("fast-ap", "listwise-ap", "blackbox-ap", "blackbox-recall", "margin", "n-pair", "from-derivative")
LOSSES = tuple(name for name in CATALOG if name not in NOT_COMPARED)
CLASS_VECTORS = tuple(name for name in LOSSES if CATALOG[name].needs_classes)
METRIC = {"icons": "R@1 across"}  # what decides; R@1 elsewhere
TABLE = Path(__file__).resolve().parent / "trials.csv"
TUNED = Path(__file__).resolve().parents[2] / "labkit" / "training" / "presets" / "tuned"
MEASURED = ("R@1", "R@1 across", "MAP@R")
COLUMNS = ("data", "loss", "trial", "option", "value", "lr", "proxy_lr", "steps", *MEASURED, "cpu_seconds", "commit")


@dataclass(frozen=True)
class Span:
    """Where a number is drawn from: evenly, or evenly in its logarithm; start is the first trial's value."""

    start: float
    low: float
    high: float
    log: bool = True

    def at(self, share: float) -> float:
        """The value at a share of the way from low to high, to three digits."""
        if self.log:
            return float(f"{math.exp(math.log(self.low) + share * math.log(self.high / self.low)):.3g}")
        return float(f"{self.low + share * (self.high - self.low):.3g}")


RATE = {"emoji-pretrained": Span(3e-4, 3e-5, 1e-3)}
ANY_RATE, PROXY_RATE = Span(3e-3, 1e-3, 1e-2), Span(3e-2, 3e-3, 1e-1)
SOFT_COUNT, SMOOTHING = Span(0.05, 0.01, 0.1), Span(0.0, 0.0, 0.2, log=False)
# The number that sets the scale of each loss.
SCALE: dict[str, tuple[str, Span]] = {
    **{name: ("tau", SOFT_COUNT) for name in LOSSES if name.startswith("pnp") or name == "smooth-ap"},
    "recall-at-k": ("tau_sim", SOFT_COUNT),
    "recall-at-k-simix": ("tau_sim", SOFT_COUNT),
    "proxy-nca": ("scale", Span(9.0, 4.0, 36.0)),
    "proxy-anchor": ("alpha", Span(16.0, 8.0, 64.0)),
    "soft-triple": ("lam", Span(20.0, 5.0, 40.0)),
    **{name: ("alpha", Span(16.0, 8.0, 32.0)) for name in ("mpa", "mpa-dw", "mpa-ap")},
    "softmax": ("label_smoothing", SMOOTHING),
    "sgsl": ("label_smoothing", SMOOTHING),
    "sgsl-alone": ("gamma", Span(30.0, 10.0, 90.0)),
    "norm-softmax": ("scale", Span(16.0, 8.0, 32.0)),
    "center": ("weight", Span(3e-3, 3e-4, 3e-2)),
    "ring": ("weight", Span(1e-2, 1e-3, 1e-1)),
    "contrastive": ("margin", Span(1.0, 0.3, 1.2, log=False)),
    "triplet": ("margin", Span(0.2, 0.05, 0.5)),
    "soft-margin-triplet": ("scale", Span(10.0, 1.0, 30.0)),
    "lifted-structure": ("margin", Span(1.0, 0.5, 2.0)),
    "ranked-list": ("margin", Span(0.4, 0.2, 0.8)),
    "multi-similarity": ("base", Span(0.5, 0.3, 0.7, log=False)),
}


def draws() -> list[tuple[float, float, float]]:
    """Shares for rate, scale and class vectors' rate, of the second trial and those after it; the same for all."""
    rng = random.Random(2026)  # noqa: S311 (settings that anybody may draw again)
    return [(rng.random(), rng.random(), rng.random()) for _ in range(TRIALS - 1)]


def trial(preset: str, loss: str, number: int) -> Job:
    """One trial of a loss; a baseline has nothing to choose and one trial."""
    steps = load_config(preset).train.steps // 2
    settings = {"nmi": "false", "test": "false", "steps": str(steps), "evaluate_every": str(steps)}
    if loss in BASELINES:
        return Job(preset, loss, (SEED,), {"nmi": "false", "test": "false"}, "metrics")
    spans = [("lr", RATE.get(preset, ANY_RATE)), SCALE.get(loss, ("", ANY_RATE)), ("proxy_lr", PROXY_RATE)]
    for index, (name, span) in enumerate(spans):
        if name and (name != "proxy_lr" or loss in CLASS_VECTORS):
            settings[name] = str(span.at(draws()[number - 1][index]) if number else span.start)
    return Job(preset, loss, (SEED,), settings, "metrics")


def trials(preset: str, losses: tuple[str, ...], rounds: int = TRIALS) -> Iterator[tuple[str, int, Job]]:
    """The first trials of all losses, then the second of all, and so on; baselines first."""
    yield from ((name, 0, trial(preset, name, 0)) for name in BASELINES)
    yield from ((loss, number, trial(preset, loss, number)) for number in range(rounds) for loss in losses)


def row_of(number: int, job: Job, run: Run) -> dict[str, str]:
    """A finished trial as a row of the table."""
    summary = run.summary
    if summary is None or summary.validation is None:
        raise RunError(f"{run.path} has no results: {'; '.join(run.problems) or run.status}")
    loss = job.loss
    option = SCALE.get(loss, ("", None))[0]
    settings = {"option": option, "value": job.settings.get(option, "")}
    settings |= {name: job.settings.get(name, "") for name in ("lr", "proxy_lr")}
    found = {name: run.value(name, "validation") for name in MEASURED}
    measured = {name: "" if value is None else f"{value:.4f}" for name, value in found.items()}
    facts = {"steps": str(summary.steps), "cpu_seconds": f"{summary.cpu_seconds or 0:.0f}"}
    facts |= {"commit": run.record.commit or ""}
    return {"data": job.preset, "loss": loss, "trial": str(number)} | settings | facts | measured


def read_table() -> list[dict[str, str]]:
    """All trials so far."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_table(rows: list[dict[str, str]]) -> None:
    """The table, by data set, loss and trial."""
    order = {name: place for place, name in enumerate((*BASELINES, *LOSSES))}
    rows = sorted(rows, key=lambda row: (row["data"], order[row["loss"]], int(row["trial"])))
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def best_trials() -> dict[tuple[str, str], dict[str, str]]:
    """The best trial so far for each data set and loss; of equals the earliest."""
    by_score = sorted(read_table(), key=lambda row: (score(row), -int(row["trial"])))
    return {(row["data"], row["loss"]): row for row in by_score}


def score(row: dict[str, str]) -> float:
    """What decides between trials."""
    return float(row[METRIC.get(row["data"], "R@1")])


def write_tuned(preset: str) -> None:
    """The best trials so far as settings for the presets with these data."""
    best = best_trials()
    rows = [best[preset, loss] for loss in LOSSES if (preset, loss) in best]
    lines = [
        f"# The best of up to {TRIALS} trials for each loss, on the validation classes of {preset}; all are in",
        f"# data/runs/trials.csv, made by `python data/runs/record.py trials {preset}`.",
    ]
    for row in rows:
        lines += ["", f"[{row['loss']}]"]
        lines += [f"{row['option']} = {row['value']}"] if row["option"] else []
        lines += [f"{name} = {row[name]}" for name in ("lr", "proxy_lr") if row[name]]
    (TUNED / f"{preset}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def gate() -> tuple[str, bool]:
    """Best validation score (%) of every loss on every data set beside both baselines, and whether all are above."""
    rows, passed = read_table(), True
    sets = list(dict.fromkeys(row["data"] for row in rows))
    best = {key: score(row) for key, row in best_trials().items()}
    tried = {key: sum((row["data"], row["loss"]) == key for row in rows) for key in best}
    heads = [f"{data}, {METRIC.get(data, 'R@1')}" for data in sets]
    lines = [f"| validation, best trial, % (trials) | {' | '.join(heads)} |"]
    lines += ["|---|" + "---:|" * len(sets)]
    for name in (*BASELINES, *LOSSES):
        cells = []
        for data in sets:
            value = best.get((data, name))
            floor = max(best.get((data, baseline), 1.0) for baseline in BASELINES)
            below = value is not None and name not in BASELINES and value <= floor
            passed &= not below and value is not None
            count = tried.get((data, name), 0)
            cells.append("–" if value is None else f"{'**below** ' if below else ''}{100 * value:.1f} ({count})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines), passed
