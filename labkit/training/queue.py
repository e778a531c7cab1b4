"""The one queue of runs: commands, pages, lessons and the recording script put runs there, and a worker makes them.

Finished runs are skipped, unfinished ones resumed, a failure does not stop the rest, and whatever dies loses no run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from labkit.runs.bounds import JOBS, THREADS, check_number
from labkit.runs.process import stop
from labkit.runs.read import find_runs, read_run
from labkit.runs.run import Run
from labkit.runs.variant import as_text
from labkit.training.job import Job as Job
from labkit.training.job import left_of, sha256_of
from labkit.training.local import Local, count_gpus, detached, slots
from labkit.training.report import headline
from labkit.training.waiting import Entry, changing, read_queue
from labkit.training.worker import Launcher, Worker

WORKER = (sys.executable, "-m", "labkit.training.worker")
WORKER_LOG = ".queue.log"
MOST = 100  # entries that a page may have waiting
WATCH = 0.5  # seconds between two looks at another worker's progress
STARTED: list[subprocess.Popen[bytes]] = []  # workers of this process, so that their ends are noticed


def enqueue(root: Path, jobs: Sequence[Job]) -> list[Entry]:
    """Put jobs at the end of the queue and see that it moves; one that waits or runs already is not put there twice."""
    with changing(root) as queue:
        before = queue.next_number
        if sum(entry.open for entry in queue.entries) + len(jobs) > MOST:
            raise ValueError(f"at most {MOST} runs may wait: wait for some, or remove some")
        added = [queue.add(prepared(job)) for job in jobs]
    go_on(root)
    return [entry for entry in added if entry.number >= before]


def enqueue_resume(root: Path, run: Run) -> Entry:
    """Put the rest of a run that has not come to its end into the queue, once."""
    settings = {key: as_text(value) for key, value in run.variant.settings.items()}
    with changing(root) as queue:
        entry = queue.add(Job(run.preset, run.loss, (run.seed or 0,), settings, run.record.keep), resume=run.id)
    go_on(root)
    return entry


def prepared(job: Job) -> Job:
    """A job that notes which file its loss is in, so that no other will be run."""
    return replace(job, loss_sha256=job.loss_sha256 or sha256_of(job.loss))


def remove(root: Path, number: int) -> bool:
    """Take a waiting run out of the queue; False if it has begun meanwhile."""
    with changing(root) as queue:
        found = [entry for entry in queue.entries if entry.number == number and entry.state == "waiting"]
        queue.entries = [entry for entry in queue.entries if entry not in found]
    return bool(found)


def forget_ended(root: Path) -> None:
    """Take those that have ended off the list; their folders stay."""
    with changing(root) as queue:
        queue.entries = [entry for entry in queue.entries if entry.open]


def go_on(root: Path) -> None:
    """Start a worker, unless there is one; of two that start at once, one leaves again."""
    STARTED[:] = [process for process in STARTED if process.poll() is None]
    if read_queue(root).working:
        return
    with (root / WORKER_LOG).open("wb") as log:
        STARTED.append(detached([*WORKER, str(root)], log))


def stop_queue(root: Path) -> bool:
    """Stop the worker, and with it its runs; what waits goes on waiting. False if there was none."""
    queue = read_queue(root)
    return stop(queue.worker, queue.worker_started)


def stop_run(run: Run, at_once: bool = False) -> bool:
    """Ask a run to stop after its step and to save a checkpoint; at once: end it, back to its last checkpoint."""
    return run.status == "running" and stop(run.record.pid, run.record.pid_started, at_once)


def run_queue(
    jobs: Sequence[Job],
    root: Path,
    *,
    parallel: int | None = None,
    device: str = "auto",
    threads: int | None = None,
    ray: str | None = None,
) -> list[Path]:
    """Make all runs under root and wait for them; returns the folders of those that failed.

    parallel: runs at a time (None: one, or one on each of several GPUs, or as many as the cluster has room for).
    ray: the address of a Ray cluster, "local" for one that is started here; None for processes of this machine.
    """
    root.mkdir(parents=True, exist_ok=True)
    parts = [part for job in jobs for part in unfinished(prepared(job), root)]
    total, waiting = sum(len(job.seeds) for job in jobs), sum(len(job.seeds) for job, _ in parts)
    if waiting < total:
        print(f"labkit: {total - waiting} of {total} runs are finished already", flush=True)
    if not parts:
        return []
    launcher = launcher_of(root, parallel, device, threads, ray)  # first: where none can be, nothing shall wait
    with changing(root) as queue:
        numbers = {queue.add(job, resume).number for job, resume in parts}
    bar: tqdm[Any]
    try:
        with tqdm(total=waiting, unit="run", desc="sweep", dynamic_ncols=True) as bar:

            def report(entry: Entry) -> None:
                for folder in (root / name for name in entry.runs):
                    if not worker.stop_at or read_run(folder).status == "finished":  # what was cut short is not done
                        bar.update()
                    bar.write(outcome(folder))

            worker = Worker(root, launcher, report)
            if not worker.work():
                watch_another(root, numbers, bar)
    finally:
        forget(root, numbers)
    if worker.stop_at:
        raise KeyboardInterrupt
    return [root / (run or name) for job in jobs for part, run in unfinished(job, root) for name in part.run_ids()]


def launcher_of(root: Path, parallel: int | None, device: str, threads: int | None, ray: str | None) -> Launcher:
    """Processes of this machine, or a Ray cluster."""
    for name, value, bounds in (("parallel", parallel, JOBS), ("threads", threads, THREADS)):
        if value is not None:
            check_number(name, value, bounds)
    if ray is not None:
        from labkit.training.on_ray import OnRay

        return OnRay(root, ray, threads or 1, parallel)
    devices = slots(device, parallel, count_gpus())
    return Local(root, devices, threads or max(1, (os.cpu_count() or 1) // len(devices)))


def unfinished(job: Job, root: Path) -> list[tuple[Job, str]]:
    """What is left of a job, by the runs that lie in the folder; a damaged one counts for none."""
    found = [run for run in find_runs(root) if run.path.parent == root.resolve() and not run.problems]
    there = {(run.variant, run.seed): run for run in found}
    runs = [there.get((job.variant, seed)) for seed in job.seeds]
    return left_of(job, [run.id if run else "" for run in runs], [run.status if run else None for run in runs])


def forget(root: Path, numbers: set[int]) -> None:
    """Take a command's entries out of the queue when it ends: the same command, called again, makes what is left."""
    with changing(root) as queue:
        queue.entries = [entry for entry in queue.entries if entry.number not in numbers or entry.alive]


def watch_another(root: Path, numbers: set[int], bar: tqdm[Any]) -> None:
    """Another worker is at work on this queue: wait until it has made these runs."""
    bar.write(f"labkit: process {read_queue(root).worker} works on this queue; these runs wait for it")
    while True:
        queue = read_queue(root)
        left = [entry for entry in queue.entries if entry.number in numbers and entry.open]
        bar.n = max(0, (bar.total or 0) - sum(len(entry.runs) for entry in left))
        bar.refresh()
        if not left:
            return
        if queue.stands_still:
            go_on(root)
        time.sleep(WATCH)


def outcome(folder: Path) -> str:
    """A line for people."""
    run = read_run(folder)
    if run.status != "finished" or run.summary is None:
        began = (folder / "run.json").exists()
        return f"{folder.name}: {run.status if began else 'did not start'}"
    return f"{run}: {headline(run.summary)}"
