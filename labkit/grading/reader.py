"""Reads one student's hand-in: finds the notebooks and the answers in them; nothing is executed or unpacked to disk.

Runs as a file in a process of its own, with the standard library only (python -I -S reader.py), because a hand-in can
hold a parser for minutes or fill the memory; here that ends one process. The job comes on standard input: where the
hand-in is, and the names of the questions. The answers go to standard output, both as one JSON object.
"""

from __future__ import annotations

import gc
import hashlib
import io
import json
import os
import re
import stat
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MOST_BYTES = 20 * 2**20  # of one notebook; with all outputs ours have under 1 MB
MOST_BYTES_IN_ALL = 3 * MOST_BYTES  # of all notebooks of one student
MOST_FILES = 200  # looked at for one student, in a folder or an archive
MOST_CELLS = 5000
MOST_CHARACTERS = 100_000  # of one answer
MOST_REMARKS = 20
MEMORY, CPU_SECONDS = 2**30, 20


def main() -> None:
    """Read the hand-in that the job names, within limits."""
    limit()
    job = json.loads(sys.stdin.buffer.read())
    found = collect(Path(job["path"]), job["code"], job["written"])
    sys.stdout.write(json.dumps(found))


def limit() -> None:
    """No more memory and time than a hand-in needs, where the system can limit them."""
    gc.disable()  # nothing here makes cycles, and a file of many small lists would keep the collector busy
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def collect(path: Path, code: list[str], written: list[str]) -> dict[str, Any]:
    """The notebook with most answers: its name, digest and answers; and whatever was odd, as remarks."""
    remarks: list[str] = []
    best: dict[str, Any] = {}
    for name, content in notebooks(path, remarks):
        notes: list[str] = []
        try:
            answers = answers_in(cells_of(content), code, written, notes)
        except ValueError as error:
            remarks.append(f"{name}: {error}")
            continue
        if not best or (len(answers), name) > (len(best["answers"]), best["file"]):
            best = {"file": name, "digest": hashlib.sha256(content).hexdigest(), "answers": answers, "notes": notes}
    if not best:
        remarks.append("no notebook could be read")
    elif not best["answers"]:
        remarks.append("no answer cell was found: is it the right assignment?")
    remarks += best.pop("notes", [])
    if len(remarks) > MOST_REMARKS:
        remarks[MOST_REMARKS:] = [f"and {len(remarks) - MOST_REMARKS} remarks more"]
    best["file"] = readable(best.get("file", ""))
    return best | {"remarks": [readable(remark[:300]) for remark in remarks]}


def notebooks(path: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    """The notebooks of a student, as far as they are not too many and not too large together."""
    left = MOST_BYTES_IN_ALL
    for name, content in found_notebooks(path, remarks):
        left -= len(content)
        if left < 0:
            remarks.append(f"only the first {MOST_BYTES_IN_ALL // 2**20} MB of notebooks were looked at")
            return
        yield name, content


def found_notebooks(path: Path, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
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
        for _, content in read_file(path, path.name, remarks):
            yield from archive(path.name, content, remarks)
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


def archive(name: str, content: bytes, remarks: list[str]) -> Iterator[tuple[str, bytes]]:
    """Notebooks in a zip archive, read in memory; the sizes that it states are not believed."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as files:
            entries = [entry for entry in files.infolist() if entry.filename.lower().endswith(".ipynb")]
            for entry in entries[:MOST_FILES]:
                if "__MACOSX" in entry.filename or entry.is_dir():
                    continue
                with files.open(entry) as file:
                    inside = file.read(MOST_BYTES + 1)
                if len(inside) > MOST_BYTES:
                    remarks.append(
                        f"{entry.filename} in {name} is larger than {MOST_BYTES // 2**20} MB and was not read"
                    )
                    continue
                yield entry.filename, inside
    except Exception as error:  # decompressors raise errors of their own
        remarks.append(f"{name} is not an archive that can be read: {error or type(error).__name__}")


def cells_of(content: bytes) -> list[dict[str, Any]]:
    """The cells of a notebook in format 4."""
    try:
        notebook = json.loads(content)
    except (ValueError, RecursionError):
        raise ValueError("not a notebook: its JSON is broken") from None
    except MemoryError:
        raise ValueError("it needs too much memory: hand it in without outputs") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("not a notebook of format 4: it has no list of cells")
    if len(cells) > MOST_CELLS:
        raise ValueError(f"it has more than {MOST_CELLS:,} cells")
    return [cell for cell in cells if isinstance(cell, dict)]


def answers_in(cells: list[dict[str, Any]], code: list[str], written: list[str], notes: list[str]) -> dict[str, str]:
    """Source of every answer by the question's name: by the cell's id, else by the function that it defines."""
    found: dict[str, str] = {}
    for part in (*code, *written):
        kind = "code" if part in code else "markdown"
        mine = [cell for cell in cells if grade_id(cell) == part and cell.get("cell_type") == kind]
        if not mine and kind == "code":
            mine = [cell for cell in cells if cell.get("cell_type") == "code" and defines(part, source_of(cell))]
            if mine:
                notes.append(f"{part}: the answer's cell has lost its id and was found by its function")
        if len(mine) > 1:
            notes.append(f"{part}: {len(mine)} cells have this id; the last one that is not empty counts")
            mine = [cell for cell in mine if "raise NotImplementedError" not in source_of(cell)] or mine
        if not mine:
            continue
        source = source_of(mine[-1])
        if len(source) > MOST_CHARACTERS:
            notes.append(f"{part}: an answer of more than {MOST_CHARACTERS:,} characters is not read")
            continue
        found[part] = plain_python(source) if kind == "code" else source
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


if __name__ == "__main__":
    main()
