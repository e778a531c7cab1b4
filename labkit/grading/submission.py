"""Hand-ins: who handed in, and each one's answers, read by a process that can be ended (reader.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from labkit.assignments import NAMES
from labkit.assignments.assignment import Assignment
from labkit.base.errors import LabkitError
from labkit.base.words import first_few
from labkit.grading import reader

SECONDS = 60.0  # on the clock, to read one hand-in on a busy machine; the reader limits its own CPU time
MOST_ASKED = 20  # hand-ins that are asked where they come from
KINDS = (".ipynb", ".zip")
KILLED = "reading it took too much time or memory"


@dataclass(frozen=True)
class Submission:
    """One student's hand-in: the answers as source text, and what was odd about it."""

    student: str
    file: str = ""
    digest: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    helpers: dict[str, str] = field(default_factory=dict)  # what other cells define, by name, if that is safe to run
    left_out: dict[str, str] = field(default_factory=dict)  # and the first lines of what is not
    about: dict[str, Any] = field(default_factory=dict)  # what the notebook says of itself; students can change it
    handed_in: str = ""  # when, as far as files can tell
    remarks: tuple[str, ...] = ()


def find_students(folder: Path) -> dict[str, Path]:
    """Every notebook, archive or folder directly in the folder is one student's, named after it."""
    if not folder.is_dir():
        what = f"{folder} is a file" if folder.exists() else f"there is no folder {folder} here"
        raise ValueError(f"{what}: SUBMISSIONS must be a folder with one file or folder for each student")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or is_stray(path):
            continue
        name = reader.readable(path.stem if path.suffix.lower() in KINDS else path.name)
        while name in found:
            name += "+"  # a notebook and a folder of the same name are two hand-ins
        found[name] = path
    return found


def is_stray(path: Path) -> bool:
    """Whether it is a file that nobody can have handed in."""
    return path.is_file() and path.suffix.lower() not in KINDS


def passed_over(folder: Path) -> str:
    """A remark about files beside the hand-ins that are none, or ""."""
    names = sorted(path.name for path in folder.glob("*") if not path.name.startswith(".") and is_stray(path))
    return f"passed over, as no notebook, zip archive or folder: {first_few(names, 5)}" if names else ""


def read(student: str, path: Path, assignment: Assignment, seconds: float = SECONDS) -> Submission:
    """The answers of one student; what is wrong with the files becomes remarks, or LabkitError if nothing helps."""
    job = {
        "path": os.path.abspath(path),
        "assignment": assignment.name,
        "others": [name for name in NAMES if name != assignment.name],
        "code": [question.name for question in assignment.questions],
        "written": [question.name for question in assignment.written],
    }
    command = [sys.executable, "-I", "-S", "-X", "utf8", reader.__file__]
    try:
        done = subprocess.run(command, input=json.dumps(job).encode(), capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise LabkitError(KILLED) from None
    if done.returncode < 0 or b"MemoryError" in done.stderr:
        raise LabkitError(KILLED)
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise LabkitError(f"the reader stopped: {''.join(last)[:300]}")
    content = json.loads(done.stdout)
    when = handed_in(path, content["file"]) if content.get("answers") else ""
    return Submission(student, **{**content, "handed_in": when, "remarks": tuple(content["remarks"])})


def private_function(students: dict[str, Path], assignment: Assignment) -> str:
    """A function's name in the private course that most of the first hand-ins say they come from, or "".

    Most, because a notebook's word about itself can be changed: one student cannot stop the grading of the others.
    """
    first = list(students.items())[:MOST_ASKED]
    names = []
    for student, path in first:
        try:
            twists = read(student, path, assignment).about.get("twists")
            names += [str(called) for called, _ in list(twists.values())[:1]] if twists else []
        except (LabkitError, ValueError, TypeError, AttributeError):  # grading tells what is wrong with it
            continue
    return names[0][:80] if 2 * len(names) > len(first) else ""


def handed_in(path: Path, file: str) -> str:
    """The date of the notebook that counts, or of the archive that holds it."""
    inside = path / file if file and path.is_dir() else path
    try:
        return datetime.fromtimestamp(inside.stat().st_mtime, UTC).isoformat(timespec="seconds")
    except (OSError, ValueError):
        return ""
