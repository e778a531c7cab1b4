"""One run as it was when read. Everything that reads a run asks it, and only it knows where its files are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from labkit.base.typed import Unfit, a_whole_number, whole
from labkit.runs.record import STATUSES, RunRecord, Summary
from labkit.runs.schema import FILES, RunError, run_file
from labkit.runs.variant import Variant

MAX_LINE = 2**20  # bytes; a longer line falls into pieces, each of them broken
Stamp = tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """What run.json and summary.json hold, what is wrong with them, and the way to the run's other files.

    path: where it is, for people and caches. A store other than a folder changes rows, file and stamp, and no more.
    """

    path: Path
    record: RunRecord = field(default_factory=RunRecord)
    summary: Summary | None = None
    problems: tuple[str, ...] = ()
    killed: bool = False

    @cached_property
    def id(self) -> str:
        """The folder's name."""
        return whole(self.path.name)

    @property
    def topic(self) -> str:
        """The folder of runs that it lies in."""
        return self.path.parent.name

    @cached_property
    def variant(self) -> Variant:
        """What was chosen for it: runs of one variant differ by their seed only."""
        record = self.record
        return Variant(record.preset, record.loss or self.id, record.overrides)

    @property
    def group(self) -> str:
        """The variant's name, which ids begin with."""
        return self.variant.name

    @property
    def title(self) -> str:
        """The name for people, where the preset has been said: "PNP-D_q, α = 4, seed 0"."""
        again = self.id.removeprefix(self.variant.run_id(self.seed)) if self.seed is not None else ""
        number = f" ({again[1:]})" if again[:1] == "-" else ""  # the second run of the same choice
        return f"{self.variant.title}, seed {'not known' if self.seed is None else self.seed}{number}"

    def __str__(self) -> str:
        """The name for people, with the preset: "omniglot: PNP-D_q, α = 4, seed 0"."""
        return f"{self.preset}: {self.title}" if self.preset else self.title

    @property
    def preset(self) -> str:
        """Name of the preset, "" if not known."""
        return self.record.preset

    @property
    def loss(self) -> str:
        """Catalogue name of the loss, "untrained", "pixels" or FILE.py:NAME; "" if not known."""
        return self.record.loss

    @property
    def seed(self) -> int | None:
        """The seed, None if not known."""
        return self.record.seed

    @property
    def status(self) -> str:
        """One of STATUSES, "killed" if the process of a running one is gone, or "unreadable"."""
        status = self.record.status
        return "killed" if self.killed else status if status in STATUSES else "unreadable"

    @property
    def advice(self) -> str:
        """What to do about a run that has not come to its end, "" for others."""
        ended = {"killed": "its process was killed", "interrupted": "it was interrupted", "failed": "it failed"}
        what = ended.get(self.status)
        return f"{what}: `python -m labkit train --resume {self.id}` goes on from its last checkpoint" if what else ""

    @property
    def device(self) -> str:
        """The kind of device it ran on, "" if not known."""
        return self.record.device

    @property
    def data_name(self) -> str:
        """Name of the data set, "" if not known."""
        return self.record.data.name

    @property
    def seconds(self) -> float | None:
        """Wall-clock time of a finished run."""
        return self.summary.wall_seconds if self.summary else None

    def value(self, metric: str, split: str = "test") -> float | None:
        """A metric of the summary ("test", "validation", "test_last" or "train"); None if it is not there."""
        metrics = getattr(self.summary, split, None)
        return metrics.get(metric) if isinstance(metrics, dict) else None

    def curves(self) -> list[dict[str, Any]]:
        """What was logged, by step; a broken row is left out, and of a step logged twice the later row counts.

        A run that was killed leaves half a line at the end; a resumed one repeats the steps since its checkpoint.
        """
        rows = {(row["step"], str(row.get("split", ""))): row for row in self.rows() if row is not None}
        return sorted(rows.values(), key=lambda row: row["step"])

    def rows(self) -> Iterator[dict[str, Any] | None]:
        """The lines of metrics.jsonl as they stand, None for a broken one."""
        if not self.has("metrics.jsonl"):
            return
        with self.file("metrics.jsonl").open("rb") as file:
            while line := file.readline(MAX_LINE):
                yield row_of(line)

    def file(self, name: str) -> Path:
        """The path of one of the run's files, or an error that names run and file."""
        try:
            return run_file(self.path, name)
        except RunError as error:
            raise RunError(f"run {self.id} ({self.status}): {error}") from None

    def has(self, name: str) -> bool:
        """Whether one of the run's files is there, e.g. "frames.safetensors"."""
        try:
            self.file(name)
        except RunError:
            return False
        return True

    def stamp(self, *names: str) -> Stamp:
        """Where the run is and when its files (or only the named ones) were written: the key of a cache."""
        return stamp_of(self.path, names or FILES)


def row_of(line: bytes) -> dict[str, Any] | None:
    """A line of metrics: an object with a step; None for anything else."""
    try:
        row = json.loads(line)
        a_whole_number(row["step"])
    except (ValueError, RecursionError, TypeError, KeyError, Unfit):
        return None
    return row if isinstance(row, dict) else None


def stamp_of(path: Path, names: Iterable[str]) -> Stamp:
    """Changes when one of a folder's files comes, goes or is written again."""
    found = [str(path)]
    for name in names:
        try:
            facts = os.lstat(path / name)
        except OSError:  # not there, or just taken away
            continue
        found.append(f"{name} {facts.st_mtime_ns} {facts.st_size} {facts.st_ino}")
    return tuple(found)
