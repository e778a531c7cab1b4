"""Deadlines and late days of a course, from deadlines.toml."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from labkit.assignments import NAMES

EXAMPLE = "2026-11-23T23:59:00+01:00"


@dataclass(frozen=True)
class Deadlines:
    """What deadlines.toml says."""

    late_days: int = 0
    kept_per_day: float = 1.0
    deadline: dict[str, datetime] = field(default_factory=dict)
    more_days: dict[str, int] = field(default_factory=dict)
    handed_in: dict[str, dict[str, datetime]] = field(default_factory=dict)


def read_deadlines(path: Path) -> Deadlines:
    """The file's settings, checked; without a file nothing is ever late."""
    if not path.is_file():
        return Deadlines()
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}; a deadline is a line like 1_metrics = {EXAMPLE}") from None
    known = set(Deadlines.__dataclass_fields__)
    if unknown := content.keys() - known:
        raise ValueError(f"{path}: no setting {', '.join(sorted(unknown))}; there are {', '.join(sorted(known))}")
    found = Deadlines(
        late_days=content.get("late_days", 0),
        kept_per_day=content.get("kept_per_day", 1.0),
        deadline={name: moment(path, value) for name, value in content.get("deadline", {}).items()},
        more_days=content.get("more_days", {}),
        handed_in={
            name: {student: moment(path, value) for student, value in times.items()}
            for name, times in content.get("handed_in", {}).items()
        },
    )
    for number in (found.late_days, *found.more_days.values()):
        if type(number) is not int or number < 0:
            raise ValueError(f"{path}: days must be whole numbers from 0; got {number!r}")
    if not isinstance(found.kept_per_day, int | float) or not 0 <= found.kept_per_day <= 1:
        raise ValueError(f"{path}: kept_per_day must be between 0 and 1; got {found.kept_per_day!r}")
    return found


def moment(path: Path, value: Any) -> datetime:
    """A time with its zone."""
    if not isinstance(value, datetime):
        raise ValueError(f"{path}: a time looks like {EXAMPLE}, without quotes; got {value}")
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def doubts(rules: Deadlines, times: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Names in the settings that nobody has, and dates that look like those of copies; times: by student."""
    found = []
    if names := {*rules.deadline, *rules.handed_in} - set(NAMES):
        found.append(f"deadlines.toml: no assignment {', '.join(sorted(names))}; there are {', '.join(NAMES)}")
    named = {*rules.more_days, *(student for group in rules.handed_in.values() for student in group)}
    if students := named - times.keys():
        found.append(f"deadlines.toml: no hand-in of {', '.join(sorted(students))}; are the names right?")
    for name, due in rules.deadline.items():
        said = rules.handed_in.get(name, {})
        texts = [mine[name] for student, mine in times.items() if mine.get(name) and student not in said]
        dates = [datetime.fromisoformat(text) for text in texts]
        if len(dates) > 1 and min(dates) > due and max(dates) - min(dates) < timedelta(minutes=1):
            found.append(
                f"{name}: all {len(dates)} notebooks are of one minute, after the deadline. Copies and zip_collect "
                f"give new dates; [handed_in.{name}] in deadlines.toml takes the true ones"
            )
    return found


def days_late(rules: Deadlines, assignment: str, student: str, file_time: str) -> int:
    """Begun days behind the deadline; file_time: the date of the notebook, if the settings do not say better."""
    due = rules.deadline.get(assignment)
    when = rules.handed_in.get(assignment, {}).get(student)
    if when is None and file_time:
        when = datetime.fromisoformat(file_time)
    if due is None or when is None:
        return 0
    late = when - due - timedelta(days=rules.more_days.get(student, 0))
    return max(0, math.ceil(late / timedelta(days=1)))


def factors(rules: Deadlines, student: str, file_times: Mapping[str, str]) -> dict[str, tuple[int, float]]:
    """Days late, and the share of the points that is kept, of every assignment; free days go in order of deadlines."""
    left = rules.late_days
    found = {}
    far = datetime.max.replace(tzinfo=UTC)
    for name in sorted(file_times, key=lambda name: (rules.deadline.get(name, far), name)):
        days = days_late(rules, name, student, file_times[name])
        free = min(left, days)
        left -= free
        found[name] = (days, float(rules.kept_per_day ** (days - free)))
    return found
