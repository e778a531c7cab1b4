"""One run as it was when read. Everything that reads a run asks it, and only it knows where its files are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from labkit.base.typed import Unfit, a_whole_number, whole
from labkit.runs.record import STATUSES, RunRecord, Summary
from labkit.runs.schema import FILES, PACK, RunError, run_file
from labkit.runs.variant import Variant

MAX_LINE = 2**20  # bytes; a longer line falls into pieces, each of them broken
Stamp = tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """What run.json and summary.json hold, what is wrong with them, and the way to the run's other files.

    path: where it is, for people and caches. texts: of a run in a pack, where no such folder is (labkit/runs/pack.py):
    what its files hold, by their names.
    """

    path: Path
    record: RunRecord = field(default_factory=RunRecord)
    summary: Summary | None = None
    problems: tuple[str, ...] = ()
    killed: bool = False
    texts: Mapping[str, bytes] | None = field(default=None, repr=False, compare=False)

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
    def broken(self) -> str:
        """What is wrong with it, in one line that names file and field; "" if nothing is."""
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        return f"{self.problems[0]}{more}" if self.problems else ""

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

    def lacks(self, metric: str, split: str = "test") -> bool:
        """Whether a metric was measured and came out as NaN."""
        metrics = getattr(self.summary, split, None)
        return isinstance(metrics, dict) and metric in metrics and metrics[metric] is None

    def curves(self) -> list[dict[str, Any]]:
        """What was logged, by step; a broken row is left out, and of a step logged twice the later row counts.

        A run that was killed leaves half a line at the end; a resumed one repeats the steps since its checkpoint.
        """
        rows = {(row["step"], str(row.get("split", ""))): row for row in self.rows() if row is not None}
        return sorted(rows.values(), key=lambda row: row["step"])

    def rows(self) -> Iterator[dict[str, Any] | None]:
        """The lines of metrics.jsonl as they stand, None for a broken one; `log_problem` says why there are none."""
        try:
            with self.open("metrics.jsonl") as file:
                while line := file.readline(MAX_LINE):
                    yield row_of(line)
        except (RunError, OSError):
            return

    def log_problem(self) -> str:
        """What is wrong with metrics.jsonl, "" if nothing is; a run that was cut short may leave half a line behind."""
        try:
            if self.texts is None:
                if not os.path.lexists(self.path / "metrics.jsonl"):
                    return ""
                run_file(self.path, "metrics.jsonl").open("rb").close()
        except RunError as error:
            return str(error)
        except OSError as error:
            return f"metrics.jsonl cannot be read: {error.strerror}"
        damaged, count = [], 0
        for count, row in enumerate(self.rows(), 1):
            if row is None:
                damaged.append(count)
        if damaged and damaged[-1] == count and self.status != "finished":
            damaged.pop()
        more = f" (and {len(damaged) - 1} more)" if len(damaged) > 1 else ""
        return f"metrics.jsonl: line {damaged[0]}{more} is damaged; curves leave it out" if damaged else ""

    def open(self, name: str) -> IO[bytes]:
        """One of the run's files, to be read: of a folder or of a pack."""
        if self.texts is not None and name in self.texts:
            return BytesIO(self.texts[name])
        return self.file(name).open("rb")

    def content(self, name: str) -> bytes:
        """All that one of the run's files holds."""
        with self.open(name) as file:
            return file.read()

    def file(self, name: str) -> Path:
        """The path of one of the run's files, or an error that names run and file."""
        try:
            return run_file(self.path, name)
        except RunError as error:
            raise RunError(f"run {self.id} ({self.status}): {error}") from None

    def has(self, name: str) -> bool:
        """Whether one of the run's files is there, e.g. "frames.safetensors"."""
        if self.texts is not None:
            return name in self.texts
        try:
            self.file(name)
        except RunError:
            return False
        return True

    def stamp(self, *names: str) -> Stamp:
        """Where the run is and when its files (or only the named ones) were written: the key of a cache."""
        if self.texts is not None:
            return (str(self.path), *stamp_of(self.path.parent, (PACK,)))
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
    folder = str(path)
    found = [folder]
    for name in names:
        try:
            facts = os.lstat(os.path.join(folder, name))  # faster than a Path, and asked for thousands of runs
        except OSError:  # not there, or just taken away
            continue
        found.append(f"{name} {facts.st_mtime_ns} {facts.st_size} {facts.st_ino}")
    return tuple(found)
