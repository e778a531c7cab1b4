"""Rooms for tests: by both walls, as root and as an ordinary user, for whom Python and torch lie where he can read."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest

from labkit.base.paths import ROOT
from labkit.grading import walls
from labkit.grading.sandbox import Limits, Outcome, Room, trouble

USER = 12_345
WALLS, USERS = ("bubblewrap", "jail"), ("root", "ordinary")
# a grader of few words, which the ordinary user runs: walls, limits; then pieces of work
SERVER = """
import json, sys
from labkit.grading.sandbox import Limits, Room
wall, limits = json.loads(sys.argv[1])
with Room(Limits(**limits), wall) as room:
    for line in sys.stdin:
        work, seconds = json.loads(line)
        try:
            found = vars(room.ask(work.encode(), seconds))
        except Exception as error:
            found = {"broken": str(error)}
        print(json.dumps(found), flush=True)
"""


class OthersRoom:
    """A room that another user's process has: what `Room` is, as far as tests use it."""

    def __init__(self, process, limits):
        self.process, self.limits = process, limits

    def ask(self, work, seconds):
        self.process.stdin.write(json.dumps([work.decode(), seconds]).encode() + b"\n")
        self.process.stdin.flush()
        found = json.loads(self.process.stdout.readline())
        assert "broken" not in found, found
        return Outcome(**found)


@contextmanager
def room_of(wall, user, limits):
    """A room for tests, or a skip that says why there is none."""
    if wall == "bubblewrap" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    if user == "root" and os.geteuid() != 0:
        pytest.skip("not root")
    if user == "root" or os.geteuid() != 0:
        if why := known_trouble(wall):
            pytest.skip(f"no sandbox: {why}")
        with Room(limits, wall) as room:
            yield room
        return
    with as_user(SERVER, json.dumps([wall, vars(limits)])) as process:
        yield OthersRoom(process, limits)


@contextmanager
def as_user(code, *words):
    """Python code that an ordinary user runs, with pipes to it."""
    with readable_place() as place:
        process = subprocess.Popen(
            [place / "bin/python", "-S", "-c", code, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            env={"PYTHONPATH": f"{place}:{place / 'packages'}", "PATH": os.defpath, "PYTHONDONTWRITEBYTECODE": "1"},
            user=USER,
            group=USER,
            extra_groups=[],
        )
        try:
            yield process
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()
            process.wait()
            process.stdout.close()


known_trouble = cache(trouble)


@contextmanager
def readable_place():
    """Python, torch and the grader as hard links where every user can read them: they may lie in /root."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    base = Path(sys.base_prefix).resolve()
    place = Path(tempfile.mkdtemp(prefix="labkit-readable-"))
    try:
        place.chmod(0o755)
        (place / "bin").mkdir()
        leave = shutil.ignore_patterns("site-packages", "test", "tests", "idlelib", "__pycache__.old")
        try:
            os.link(Path(sys.executable).resolve(), place / "bin/python")
            shutil.copytree(base / "lib" / version, place / "lib" / version, copy_function=os.link, ignore=leave)
            for library in (base / "lib").glob("libpython*"):
                shutil.copy(library, place / "lib", follow_symlinks=False)
            (place / "packages").mkdir()
            for path in walls.package_files():
                target = place / "packages" / path.name
                if path.is_dir():
                    shutil.copytree(path, target, copy_function=os.link)
                else:
                    os.link(path, target)
        except OSError as error:
            pytest.skip(f"no copy of Python for an ordinary user: {error}")
        for part in ("__init__.py", "base", "grading"):
            source = ROOT / "labkit" / part
            copy = shutil.copytree if source.is_dir() else shutil.copy
            (place / "labkit").mkdir(exist_ok=True)
            copy(source, place / "labkit" / part)
        for path in [place / "labkit", *(place / "labkit").rglob("*")]:
            path.chmod(0o755)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def work_of(cell, arguments, name="double"):
    """A piece of work: one function, one case."""
    question = {"name": name, "gradient": [], "cases": [arguments]}
    return json.dumps({"cells": {name: cell}, "question": question}).encode()


DEFAULT = Limits()
