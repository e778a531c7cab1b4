"""Many runs, a few at a time: finished ones are skipped, unfinished ones resumed, a failure does not stop the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tqdm import tqdm


@dataclass(frozen=True)
class Job:
    """One run to make."""

    preset: str
    loss: str
    seed: int
    settings: dict[str, str] = field(default_factory=dict)
    keep: str = "all"

    @property
    def run_id(self) -> str:
        """The folder's name."""
        from labkit.commands.train import group_name

        return f"{group_name(self.preset, self.loss, self.settings)}_s{self.seed}"


def run_queue(
    jobs: Sequence[Job], root: Path, *, parallel: int = 1, device: str = "auto", threads: int | None = None
) -> int:
    """Make all runs under root; returns 1 if any failed, 130 if interrupted."""
    waiting = [job for job in jobs if status(root / job.run_id) != "finished"]
    if len(waiting) < len(jobs):
        print(f"labkit: {len(jobs) - len(waiting)} of {len(jobs)} runs are finished already", flush=True)
    threads = threads or max(1, (os.cpu_count() or 1) // parallel)
    running: dict[subprocess.Popen[bytes], Job] = {}
    failed: list[Job] = []
    with tqdm(total=len(waiting), unit="run", desc="sweep", dynamic_ncols=True) as bar:
        try:
            while waiting or running:
                while waiting and len(running) < parallel:
                    job = waiting.pop(0)
                    running[launch(job, root, device, threads)] = job
                for process in [p for p in running if p.poll() is not None]:
                    job = running.pop(process)
                    bar.update()
                    bar.write(outcome(job, root))
                    if status(root / job.run_id) != "finished":
                        failed.append(job)
                time.sleep(0.2)
        except KeyboardInterrupt:
            for process in running:
                process.terminate()  # each run saves a checkpoint and says "interrupted"
            for process in running:
                process.wait()
            print("labkit: interrupted; the same command goes on where it stopped", file=sys.stderr)
            return 130
    if failed:
        print("labkit: these runs failed; see run.json and log.txt in their folders:", file=sys.stderr)
        for job in failed:
            print(f"  {root / job.run_id}", file=sys.stderr)
    return 1 if failed else 0


def launch(job: Job, root: Path, device: str, threads: int) -> subprocess.Popen[bytes]:
    """Start or resume a run in a process of its own, its messages in log.txt beside its metrics."""
    folder = root / job.run_id
    command = [sys.executable, "-m", "labkit", "train", "--runs", str(root), "--device", device]
    command += ["--threads", str(threads), "--keep", job.keep]
    if status(folder) is None:
        command += [job.preset, "--loss", job.loss, "--seed", str(job.seed)]
        if job.settings:
            command += ["--set", *(f"{name}={value}" for name, value in job.settings.items())]
    else:
        command += ["--resume", str(folder)]
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)


def status(folder: Path) -> str | None:
    """What run.json says, None where there is none or it cannot be read."""
    try:
        found: str = json.loads((folder / "run.json").read_text(encoding="utf-8"))["status"]
    except (OSError, ValueError, KeyError):
        return None
    return found


def outcome(job: Job, root: Path) -> str:
    """A line for people."""
    folder = root / job.run_id
    if status(folder) != "finished":
        return f"{job.run_id}: {status(folder) or 'did not start'}"
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return f"{job.run_id}: test R@1 {100 * summary['test']['R@1']:.2f} %, {summary['cpu_seconds']:.0f} CPU s"
