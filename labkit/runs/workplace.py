"""Where an import puts what it unpacks, and how runs get their places: all of them or none, also when it is killed.

A hidden folder in the runs folder, locked by its process, with the runs that are being replaced and their places.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from labkit.base.files import write_json
from labkit.runs.schema import RunError, read_json

WORKPLACE, LOCK, OLD, PLACES = ".import-", ".lock", ".old-", ".places.json"
YOUNG = 2.0  # seconds


@contextmanager
def workplace(root: Path) -> Iterator[Path]:
    """A hidden folder on the same disk, gone at the end; so is the root if it was made for it and stayed empty."""
    from filelock import FileLock

    made = not root.exists()
    root.mkdir(parents=True, exist_ok=True)
    clear_killed(root)
    folder = Path(tempfile.mkdtemp(prefix=WORKPLACE, dir=root))
    try:
        with FileLock(folder / LOCK), ended_politely():
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if made and not any(root.iterdir()):
            root.rmdir()


def clear_killed(root: Path) -> None:
    """Take away what an import that was killed has left; a run that it was about to replace gets its place back."""
    from filelock import FileLock, Timeout

    for folder in root.glob(f"{WORKPLACE}*"):
        # a living import holds the lock, one that begins at this moment is about to
        with suppress(Timeout, OSError, RunError, KeyError, TypeError):
            if time.time() - folder.stat().st_mtime < YOUNG:
                continue
            with FileLock(folder / LOCK, blocking=False):
                places = read_json(folder, PLACES) if (folder / PLACES).exists() else {}
                for old in folder.glob(f"{OLD}*"):
                    place = root.resolve() / str(places[old.name.removeprefix(OLD)])
                    if not os.path.lexists(place):
                        os.rename(old, place)
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def ended_politely() -> Iterator[None]:
    """A polite kill (SIGTERM) ends like Ctrl-C, so that everything is tidied up; only in the main thread."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def take_places(places: dict[str, Path], folder: Path) -> None:
    """Rename all runs into place; if one cannot, put everything back."""
    done: list[str] = []
    replaced = {run_id: os.path.relpath(place, folder.parent.resolve()) for run_id, place in places.items()}
    write_json(folder / PLACES, replaced)  # before anything moves: a kill in between loses no run
    try:
        for run_id, place in places.items():
            if os.path.lexists(place):
                os.rename(place, folder / f"{OLD}{run_id}")
            done.append(run_id)
            os.rename(folder / run_id, place)
    except BaseException:
        for run_id in reversed(done):
            if places[run_id].exists() and not (folder / run_id).exists():
                os.rename(places[run_id], folder / run_id)
            if (folder / f"{OLD}{run_id}").exists():
                os.rename(folder / f"{OLD}{run_id}", places[run_id])
        raise
