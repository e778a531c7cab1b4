"""Training in processes of its own: start, stop, resume, and a worker that takes run after run from the queue.

Whoever asks (a page of the dashboard, say) may go away: the worker and the runs are in sessions of their own. The
worker ends when nothing waits any more, or when it is stopped; then it stops its run, too.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from labkit.runs.process import PROC, is_alive, process_start
from labkit.runs.run import Run
from labkit.runs.tracker import free_folder
from labkit.runs.waiting import Entry, Queue, changing, read_queue

TRAIN = (sys.executable, "-m", "labkit", "train")
WORKER = (sys.executable, "-m", "labkit.runs.launch")
WORKER_LOG = ".queue.log"
PAUSE = 0.1  # seconds between two looks at a process
GRACE = 20.0  # seconds that a run has to save its checkpoint when the worker is stopped
STARTED: list[subprocess.Popen[bytes]] = []  # workers of this process, so that their ends are noticed


def enqueue(root: Path, jobs: Sequence[tuple[str, list[str]]]) -> list[Entry]:
    """Put runs (name, what follows `python -m labkit train`) at the end of the queue and see that it moves."""
    with changing(root) as queue:
        added = [queue.add(run, arguments) for run, arguments in jobs]
    go_on(root)
    return added


def enqueue_resume(root: Path, run: Run) -> Entry:
    """Put the rest of a run that has not come to its end into the queue, once."""
    for entry in read_queue(root).entries:
        if entry.run == run.id and (entry.state == "waiting" or entry.alive):
            return entry
    return enqueue(root, [(run.id, ["--resume", str(run.path)])])[0]


def remove(root: Path, number: int) -> bool:
    """Take a waiting run out of the queue; False if it has begun meanwhile."""
    with changing(root) as queue:
        found = [entry for entry in queue.entries if entry.number == number and entry.state == "waiting"]
        queue.entries = [entry for entry in queue.entries if entry not in found]
    return bool(found)


def forget_ended(root: Path) -> None:
    """Take those that have ended off the list; their folders stay."""
    with changing(root) as queue:
        queue.entries = [entry for entry in queue.entries if entry.state == "waiting" or entry.alive]


def go_on(root: Path) -> None:
    """Start a worker, unless there is one; of two that start at once, one leaves again."""
    STARTED[:] = [process for process in STARTED if process.poll() is None]
    if read_queue(root).working:
        return
    with (root / WORKER_LOG).open("wb") as log:
        STARTED.append(detached([*WORKER, str(root)], log))


def stop_queue(root: Path) -> bool:
    """Stop the worker, and with it the run it waits for; what waits goes on waiting. False if there was none."""
    queue = read_queue(root)
    return stop(queue.worker, queue.worker_started)


def stop_run(run: Run, at_once: bool = False) -> bool:
    """Ask a run to stop after its step and to save a checkpoint; at once: end it, back to its last checkpoint."""
    return run.status == "running" and stop(run.record.pid, run.record.pid_started, at_once)


def stop(pid: int, started: float | None, at_once: bool = False) -> bool:
    """Send a signal to the process that began at `started`; False, and no signal, if it is another one or gone.

    Where the system does not tell when a process began (no /proc), the pid alone must do.
    """
    told = started is not None or not (PROC / "stat").is_file()  # a file that leaves it out may mean any process
    if not told or pid in (os.getpid(), os.getppid()) or is_alive(pid, started) is not True:
        return False
    number = signal.SIGTERM if not at_once or os.name == "nt" else signal.SIGKILL
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def detached(command: list[str], log: Any) -> subprocess.Popen[bytes]:
    """A process in a session of its own, so that Ctrl-C in the terminal of the dashboard does not reach it."""
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)


def start(entry: Entry, root: Path) -> subprocess.Popen[bytes]:
    """Start the training of an entry, its messages in log.txt in the run's folder; run.json will hold its pid."""
    command = [*TRAIN, *entry.arguments]
    if not entry.resumes:
        folder = free_folder(root / entry.run)  # as the command itself will choose
        entry.run = folder.name
        folder.mkdir(parents=True, exist_ok=True)
        command += ["--runs", str(root)]
    with (root / entry.run / "log.txt").open("ab") as log:
        process = detached(command, log)
    entry.state, entry.pid, entry.pid_started = "running", process.pid, process_start(process.pid)
    return process


class Worker:
    """Takes one run after the other, never two at a time."""

    def __init__(self, root: Path) -> None:
        """Asked to stop by SIGTERM or SIGINT."""
        self.root = root
        self.asked = False

    def ask(self, *_: Any) -> None:
        """Note that it shall stop."""
        self.asked = True

    def work(self) -> None:
        """Until nothing waits, or until asked to stop."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.ask)
        with changing(self.root) as queue:
            if queue.working:
                return
            queue.worker, queue.worker_started = os.getpid(), process_start(os.getpid())
        try:
            self.await_others()
            while process := self.next_run():
                self.await_end(process)
        finally:
            with changing(self.root) as queue:
                self.leave(queue)

    def next_run(self) -> subprocess.Popen[bytes] | None:
        """Start the first that waits; if none does, leave the queue in the same moment, so that nobody counts on us."""
        with changing(self.root) as queue:
            waiting = [entry for entry in queue.entries if entry.state == "waiting"]
            if waiting and not self.asked:
                return start(waiting[0], self.root)
            self.leave(queue)
        return None

    def leave(self, queue: Queue) -> None:
        """Say that this worker has gone, unless another has come since."""
        if queue.worker == os.getpid():
            queue.worker, queue.worker_started = 0, None

    def await_others(self) -> None:
        """Runs of a worker that was killed: wait for those that live, note the end of the others."""
        while any(entry.alive for entry in read_queue(self.root).entries) and not self.asked:
            time.sleep(PAUSE)
        with changing(self.root) as queue:
            for entry in queue.entries:
                if entry.state == "running" and self.asked:
                    stop(entry.pid, entry.pid_started)
                if entry.state == "running" and not entry.alive:
                    entry.state = "ended"

    def await_end(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a run; if asked to stop, pass it on, and do not leave it behind."""
        patience = float("inf")
        while process.poll() is None:
            if self.asked and patience == float("inf"):
                patience = time.monotonic() + GRACE
                process.terminate()
            if time.monotonic() > patience:
                process.kill()
            with suppress(subprocess.TimeoutExpired):
                process.wait(PAUSE)
        with changing(self.root) as queue:
            for entry in queue.entries:
                if entry.pid == process.pid and entry.state == "running":
                    entry.state, entry.code = "ended", process.returncode


if __name__ == "__main__":
    Worker(Path(sys.argv[1])).work()
