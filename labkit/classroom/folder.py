"""An nbgrader course: a folder with settings, sources, releases, and a README that says what to do on Monday."""

from __future__ import annotations

import secrets
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from string import Template

from labkit.assignments import NAMES, load
from labkit.assignments.private import PRIVATE, read_key
from labkit.base.files import write_json
from labkit.base.paths import HOME
from labkit.base.words import first_few
from labkit.classroom.lab import lab_environment
from labkit.classroom.release import CODE_STUB, TEXT_STUB, version

MASTERS = HOME / "notebooks" / "assignments"
TEMPLATES = Path(__file__).parent / "templates"
MARK = "labkit course init"  # in the first line of a config that is ours
FOLDERS = {"student": "student", "solution": "solutions", "notes": "notes"}  # nbgrader has its own "solution"
Say = Callable[[str], None]


def masters(names: Sequence[str] = ()) -> list[Path]:
    """The masters of the named assignments, or all that there are."""
    wanted = list(dict.fromkeys(load(name).name for name in names)) or list(NAMES)
    found = [MASTERS / f"{name}.py" for name in wanted]
    missing = [path.stem for path in found if not path.is_file()]
    if not MASTERS.is_dir() or (names and missing) or len(missing) == len(found):
        raise ValueError(
            f"no master of {', '.join(missing)} in notebooks/assignments; this needs a clone of the project"
        )
    return [path for path in found if path.is_file()]


def write_versions(folder: Path, kinds: Sequence[str], names: Sequence[str] = ()) -> Iterator[Path]:
    """Write FOLDER/student/NAME.ipynb and the like; yields each file written."""
    if is_course(folder):
        raise ValueError(
            f"{folder} is a course, and its notebooks are in release/: `python -m labkit course init "
            f"{shlex.quote(str(folder))} --update` writes them anew; or name another folder"
        )
    for master in masters(names):
        for kind in kinds:
            yield write(master, kind, folder / FOLDERS[kind] / f"{master.stem}.ipynb")


def write(master: Path, kind: str, target: Path, key: bytes = b"") -> Path:
    """One version of one assignment."""
    import nbformat

    notebook = version(master, load(master.stem), kind, key)
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
    return target


def init(
    folder: Path, names: Sequence[str], course_id: str, timeout: int, update: bool, say: Say, private: bool = False
) -> None:
    """Set up a course, or add what an interrupted call left out; files that are there stay unless update is given."""
    if find_spec("nbgrader") is None:
        raise ValueError('nbgrader is not installed: `make setup` in a clone, or pip install "labkit[course]"')
    check_free(folder)
    chosen = masters(names)
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"course_id": course_id, "timeout": timeout, "code_stub": CODE_STUB, "text_stub": TEXT_STUB}
    as_code = {name: repr(value) for name, value in settings.items()}
    fill("nbgrader_config.txt", folder / "nbgrader_config.py", as_code)  # first: it marks the folder as ours
    words = {"folder": shlex.quote(str(folder)), "activate": activation(), "timeout": str(timeout)}
    fill("README.md", folder / "README.md", words)
    fill("deadlines.toml", folder / "deadlines.toml", {})
    key = course_key(folder, private)
    for name in ("submitted", "exchange"):
        (folder / name).mkdir(exist_ok=True)
    for number, master in enumerate(chosen, 1):
        name = master.stem
        source = folder / "source" / name / f"{name}.ipynb"
        released = folder / "release" / name / f"{name}.ipynb"
        if source.exists() and released.exists() and not update:
            say(f"[{number}/{len(chosen)}] {name}: kept as it is (--update writes it anew)")
            continue
        say(f"[{number}/{len(chosen)}] {name}: {load(name).points} points")
        if update or not source.exists():
            write(master, "source", source, key)
        for kind in ("solution", "notes"):
            write(master, kind, folder / FOLDERS[kind] / f"{name}.ipynb", key)
        nbgrader(folder, "generate_assignment", name, "--force")


def course_key(folder: Path, make: bool = False) -> bytes:
    """The key of a private course, made if it is asked for and not there; nothing for a course without."""
    path = folder / PRIVATE
    if make and not path.exists():
        if (folder / "source").exists():
            raise ValueError(f"{folder} has been set up without --private: name a new folder for a private course")
        write_json(path, {"key": secrets.token_hex(32)})
        path.chmod(0o600)
    return read_key(path) if path.exists() else b""


def check_free(folder: Path) -> None:
    """Refuse a folder that holds anything but a course of ours."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file: name a folder for the course")
    if not folder.exists() or is_course(folder):
        return
    others = sorted(path.name for path in folder.iterdir() if path.name not in FOLDERS.values())
    if others:
        raise ValueError(
            f"{folder} holds other things ({first_few(others, 3)}): name a new or empty folder for the course"
        )


def is_course(folder: Path) -> bool:
    """Whether `init` made it."""
    config = folder / "nbgrader_config.py"
    return config.is_file() and MARK in config.read_text(encoding="utf-8", errors="replace").partition("\n")[0]


def check_course(folder: Path) -> None:
    """Refuse a folder that is no course."""
    if not is_course(folder):
        raise ValueError(f"{folder} is no course: `python -m labkit course init {folder}` sets one up")


def fill(template: str, target: Path, values: dict[str, str]) -> None:
    """Write a file from a template, unless it is there: the instructor may have changed it."""
    if not target.exists():
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        target.write_text(Template(text).substitute(values), encoding="utf-8")


def activation() -> str:
    """How to enter this environment."""
    windows = Path(sys.prefix, "Scripts", "activate")
    return str(windows) if windows.exists() else f". {shlex.quote(str(Path(sys.prefix, 'bin', 'activate')))}"


def nbgrader(folder: Path, *arguments: str) -> str:
    """Run one of nbgrader's commands in a course; its log, or a ValueError that ends with the log's last lines."""
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=lab_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        last = "\n".join(done.stdout.strip().splitlines()[-8:])
        raise ValueError(f"`nbgrader {' '.join(arguments)}` failed in {folder}:\n{last}")
    return done.stdout
