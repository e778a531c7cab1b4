"""A room with a child that answers one question after another; whatever happens in it, this side goes on."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Self

from labkit.base.errors import LabkitError
from labkit.grading import cgroup, walls
from labkit.grading.walls import Wall

MOST_LINES = 1000  # looked at; an honest worker sends one
START_SECONDS = 60.0  # to import torch on a busy machine; the student's time begins after it
GRACE_SECONDS = 30.0 if sys.platform == "linux" else 0.0  # for the first process to end a worker whose time is over
CLOSE_SECONDS = 5.0  # for a room to end by itself, so that what it used can be counted


@dataclass(frozen=True)
class Limits:
    """What an answer to one question may use."""

    seconds: float = 20.0  # on the clock
    memory_mb: int = 4096  # of addresses: torch alone takes 1.5 GB of them, few of which become memory
    processes: int = 4  # its threads, and the room's first process
    file_mb: int = 16  # without a sandbox; in a room there is nothing to write to
    output_mb: int = 16


@dataclass(frozen=True)
class Outcome:
    """How a piece of work ended: the answer if one came, why it stopped, and what it used."""

    answer: dict[str, Any] | None
    ended: str  # "done", "time", "output", "died"
    seconds: float
    cpu_seconds: float = 0.0
    memory_mb: float = 0.0


class Room:
    """One hand-in's room: made when it is needed, made anew when it broke, gone at the end of the `with`."""

    def __init__(self, limits: Limits, wall: Wall) -> None:
        """Nothing is started yet."""
        self.limits, self.wall = limits, wall
        self.process: subprocess.Popen[bytes] | None = None
        self.cpu_seconds = 0.0  # of rooms that have ended
        self.things = ExitStack()

    def __enter__(self) -> Self:
        """The room itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Whatever is left in it ends."""
        self.close()

    def ask(self, work: bytes, seconds: float) -> Outcome:
        """What a worker makes of a piece of work, at most in the time given."""
        process = self.process or self.start()
        started = time.monotonic()
        message = struct.pack("<QQ", len(work), int(seconds * 1000)) + work
        most = self.limits.output_mb * 2**20
        raw, told, ended = talk(process, message, started + seconds + GRACE_SECONDS, most, "ended")
        if told is None:  # the first process did not say how it ended: on some systems it never does, else it is lost
            self.close()
        answer = next(iter(read_lines(raw)), None)
        if told is not None or ended == "closed":
            ended = "time" if told and told["ended"] == "time" else "done" if answer else "died"
        used = told or {"cpu_seconds": 0.0, "memory_mb": 0.0}
        return Outcome(answer, ended, time.monotonic() - started, used["cpu_seconds"], used["memory_mb"])

    def start(self) -> subprocess.Popen[bytes]:
        """A room whose first process is ready, or LabkitError that says why there is none."""
        group = cgroup.open_group(self.limits.memory_mb) if self.wall != "none" else None
        if group:
            self.things.callback(cgroup.remove, group)
        folder = "/" if self.wall != "none" else tempfile.mkdtemp(prefix="labkit-grade-")
        if self.wall == "none":
            self.things.callback(shutil.rmtree, folder, ignore_errors=True)
        command, environment = walls.command(self.wall, rlimits(self.limits), str(group or ""))
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        try:
            text, told, _ = talk(self.process, b"", time.monotonic() + START_SECONDS, 2**20, "ready")
        except BaseException:
            self.close()
            raise
        if told is None:
            self.close()
            why = text.decode(errors="replace").strip()[-300:]
            raise LabkitError(f"no room could be made: {why or 'it ended or took too long'}")
        return self.process

    def close(self) -> None:
        """End whatever is left of the room and count what it used."""
        process, self.process = self.process, None
        if process is None:
            return
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        with suppress(OSError):
            process.stdin.close()  # its first process hears that, and ends
        with suppress(OSError, ValueError):
            talk(process, b"", time.monotonic() + CLOSE_SECONDS, 2**40, "never")
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the room's first process dies with it, and the room with that
        process.stdout.close()
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_seconds += used.ru_utime + used.ru_stime
        self.things.close()


def talk(
    process: subprocess.Popen[bytes], message: bytes, deadline: float, most: int, word: str
) -> tuple[bytes, dict[str, Any] | None, str]:
    """Write a message and read side by side, until the first process tells the word, its end, or too much output.

    What was sent, what was told, and why it stopped: "told", "closed", "time", "output". The first process is ours:
    what it tells is true. Where the room ends before it is ready, what was sent is the reason.
    """
    sent, received, status = 0, bytearray(), bytearray()
    with selectors.DefaultSelector() as ready:
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            os.set_blocking(stream.fileno(), False)
            ready.register(stream, selectors.EVENT_READ)
        if message:
            assert process.stdin is not None
            os.set_blocking(process.stdin.fileno(), False)
            ready.register(process.stdin, selectors.EVENT_WRITE)
        while (left := deadline - time.monotonic()) > 0:
            for key, _ in ready.select(left):
                if key.fileobj is process.stdin:
                    try:
                        sent += os.write(key.fd, message[sent : sent + 65536])
                    except BrokenPipeError:
                        sent = len(message)
                    if sent >= len(message):
                        ready.unregister(key.fileobj)
                    continue
                into = received if key.fileobj is process.stdout else status
                try:
                    block = os.read(key.fd, 65536)
                except BlockingIOError:
                    continue
                into += block
                if not block:
                    ready.unregister(key.fileobj)
            told = next((line for line in read_lines(bytes(status)) if word in line), None)
            if len(received) > most or len(status) > most:
                return bytes(received), None, "output"
            if told is not None:
                return bytes(received + rest(process, most)), told, "told"
            if not any(key.fileobj is not process.stdin for key in ready.get_map().values()):
                return bytes(received or status), None, "closed"
    return bytes(received), None, "time"


def rest(process: subprocess.Popen[bytes], most: int) -> bytes:
    """What a worker that has ended still has in the pipe."""
    assert process.stdout is not None
    found = bytearray()
    with suppress(BlockingIOError):
        while len(found) <= most and (block := os.read(process.stdout.fileno(), 65536)):
            found += block
    return bytes(found)


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


def rlimits(limits: Limits) -> dict[str, int]:
    """As setrlimit(2) takes them."""
    return {
        "RLIMIT_AS": limits.memory_mb * 2**20,
        "RLIMIT_CPU": int(limits.seconds) + 15,  # the clock comes first, unless several threads compute
        "RLIMIT_FSIZE": limits.file_mb * 2**20,
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_NOFILE": 128,
        "RLIMIT_CORE": 0,
        "RLIMIT_MEMLOCK": 2**16,
    }


@cache
def best() -> tuple[Wall, str]:
    """The wall that works here, tried once; "none" and why, where none does."""
    if sys.platform != "linux":
        return "none", f"sealed rooms are made of Linux namespaces, which {sys.platform} does not have"
    why = ""
    for wall in (*(("bubblewrap",) if shutil.which("bwrap") else ()), "jail"):
        if not (why := trouble(wall)):
            return wall, ""
    return "none", walls.unreadable() or why


def trouble(wall: Wall) -> str:
    """Why this wall does not stand here, or nothing if it does."""
    try:
        with Room(Limits(), wall) as room:
            room.start()
    except (LabkitError, ValueError) as error:
        return str(error)
    return ""


def problem() -> str:
    """Why this system has no sealed room, or nothing if it has."""
    return best()[1]
