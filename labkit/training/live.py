"""What a run is doing now: waiting, starting, running or how it ended; how far it is; what it said last."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.base.typed import finite
from labkit.runs.read import read_run
from labkit.runs.run import Run
from labkit.runs.schema import RunError, run_file
from labkit.training.waiting import Entry, Queue

RESUMABLE = ("interrupted", "killed", "failed")
TAIL = 4000  # bytes of a log that are shown


@dataclass(frozen=True)
class Watched:
    """A run of the queue, or one that has not come to its end, as it is at this moment."""

    folder: Path
    status: str
    run: Run | None
    entry: Entry | None

    @property
    def name(self) -> str:
        """The folder's name; a run that waits may get a number behind it."""
        return self.folder.name

    @property
    def title(self) -> str:
        """The name for people."""
        if self.run is not None or self.entry is None:
            return str(self.run or self.name)
        job = self.entry.job
        return f"{job.variant}, seed {job.seeds[self.entry.runs.index(self.name)]}"

    @property
    def waits(self) -> bool:
        """Whether it has not begun."""
        return self.status == "waiting"

    @property
    def going(self) -> bool:
        """Whether there is a process to stop."""
        return self.status in ("starting", "running")

    @property
    def resumable(self) -> bool:
        """Whether it can go on."""
        return self.status in RESUMABLE and self.run is not None and not self.run.problems

    @property
    def failed(self) -> bool:
        """Whether its log should be read: it failed, did not start, or refused to go on."""
        refused = self.entry is not None and self.entry.state == "ended" and self.entry.code == 2
        return self.status in ("failed", "did not start") or refused


def watched(root: Path, queue: Queue, runs: Iterable[Run]) -> list[Watched]:
    """What is in the queue, in its order, then other runs of the folder that are running or unfinished."""
    found = []
    latest = {name: entry.number for entry in queue.entries if entry.state != "waiting" for name in entry.runs}
    for entry in queue.entries:
        for name in entry.runs:
            if entry.state == "waiting" or latest[name] == entry.number:  # a resumed run is listed once
                run = read_run(root / name) if (root / name / "run.json").exists() else None
                if entry.state == "waiting" and not entry.resume:
                    run = None  # the folder of that name is an earlier run's: this one will get another
                found.append(Watched(root / name, status_of(entry, run), run, entry))
    listed = {each.name for each in found if each.run is not None}
    others = [run for run in runs if run.id not in listed and run.path.parent == root and not run.problems]
    return found + [Watched(run.path, run.status, run, None) for run in others if run.status in (*RESUMABLE, "running")]


def status_of(entry: Entry, run: Run | None) -> str:
    """In one word or two; run.json is believed where it can know."""
    if entry.state == "waiting":
        return "waiting"
    if entry.alive and (run is None or run.status in RESUMABLE):
        return "starting"
    if run is None:
        return "stopped before it began" if (entry.code or 0) < 0 else "did not start"
    return run.status


@dataclass(frozen=True)
class HowFar:
    """Steps done, of how many (None: not known yet), and seconds left (None: not known)."""

    step: int
    steps: int | None
    seconds_left: float | None

    @property
    def share(self) -> float:
        """Between 0 and 1."""
        return min(1.0, max(0.0, self.step / self.steps)) if self.steps else 0.0


def progress_of(run: Run, rows: Sequence[dict[str, Any]]) -> HowFar:
    """How far a run is, from the rows of its metrics; where epochs decide, its log says how many steps there are."""
    timed = [row for row in rows if finite(row.get("seconds")) is not None]
    step = max((row["step"] for row in rows), default=0)
    steps = planned_steps(run)
    left = None
    if len(timed) > 1 and steps:
        took, done = timed[-1]["seconds"] - timed[0]["seconds"], timed[-1]["step"] - timed[0]["step"]
        left = max(0.0, took / done * (steps - step)) if done > 0 else None
    return HowFar(step, steps, left)


def planned_steps(run: Run) -> int | None:
    """The length of training, as far as it is known."""
    train = run.record.config.train
    if not train.epochs:
        return train.steps if train.steps > 0 else None
    said = re.findall(r"step \d{1,12}/(\d{1,12})", log_tail(run.path))
    return int(said[-1]) if said else None


def log_tail(folder: Path, name: str = "log.txt") -> str:
    """The last lines of a log as plain text, "" if there is none; it may hold anything, so escape it in a page."""
    try:
        with run_file(folder, name).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL))
            text = file.read().decode("utf-8", "replace")
    except (RunError, OSError):
        return ""
    lines = text.replace("\r", "\n").splitlines()
    kept = lines[1:] if size > TAIL else lines  # the first may be half a line
    return "\n".join("".join(mark for mark in line if mark.isprintable() or mark == "\t") for line in kept).strip()
