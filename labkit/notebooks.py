"""Build lessons: each is written as a py:percent source and kept beside it as an executed notebook."""

import sys
from pathlib import Path
from typing import Any


def build_all(folder: Path, names: list[str]) -> int:
    """Execute every source in the folder (or only the named ones); returns the number of failures."""
    sources = sorted(path for path in folder.glob("*.py") if not names or path.stem in names or path.name in names)
    unknown = set(names) - {path.stem for path in sources} - {path.name for path in sources}
    if unknown:
        print(f"labkit: no such lesson: {', '.join(sorted(unknown))}", file=sys.stderr)
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
            print(f"labkit: {source.name} failed: {error}", file=sys.stderr)
    return failures


def build(source: Path, timeout: float = 600) -> Path:
    """Execute one source top to bottom and write the notebook beside it, replacing it only when all went well."""
    import jupytext
    import nbformat
    from nbclient import NotebookClient

    notebook = jupytext.read(source)
    NotebookClient(notebook, timeout=timeout, resources={"metadata": {"path": str(source.parent)}}).execute()
    strip(notebook)
    target = source.with_suffix(".ipynb")
    partial = target.with_suffix(".ipynb.partial")
    nbformat.write(notebook, partial)
    partial.replace(target)
    return target


def strip(notebook: Any) -> None:
    """Drop what makes GitHub refuse a notebook or changes on every run: widget state and views, timings, paths."""
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
