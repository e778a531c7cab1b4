"""Reading runs: find them, open one, say what is wrong with it.

Whatever a run directory lacks or holds in pieces, finding it never fails: `Run.problems` says what is wrong.
Names and texts of a run come from files and may hold anything: escape them before they go into a page.
"""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.base.paths import OWN
from labkit.base.paths import RECORDED as RECORDED  # lessons take it from here
from labkit.runs.process import is_alive
from labkit.runs.schema import FILES, STATUSES, RunError, check_info, check_summary, is_run_id, read_json, run_file

Stamp = tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """A run directory as it was when read: run.json, summary.json if there is one, and what is wrong with them."""

    path: Path
    info: dict[str, Any]
    summary: dict[str, Any] | None = None
    problems: tuple[str, ...] = ()
    killed: bool = False

    @property
    def id(self) -> str:
        """The directory's name."""
        return whole(self.path.name)

    @property
    def group(self) -> str:
        """The id without the seed: runs of one group differ by their seed only."""
        return self.text("group") or self.id

    @property
    def preset(self) -> str:
        """Name of the preset, "" if not known."""
        return self.text("preset")

    @property
    def loss(self) -> str:
        """Catalogue name of the loss, "untrained" or "pixels", "" if not known."""
        return self.text("loss")

    @property
    def seed(self) -> int | None:
        """The seed, None if not known."""
        seed = self.info.get("seed")
        return seed if isinstance(seed, int) else None

    @property
    def status(self) -> str:
        """One of STATUSES, "killed" if the process of a running one is gone, or "unreadable"."""
        status = self.text("status")
        return "killed" if self.killed else status if status in STATUSES else "unreadable"

    @property
    def advice(self) -> str:
        """What to do about a run that has not come to its end, "" for others."""
        ended = {"killed": "its process was killed", "interrupted": "it was interrupted", "failed": "it failed"}
        what = ended.get(self.status)
        return f"{what}: `python -m labkit train --resume {self.id}` goes on from its last checkpoint" if what else ""

    @property
    def device(self) -> str:
        """The kind of device it ran on, "" if not known."""
        return self.text("device")

    @property
    def data_name(self) -> str:
        """Name of the data set, "" if not known."""
        data = self.info.get("data")
        name = data.get("name") if isinstance(data, dict) else None
        return whole(name) if isinstance(name, str) else ""

    @property
    def seconds(self) -> float | None:
        """Wall-clock time of a finished run."""
        return finite((self.summary or {}).get("wall_seconds"))

    def text(self, name: str) -> str:
        """A text of run.json, "" if it is not there."""
        value = self.info.get(name)
        return whole(value) if isinstance(value, str) else ""

    def value(self, metric: str, split: str = "test") -> float | None:
        """A metric of the summary ("test", "validation" or "test_last"); None if it is not there."""
        metrics = (self.summary or {}).get(split)
        return finite(metrics.get(metric)) if isinstance(metrics, dict) else None

    def has(self, name: str) -> bool:
        """Whether one of the run's files is there, e.g. "frames.safetensors"."""
        try:
            run_file(self.path, name)
        except RunError:
            return False
        return True

    def stamp(self, *names: str) -> Stamp:
        """Where the run is and when its files (or only the named ones) were written: the key of a cache."""
        return stamp_of(self.path, names or FILES)


def stamp_of(path: Path, names: Iterable[str]) -> Stamp:
    """Changes when one of a folder's files comes, goes or is written again."""
    found = [str(path)]
    for name in names:
        try:
            facts = os.lstat(path / name)
        except OSError:  # not there, or just taken away
            continue
        found.append(f"{name} {facts.st_mtime_ns} {facts.st_size} {facts.st_ino}")
    return tuple(found)


def whole(text: str) -> str:
    """Text that can be written as UTF-8: JSON and file names may hold halves of characters, which tables refuse."""
    return text.encode("utf-8", "replace").decode()


def finite(value: object) -> float | None:
    """The value as a float if it is a finite number."""
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if number else None  # type: ignore[arg-type]


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
    if before is None or before[0] != stamp or before[1].info.get("status") == "running":
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
    info, problems = read_checked(path, "run.json")
    summary = None
    if os.path.lexists(path / "summary.json"):
        summary, wrong = read_checked(path, "summary.json")
        problems += wrong
    elif info.get("status") == "finished":
        problems.append("summary.json is missing, though the run has finished")
    if not is_run_id(path.name):
        problems.append("the directory's name may hold at most 120 letters, digits and -_.=+, (no dot in front)")
    elif isinstance(info.get("id"), str) and info["id"] != path.name:
        problems.append(f"run.json belongs to run {info['id'][:120]!r}: rename the directory")
    return Run(path, info, summary, tuple(problems), was_killed(info))


def read_checked(path: Path, name: str) -> tuple[dict[str, Any], list[str]]:
    """run.json or summary.json, empty if unreadable, and what is wrong with it."""
    try:
        content = read_json(path, name)
    except RunError as error:
        return {}, [str(error)]
    wrong = check_info(content) if name == "run.json" else check_summary(content)
    return (content if isinstance(content, dict) else {}), wrong


def was_killed(info: dict[str, Any]) -> bool:
    """Said to be running, but its process is gone."""
    pid = info.get("pid")
    if info.get("status") != "running" or not isinstance(pid, int):
        return False
    return is_alive(pid, finite(info.get("pid_started"))) is False


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
