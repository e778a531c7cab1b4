"""Runs on a Ray cluster: each is a task of its own, on whatever machine has room (extra `ray`).

Where all machines see the runs folder, a run whose machine dies is resumed elsewhere from its last checkpoint. Where
they do not, a run is made in a folder of its machine and comes back as a zip when it has ended.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from labkit.base.errors import LabkitError
from labkit.losses.own import is_own, source_of
from labkit.runs.process import process_start
from labkit.training.local import TRAIN, arguments
from labkit.training.waiting import End, Entry

KNOCK = 10.0  # seconds that a cluster has to answer
Result = tuple[int, bytes | None]  # exit code, and the runs as a zip where the disk is not shared


class Place(NamedTuple):
    """What a machine of the cluster must know besides the command; source: of a loss of one's own."""

    root: str
    token: str
    run: str
    resume: bool
    folder: str
    loss: str
    source: bytes


class OnRay:
    """Starts entries as tasks of a cluster; threads are the CPUs of a run, and it has one GPU where there are some."""

    def __init__(self, root: Path, address: str, threads: int, most: int | None = None) -> None:
        """address: of a cluster, "local" for one that starts here and ends with this process; most: runs at a time."""
        try:
            import ray
        except ModuleNotFoundError:
            raise LabkitError('Ray is not installed: pip install "labkit[ray]"') from None
        self.ray, self.root, self.threads, self.most = ray, root.resolve(), threads, most
        if not address.strip():
            raise LabkitError("--ray takes the address of a cluster, as HOST:PORT, or nothing to start one here")
        try:
            knock(address)
            ray.init(address=address, include_dashboard=False if address == "local" else None, log_to_driver=False)
        except (OSError, RuntimeError, ValueError, OverflowError, ray.exceptions.RayError) as error:
            said = str(error).strip().partition("\n")[0]
            raise LabkitError(
                f"--ray: no cluster at {address!r} ({said}); give HOST:PORT of one, or --ray alone to start one here"
            ) from None
        self.check_room()
        self.token = self.root / f".ray-{secrets.token_hex(8)}"
        self.token.touch()
        self.tasks: dict[Any, Entry] = {}
        self.train = ray.remote(max_retries=0, max_calls=1)(train_here)

    def check_room(self) -> None:
        """Ray would wait for ever for a machine that has more CPUs than all there are."""
        most = int(max((node["Resources"].get("CPU", 0) for node in self.ray.nodes() if node["Alive"]), default=0))
        if self.threads > most:
            self.ray.shutdown()
            raise LabkitError(f"--threads {self.threads}: no machine of the cluster has more than {most} CPUs")

    def place(self, entry: Entry) -> str | None:
        """Anywhere in the cluster while it has room; Ray chooses the machine."""
        room = self.ray.cluster_resources()
        fits = int(room.get("GPU", 0)) or int(room.get("CPU", 1) // self.threads)
        return entry.job.device if len(self.tasks) < (self.most or max(1, fits)) else None

    def start(self, entry: Entry, device: str) -> None:
        """Hand an entry to the cluster; its process is this one, which waits for it."""
        loss = entry.job.loss
        source = source_of(loss) if is_own(loss) else b""
        place = Place(str(self.root), self.token.name, entry.run, entry.resume, os.getcwd(), loss, source)
        gpus = 1 if self.ray.cluster_resources().get("GPU") and device != "cpu" else 0
        task = self.train.options(num_cpus=self.threads, num_gpus=gpus).remote(
            arguments(entry, self.root, device, self.threads), place
        )
        entry.pid, entry.pid_started = os.getpid(), process_start(os.getpid())
        self.tasks[task] = entry

    def adopt(self, entry: Entry) -> None:
        """Runs of another driver end with it, so there is nothing to count."""

    def ended(self) -> list[End]:
        """What has ended since; a task whose worker or machine died is lost."""
        over: list[End] = []
        done, _ = self.ray.wait(list(self.tasks), num_returns=len(self.tasks), timeout=0) if self.tasks else ([], [])
        for task in done:
            entry = self.tasks.pop(task)
            try:
                code, brought = self.ray.get(task)
            except (self.ray.exceptions.RayTaskError, self.ray.exceptions.TaskCancelledError):
                over.append(End(entry.number, 1))
            except self.ray.exceptions.RayError:  # the worker was killed, or its machine is gone
                over.append(End(entry.number, None, lost=True))
            else:
                if brought is not None:
                    bring_in(brought, self.root)
                over.append(End(entry.number, code))
        return over

    def stop(self, at_once: bool = False) -> None:
        """Ask all runs to stop after their step and to save a checkpoint; at once: end them."""
        for task in self.tasks:
            self.ray.cancel(task, force=at_once)

    def close(self) -> None:
        """Leave the cluster; a local one ends."""
        self.token.unlink(missing_ok=True)
        self.ray.shutdown()


def knock(address: str) -> None:
    """An OSError if nobody listens at HOST:PORT: Ray itself would wait for minutes."""
    host, colon, port = address.rpartition("//")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), KNOCK).close()


def train_here(words: list[str], place: Place) -> Result:
    """Train on this machine of the cluster: in the runs folder if it sees it, else in one of its own."""
    root = Path(place.root)
    if (root / place.token).exists():
        return train(words, root / place.run, place.folder if Path(place.folder).is_dir() else "."), None
    if place.resume:
        raise ValueError(f"run {place.run} cannot be resumed on a machine that does not see {root}")
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        if place.source:
            write_source(Path(folder), place.loss, place.source)
        words = [str(runs) if word == place.root else word for word in words]
        return train(words, runs / place.run, folder), packed(runs)


def train(words: list[str], folder: Path, where: str) -> int:
    """`python -m labkit train` in a process that ends with this one, its messages in log.txt in the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            [*TRAIN, *words], cwd=where, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=end_with_parent
        )
        try:
            return process.wait()
        except KeyboardInterrupt:  # the task was cancelled: the run saves its checkpoint
            process.terminate()
            return process.wait()


LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """A run must not go on when its worker is killed: it is resumed elsewhere, and two would write to one folder."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def write_source(folder: Path, loss: str, source: bytes) -> None:
    """The file of a loss of one's own, at the same place below the working folder."""
    path = Path(loss.rpartition(":")[0])
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"loss: {path} is not below the working folder, and this machine does not see the runs folder")
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_bytes(source)


def packed(runs: Path) -> bytes | None:
    """The runs of a folder as a zip; None if there are none."""
    from labkit.runs.read import find_runs
    from labkit.runs.transfer import export_runs

    there = [run for run in find_runs(runs) if run.status != "running"]
    if not there:
        return None
    export_runs(there, runs / "runs.zip")
    return (runs / "runs.zip").read_bytes()


def bring_in(content: bytes, root: Path) -> None:
    """Put runs that were made on another machine's disk into the runs folder."""
    from labkit.runs.transfer import import_runs

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.zip"
        path.write_bytes(content)
        import_runs(path, root, overwrite=True)
