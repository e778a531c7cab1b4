"""Puts hand-ins where nbgrader looks for them, whatever students called their files.

nbgrader reads submitted/STUDENT/ASSIGNMENT/ASSIGNMENT.ipynb only, does not take a byte-order mark, and knows answers by
their ids. What is renamed, marked or without ids is put right here, so that no student is missing in the formgrader.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from labkit.assignments.assignment import Assignment
from labkit.base.errors import LabkitError
from labkit.base.files import write_json
from labkit.grading.submission import Submission, find_students, read

UNREAD = "could not be read"


def collect(course: Path, assignment: Assignment) -> Iterator[tuple[str, str]]:
    """Every student with a hand-in of this assignment, and what was done about it."""
    name = assignment.name
    released = course / "release" / name / f"{name}.ipynb"
    if not released.is_file():
        raise ValueError(f"{course} has no release of {name}: `python -m labkit course init` makes it")
    template = json.loads(released.read_text(encoding="utf-8"))
    for student, path in find_students(course / "submitted").items():
        try:
            found = read(student, path, assignment)
            done = ""
            if found.answers:
                done = place(course / "submitted" / student / name / f"{name}.ipynb", path, found, template)
        except (LabkitError, ValueError, OSError, zipfile.BadZipFile) as error:
            yield student, f"{UNREAD}: {error}"
            continue
        if done:
            yield student, done
        elif path.is_file() or (path / name).is_dir():
            yield student, f"{UNREAD}: {'; '.join(found.remarks) or 'no answers found'}"


def place(target: Path, path: Path, found: Submission, template: dict[str, Any]) -> str:
    """Write the notebook that counts to its place, unless it is there and in order."""
    if any(part.is_symlink() for part in (target, target.parent, target.parent.parent)):
        raise LabkitError("a symbolic link stands in its place, which is not followed")
    if target.is_dir():
        place = f"{target.parent.name}/{target.name}"
        raise LabkitError(f"{place} is a folder: move the notebook out of it, remove the folder, and collect again")
    notebook, content = original(path, found.file)
    inside = path / found.file if path.is_dir() else path
    wanted = {cell["metadata"]["nbgrader"]["grade_id"] for cell in template["cells"] if "nbgrader" in cell["metadata"]}
    whole = wanted <= ids_of(notebook)
    if inside == target and whole and not content.startswith(b"\xef\xbb\xbf"):
        return "in order"
    if inside == target:
        shutil.copy2(target, target.with_suffix(".ipynb.as-handed-in"))
    when = inside.stat()
    write_json(target, notebook if whole else filled(template, found))
    if path.is_file():
        shutil.move(path, target.parent / f"{path.name}.as-handed-in")
    elif inside != target:
        inside.rename(inside.with_name(f"{inside.name}.as-handed-in"))  # two notebooks would look like rivals
    os.utime(target, ns=(when.st_atime_ns, when.st_mtime_ns))  # the date decides about late days
    return f"{found.file} → {target.parent.name}/{target.name}" + ("" if whole else ", with the ids restored")


def original(path: Path, file: str) -> tuple[Any, bytes]:
    """The notebook that counts, as it was handed in; the reader has seen that it is small and whole."""
    if path.is_dir():
        content = (path / file).read_bytes()
    elif path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as files:
            content = files.read(file)
    else:
        content = path.read_bytes()
    return json.loads(content), content


def ids_of(notebook: Any) -> set[str]:
    """nbgrader's ids of a notebook's cells."""
    found = set()
    for cell in notebook["cells"]:
        about = cell.get("metadata", {}).get("nbgrader") if isinstance(cell, dict) else None
        if isinstance(about, dict):
            found.add(str(about.get("grade_id")))
    return found


def filled(template: dict[str, Any], found: Submission) -> dict[str, Any]:
    """The released notebook with the student's answers, and what other cells define in front."""
    made: dict[str, Any] = json.loads(json.dumps(template))
    for cell in made["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = found.answers.get(name, cell["source"])
    if found.helpers:
        source = "\n\n".join(dict.fromkeys(found.helpers.values()))
        cell = {"cell_type": "code", "id": "helpers", "metadata": {}, "source": source}
        first = next(n for n, cell in enumerate(made["cells"]) if cell["metadata"].get("nbgrader"))
        made["cells"].insert(first, cell | {"outputs": [], "execution_count": None})
    return made
