"""Commands with too little memory (a limit on addresses): each works, or says that memory was short, and ends."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from labkit.base.paths import RECORDED, ROOT
from tests.reliability.table import Row

SECONDS = 120
LIMITS = (150, 300, 450, 600, 700, 800, 900, 1000, 1200, 1500, 2000, 3000)  # MB
SAID = (
    "out of memory",
    "OpenBLAS error: Memory allocation",
    "memory allocation of",
)  # labkit, or a library that ends it


def run(full: bool) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "mine.npz"
        np.savez(file, embeddings=np.random.default_rng(0).normal(size=(2000, 16)), labels=np.arange(2000) % 20)
        one = str(sorted((RECORDED / "toy-ring").iterdir())[0])
        commands = {
            "runs": ["runs", "compare", "--preset", "toy"],
            "project": ["project", one, "--methods", "pca"],
            "evaluate": ["evaluate", str(file)],
            "train": ["train", "toy", "--set", "steps=20", "--runs", folder, "--threads", "1"],
        }
        return [drill(name, command, LIMITS if full else LIMITS[1:2]) for name, command in commands.items()]


def drill(name: str, command: list[str], limits: tuple[int, ...]) -> Row:
    """One command under each limit."""
    wrong, worked, longest = [], 0, 0.0
    for limit in limits:
        begun = time.monotonic()
        try:
            done = limited(command, limit)
        except subprocess.TimeoutExpired:
            wrong.append(f"{limit} MB: not ended after {SECONDS} s")
            continue
        longest = max(longest, time.monotonic() - begun)
        worked += done.returncode == 0
        if done.returncode and ("Traceback" in done.stderr or not any(words in done.stderr for words in SAID)):
            wrong.append(f"{limit} MB: code {done.returncode}, {done.stderr.strip()[-160:]!r}")
    detail = "; ".join(wrong) or f"{worked} worked, the others said that memory was short; at most {longest:.0f} s"
    return Row(f"low memory: {name}", len(limits), len(limits) - len(wrong), len(wrong), detail)


def limited(command: list[str], megabytes: int) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes * 2**20, megabytes * 2**20))

    return subprocess.run(
        [sys.executable, "-m", "labkit", *command],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        preexec_fn=limit,
    )
