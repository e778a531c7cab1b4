"""What people write about a run, tags and a note: a plain file of its own, never among what the run has recorded."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from labkit.base.files import write_json
from labkit.base.paths import RECORDED
from labkit.base.typed import read_as
from labkit.runs.run import Run
from labkit.runs.schema import NOTES, RunError, read_json

INSIDE = str(RECORDED.resolve() / "_")[:-1]  # text, since thousands of runs are asked
MOST_TAGS, LONGEST_TAG, LONGEST_NOTE = 20, 40, 10_000


@dataclass(frozen=True)
class Notes:
    """Tags, each a few letters, and a text."""

    tags: tuple[str, ...] = ()
    note: str = ""


def is_recorded(run: Run) -> bool:
    """Whether it is one of those that come with labkit, which nobody writes into."""
    return str(run.path).startswith(INSIDE)


def notes_file(run: Run, own: Path) -> Path:
    """notes.json beside the run; of a recorded run in the user's own folder, under the same name."""
    if not is_recorded(run):
        return run.path / NOTES
    return own / "notes" / run.topic / f"{run.id}.json"


def read_notes(run: Run, own: Path) -> Notes:
    """The notes of a run, none if there is no file or it is damaged: they may come from elsewhere and hold anything."""
    path = notes_file(run, own)
    if not os.path.lexists(path):  # of most runs; a page asks for thousands
        return Notes()
    try:
        found, _ = read_as(Notes, read_json(path.parent, path.name), path.name)
    except RunError:
        return Notes()
    return Notes(tuple(tag[:LONGEST_TAG] for tag in found.tags[:MOST_TAGS]), found.note[:LONGEST_NOTE])


def write_notes(run: Run, own: Path, notes: Notes) -> Path:
    """Write them; returns the file."""
    if len(notes.note) > LONGEST_NOTE:
        raise RunError(f"note: at most {LONGEST_NOTE:,} characters, got {len(notes.note):,}")
    path = notes_file(run, own)
    write_json(path, asdict(Notes(clean_tags(notes.tags), notes.note.strip())))
    return path


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags without blanks round them, each once."""
    found = tuple(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
    if len(found) > MOST_TAGS:
        raise RunError(f"tags: at most {MOST_TAGS}, got {len(found)}")
    if long := [tag for tag in found if len(tag) > LONGEST_TAG]:
        raise RunError(f"tags: at most {LONGEST_TAG} characters each, got {long[0][:60]!r}")
    return found
