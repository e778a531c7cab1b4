"""Marks in the formats of Canvas, Moodle and plain CSV.

Canvas and Moodle take back the table that they export, so their students' own numbers stay as they are: give that table
as the roster. Canvas: Student, ID, SIS User ID, SIS Login ID, Section, then a column for each assignment, and below the
header a row "Points Possible". Moodle: the grading worksheet of an assignment (Identifier, Full name, …, Grade, Maximum
Grade, Feedback comments) or the gradebook's export with a column of e-mail addresses or user names.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labkit.assignments import load
from labkit.base.files import write_bytes
from labkit.classroom.deadlines import Deadlines, doubts, factors
from labkit.grading.report import harmless

CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
CANVAS_KEYS = ("SIS Login ID", "SIS User ID", "ID", "Student")
MOODLE = ["Username", "Email address"]
MOODLE_KEYS = ("Username", "Email address", "ID number", "Identifier", "Full name")
POINTS = "    Points Possible"  # as Canvas writes it


@dataclass(frozen=True)
class Total:
    """One student's points for one assignment: code and texts, what of it is kept, days late."""

    student: str
    assignment: str
    code: float
    written: float | None
    days_late: int
    kept: float
    hints: str
    unmarked: int = 0  # texts that wait for a person
    handed_in: str = ""

    @property
    def points(self) -> float:
        """Points for code and text, less what lateness takes."""
        return round((self.code + (self.written or 0.0)) * self.kept, 2)

    @property
    def shown(self) -> str:
        """The points as tables hold them: nothing while texts wait, because a sum without them looks final."""
        return "" if self.unmarked else f"{self.points:g}"


def read_results(path: Path) -> dict[str, Any]:
    """What `python -m labkit grade` wrote."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        load(content["assignment"])
        for row in content["students"]:
            row["student"], row["score"], row["marks"]
    except FileNotFoundError:
        raise ValueError(
            f"there is no {path}: `python -m labkit grade` writes it (grades/ASSIGNMENT/grades.json)"
        ) from None
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is not the grades.json that `python -m labkit grade` writes") from None
    return content


def totals(course: Path, rules: Deadlines) -> list[Total]:
    """All marks of a course: of code from grades/*/grades.json, of texts from the gradebook."""
    results = [read_results(path) for path in sorted(course.glob("grades/*/grades.json"))]
    if not results:
        raise ValueError(f"{course} has no grades/*/grades.json yet: run `python -m labkit grade` there")
    texts = written_marks(course)
    times: dict[str, dict[str, str]] = {}
    for result in results:
        for row in result["students"]:
            times.setdefault(row["student"], {})[result["assignment"]] = row.get("handed_in", "")
    kept = {student: factors(rules, student, found) for student, found in times.items()}
    found = []
    for result in results:
        name = result["assignment"]
        for row in result["students"]:
            hints = "; ".join(f"{mark['question']}: {mark['hint']}" for mark in row["marks"] if mark.get("hint"))
            student = row["student"]
            days, share = kept[student][name]
            written, unmarked = texts.get((student, name), (None, 0))
            when = times[student][name]
            found.append(Total(student, name, row["score"], written, days, share, hints, unmarked, when))
    return found


def written_marks(course: Path) -> dict[tuple[str, str], tuple[float | None, int]]:
    """Points for texts by student and assignment, as the gradebook has them, and how many wait for a person."""
    if not (course / "gradebook.db").is_file():
        return {}
    from nbgrader.api import Gradebook

    found: dict[tuple[str, str], tuple[float | None, int]] = {}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        for assignment in book.assignments:
            for submission in assignment.submissions:
                grades = [grade for notebook in submission.notebooks for grade in notebook.grades]
                left = sum(grade.needs_manual_grade and grade.cell_type == "markdown" for grade in grades)
                points = None if left else float(submission.written_score)
                found[submission.student.id, assignment.name] = points, left
    return found


def export(
    course: Path, form: str, rules: Deadlines, target: Path, roster: Path | None = None, only: str = ""
) -> list[str]:
    """Write all marks, or those of one assignment; returns what an instructor should know about the table."""
    every = totals(course, rules)
    times: dict[str, dict[str, str]] = {}
    for row in every:
        times.setdefault(row.student, {})[row.assignment] = row.handed_in
    rows = [row for row in every if only in ("", row.assignment)]
    remarks = doubts(rules, times) + missing_texts(rows)
    if form == "csv":
        write_table(target, *plain_table(rows))
        return remarks
    header, lines = read_roster(roster) if roster else empty_roster(form, rows)
    unknown = (fill_canvas if form == "canvas" else fill_moodle)(rows, header, lines, target)
    return remarks + ([f"not in the roster, so not in the table: {', '.join(unknown)}"] if unknown else [])


