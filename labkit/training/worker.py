"""The queue's worker: it takes run after run, and when it dies the next one goes on with what it left.

Of all workers of a runs folder one works. It ends when nothing waits any more, or when it is stopped; then it stops its
runs, too. `python -m labkit.training.worker ROOT` is the one that pages start.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from labkit.runs.process import process_start
from labkit.runs.read import is_run, read_run
from labkit.runs.tracker import free_folder
from labkit.training.job import left_of
from labkit.training.local import Local, count_gpus, slots
from labkit.training.waiting import End, Entry, Queue, changing, written

PAUSE = 0.1  # seconds between two looks
GRACE = 20.0  # seconds that runs have to save their checkpoints when the worker is stopped
MOST_TRIES = 5  # of a run whose process or machine was lost


class Launcher(Protocol):
    """Where runs are made: processes of this machine, or a Ray cluster."""

    def place(self, entry: Entry) -> str | None:
        """Where an entry can start now; None if it must wait."""

    def start(self, entry: Entry, device: str) -> None:
        """Start an entry there."""

    def adopt(self, entry: Entry) -> None:
        """Count a run that an earlier worker has started and that lives."""

    def ended(self) -> list[End]:
        """The entries that have ended since the last call."""

    def stop(self, at_once: bool = False) -> None:
        """Stop all runs."""

    def close(self) -> None:
        """Leave nothing behind."""


class Worker:
    """Works through the queue of a runs folder."""

    def __init__(self, root: Path, launcher: Launcher, report: Callable[[Entry], None] = lambda entry: None) -> None:
        """report: told of every entry that has ended."""
        self.root, self.launcher, self.report = root, launcher, report
        self.stop_at = 0.0  # when runs that were asked to stop are ended at once; 0: nobody asked
        self.stopping = False
        self.seen: tuple[int, int] | None = None

    def ask(self, *_: Any) -> None:
        """Note that it shall stop."""
        self.stop_at = self.stop_at or time.monotonic() + GRACE

    def work(self) -> bool:
        """Until nothing waits, or until asked to stop; False if another worker is there."""
        with changing(self.root) as queue:
            if queue.working:
                self.launcher.close()
                return False
            queue.worker, queue.worker_started = os.getpid(), process_start(os.getpid())
            self.recover(queue)
        with signals(self.ask):
            try:
                while self.step():
                    time.sleep(PAUSE)
            finally:
                with changing(self.root) as queue:
                    leave(queue)
                self.launcher.close()
        return True

    def step(self) -> bool:
        """Note what has ended and start what can be; False, and gone from the queue, if nothing is left to do."""
        if self.stop_at:
            self.stop_runs()
        over, now = self.launcher.ended(), written(self.root)
        if not over and now == self.seen and not self.stop_at:
            return True
        with changing(self.root) as queue:
            ended = [entry for end in over if (entry := self.note_end(queue, end)) is not None]
            for entry in [] if self.stop_at else queue.entries:
                device = self.launcher.place(entry) if entry.state == "waiting" else None
                if device is not None:
                    self.begin(entry, device)
            waits = any(entry.state == "waiting" for entry in queue.entries) and not self.stop_at
            going = waits or any(entry.state == "running" for entry in queue.entries)
            if not going:
                leave(queue)  # in the same moment, so that nobody counts on us
        self.seen = written(self.root)
        for entry in ended:
            self.report(entry)
        return going

    def stop_runs(self) -> None:
        """Ask the runs to stop, once; those that do not listen are ended after a while."""
        if not self.stopping:
            self.launcher.stop()
            self.stopping = True
        elif time.monotonic() > self.stop_at:
            self.launcher.stop(at_once=True)

    def begin(self, entry: Entry, device: str) -> None:
        """Start an entry; new runs get folders that hold none."""
        if not entry.resume:
            entry.runs = [free_folder(self.root / name).name for name in entry.job.run_ids()]
        entry.tries += 1
        self.launcher.start(entry, device)
        entry.state, entry.device = "running", device

    def note_end(self, queue: Queue, end: End) -> Entry | None:
        """The entry that is over; None where a run was lost with its machine, and the rest waits again."""
        entry = queue.entry(end.number)
        if entry is None:
            return None
        entry.state, entry.code = "ended", end.code
        return None if end.lost and not self.stop_at and self.wait_again(queue, entry) else entry

    def wait_again(self, queue: Queue, entry: Entry) -> bool:
        """Put back what is left of an entry that was lost; False if nothing is, or if it was lost too often."""
        states = [status_of(self.root / name) for name in entry.runs]
        # what was interrupted or has failed is over: somebody wanted that, or it would fail again
        lost = [state if state in (None, "running", "killed") else "finished" for state in states]
        left = left_of(entry.job, entry.runs, lost)
        if not left or entry.tries >= MOST_TRIES:
            return False
        place = queue.entries.index(entry)
        again = [Entry(0, job, [run] if run else job.run_ids(), bool(run), tries=entry.tries) for job, run in left]
        again[0].number = entry.number
        for part in again[1:]:
            part.number, queue.next_number = queue.next_number, queue.next_number + 1
        queue.entries[place : place + 1] = again
        return True

    def recover(self, queue: Queue) -> None:
        """What a worker that died has left: runs that live are counted, the others wait again."""
        for entry in list(queue.entries):
            if entry.state == "running" and entry.alive:
                self.launcher.adopt(entry)
            elif entry.state == "running":
                entry.state = "ended"
                self.wait_again(queue, entry)


def status_of(folder: Path) -> str | None:
    """What a run says of itself; None where there is none yet."""
    return read_run(folder).status if is_run(folder) else None


def leave(queue: Queue) -> None:
    """Say that this worker has gone, unless another has come since."""
    if queue.worker == os.getpid():
        queue.worker, queue.worker_started = 0, None


@contextmanager
def signals(ask: Callable[..., None]) -> Iterator[None]:
    """Ctrl-C and a polite kill ask the worker to stop; in a thread, whoever started it must."""
    try:
        before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not in the main thread
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    Worker(place, Local(place, slots(gpus=count_gpus()))).work()
