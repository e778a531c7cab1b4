"""Find hand-ins and read the answers in them, by the ids of their cells; nothing is executed or unpacked here."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labkit.assignments.assignment import Assignment

MOST_BYTES = 20 * 2**20  # of one notebook; with all outputs ours have under 1 MB
MOST_FILES = 200  # looked at for one student, in a folder or an archive


@dataclass(frozen=True)
class Submission:
    """One student's hand-in: the answers as source text, and what was odd about it."""

    student: str
    file: str = ""
    digest: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


def find_students(folder: Path) -> dict[str, Path]:
    """Every file, archive or folder directly in the folder is one student's, named after it."""
    if not folder.is_dir():
        raise ValueError(f"SUBMISSIONS must be a folder with one file or folder for each student; {folder} is none")
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        name = readable(path.stem if path.suffix.lower() in (".ipynb", ".zip") else path.name)
        while name in found:
            name += "+"  # a notebook and a folder of the same name are two hand-ins
        found[name] = path
    return found


def read(student: str, path: Path, assignment: Assignment) -> Submission:
    """The answers of one student; whatever is wrong with the files becomes a remark."""
    remarks: list[str] = []
    best: tuple[int, str, bytes, dict[str, str], list[str]] | None = None
    for name, content in notebooks(path, remarks):
        try:
            cells = cells_of(content)
        except ValueError as error:
            remarks.append(f"{name}: {error}")
            continue
        notes: list[str] = []
        answers = answers_in(cells, assignment, notes)
        if best is None or (len(answers), name) > best[:2]:
            best = (len(answers), name, content, answers, notes)
    if best is None:
        return Submission(student, remarks=(*map(readable, remarks), "no notebook could be read"))
    _, name, content, answers, notes = best
    if not answers:
        notes.append("no answer cell was found: is it the right assignment?")
    notes = [readable(note) for note in (*remarks, *notes)]
    return Submission(student, readable(name), hashlib.sha256(content).hexdigest(), answers, tuple(notes))


def notebooks(path: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    """The .ipynb files of a student: the file itself, in a folder, or in a zip archive. Links are not followed."""
    if path.is_symlink():
        remarks.append(f"{path.name} is a symbolic link, which is not followed")
    elif path.is_dir():
        for count, file in enumerate(walk(path)):
            if count >= MOST_FILES:
                remarks.append(f"only the first {MOST_FILES} files were looked at")
                return
            if file.suffix.lower() == ".ipynb":
                yield from read_file(file, file.relative_to(path).as_posix(), remarks)
    elif path.suffix.lower() == ".zip":
        yield from archive(path, remarks)
    else:
        yield from read_file(path, path.name, remarks)


def walk(folder: Path) -> Iterator[Path]:
    """Regular files below a folder, without following links or entering hidden folders."""
    for here, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(here, name) for name in sorted(files))


def read_file(path: Path, name: str, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    """The bytes of a regular file that is not too large."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as error:
        remarks.append(f"{name} cannot be read: {error.strerror}")
        return
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            remarks.append(f"{name} is not a regular file")
            return
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        remarks.append(f"{name} is larger than {MOST_BYTES // 2**20} MB and was not read: hand it in without outputs")
        return
    yield name, content


def archive(path: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    """Notebooks in a zip archive, read in memory; the sizes that it states are not believed."""
    for _, content in read_file(path, path.name, remarks):
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as files:
                entries = [entry for entry in files.infolist() if entry.filename.lower().endswith(".ipynb")]
                for entry in entries[:MOST_FILES]:
                    if "__MACOSX" in entry.filename or entry.is_dir():
                        continue
                    with files.open(entry) as file:
                        inside = file.read(MOST_BYTES + 1)
                    if len(inside) > MOST_BYTES:
                        remarks.append(f"{entry.filename} in {path.name} is too large and was not read")
                        continue
                    yield entry.filename, inside
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, ValueError, EOFError) as error:
            remarks.append(f"{path.name} is not an archive that can be read: {error}")


def cells_of(content: bytes) -> list[dict[str, Any]]:
    """The cells of a notebook in format 4."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("not a notebook: its JSON is broken") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("not a notebook of format 4: it has no list of cells")
    return [cell for cell in cells if isinstance(cell, dict)]


def answers_in(cells: list[dict[str, Any]], assignment: Assignment, notes: list[str]) -> dict[str, str]:
    """Source of every answer by the question's name: by the cell's id, else by the function that it defines."""
    found: dict[str, str] = {}
    wanted = [question.name for question in assignment.questions]
    for part in (*wanted, *(written.name for written in assignment.written)):
        kind = "code" if part in wanted else "markdown"
        mine = [cell for cell in cells if grade_id(cell) == part and cell.get("cell_type") == kind]
        if not mine and kind == "code":
            mine = [cell for cell in cells if cell.get("cell_type") == "code" and defines(part, source_of(cell))]
            if mine:
                notes.append(f"{part}: the answer's cell has lost its id and was found by its function")
        if len(mine) > 1:
            notes.append(f"{part}: {len(mine)} cells have this id; the last one that is not empty counts")
            mine = [cell for cell in mine if "raise NotImplementedError" not in source_of(cell)] or mine
        if mine:
            found[part] = plain_python(source_of(mine[-1])) if kind == "code" else source_of(mine[-1])
    return found


def grade_id(cell: dict[str, Any]) -> Any:
    """The id that nbgrader gave the cell."""
    metadata = cell.get("metadata")
    mark = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return mark.get("grade_id") if isinstance(mark, dict) else None


def source_of(cell: dict[str, Any]) -> str:
    """A cell's text; notebooks keep it whole or in lines."""
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    return readable("".join(line for line in lines if isinstance(line, str)))


def readable(text: str) -> str:
    """Text that every file can take: halves of characters, which JSON and file names allow, are replaced."""
    return text.encode("utf-8", "replace").decode()


def defines(name: str, source: str) -> bool:
    """Whether a cell defines the function."""
    return re.search(rf"^def {re.escape(name)}\s*\(", source, re.MULTILINE) is not None


def plain_python(source: str) -> str:
    """Without the lines that only IPython understands (%magics and !commands)."""
    return "\n".join("" if re.match(r"\s*[%!]", line) else line for line in source.split("\n"))
