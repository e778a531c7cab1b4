"""What a room shows, and the command that makes it: by bubblewrap where the system has it, else by our own jail."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import stat
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Literal

from labkit.grading import seccomp

Wall = Literal["bubblewrap", "jail", "none"]
HERE = Path(__file__).resolve().parent
PACKAGES = ("torch", "numpy")  # and what they need; labkit and other libraries of losses are not in the room
ENVIRONMENT = {
    "PATH": "/nowhere",
    "HOME": "/room",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LD_LIBRARY_PATH": "/room/python/lib",  # where a Python that is moved there has its own library
}
UNSEEN = ("site-packages", "dist-packages", "test")  # of Python's library
OPTIONS = ["-I", "-S", "-X", "utf8"]


def command(wall: Wall, limits: dict[str, int], cgroup: str) -> tuple[list[str], dict[str, str]]:
    """The command that makes a room and runs the child in it, and its environment; limits: as setrlimit(2) has them."""
    if wall == "none":
        return plain(limits)
    python, shown, hidden, links = room()
    rules = {"limits": limits, "seccomp": base64.b64encode(seccomp.program()).decode()}
    words = {"LABKIT_PATH": json.dumps(["/room/packages", "/room"]), "LABKIT_RULES": json.dumps(rules)}
    plan = {
        "parent": os.getpid(),
        "bubblewrap": shutil.which("bwrap") if wall == "bubblewrap" else None,
        "shown": shown,
        "hidden": hidden,
        "links": links,
        "cgroup": cgroup,
        "command": [python, *OPTIONS, "/room/child.py"],
        "environment": ENVIRONMENT | words,
    }
    return [sys.executable, "-I", "-S", str(HERE / "jail.py"), json.dumps(plan)], {"PATH": os.defpath}


def plain(limits: dict[str, int]) -> tuple[list[str], dict[str, str]]:
    """Without a room: a process of its own with limits, which can read and write what the grader can."""
    site = str(Path(str(metadata.distribution("torch").locate_file(""))).resolve())
    # the user's other processes would count
    rules = {"limits": {name: value for name, value in limits.items() if name != "RLIMIT_NPROC"}, "seccomp": ""}
    words = {"LABKIT_PATH": json.dumps([site, str(HERE)]), "LABKIT_RULES": json.dumps(rules)}
    return [sys.executable, *OPTIONS, str(HERE / "child.py")], ENVIRONMENT | words


@cache
def room() -> tuple[str, list[tuple[str, str]], list[str], list[tuple[str, str]]]:
    """Python's path in the room, what is shown there and where, what is hidden again, and symbolic links."""
    base = Path(sys.base_prefix).resolve()
    python = Path(sys.executable).resolve()
    shown = [(folder, folder) for folder in ("/usr/lib", "/usr/lib64", "/etc/ld.so.cache") if Path(folder).exists()]
    links = []
    for folder in map(Path, ("/lib", "/lib64")):  # links into /usr on most systems
        if folder.is_symlink():
            links.append((str(folder), str(folder.readlink())))
        elif folder.is_dir():
            shown.append((str(folder), str(folder)))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    libraries, inside = base / "lib", base
    if not str(libraries).startswith(("/usr/lib", "/lib")):  # its place may tell a name: Python finds itself anywhere
        inside = Path("/room/python")
        names = [version, *(entry.name for entry in libraries.glob("libpython*"))]
        shown += [(str(libraries / name), str(inside / "lib" / name)) for name in names]
    program = str(inside / "bin" / python.name)
    shown.append((str(python), program))
    hidden = [str(inside / "lib" / version / name) for name in UNSEEN if (libraries / version / name).is_dir()]
    hidden += [name for name in ("/usr/lib/python3/dist-packages",) if Path(name).is_dir()]
    shown += [(str(HERE / name), f"/room/{name}") for name in ("child.py", "wire.py")]
    shown += [(str(path), f"/room/packages/{path.name}") for path in package_files()]
    return program, shown, hidden, links


def package_files() -> list[Path]:
    """Top-level files and folders of torch, numpy and what they need, as they are installed."""
    names, waiting = set[str](), list(PACKAGES)
    found = set[Path]()
    while waiting:
        name = waiting.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        if key in names:
            continue
        names.add(key)
        try:
            package = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # needed on other systems only
        waiting += [
            re.split(r"[^\w.-]", need, maxsplit=1)[0] for need in package.requires or () if "extra ==" not in need
        ]
        for file in package.files or ():
            if file.parts[0] not in ("..", "__pycache__"):
                found.add(Path(str(package.locate_file(file.parts[0]))).resolve())
    return sorted(path for path in found if path.exists())


def unreadable() -> str:
    """What the room's user could not read, and what to do about it; nothing if that is not the trouble."""
    for source, _ in room()[1]:
        path = Path(source)
        needed = stat.S_IROTH | (stat.S_IXOTH if path.is_dir() else 0)
        mine = os.access(path, os.R_OK) if os.geteuid() else path.stat().st_mode & needed == needed
        if not mine:
            return (
                f"answers run as a user without rights, who cannot read {path}: make Python and its packages readable "
                f"(chmod -R o+rX {path}), or use a Python that all users can read, in /usr, /usr/local or /opt"
            )
    return ""
