"""Writing a run while it happens: one folder of plain files that is readable at every moment."""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labkit.base.errors import LabkitError
from labkit.base.files import json_bytes, write_bytes, write_json, write_new
from labkit.runs.process import process_start, this_node
from labkit.runs.record import RunRecord, Summary


class FileTracker:
    """Writes run.json, metrics.jsonl and summary.json of a run directory."""

    def __init__(self, folder: Path, record: RunRecord) -> None:
        """Use `create` or `reopen`."""
        self.folder = folder
        self.record = record

    @classmethod
    def create(cls, folder: Path, record: RunRecord) -> FileTracker:
        """A new run; the folder must not hold one yet, nor get one from another process at the same moment."""
        tracker = cls(folder, record)
        tracker.begin()
        with explained(folder):
            try:
                write_new(folder / "run.json", json_bytes(asdict(tracker.record)))
            except FileExistsError:
                raise TakenError(f"{folder} holds a run already: choose another place, or --resume it") from None
        return tracker

    @classmethod
    def reopen(cls, folder: Path, record: RunRecord, step: int) -> FileTracker:
        """Go on with a run at a step: rows after it are dropped, since they will come again."""
        tracker = cls(folder, record)
        path = folder / "metrics.jsonl"
        if path.exists():
            kept = [line for line in path.read_text(encoding="utf-8").splitlines() if step_of(line) <= step]
            with explained(folder):
                write_bytes(path, "".join(line + "\n" for line in kept).encode())
        for left_over in folder.rglob(".*.part"):  # of a write that a kill cut short
            left_over.unlink()
        tracker.mark("running")
        return tracker

    def mark(self, status: str, *, ended: str | None = None, error: str | None = None) -> None:
        """Write run.json with a new status."""
        self.record = replace(self.record, status=status, ended=ended, error=error)
        if status == "running":
            self.begin()
        with explained(self.folder):
            write_json(self.folder / "run.json", asdict(self.record))

    def begin(self) -> None:
        """Note that this process writes the run."""
        begun, started = process_start(os.getpid()), self.record.started or now()
        self.record = replace(self.record, status="running", ended=None, error=None, started=started)
        self.record = replace(self.record, pid=os.getpid(), pid_started=begun, node=this_node())

    def log(self, row: Mapping[str, Any]) -> None:
        """Append one line and flush it, so that a killed process loses at most the line it was writing."""
        line = json.dumps(without_nan(dict(row)), allow_nan=False)
        with explained(self.folder), (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def flush(self) -> None:
        """Bring the metrics to the disk: a checkpoint must not outlive the rows before it."""
        path = self.folder / "metrics.jsonl"
        if path.exists():
            with explained(self.folder), path.open("r+b") as file:
                os.fsync(file.fileno())

    def finish(self, status: str, summary: Summary | None = None, error: str | None = None) -> None:
        """Write the summary first, then the status: a finished run has both."""
        if summary is not None:
            with explained(self.folder):
                write_json(self.folder / "summary.json", without_nan(asdict(summary)))
        self.mark(status, ended=now(), error=error)


@contextmanager
def explained(folder: Path) -> Iterator[None]:
    """A full disk or a lost right becomes a sentence that says what is still there and what to do."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        reason = "the disk is full" if full else error.strerror or str(error)
        if not (folder / "run.json").exists():  # nothing to go on with yet
            what = "make room, or give another folder with --runs" if full else "give another folder with --runs"
        else:
            what = f"{'make room' if full else 'mend that'}, then go on with `python -m labkit train --resume {folder}`"
        raise WriteError(f"cannot write to {folder}: {reason}; what was written before is intact; {what}") from error


class WriteError(LabkitError):
    """A run could not be written."""


class TakenError(LabkitError, ValueError):
    """The folder holds another run, perhaps only since a moment ago."""


def step_of(line: str) -> float:
    """The step of a line of metrics; a broken line counts as after everything."""
    try:
        return float(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return math.inf


def without_nan(value: Any) -> Any:
    """JSON has neither NaN nor infinity: they become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: without_nan(entry) for key, entry in value.items()}
    return value


def now() -> str:
    """UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def free_folder(folder: Path) -> Path:
    """The folder, or the first of folder-2, folder-3, … that holds no run."""
    candidate, number = folder, 1
    while (candidate / "run.json").exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate


def remove_folder(folder: Path) -> None:
    """Delete a folder inside a run, if it is there."""
    if folder.is_dir():
        shutil.rmtree(folder)
