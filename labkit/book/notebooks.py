"""Lessons: each is a py:percent source, kept beside it as an executed notebook; together they make a book."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MOST_BYTES = 300_000  # of an executed notebook
SECONDS = 600  # for one cell


def lesson_sources(folder: Path, names: list[str]) -> list[Path] | None:
    """Every source in the folder, or only the named ones, by number or name; None, with a message, if one fits none."""
    every = sorted(folder.glob("*.py"))
    known = {name: path for path in every for name in (path.stem[:2], path.stem, path.name)}
    unknown = sorted(name for name in names if name.zfill(2) not in known)
    if unknown:
        there = ", ".join(path.stem for path in every)
        print(f"labkit: no such lesson: {', '.join(unknown)}; there are: {there}", file=sys.stderr)
        return None
    return sorted({known[name.zfill(2)] for name in names}) if names else every


def build_all(folder: Path, names: list[str]) -> int:
    """Execute every source in the folder (or only the named ones); returns the number of failures."""
    sources = lesson_sources(folder, names)
    if sources is None:
        return 2
    if not sources:
        print(f"labkit: {folder.name}/ holds no lesson yet")
    failures = 0
    for number, source in enumerate(sources, 1):
        print(f"labkit: [{number}/{len(sources)}] {source.name}", flush=True)
        try:
            build(source)
        except Exception as error:
            failures += 1
            print(f"labkit: {source.name} failed: {in_short(error)}", file=sys.stderr)
    return failures


def in_short(error: Exception) -> str:
    """What went wrong, and in which cell; LABKIT_DEBUG=1 shows the whole traceback."""
    from nbclient.exceptions import CellExecutionError

    if not isinstance(error, CellExecutionError) or os.environ.get("LABKIT_DEBUG") == "1":
        return str(error)
    cell = str(error).split("------------------")[1].strip()
    return f"{error.ename}: {error.evalue} in the cell\n\n{cell}\n\n(LABKIT_DEBUG=1 shows the traceback)"


def build(source: Path) -> Path:
    """Execute one source top to bottom and write the notebook beside it, replacing it only when all went well."""
    import nbformat

    notebook = execute(source, "notebook")
    strip(notebook)
    target = source.with_suffix(".ipynb")
    partial = target.with_suffix(".ipynb.partial")
    nbformat.write(notebook, partial)
    partial.replace(target)
    return target


def execute(source: Path, mode: str, fast: bool = False) -> Any:
    """The notebook of a source, executed; mode as in `labkit.base.mode`."""
    import jupytext
    from nbclient import NotebookClient

    notebook = jupytext.read(source)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # random ids would change with every build
    with environment(LABKIT_BUILD=mode, LABKIT_FAST="1" if fast else "0"):
        client = NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(source.parent)}})
        client.extra_arguments = ["--log-level=ERROR"]
        client.execute()
    return notebook


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Set environment variables for a while; the kernel inherits them."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def strip(notebook: Any) -> None:
    """Drop what makes GitHub refuse a notebook or changes on every run: widget state and views, timings, warnings."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)


def problems(source: Path) -> list[str]:
    """What is wrong with a lesson's notebook: missing, out of step with its source, errors, order, size."""
    import jupytext
    import nbformat

    path = source.with_suffix(".ipynb")
    if not path.exists():
        return [f"{path.name} is missing: run `make notebooks`"]
    notebook, written = nbformat.read(path, as_version=4), jupytext.read(source)
    found = []
    if [(c.cell_type, c.source.strip()) for c in notebook.cells] != [
        (c.cell_type, c.source.strip()) for c in written.cells
    ]:
        found.append(f"{path.name} is out of step with {source.name}: run `make notebooks`")
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    if [cell.execution_count for cell in code] != list(range(1, len(code) + 1)):
        found.append(f"{path.name}: its cells were not executed in order, from 1 on")
    if any(output.output_type == "error" for cell in code for output in cell.outputs):
        found.append(f"{path.name} holds an error")
    if any(output.get("name") == "stderr" for cell in code for output in cell.outputs):
        found.append(f"{path.name} holds warnings")
    if "widgets" in notebook.metadata:
        found.append(f"{path.name} holds widget state")
    if path.stat().st_size > MOST_BYTES:
        found.append(f"{path.name} is larger than {MOST_BYTES // 1000} kB: {path.stat().st_size // 1000} kB")
    return found
