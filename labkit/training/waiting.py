"""The queue of runs: one small JSON file in the runs folder that pages, commands and the queue's worker change."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

from labkit.base.files import write_json
from labkit.base.typed import Needed, read_as
from labkit.runs.process import is_alive
from labkit.runs.schema import RunError, is_run_id, read_json
from labkit.training.job import Job

QUEUE = "queue.json"
LOCK = ".queue.lock"
STATES = ("waiting", "running", "ended")
WAY_OUT = "rename or delete it (runs are not touched), then start again what was waiting"
KEPT = 20  # entries that have ended and are still listed


@dataclass
class Entry:
    """A job in the queue: the folders of its runs, where it stands, and its process once there is one.

    resume: it goes on with its one run, which is there. tries: how often it was begun; device: where it was put.
    """

    number: Needed[int] = 0
    job: Needed[Job] = field(default_factory=Job)
    runs: Needed[list[str]] = field(default_factory=list)
    resume: bool = False
    state: str = "waiting"
    tries: int = 0
    device: str = ""
    pid: int = 0
    pid_started: float | None = None
    code: int | None = None

    @property
    def run(self) -> str:
        """The folder of its first run, where its messages go."""
        return self.runs[0]

    @property
    def alive(self) -> bool:
        """Whether its process is there."""
        return self.state == "running" and is_alive(self.pid, self.pid_started) is not False

    @property
    def open(self) -> bool:
        """Whether it waits or runs."""
        return self.state == "waiting" or self.alive


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

    def add(self, job: Job, resume: str = "") -> Entry:
        """One more at the end, or the one that is there for it; ended ones beyond the last KEPT leave the list.

        resume: the folder of the run that it goes on with.
        """
        for entry in self.entries:
            if entry.open and (entry.run == resume if resume else not entry.resume and entry.job.same_as(job)):
                return entry
        ended = [entry.number for entry in self.entries if entry.state == "ended"][:-KEPT]
        self.entries = [entry for entry in self.entries if entry.number not in ended]
        self.entries.append(Entry(self.next_number, job, [resume] if resume else job.run_ids(), bool(resume)))
        self.next_number += 1
        return self.entries[-1]

    def entry(self, number: int) -> Entry | None:
        """The entry of a number."""
        return next((entry for entry in self.entries if entry.number == number), None)


class End(NamedTuple):
    """An entry's process has ended. lost: with its machine or by its system, so that the rest should be made again."""

    number: int
    code: int | None
    lost: bool = False


def read_queue(root: Path) -> Queue:
    """The queue as it is now, empty where there is none; RunError if the file is not one that labkit wrote."""
    if not os.path.lexists(root / QUEUE):
        return Queue()
    try:
        content = read_json(root, QUEUE)
    except RunError as error:
        raise RunError(f"{root}: {error}; {WAY_OUT}") from None
    queue, wrong = read_as(Queue, content, QUEUE)
    if isinstance(content, dict):  # what is not known would be lost when it is written again
        wrong += [f"{QUEUE}: {name[:40]!r} is not known" for name in content if name not in vars(queue)]
    wrong += [f"{QUEUE}: state must be one of {', '.join(STATES)}" for e in queue.entries if e.state not in STATES]
    wrong += [f"{QUEUE}: entry {e.number} has no runs" for e in queue.entries if not e.runs]
    names = [name for entry in queue.entries for name in entry.runs]
    wrong += [f"{QUEUE}: {name[:40]!r} cannot be a run" for name in names if not is_run_id(name)]
    if wrong:
        raise RunError(f"{root / QUEUE} is not a queue that labkit wrote ({wrong[0]}); {WAY_OUT}")
    return queue


@contextmanager
def changing(root: Path) -> Iterator[Queue]:
    """The queue, to be changed: nobody else changes it meanwhile; it is written at the end, or gone if it is empty."""
    from filelock import FileLock

    root.mkdir(parents=True, exist_ok=True)
    with FileLock(root / LOCK):
        queue = read_queue(root)
        before = asdict(queue)
        yield queue
        if not queue.entries and not queue.worker:
            (root / QUEUE).unlink(missing_ok=True)
        elif asdict(queue) != before:
            write_json(root / QUEUE, asdict(queue))


def written(root: Path) -> tuple[int, int]:
    """Changes when the queue does: looking at it need not cost much."""
    try:
        facts = (root / QUEUE).stat()
    except OSError:
        return 0, 0
    return facts.st_mtime_ns, facts.st_ino
