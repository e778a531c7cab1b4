"""Reading runs: find them, open one, say what is wrong with it.

Whatever a run directory lacks or holds in pieces, finding it never fails: `Run.problems` says what is wrong.
Names and texts of a run come from files and may hold anything: escape them before they go into a page.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from pathlib import Path

from labkit.base.paths import OWN
from labkit.base.paths import RECORDED as RECORDED  # lessons take it from here
from labkit.runs.process import is_alive
from labkit.runs.record import RunRecord, Summary, read_record, read_summary
from labkit.runs.run import Run, Stamp, stamp_of
from labkit.runs.schema import RunError, is_run_id, read_json


def default_roots() -> tuple[Path, ...]:
    """Where runs are looked for: the recorded ones, and the user's own in the folder the command was given in."""
    return (RECORDED, OWN)


Known = dict[Path, tuple[Stamp, Run]]  # runs as they were read, with the stamps of their files


def find_runs(*roots: Path | str, known: Known | None = None) -> list[Run]:
    """All runs below the roots, directly or in topic folders; links are not followed, other directories ignored.

    known: what an earlier call has read; only what has changed since is read again, and put there.
    """
    found: dict[Path, Run] = {}
    for root in roots or default_roots():
        for path in run_folders(Path(root).resolve()):
            if path not in found:
                found[path] = read_run(path) if known is None else read_again(path, known)
    return list(found.values())


def read_again(path: Path, known: Known) -> Run:
    """A run that is known, if its files are as they were; one that trains is always read, its process may be gone."""
    stamp = stamp_of(path, ("run.json", "summary.json"))
    before = known.get(path)
    if before is None or before[0] != stamp or before[1].record.status == "running":
        before = known[path] = (stamp, read_run(path))
    return before[1]


def run_folders(root: Path, depth: int = 2) -> Iterator[Path]:
    """Directories with a run.json, at most two levels down, in the order of their names."""
    try:
        with os.scandir(root) as entries:
            folders = sorted(
                entry.path
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            )
    except OSError:  # no such folder, or not ours to read
        return
    for folder in folders:
        if os.path.lexists(os.path.join(folder, "run.json")):
            yield Path(folder)
        elif depth > 1:
            yield from run_folders(Path(folder), depth - 1)


def read_run(path: Path) -> Run:
    """One run directory, with every problem found in it."""
    record, problems = read_record_of(path)
    summary = None
    if os.path.lexists(path / "summary.json"):
        summary, wrong = read_summary_of(path)
        problems += wrong
    elif record.status == "finished":
        problems.append("summary.json is missing, though the run has finished")
    if not is_run_id(path.name):
        problems.append("the directory's name may hold at most 120 letters, digits and -_.=+, (no dot in front)")
    elif record.id and record.id != path.name:
        problems.append(f"run.json belongs to run {record.id[:120]!r}: rename the directory")
    return Run(path, record, summary, tuple(problems), was_killed(record))


def read_record_of(path: Path) -> tuple[RunRecord, list[str]]:
    """run.json, empty if unreadable, and what is wrong with it."""
    try:
        return read_record(read_json(path, "run.json"))
    except RunError as error:
        return RunRecord(), [str(error)]


def read_summary_of(path: Path) -> tuple[Summary | None, list[str]]:
    """summary.json, None if unreadable, and what is wrong with it."""
    try:
        return read_summary(read_json(path, "summary.json"))
    except RunError as error:
        return None, [str(error)]


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
    if not matches and name and os.path.lexists(Path(name) / "run.json"):
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
