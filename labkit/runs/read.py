"""Reading runs: find them, open one, say what is wrong with it.

Whatever a run directory lacks or holds in pieces, finding it never fails: `Run.problems` says what is wrong.
Names and texts of a run come from files and may hold anything: escape them before they go into a page.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from labkit.base.paths import OWN
from labkit.base.paths import RECORDED as RECORDED  # lessons take it from here
from labkit.runs.pack import Texts, read_pack
from labkit.runs.process import is_alive
from labkit.runs.record import RunRecord, Summary, read_record, read_summary
from labkit.runs.run import Run, Stamp, stamp_of
from labkit.runs.schema import PACK, RunError, is_run_id, parse_json, read_json

T = TypeVar("T")


def default_roots() -> tuple[Path, ...]:
    """Where runs are looked for: the recorded ones, and the user's own in the folder the command was given in."""
    return (RECORDED, OWN)


Known = dict[Path, tuple[Stamp, list[Run]]]  # what folders and packs held when read, with the stamps of their files


def find_runs(*roots: Path | str, known: Known | None = None) -> list[Run]:
    """All runs below the roots, directly, in topic folders or in packs; links are not followed, all else ignored.

    known: what an earlier call has read; only what has changed since is read again, and put there.
    """
    found: dict[Path, Run] = {}
    for root in roots or default_roots():
        places = run_places(Path(root).resolve())
        runs = [run for path in places for run in (read_place(path) if known is None else read_again(path, known))]
        for run in sorted(runs, key=lambda run: run.path.parts):  # stable: a folder comes before the pack beside it
            found.setdefault(run.path, run)
    return list(found.values())


def read_again(path: Path, known: Known) -> list[Run]:
    """What a place is known to hold, if its files are as they were; a run that trains is read anew."""
    stamp = stamp_of(path.parent, (PACK,)) if path.name == PACK else stamp_of(path, ("run.json", "summary.json"))
    before = known.get(path)
    if before is None or before[0] != stamp or any(run.record.status == "running" for run in before[1]):
        before = known[path] = (stamp, read_place(path))
    return before[1]


def run_places(root: Path, depth: int = 2) -> Iterator[Path]:
    """Directories with a run.json, then packs, at most two levels down."""
    try:
        with os.scandir(root) as entries:
            shown = [entry for entry in entries if not entry.name.startswith(".")]
            folders = sorted(entry.path for entry in shown if entry.is_dir(follow_symlinks=False))
    except OSError:  # no such folder, or not ours to read
        return
    for folder in folders:
        if os.path.lexists(os.path.join(folder, "run.json")):
            yield Path(folder)
        elif depth > 1:
            yield from run_places(Path(folder), depth - 1)
    if any(entry.name == PACK for entry in shown):
        yield root / PACK


def read_place(path: Path) -> list[Run]:
    """The run of a folder, or those of a pack; a pack that cannot be read is a run that says so."""
    if path.name != PACK:
        return [read_run(path)]
    try:
        return [read_packed(path.parent / run_id, texts) for run_id, texts in read_pack(path.parent).items()]
    except RunError as error:
        return [Run(path, problems=(str(error),))]


def is_run(path: Path) -> bool:
    """Whether there is a run, in a folder or in the pack beside it."""
    return os.path.lexists(path / "run.json") or in_pack(path) is not None


def in_pack(path: Path) -> Texts | None:
    """The texts of a run in the pack of its topic, None if a folder has it or there is no such run."""
    if os.path.lexists(path / "run.json"):
        return None
    try:
        return read_pack(path.parent).get(path.name)
    except RunError:
        return None


def read_run(path: Path) -> Run:
    """One run, in a folder or in the pack beside it, with every problem found in it."""
    if (texts := in_pack(path)) is not None:
        return read_packed(path, texts)
    return read_parts(path, lambda name: read_json(path, name), os.path.lexists(path / "summary.json"))


def read_packed(path: Path, texts: Texts) -> Run:
    """One run of a pack."""
    run = read_parts(path, lambda name: parse_json(texts.get(name, b""), name), "summary.json" in texts)
    return replace(run, texts=texts)


def read_parts(path: Path, read: Callable[[str], Any], has_summary: bool) -> Run:
    """A run from its record and, where there is one, its summary; read: from a file's name to what it holds."""
    record, problems = fitting(lambda: read_record(read("run.json")), RunRecord())
    summary: Summary | None = None
    if has_summary:
        summary, wrong = fitting(lambda: read_summary(read("summary.json")), None)
        problems += wrong
    elif record.status == "finished":
        problems.append("summary.json is missing, though the run has finished")
    if not is_run_id(path.name):
        problems.append("the directory's name may hold at most 120 letters, digits and -_.=+, (no dot in front)")
    elif record.id and record.id != path.name:
        problems.append(f"run.json belongs to run {record.id[:120]!r}: rename the directory")
    return Run(path, record, summary, tuple(problems), was_killed(record))


def fitting(read: Callable[[], tuple[T, list[str]]], empty: T) -> tuple[T, list[str]]:
    """What a file holds and what is wrong with it; empty if it cannot be read."""
    try:
        return read()
    except RunError as error:
        return empty, [str(error)]


def was_killed(record: RunRecord) -> bool:
    """Said to be running, but its process is gone."""
    return record.status == "running" and is_alive(record.pid, record.pid_started, record.node) is False


def open_run(reference: str | Path, *roots: Path | str) -> Run:
    """One run by its id, the beginning of its id if no other begins so, or its path.

    A path may lie outside the roots: with a reference from a stranger (an address of a page, say) look the id up in
    `find_runs` instead.
    """
    runs, name = find_runs(*roots), str(reference)
    matches = [run for run in runs if run.id == name]
    if not matches and name and is_run(Path(name).resolve()):
        return read_run(Path(name).resolve())
    matches = matches or [run for run in runs if name and run.id.startswith(name)]
    if len(matches) == 1:
        return matches[0]
    if len({run.id for run in matches}) > 1:
        shown = ", ".join(run.id for run in matches[:8]) + (", …" if len(matches) > 8 else "")
        raise RunError(f"{len(matches)} runs begin with {name!r}: {shown}; give more of the id")
    if matches:
        raise RunError(f"run {name!r} is there twice, give one path: {', '.join(str(run.path) for run in matches)}")
    close = difflib.get_close_matches(name, [run.id for run in runs], n=5, cutoff=0.4)
    hint = f"; close to it: {', '.join(close)}" if close else "" if runs else "; there are no runs yet"
    raise RunError(f"no run {name[:120]!r}{hint} (`python -m labkit runs` lists them)")
