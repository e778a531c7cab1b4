"""Ctrl-C at random moments of a command's life: one line, code 130, no traceback."""

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from labkit.base.paths import RECORDED, ROOT
from tests.reliability.table import Row


def run(full: bool) -> list[Row]:
    """Every command as often; the moments are drawn from the time that the command takes undisturbed."""
    with tempfile.TemporaryDirectory() as folder:
        runs = Path(folder) / "runs"
        np.savez(Path(folder) / "mine.npz", embeddings=np.random.default_rng(0).normal(size=(3000, 32)), labels=LABELS)
        one = sorted((RECORDED / "toy-ring").glob("toy_*"))[0]
        commands = {
            "evaluate": ["evaluate", str(Path(folder) / "mine.npz"), "--nmi"],
            "runs": ["runs", "compare", "--preset", "toy"],
            "project": ["project", str(one), "--methods", "pca"],
            "train": ["train", "toy", "--set", "steps=150", "--runs", str(runs), "--threads", "1"],
        }
        return [drill(name, command, full) for name, command in commands.items()]


LABELS = np.arange(3000) % 30


def drill(name: str, command: list[str], full: bool) -> Row:
    times, whole = (25, 0.0) if full else (1, 4.0)
    listens = 2 * begin_of_labkit()  # before that the interpreter itself is not there yet
    if full:
        begun = time.monotonic()
        started(command).communicate()
        whole = time.monotonic() - begun
    moments = random.Random(name)  # the same on every call
    wrong, ended = [], 0
    for _ in range(times):
        process = started(command)
        time.sleep(moments.uniform(listens, max(whole, 2 * listens)))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        ended += process.returncode == 130
        if problem := what_is_wrong(process.returncode, said):
            wrong.append(problem)
    detail = f"{ended} ended with 130, the others were done before" + (f"; {wrong[0]}" if wrong else "")
    return Row(f"Ctrl-C: {name}", times, times - len(wrong), len(wrong), detail)


def begin_of_labkit() -> float:
    """Seconds from the start of Python to labkit's first line, when it begins to listen; the longest of three."""
    taken = []
    for _ in range(3):
        begun = time.monotonic()
        subprocess.run([sys.executable, "-c", "import labkit.base.interrupts"], cwd=ROOT, check=True)
        taken.append(time.monotonic() - begun)
    return max(taken)


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "labkit", *command],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heeds_interrupts,
    )


def heeds_interrupts() -> None:
    """A shell that runs this in the background has told its children to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def what_is_wrong(code: int, said: str) -> str:
    """Nothing, or what a user should not have seen."""
    if code not in (0, 130):
        return f"code {code}: {said[-300:]!r}"
    if "Traceback" in said or "Exception ignored" in said:
        return f"a traceback: {said[-300:]!r}"
    if (
        code == 130
        and sum(line.startswith(("labkit: interrupted", "labkit: stopped")) for line in said.splitlines()) != 1
    ):
        return f"not one line: {said[-300:]!r}"
    return ""
