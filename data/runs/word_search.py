"""The tuning of readers of words: every way of tuning gets the same four trials, judged on validation words.

A trial chooses the learning rate and the arm's own number at once. The first trial has what seemed sensible before any
run was made; the others are the same three random draws for all arms. A trial is as long as a run of the comparison,
has a seed that no result uses, and is judged by the total edit distance of validation words. All trials stay in
word_trials.csv; the best is what the preset uses (labkit/surrogates/presets/tuned).
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator
from pathlib import Path

from search import SEED, Span

from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.surrogates.word_config import load_word_config
from labkit.training.queue import Job

TRIALS = 4
HERE = Path(__file__).resolve().parent
TABLE = HERE / "word_trials.csv"
TUNED = HERE.parents[1] / "labkit" / "surrogates" / "presets" / "tuned"
MEASURED = ("Acc", "NED", "TED")
COLUMNS = ("preset", "loss", "trial", "option", "value", "lr", "steps", *MEASURED, "cpu_seconds", "commit")
RATE = Span(1e-4, 3e-5, 1e-3)
EPSILON = Span(1.0, 0.3, 2.0)
# The number of each arm that is searched besides the rate; cross-entropy has none.
OWN: dict[str, tuple[str, Span] | None] = {
    "cross-entropy": None,
    "ls-ed": ("lam", Span(0.1, 0.01, 1.0)),
    "ls-ed-ce": ("ce", Span(0.1, 0.03, 1.0)),
    "feds": ("epsilon", EPSILON),
    "feds-hard": ("epsilon", EPSILON),
    "feds-random": ("epsilon", EPSILON),
    "reinforce": ("samples", Span(8, 4, 16)),
    "soft-edit-distance": ("temperature", Span(0.1, 0.03, 0.5)),
}


def draws() -> list[tuple[float, float]]:
    """Shares for the rate and the arm's own number, of the second trial and those after it; the same for all."""
    rng = random.Random(2026)  # noqa: S311 (settings that anybody may draw again)
    return [(rng.random(), rng.random()) for _ in range(TRIALS - 1)]


def trial(preset: str, loss: str, number: int) -> Job:
    """One trial of an arm."""
    steps = load_word_config(preset, loss).train.steps
    settings = {"train.steps": str(steps), "train.evaluate_every": str(steps), "data.test": "1"}
    shares = draws()[number - 1] if number else (0.0, 0.0)
    settings["optimizer.lr"] = str(RATE.at(shares[0]) if number else RATE.start)
    if own := OWN[loss]:
        value = own[1].at(shares[1]) if number else own[1].start
        settings[own[0]] = str(round(value)) if own[0] == "samples" else str(float(value))
    return Job(preset, loss, (SEED,), settings, "metrics")


def trials(preset: str) -> Iterator[tuple[str, int, Job]]:
    """The first trials of all arms, then the second of all, and so on."""
    yield from ((loss, number, trial(preset, loss, number)) for number in range(TRIALS) for loss in OWN)


def row_of(number: int, job: Job, run: Run) -> dict[str, str]:
    """A finished trial as a row of the table."""
    if run.summary is None or run.summary.validation is None:
        raise RunError(f"{run.path} has no results: {'; '.join(run.problems) or run.status}")
    own = OWN[job.loss]
    facts = {"preset": job.preset, "loss": job.loss, "trial": str(number), "lr": job.settings["optimizer.lr"]}
    facts |= {"option": own[0] if own else "", "value": job.settings[own[0]] if own else ""}
    facts |= {"steps": str(run.summary.steps), "cpu_seconds": f"{run.summary.cpu_seconds or 0:.1f}"}
    return facts | {"commit": run.record.commit or ""} | {n: f"{run.value(n, 'validation'):.4f}" for n in MEASURED}


def read_table() -> list[dict[str, str]]:
    """All trials so far."""
    if not TABLE.exists():
        return []
    with TABLE.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_table(rows: list[dict[str, str]]) -> None:
    """The table, by preset, arm and trial."""
    order = {name: place for place, name in enumerate(OWN)}
    rows = sorted(rows, key=lambda row: (row["preset"], order[row["loss"]], int(row["trial"])))
    with TABLE.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def best_trials(preset: str) -> dict[str, dict[str, str]]:
    """The best trial of each arm: the lowest total edit distance, of equals the earliest."""
    rows = [row for row in read_table() if row["preset"] == preset]
    rows.sort(key=lambda row: (-float(row["TED"]), -int(row["trial"])))
    return {row["loss"]: row for row in rows}


def write_tuned(preset: str) -> None:
    """The best trials, where there are some, as the preset's settings."""
    best = best_trials(preset)
    if not best:
        return
    lines = [
        f"# The best of {TRIALS} trials for each way of tuning, on validation words; all are in",
        f"# data/runs/word_trials.csv, made by `python data/runs/record_words.py {preset}-trials`.",
    ]
    for loss in OWN:
        if loss in best:
            lines += ["", f"[{loss}]", f"lr = {best[loss]['lr']}"]
            lines += [f"{best[loss]['option']} = {best[loss]['value']}"] if best[loss]["option"] else []
    (TUNED / f"{preset}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
