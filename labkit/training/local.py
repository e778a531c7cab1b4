"""Runs as processes of this machine, one on each GPU where there are several."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from labkit.runs.process import is_alive, process_start, stop
from labkit.training.waiting import End, Entry

TRAIN = (sys.executable, "-m", "labkit", "train")


def slots(device: str = "auto", jobs: int | None = None, gpus: int = 0) -> list[str]:
    """The devices of the runs that train at a time: so many jobs, by default one, or one for each of several GPUs."""
    if device != "auto" or gpus < 2:
        return [device] * (jobs or 1)
    return [f"cuda:{number % gpus}" for number in range(jobs or gpus)]


def count_gpus() -> int:
    """GPUs of this machine that training may use."""
    import torch

    return torch.cuda.device_count()


class Local:
    """Starts entries as processes in sessions of their own, so that they outlive whoever asked for them."""

    def __init__(self, root: Path, devices: list[str], threads: int | None = None) -> None:
        """devices: one for each run at a time; threads: CPU threads of a run, None for torch's own choice."""
        self.root, self.devices, self.threads = root, devices, threads
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.adopted: dict[int, Entry] = {}
        self.places: dict[int, str] = {}

    def place(self, entry: Entry) -> str | None:
        """The device for an entry, None if it must wait; one that names a device has that one to itself, if it can."""
        free = list(self.devices)
        for taken in self.places.values():
            if taken in free or free:
                free.remove(taken if taken in free else free[-1])
        wanted = entry.job.device
        if wanted in self.devices and wanted != "auto":
            return wanted if wanted in free else None
        return None if not free else free[0] if wanted == "auto" else wanted

    def start(self, entry: Entry, device: str) -> None:
        """Start its training, its messages in log.txt in the (first) run's folder; run.json will hold its pid."""
        folder = self.root / entry.run
        folder.mkdir(parents=True, exist_ok=True)
        environment = os.environ | ({"OMP_NUM_THREADS": str(self.threads)} if self.threads else {})
        with (folder / "log.txt").open("ab") as log:
            process = detached([*TRAIN, *arguments(entry, self.root, device, self.threads)], log, environment)
        entry.pid, entry.pid_started = process.pid, process_start(process.pid)
        self.processes[entry.number], self.places[entry.number] = process, device

    def adopt(self, entry: Entry) -> None:
        """Count a process that an earlier worker has started."""
        self.adopted[entry.number], self.places[entry.number] = entry, entry.device

    def ended(self) -> list[End]:
        """What has ended since; the exit code of another worker's process is not known."""
        over = [End(number, p.returncode) for number, p in self.processes.items() if p.poll() is not None]
        over += [End(n, None) for n, entry in self.adopted.items() if is_alive(entry.pid, entry.pid_started) is False]
        for end in over:
            self.processes.pop(end.number, None)
            self.adopted.pop(end.number, None)
            del self.places[end.number]
        return over

    def stop(self, at_once: bool = False) -> None:
        """Ask all runs to stop after their step and to save a checkpoint; at once: end them."""
        for process in self.processes.values():
            process.kill() if at_once else process.terminate()
        for entry in self.adopted.values():
            stop(entry.pid, entry.pid_started, at_once)

    def close(self) -> None:
        """Nothing is left behind."""


def arguments(entry: Entry, root: Path, device: str, threads: int | None) -> list[str]:
    """What follows `python -m labkit train` for an entry."""
    where = [] if device == "auto" else ["--device", device]
    count = ["--threads", str(threads)] if threads else []
    if entry.resume:
        return ["--resume", str(root / entry.run), *where]
    job = entry.job
    own = ["--loss-sha256", job.loss_sha256] if job.loss_sha256 else []
    plain = job.arguments()
    if job.device != "auto":
        plain = plain[:-2]  # the device that the queue has chosen stands for it
    return [*plain, "--runs", str(root), "--keep", job.keep, *where, *count, *own]


def detached(command: list[str], log: IO[bytes], environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A process in a session of its own, so that Ctrl-C in the terminal of whoever asked does not reach it.

    It gives way to others: a page that is looked at while runs train must answer. Results do not depend on that.
    """
    started = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
    )
    with suppress(psutil.Error, OSError):  # it may have ended already
        psutil.Process(started.pid).nice(getattr(psutil, "BELOW_NORMAL_PRIORITY_CLASS", 10))  # Windows has classes
    return started
