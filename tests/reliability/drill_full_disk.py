"""A disk that is really full: a small file system in memory, on which set-up, training and tables run out of room.

Making it needs the rights of root on Linux; elsewhere a limit on the size of files stands in for it, which is said.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from labkit.base.paths import ROOT
from tests.reliability.drill_setup import finish, small_clone, started
from tests.reliability.table import Row

SIZES = (14, 16, 18, 20, 24)  # MB for a clone of 10 whose environment takes more than that
ROOM = 200  # MB that are enough


def run(full: bool) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        if not may_mount(Path(folder)):
            return [commands(Path(folder), [20_000], "by a limit on the size of files, for want of rights to mount")]
        if not full:
            return [commands(Path(folder), [4096], "on a full file system", ("csv", "json"))]
        rooms = [0, 4096, 20_000, 60_000, 100_000]
        return [setups(Path(folder), SIZES), commands(Path(folder), rooms, "on a full file system")]


def setups(folder: Path, sizes: tuple[int, ...]) -> Row:
    """Set-up runs out of disk, says so, and goes on when there is room."""
    wrong = []
    for size in sizes:
        with small_disk(folder / f"disk-{size}", size) as disk:
            clone = small_clone(disk)
            process = started(clone, {"TMPDIR": str(disk)})
            said, _ = process.communicate(timeout=300)
            if process.returncode == 0 or "the disk is full" not in said or "Traceback" in last_lines(said):
                wrong.append(f"{size} MB: code {process.returncode}, {said[-200:]!r}")
            subprocess.run(["mount", "-o", f"remount,size={ROOM}m", str(disk)], check=True)
            if problem := finish(clone):
                wrong.append(f"{size} MB, then room: {problem}")
    detail = (
        "; ".join(wrong) or f"disks of {sizes[0]} to {sizes[-1]} MB: told as full, and finished once there was room"
    )
    lost = min(len(wrong), len(sizes))
    return Row("set-up on a full disk", len(sizes), len(sizes) - lost, lost, detail)


def last_lines(said: str) -> str:
    """What labkit itself says; pip's own words stand before it."""
    return "\n".join(said.splitlines()[-2:])


def commands(folder: Path, rooms: list[int], how: str, names: tuple[str, ...] = ()) -> Row:
    """With so many bytes left, commands that write say what is wrong and leave nothing half; names: only these."""
    file = folder / "mine.npz"
    np.savez(file, embeddings=np.random.default_rng(0).normal(size=(400, 8)), labels=np.arange(400) % 20)
    wrong, tried = [], 0
    for left in rooms:
        disk = folder / f"left-{left}"
        with filled(disk, left):
            for name, command in writing(disk, file).items():
                if names and name not in names:
                    continue
                tried += 1
                done = labkit(command, left if "limit" in how else 0)
                halves = [path.name for path in disk.glob("a.*") if not path.stat().st_size or done.returncode]
                for path in disk.glob("a.*"):
                    path.unlink()  # the next command is asked for its own
                if (done.returncode and "labkit: " not in done.stderr) or "Traceback" in done.stderr or halves:
                    wrong.append(f"{name}, {left} left: code {done.returncode}, {halves} {done.stderr[-150:]!r}")
    return Row("commands on a full disk", tried, tried - len(wrong), len(wrong), "; ".join(wrong) or how)


def writing(disk: Path, file: Path) -> dict[str, list[str]]:
    """Commands that write to the disk."""
    return {
        "train": ["train", "toy", "--set", "steps=20", "--runs", str(disk / "runs"), "--threads", "1"],
        "csv": ["runs", "compare", "--preset", "toy", "--csv", str(disk / "a.csv")],
        "json": ["evaluate", str(file), "--json", str(disk / "a.json")],
        "import": ["runs", "import", str(file), "--runs", str(disk / "brought"), "--methods", "pca"],
    }


def labkit(command: list[str], largest: int) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if largest:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, "-m", "labkit", *command]
    return subprocess.run(
        arguments, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, preexec_fn=limit
    )


@contextmanager
def small_disk(where: Path, megabytes: float):
    """A file system of so many megabytes."""
    where.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={int(megabytes * 1024)}k", "labkit", str(where)], check=True)
    try:
        yield where
    finally:
        subprocess.run(["umount", "-l", str(where)], check=True)


@contextmanager
def filled(where: Path, left: int):
    """A file system with so many bytes left; without the right to make one, a folder."""
    if not may_mount(where.parent):
        where.mkdir()
        yield where
        return
    with small_disk(where, 1):
        free = shutil.disk_usage(where).free
        (where / "filling").write_bytes(b"x" * (free - left))
        yield where


def may_mount(folder: Path) -> bool:
    """Whether this user can make a file system."""
    probe = folder / "probe"
    probe.mkdir(exist_ok=True)
    try:
        if subprocess.run(["mount", "-t", "tmpfs", "labkit", str(probe)], capture_output=True).returncode:
            return False
        subprocess.run(["umount", str(probe)], check=True)
    except FileNotFoundError:  # no such command
        return False
    return True
