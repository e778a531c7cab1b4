"""Start a sealed child, hand it a job, and collect its lines; whatever it does, this side goes on."""

from __future__ import annotations

import base64
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from labkit.grading import seccomp

HERE = Path(__file__).resolve().parent
MOST_LINES = 1000  # looked at; an honest child sends one for each question and two more
START_SECONDS = 60.0  # to import torch on a busy machine; the student's time begins after it
PACKAGES = ("torch", "numpy")  # and what they need; labkit and other libraries of losses are not in the room
ENVIRONMENT = {
    "PATH": "/nowhere",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True)
class Limits:
    """What one child may use."""

    seconds: float = 20.0  # on the clock
    memory_mb: int = 4096  # of addresses: torch alone takes 1.5 GB of them, few of which become memory
    processes: int = 4
    file_mb: int = 16
    output_mb: int = 16


@dataclass(frozen=True)
class Outcome:
    """How a child ended: its lines as far as they came, why it stopped, and what it used."""

    lines: tuple[dict[str, Any], ...]
    ended: str  # "done", "time", "output", "died"
    seconds: float
    cpu_seconds: float
    memory_mb: float


def run(job: bytes, limits: Limits, sandbox: bool = True) -> Outcome:
    """Run the child on a job, at most for the time given."""
    started = time.monotonic()
    with nullcontext("/") if sandbox else tempfile.TemporaryDirectory(prefix="labkit-grade-") as folder:
        command, environment = sealed(limits) if sandbox else plain(Path(folder), limits)
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            start_new_session=True,
            close_fds=True,
        )
        try:
            raw, ended = talk(process, job, limits)
        finally:
            used = end(process)
    lines = tuple(read_lines(raw))
    if ended == "closed":
        ended = "done" if any(line.get("done") is True for line in lines) else "died"
    return Outcome(lines, ended, time.monotonic() - started, used.ru_utime + used.ru_stime, peak_mb(used.ru_maxrss))


def talk(process: subprocess.Popen[bytes], job: bytes, limits: Limits) -> tuple[bytes, str]:
    """Write the job and read the answer side by side, until the end, the deadline, or too much output."""
    deadline = time.monotonic() + START_SECONDS
    assert process.stdin is not None
    assert process.stdout is not None
    os.set_blocking(process.stdin.fileno(), False)
    received, sent = bytearray(), 0
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        ready.register(process.stdin, selectors.EVENT_WRITE)
        while (left := deadline - time.monotonic()) > 0:
            for key, _ in ready.select(left):
                if key.fileobj is process.stdin:
                    try:
                        sent += os.write(process.stdin.fileno(), job[sent : sent + 65536])
                    except BrokenPipeError:
                        sent = len(job)
                    if sent >= len(job):
                        ready.unregister(process.stdin)
                        process.stdin.close()
                    continue
                block = os.read(process.stdout.fileno(), 65536)
                if not block:
                    return bytes(received), "closed"
                if not received:  # the child is ready, and the student's code begins
                    deadline = time.monotonic() + limits.seconds
                received += block
                if len(received) > limits.output_mb * 2**20:
                    return bytes(received), "output"
    return bytes(received), "time"


def end(process: subprocess.Popen[bytes]) -> Any:
    """Kill whatever is left of the child and count what it used."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # the room's first process dies with it, and the room with that
    for stream in (process.stdin, process.stdout):
        if stream is not None and not stream.closed:
            stream.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return used


def peak_mb(maxrss: int) -> float:
    """The system's figure is in kilobytes, on macOS in bytes."""
    return maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def read_lines(raw: bytes) -> list[dict[str, Any]]:
    """Lines that are JSON objects; a student can write anything else there, and it counts for nothing."""
    found = []
    for line in raw.split(b"\n", MOST_LINES)[:MOST_LINES]:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict):
            found.append(message)
    return found


def sealed(limits: Limits) -> tuple[list[str], dict[str, str]]:
    """The command that makes a room and runs the child in it."""
    python, shown, hidden, links = room()
    path = ["/room/packages", "/room"]
    plan = {
        "parent": os.getpid(),
        "shown": shown,
        "hidden": hidden,
        "links": links,
        "scratch_mb": limits.file_mb,
        "limits": rlimits(limits),
        "command": [python, "-I", "-S", "-X", "utf8", "/room/child.py"],
        "environment": ENVIRONMENT | {"LABKIT_PATH": json.dumps(path)},
        "seccomp": base64.b64encode(seccomp.program()).decode(),
    }
    return [sys.executable, "-I", "-S", str(HERE / "jail.py"), json.dumps(plan)], {"PATH": os.defpath}


def plain(folder: Path, limits: Limits) -> tuple[list[str], dict[str, str]]:
    """Without a room: a process of its own with limits, which can read and write what the grader can."""
    site = str(Path(str(metadata.distribution("torch").locate_file(""))).resolve())
    path = ENVIRONMENT | {"LABKIT_PATH": json.dumps([site, str(HERE)]), "HOME": str(folder)}
    child = [sys.executable, "-I", "-S", "-X", "utf8", str(HERE / "child.py")]
    if sys.platform == "win32":
        return child, {**os.environ, **path}
    code = (
        "import json, os, resource, sys\n"
        "for name, value in json.loads(sys.argv[1]).items():\n"
        "    resource.setrlimit(getattr(resource, name), (value, value))\n"
        "os.execv(sys.argv[2], sys.argv[2:])"
    )
    values = {name: value for name, value in rlimits(limits).items() if name != "RLIMIT_NPROC"}
    return [sys.executable, "-I", "-S", "-c", code, json.dumps(values), *child], path


def rlimits(limits: Limits) -> dict[str, int]:
    """As setrlimit(2) takes them."""
    return {
        "RLIMIT_AS": limits.memory_mb * 2**20,
        "RLIMIT_CPU": int(limits.seconds) + 15,  # the clock comes first, unless several threads compute
        "RLIMIT_FSIZE": limits.file_mb * 2**20,
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_NOFILE": 128,
        "RLIMIT_CORE": 0,
    }


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
    libraries = base / "lib"
    if not str(libraries).startswith(("/usr/lib", "/lib")):
        names = [version, *(entry.name for entry in libraries.glob("libpython*"))]
        shown += [(str(libraries / name), str(libraries / name)) for name in names]
    shown.append((str(python), str(python)))
    hidden = [str(libraries / version / name) for name in ("site-packages", "dist-packages", "test")]
    hidden += ["/usr/lib/python3/dist-packages"]
    shown += [(str(HERE / name), f"/room/{name}") for name in ("child.py", "wire.py")]
    shown += [(str(path), f"/room/packages/{path.name}") for path in package_files()]
    return str(python), shown, hidden, links


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


@cache
def problem() -> str:
    """Why this system has no sealed room, or nothing if it has: a child is started in one, once."""
    if sys.platform != "linux":
        return f"sealed rooms are made of Linux namespaces, which {sys.platform} does not have"
    job = json.dumps({"cells": {}, "questions": []}).encode() + b"\n"
    command, environment = sealed(Limits(seconds=60))
    tried = subprocess.run(command, input=job, capture_output=True, env=environment, timeout=90)
    if any(line.get("done") is True for line in read_lines(tried.stdout)):
        return ""
    return tried.stderr.decode(errors="replace").strip()[-300:] or f"it ended with code {tried.returncode}"
