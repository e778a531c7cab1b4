"""The queue of runs: one small JSON file in the runs folder that pages and the queue's worker read and change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from labkit.base.files import write_json
from labkit.runs.process import is_alive
from labkit.runs.schema import KINDS, RunError, is_run_id, read_json

QUEUE = "queue.json"
LOCK = ".queue.lock"
STATES = ("waiting", "running", "ended")
MOST = 100  # entries that wait or run
KEPT = 20  # entries that have ended and are still listed


@dataclass
class Entry:
    """A run to make: what follows `python -m labkit train`, its folder's name, and the process once there is one."""

    number: int
    run: str
    arguments: list[str]
    state: str = "waiting"
    pid: int = 0
    pid_started: float | None = None
    code: int | None = None

    @property
    def resumes(self) -> bool:
        """Whether it goes on with a run that is there."""
        return self.arguments[:1] == ["--resume"]

    @property
    def alive(self) -> bool:
        """Whether its process is there."""
        return self.state == "running" and is_alive(self.pid, self.pid_started) is not False


@dataclass
class Queue:
    """All entries in their order, and the process that works through them (pid 0: none)."""

    entries: list[Entry] = field(default_factory=list)
    worker: int = 0
    worker_started: float | None = None
    next_number: int = 1

    @property
    def working(self) -> bool:
        """Whether the worker's process is there."""
        return self.worker > 0 and is_alive(self.worker, self.worker_started) is not False

    @property
    def stands_still(self) -> bool:
        """Something waits, and nobody will start it."""
        return not self.working and any(entry.state == "waiting" for entry in self.entries)

    def add(self, run: str, arguments: list[str]) -> Entry:
        """One more at the end; ended ones beyond the last KEPT leave the list."""
        if sum(entry.state != "ended" for entry in self.entries) >= MOST:
            raise ValueError(f"{MOST} runs are in the queue already: wait, or remove some")
        ended = [entry for entry in self.entries if entry.state == "ended"]
        self.entries = [entry for entry in self.entries if entry not in ended[:-KEPT]]
        self.entries.append(Entry(self.next_number, run, arguments))
        self.next_number += 1
        return self.entries[-1]


def read_queue(root: Path) -> Queue:
    """The queue as it is now, empty where there is none; RunError if the file is not one that labkit wrote."""
    if not os.path.lexists(root / QUEUE):
        return Queue()
    content = read_json(root, QUEUE)
    try:
        queue = Queue(**content | {"entries": [checked(Entry(**entry)) for entry in content["entries"]]})
        fits("a whole number", queue.worker, queue.next_number)
        fits_or_none("a number", queue.worker_started)
    except (TypeError, KeyError, ValueError):
        raise RunError(f"{root / QUEUE} is not a queue that labkit wrote: rename it, then start again") from None
    return queue


def checked(entry: Entry) -> Entry:
    """Every field of its kind: the file may have been edited."""
    fits("a whole number", entry.number, entry.pid)
    fits("text", entry.run, *entry.arguments)
    fits_or_none("a number", entry.pid_started)
    fits_or_none("a whole number", entry.code)
    if entry.state not in STATES or not is_run_id(entry.run):
        raise ValueError
    return entry


def fits(kind: str, *values: Any) -> None:
    """Refuse values of another kind."""
    if not all(KINDS[kind](value) for value in values):
        raise ValueError


def fits_or_none(kind: str, value: Any) -> None:
    """Refuse a value of another kind; None will do."""
    if value is not None:
        fits(kind, value)


@contextmanager
def changing(root: Path) -> Iterator[Queue]:
    """The queue, to be changed: nobody else changes it meanwhile, and it is written at the end."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / LOCK).open("a+b") as file:
        lock(file)  # until the file is closed, also by the end of the process
        queue = read_queue(root)
        yield queue
        write_json(root / QUEUE, asdict(queue))


def lock(file: IO[bytes]) -> None:
    """Wait until this process alone holds the file."""
    if os.name == "nt":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
