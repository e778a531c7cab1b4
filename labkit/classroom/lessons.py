"""A private working copy of the lessons: what is tracked stays as it is, answers outlive updates of the lessons.

The folder holds the notebooks that a person works in and, in `.originals`, each as it was when it was copied: what
differs from that was written by the person.
"""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

CHECK = re.compile(r"labkit\.check\.(\w+)\(")
Say = Callable[[str], None]


def working_copy(source: Path, folder: Path, say: Say) -> None:
    """Bring the lessons of `source` into the folder: new ones copied, changed ones updated, with the answers kept."""
    originals = folder / ".originals"
    originals.mkdir(parents=True, exist_ok=True)
    pictures = source / "pictures"
    if pictures.is_dir():
        shutil.copytree(pictures, folder / "pictures", dirs_exist_ok=True)
    for words in source.glob("GLOSSARY.md"):
        shutil.copyfile(words, folder / words.name)
    for lesson in sorted(source.glob("*.ipynb")):
        mine, original = folder / lesson.name, originals / lesson.name
        if not mine.exists() or not original.exists():
            keep_aside(mine, say)
            begin(lesson, mine, original)
        elif lesson.read_bytes() != original.read_bytes():
            update(lesson, mine, original, say)


def begin(lesson: Path, mine: Path, original: Path) -> None:
    """A lesson as it is delivered, without the outputs that give a prediction away."""
    write(mine, covered(read(lesson)))
    shutil.copyfile(lesson, original)


def start_afresh(source: Path, folder: Path, name: str, say: Say) -> None:
    """Begin one lesson again; what was written is kept aside. name: the file's, its beginning is enough."""
    found = [path for path in sorted(source.glob("*.ipynb")) if path.name.startswith(name)]
    if len(found) != 1:
        raise ValueError(f"name must be the beginning of one lesson's name, such as 04; got {name!r}")
    lesson = found[0]
    (folder / ".originals").mkdir(parents=True, exist_ok=True)
    keep_aside(folder / lesson.name, say)
    begin(lesson, folder / lesson.name, folder / ".originals" / lesson.name)
    say(f"{lesson.name} is as new")


def update(lesson: Path, mine: Path, original: Path, say: Say) -> None:
    """A newer lesson, with the answers of the person in it; whatever else the person changed is kept aside."""
    new, held, old = read(lesson), read(mine), read(original)
    before = answers(old)
    written = {name: text for name, text in answers(held).items() if text != before.get(name)}
    for cell in new["cells"]:
        if (name := asked(cell)) in written:
            cell["source"] = written.pop(name)
            cell["outputs"] = []
    others = [text_of(cell) for cell in held["cells"] if not asked(cell)]
    if written or others != [text_of(cell) for cell in old["cells"] if not asked(cell)]:
        keep_aside(mine, say)
    write(mine, covered(new))
    shutil.copyfile(lesson, original)
    say(f"{lesson.name} is updated; your answers are in it")


def keep_aside(mine: Path, say: Say) -> None:
    """Move a notebook to a name of its own."""
    if mine.exists():
        aside = mine.with_name(f"{mine.stem} (before {datetime.now():%Y-%m-%d %H.%M.%S}).ipynb")
        mine.rename(aside)
        say(f"what you had in {mine.name} is in {aside.name}")


def covered(notebook: Any) -> Any:
    """The notebook without the outputs of predictions and of what follows them up to the next heading."""
    notebook, hiding = copy.deepcopy(notebook), False
    for cell in notebook["cells"]:
        text = text_of(cell)
        if cell["cell_type"] == "markdown":
            hiding = hiding and not re.search(r"^#+ ", text, re.MULTILINE)
        elif cell["cell_type"] == "code":
            hiding = hiding or "labkit.predict(" in text
            if hiding:
                cell["outputs"], cell["execution_count"] = [], None
    return notebook


def answers(notebook: Any) -> dict[str, str]:
    """Exercise -> what stands in its cell."""
    return {name: text_of(cell) for cell in notebook["cells"] if (name := asked(cell))}


def asked(cell: Any) -> str:
    """The exercise that a cell checks, or nothing."""
    found = CHECK.search(text_of(cell)) if cell["cell_type"] == "code" else None
    return found[1] if found else ""


def text_of(cell: Any) -> str:
    """A cell's source, which a file holds as a text or as lines."""
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def read(path: Path) -> Any:
    """A notebook as JSON."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, notebook: Any) -> None:
    """Replace a notebook, whole or not at all."""
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(notebook, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)
