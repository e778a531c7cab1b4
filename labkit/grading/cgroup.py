"""The memory of a room in sum, where the system lets us count it: control groups of Linux, version 1 or 2.

Limits on addresses hold for one process, and a room has one worker and no memory outside of it; this is the second
wall. Where no group can be made (an ordinary user, a container) the first one stands alone.
"""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from pathlib import Path

ROOT, OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
PROCESSES = 64  # of a room, ours among them
COUNT = itertools.count()
# file, whether the group is of no use without it; {} is the number of bytes
VERSIONS = {
    1: (("memory.limit_in_bytes", "{}", True), ("memory.memsw.limit_in_bytes", "{}", False)),
    2: (
        ("memory.max", "{}", True),
        ("memory.swap.max", "0", False),
        ("memory.oom.group", "1", False),
        ("pids.max", str(PROCESSES), False),
    ),
}


def places(membership: str, root: Path) -> list[tuple[int, Path]]:
    """Where a group may be made, from /proc/self/cgroup: in our own group, else (version 2) beside it."""
    found = []
    for line in membership.splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            found.append((1, root / "memory" / path.lstrip("/")))
        elif controllers == "":
            own = root / path.lstrip("/")
            found += [(2, own), (2, own.parent)] if own != root else [(2, own)]
    return found


def make(version: int, folder: Path, bytes_: int) -> None:
    """A group with these limits; OSError where the system has other plans."""
    folder.mkdir()
    try:
        for name, value, needed in VERSIONS[version]:
            if needed or (folder / name).exists():
                with open(folder / name, "r+") as file:  # which must be there
                    file.write(value.format(bytes_))
    except OSError:
        folder.rmdir()
        raise


def open_group(memory_mb: int, root: Path = ROOT, own: Path = OWN) -> Path | None:
    """A group for one room: its folder, or nothing where none can be made."""
    try:
        membership = own.read_text()
    except OSError:  # another system
        return None
    for version, base in places(membership, root):
        folder = base / f"labkit-{os.getpid()}-{next(COUNT)}"
        try:
            sweep(base)
            make(version, folder, memory_mb * 2**20)
            return folder
        except OSError:
            continue
    return None


def remove(folder: Path) -> None:
    """Its processes have been killed, but the kernel may take a moment."""
    for _ in range(100):
        try:
            folder.rmdir()
            return
        except OSError:
            time.sleep(0.02)


def sweep(base: Path) -> None:
    """Groups of graders that were killed."""
    for folder in base.glob("labkit-*-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            with suppress(OSError):
                folder.rmdir()
