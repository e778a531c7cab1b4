"""The queue of runs: one small JSON file in the runs folder that pages and the queue's worker read and change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO

from labkit.base.files import write_json
from labkit.base.typed import Needed, read_as
from labkit.runs.process import is_alive
from labkit.runs.schema import RunError, is_run_id, read_json

QUEUE = "queue.json"
LOCK = ".queue.lock"
STATES = ("waiting", "running", "ended")
MOST = 100  # entries that wait or run
KEPT = 20  # entries that have ended and are still listed


@dataclass
class Entry:
    """A run to make: what follows `python -m labkit train`, its folder's name, and the process once there is one."""

    number: Needed[int] = 0
    run: Needed[str] = ""
    arguments: Needed[list[str]] = field(default_factory=list)
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

    entries: Needed[list[Entry]] = field(default_factory=list)
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
    queue, wrong = read_as(Queue, read_json(root, QUEUE), QUEUE)
    wrong += [f"{QUEUE}: state must be one of {', '.join(STATES)}" for e in queue.entries if e.state not in STATES]
    wrong += [f"{QUEUE}: {entry.run[:40]!r} cannot be a run" for entry in queue.entries if not is_run_id(entry.run)]
    if wrong:
        raise RunError(f"{root / QUEUE} is not a queue that labkit wrote ({wrong[0]}): rename it, then start again")
    return queue


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
