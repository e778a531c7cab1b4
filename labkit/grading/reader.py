"""Reads one student's hand-in: finds the notebooks and the answers in them; nothing is executed or unpacked to disk.

Runs as a file in a process of its own, with the standard library only (python -I -S reader.py), because a hand-in can
hold a parser for minutes or fill the memory; here that ends one process. The job comes on standard input: where the
hand-in is, and the names of the questions. The answers go to standard output, both as one JSON object.
"""

from __future__ import annotations

import ast
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
from itertools import pairwise
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
    found = collect(Path(job["path"]), job["assignment"], job["others"], job["code"], job["written"])
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


def collect(path: Path, assignment: str, others: list[str], code: list[str], written: list[str]) -> dict[str, Any]:
    """The notebook that counts: its name, digest, answers and helpers; and whatever was odd, as remarks."""
    remarks: list[str] = []
    found: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    for name, content in notebooks(path, remarks):
        notes: list[str] = []
        try:
            cells, about = cells_of(content)
            answers = answers_in(cells, code, written, notes)
        except ValueError as error:
            remarks.append(f"{name}: {error}")
            continue
        if answers and in_folder_of(name, others):  # a later deadline may hold there
            remarks.append(f"{name} has answers but lies in the folder of another assignment: it does not count")
            continue
        here = {"file": name, "digest": hashlib.sha256(content).hexdigest(), "answers": answers, "notes": notes}
        found.append((rank(name, assignment, answers), here | helpers_in(cells, answers) | {"about": about}))
    found.sort(key=lambda entry: entry[0], reverse=True)
    best: dict[str, Any] = found[0][1] if found else {}
    rivals = [entry["file"] for _, entry in found[1:] if entry["answers"] and best["answers"]]
    if rivals:
        remarks.append(f"{len(rivals) + 1} notebooks have answers: {best['file']} counts, not {', '.join(rivals[:3])}")
    if not best:
        remarks.append("no notebook could be read")
    elif not best["answers"]:
        remarks.append("no answer cell was found: is it the right assignment?")
    remarks += best.pop("notes", [])
    if len(remarks) > MOST_REMARKS:
        remarks[MOST_REMARKS:] = [f"and {len(remarks) - MOST_REMARKS} remarks more"]
    best["file"] = readable(best.get("file", ""))
    return best | {"remarks": [readable(remark[:300]) for remark in remarks]}


def rank(name: str, assignment: str, answers: dict[str, str]) -> tuple[Any, ...]:
    """What counts first: the place that nbgrader knows, then most answers written, then most answer cells."""
    place = name.split("/")[-2:] == [assignment, f"{assignment}.ipynb"]
    done = sum("raise NotImplementedError" not in source for source in answers.values())
    return (place and bool(answers), done, len(answers), name.endswith(f"{assignment}.ipynb"), name)


def in_folder_of(name: str, assignments: list[str]) -> bool:
    """Whether a file lies below a folder that is named after one of these assignments."""
    return bool({part.casefold() for part in name.split("/")[:-1]} & {other.casefold() for other in assignments})


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


def cells_of(content: bytes) -> tuple[list[dict[str, Any]], Any]:
    """The cells of a notebook in format 4, and what its metadata say for labkit."""
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
    metadata = notebook.get("metadata")
    about = metadata.get("labkit") if isinstance(metadata, dict) else None
    return [cell for cell in cells if isinstance(cell, dict)], about if isinstance(about, dict) else {}


def answers_in(cells: list[dict[str, Any]], code: list[str], written: list[str], notes: list[str]) -> dict[str, str]:
    """Source of every answer by the question's name: by the cell's id, else by the function that it defines."""
    found: dict[str, str] = {}
    lost = [part for part in written if not any(grade_id(cell) == part for cell in cells)]
    placed = written_by_place(cells, written) if lost else {}
    for part in (*code, *written):
        kind = "code" if part in code else "markdown"
        mine = [cell for cell in cells if grade_id(cell) == part and cell.get("cell_type") == kind]
        if not mine and kind == "code":
            mine = [cell for cell in cells if cell.get("cell_type") == "code" and defines(part, source_of(cell))]
            if mine:
                notes.append(f"{part}: the answer's cell has lost its id and was found by its function")
        if not mine and part in placed:
            mine = [placed[part]]
            notes.append(f"{part}: the text's cell has lost its id and was found by its place")
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


def written_by_place(cells: list[dict[str, Any]], written: list[str]) -> dict[str, dict[str, Any]]:
    """Texts without ids: the Markdown cells right behind a Markdown cell that are no new section, in their order."""
    texts = [
        cell
        for before, cell in pairwise(cells)
        if before.get("cell_type") == cell.get("cell_type") == "markdown"
        and not source_of(cell).lstrip().startswith("#")
    ]
    return dict(zip(written, texts)) if len(texts) == len(written) else {}


def helpers_in(cells: list[dict[str, Any]], answers: dict[str, str]) -> dict[str, dict[str, str]]:
    """What other code cells define, by name: what is safe to run (helpers), and what is not (left_out)."""
    helpers: dict[str, str] = {}
    left_out: dict[str, str] = {}
    left = MOST_CHARACTERS  # of all other cells together
    for cell in cells:
        source = plain_python(source_of(cell)) if cell.get("cell_type") == "code" and not grade_id(cell) else ""
        if not source or len(source) > left or source in answers.values():
            continue
        left -= len(source)
        try:
            found = [
                (names_of(node) - answers.keys(), safe(node), ast.unparse(node)) for node in ast.parse(source).body
            ]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for names, runs, text in found:
            for name in names if len(helpers) + len(left_out) < MOST_FILES else ():
                for known in (helpers, left_out):
                    known.pop(name, None)  # the last definition counts
                if runs:
                    helpers[name] = text
                else:
                    left_out[name] = text.split("\n")[0][:200]
    return {"helpers": helpers, "left_out": left_out}


def names_of(node: ast.stmt) -> set[str]:
    """What a statement at the top of a cell defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        stored = [part for target in targets for part in ast.walk(target)]
        return {part.id for part in stored if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return set()


def safe(node: ast.stmt) -> bool:
    """Definitions, imports, and values that are written down: nothing is called, so nothing happens."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
        return True
    value = getattr(node, "value", None)
    calm = (ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.Name, ast.Attribute)
    return value is not None and all(isinstance(part, (*calm, ast.expr_context)) for part in ast.walk(value))


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


# what decides whether a line begins a statement: strings, comments, brackets, joined lines
PIECE = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"""|\Z)|\'\'\'(?:[^\\]|\\.)*?(?:\'\'\'|\Z)'
    r'|"(?:[^"\\\n]|\\.)*+"?|\'(?:[^\'\\\n]|\\.)*+\'?|#[^\n]*|[\[({\])}]|\\\n|\n',
    re.DOTALL,
)
MAGIC = re.compile(r"[ \t]*[%!][^\n]*")


def plain_python(source: str) -> str:
    """Without the statements that only IPython understands; a line that goes on with % is code."""
    text, kept, depth, at = "\n" + source, [], 0, 0
    while piece := PIECE.search(text, at):
        kept.append(text[at : piece.end()])
        at = piece.end()
        depth = max(0, depth + (piece[0] in ("(", "[", "{")) - (piece[0] in (")", "]", "}")))
        if piece[0] == "\n" and depth == 0 and (magic := MAGIC.match(text, at)):
            at = magic.end()
    return "".join([*kept, text[at:]])[1:]


if __name__ == "__main__":
    main()