def missing_texts(rows: Sequence[Total]) -> list[str]:
    """Which points are not all there."""
    found = []
    if waiting := [row.unmarked for row in rows if row.unmarked]:
        found.append(
            f"texts that are not marked yet: {sum(waiting)}, in {len(waiting)} hand-ins whose points are left empty"
        )
    if alone := sum(row.written is None and not row.unmarked and bool(load(row.assignment).written) for row in rows):
        found.append(f"texts of {alone} hand-ins are not in the gradebook: their points are those of code alone")
    return found


def plain_table(rows: Sequence[Total]) -> tuple[list[str], list[list[str]]]:
    """A row for each student and assignment."""
    header = ["student", "assignment", "points", "of", "code", "written", "days_late", "kept"]
    lines = [
        [
            harmless(row.student),
            row.assignment,
            row.shown,
            str(load(row.assignment).points),
            f"{row.code:g}",
            "" if row.written is None else f"{row.written:g}",
            str(row.days_late),
            f"{row.kept:g}",
        ]
        for row in rows
    ]
    return header, lines


def empty_roster(form: str, rows: Sequence[Total]) -> tuple[list[str], list[list[str]]]:
    """A table of the students who handed in, where there is none of the platform's own."""
    students = sorted({harmless(row.student) for row in rows})
    if form == "canvas":
        points = [[POINTS, "", "", "", ""]]
        return list(CANVAS), points + [[student, "", "", student, ""] for student in students]
    return list(MOODLE), [[student, student if "@" in student else ""] for student in students]


def read_roster(path: Path) -> tuple[list[str], list[list[str]]]:
    """A table that the platform exported; spreadsheets put a byte-order mark before it."""
    lines = [line for line in csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))) if line]
    if len(lines) < 2:
        raise ValueError(f"--roster: {path} has no students")
    width = len(lines[0])
    return lines[0], [[*line[:width], *[""] * (width - len(line))] for line in lines[1:]]


def fill_canvas(rows: Sequence[Total], header: list[str], lines: list[list[str]], target: Path) -> list[str]:
    """Canvas's gradebook with a column for each assignment: its own "1_metrics (123)" if there is one."""
    if missing := [name for name in CANVAS if name not in header and name != "SIS User ID"]:
        raise ValueError(f"--roster: not a gradebook of Canvas, it has no column {', '.join(missing)}")
    assignments = sorted({row.assignment for row in rows})
    names = {name: next((h for h in header if h == name or h.startswith(f"{name} (")), name) for name in assignments}
    header += [column for column in names.values() if column not in header]
    for line in lines:
        line += [""] * (len(header) - len(line))
        if line[header.index("Student")].strip() == POINTS.strip():
            for name, column in names.items():
                line[header.index(column)] = str(load(name).points)
    unknown = put(rows, header, lines, CANVAS_KEYS, lambda row: {names[row.assignment]: row.shown})
    write_table(target, header, lines)
    return unknown


def fill_moodle(rows: Sequence[Total], header: list[str], lines: list[list[str]], target: Path) -> list[str]:
    """Moodle's grading worksheet of one assignment, or a gradebook table with a column for each."""
    assignments = sorted({row.assignment for row in rows})
    if "Identifier" in header and "Grade" in header:
        if len(assignments) > 1:
            raise ValueError("a grading worksheet of Moodle is for one assignment: name it with --assignment")
        unknown = put(
            rows, header, lines, MOODLE_KEYS, lambda row: {"Grade": row.shown, "Feedback comments": row.hints}
        )
    else:
        header += [name for name in assignments if name not in header]
        for line in lines:
            line += [""] * (len(header) - len(line))
        unknown = put(rows, header, lines, MOODLE_KEYS, lambda row: {row.assignment: row.shown})
    write_table(target, header, lines)
    return unknown


def put(rows: Sequence[Total], header: list[str], lines: list[list[str]], keys: Sequence[str], cells: Any) -> list[str]:
    """Write marks into the lines of their students, found by any of the columns; returns who is in none."""
    known: dict[str, list[str]] = {}
    for key in reversed([key for key in keys if key in header]):  # the first key counts most
        known |= {harmless(line[header.index(key)].strip()): line for line in lines if line[header.index(key)].strip()}
    unknown = []
    for row in rows:
        line = known.get(harmless(row.student))
        if line is None:
            unknown.append(row.student)
            continue
        for column, text in cells(row).items():
            if column in header:
                line[header.index(column)] = harmless(text)
    return sorted(set(unknown))


def write_table(path: Path, header: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """As CSV, cell for cell: what we add is harmless already, and what the platform wrote (" Points", -5) stays."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows((header, *lines))
    write_bytes(path, text.getvalue().encode("utf-8", "replace"))
