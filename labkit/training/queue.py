"""Many runs, a few at a time: finished ones are skipped, unfinished ones resumed, a failure does not stop the rest."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from labkit.runs.read import read_run
from labkit.runs.variant import Variant
from labkit.training.report import headline


@dataclass(frozen=True)
class Job:
    """Runs to make in one process: a configuration with one seed, or with several where each takes only seconds."""

    preset: str
    loss: str
    seeds: tuple[int, ...] = (0,)
    settings: dict[str, str] = field(default_factory=dict)
    keep: str = "all"
    resume: bool = False
    device: str = "auto"

    @property
    def variant(self) -> Variant:
        """What is chosen for these runs."""
        return Variant(self.preset, self.loss, self.settings)

    def run_ids(self) -> list[str]:
        """The folders' names."""
        return [self.variant.run_id(seed) for seed in self.seeds]

    def arguments(self) -> list[str]:
        """What follows `python -m labkit train` to make these runs."""
        seeds = ["--seed", *(str(seed) for seed in self.seeds)]
        settings = ["--set", *(f"{name}={value}" for name, value in self.settings.items())] if self.settings else []
        device = [] if self.device == "auto" else ["--device", self.device]
        return [self.preset, "--loss", self.loss, *seeds, *settings, *device]

    def command(self) -> str:
        """What to type."""
        return f"python -m labkit train {shlex.join(self.arguments())}"


def run_queue(
    jobs: Sequence[Job], root: Path, *, parallel: int = 1, device: str = "auto", threads: int | None = None
) -> int:
    """Make all runs under root; returns 1 if any failed, 130 if interrupted."""
    waiting = [part for job in jobs for part in unfinished(job, root)]
    done = sum(len(job.seeds) for job in jobs) - sum(len(job.seeds) for job in waiting)
    if done:
        print(f"labkit: {done} of {sum(len(job.seeds) for job in jobs)} runs are finished already", flush=True)
    threads = threads or max(1, (os.cpu_count() or 1) // parallel)
    running: dict[subprocess.Popen[bytes], Job] = {}
    failed: list[Path] = []
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a polite kill ends the runs, too, as Ctrl-C does
    with tqdm(total=sum(len(job.seeds) for job in waiting), unit="run", desc="sweep", dynamic_ncols=True) as bar:
        try:
            while waiting or running:
                while waiting and len(running) < parallel:
                    job = waiting.pop(0)
                    running[launch(job, root, device, threads)] = job
                for process in [p for p in running if p.poll() is not None]:
                    for folder in (root / run_id for run_id in running.pop(process).run_ids()):
                        bar.update()
                        bar.write(outcome(folder))
                        if status(folder) != "finished":
                            failed.append(folder)
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
        print("\n".join(f"  {folder}" for folder in failed), file=sys.stderr)
    return 1 if failed else 0


def unfinished(job: Job, root: Path) -> Iterator[Job]:
    """What is left of a job: new seeds together, runs that stopped half-way one by one."""
    states = {seed: status(root / run_id) for seed, run_id in zip(job.seeds, job.run_ids())}
    new = tuple(seed for seed in job.seeds if states[seed] is None)
    if new:
        yield replace(job, seeds=new)
    for seed in job.seeds:
        if states[seed] not in (None, "finished"):
            yield replace(job, seeds=(seed,), resume=True)


def launch(job: Job, root: Path, device: str, threads: int) -> subprocess.Popen[bytes]:
    """Start or resume in a process of its own, its messages in log.txt in the (first) run's folder."""
    folder = root / job.run_ids()[0]
    command = [sys.executable, "-m", "labkit", "train", "--device", device]
    if job.resume:
        command += ["--resume", str(folder)]
    else:
        command += ["--runs", str(root), "--threads", str(threads), "--keep", job.keep, *job.arguments()]
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


def outcome(folder: Path) -> str:
    """A line for people."""
    summary = read_run(folder).summary
    if status(folder) != "finished" or summary is None:
        return f"{folder.name}: {status(folder) or 'did not start'}"
    return f"{folder.name}: {headline(summary)}"
