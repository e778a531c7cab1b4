"""Mark one hand-in: its answers run in a sealed child, and what they return is compared here."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any

from torch import Tensor

from labkit.assignments.assignment import Assignment, Question
from labkit.base.errors import LabkitError
from labkit.grading import wire
from labkit.grading.reader import readable
from labkit.grading.sandbox import Limits, Outcome, Room, best
from labkit.grading.submission import Submission
from labkit.lessons.diagnosis import verdict
from labkit.lessons.exercise import Case, Row, outcome, same, short

FAILED = wire.Other("an error")  # in place of a value
KEPT_FOR_IDEA = 0.6  # of the points, when only cases fail that show care
ENDED = {
    "time": "It did not finish in the time allowed: is there a loop without an end?",
    "output": "It sent more than the output allowed.",
    "died": "The process ended before it answered: too much memory, too many processes, or it ended itself.",
}


@dataclass(frozen=True)
class Mark:
    """One coding question of one student."""

    question: str
    points: int
    score: float
    hint: str = ""
    mistake: str = ""
    rows: tuple[tuple[str, bool, str, str], ...] = ()  # case, right, and for public cases expected and found


@dataclass(frozen=True)
class Graded:
    """One student's marks, and what grading took."""

    student: str
    file: str
    marks: tuple[Mark, ...]
    written: dict[str, str]
    remarks: tuple[str, ...]
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    memory_mb: float = 0.0
    answers: dict[str, str] = field(default_factory=dict)
    handed_in: str = ""

    @property
    def score(self) -> float:
        """Of the coding questions; written ones are marked by a person."""
        return sum(mark.score for mark in self.marks)


def grade(
    submission: Submission, assignment: Assignment, seed: int, limits: Limits | None = None, sandbox: bool = True
) -> Graded:
    """All questions of a hand-in in one room, each in a process of its own."""
    limits = limits or Limits()
    code = {q.name: submission.answers[q.name] for q in assignment.questions if q.name in submission.answers}
    asked = [question for question in assignment.questions if question.name in code]
    wall = best()[0] if sandbox else "none"
    if sandbox and wall == "none":
        raise LabkitError(f"this system offers no sandbox: {best()[1]}")
    cells = submission.helpers | code  # an answer takes of the helpers what it uses
    with Room(limits, wall) as room:
        outcomes = answered(room, asked, cells, seed, limits.seconds)
    found = {question.name: merged(question, outcomes.get(question.name)) for question in assignment.questions}
    lines = submission.left_out | submission.helpers
    marks = tuple(
        with_missing_line(safe_mark(question, found[question.name], question.name in code, seed), lines)
        for question in assignment.questions
    )
    used = [part for parts in outcomes.values() for part in parts]
    return Graded(
        submission.student,
        submission.file,
        marks,
        {part.name: submission.answers.get(part.name, "") for part in assignment.written},
        submission.remarks,
        sum(part.seconds for part in used),
        room.cpu_seconds,
        max((part.memory_mb for part in used), default=0.0),
        code,
        submission.handed_in,
    )


@lru_cache(maxsize=1000)
def identity(question: Question, seed: int) -> str:
    """Changes with whatever decides a mark: points, tolerance, mistakes, every case and its right value."""
    mistakes = [(mistake.name, mistake.hint) for mistake in question.exercise.mistakes]
    cases = [(case.label, case.edge, packed(case), wire.pack(right)) for case, right in expected(question, seed)]
    facts = (question.name, question.points, question.exercise.tolerance, question.exercise.gradient, mistakes, cases)
    return sha256(wire.line(facts)).hexdigest()


def answered(
    room: Room, asked: Sequence[Question], code: dict[str, str], seed: int, seconds: float
) -> dict[str, list[Outcome]]:
    """Every question's public cases, then its hidden ones.

    No hidden input is in the room before all that a student may read has left it: errors of public cases are told in
    full, and an answer may raise what it likes.
    """
    found: dict[str, list[Outcome]] = {}
    for question in asked:
        found[question.name] = [room.ask(job(question, code, seed, public=True), seconds)]
    for question in asked:
        first = found[question.name][0]
        if first.ended == "done" and "cases" in (first.answer or {}):
            left = max(seconds - first.seconds, 0.1 * seconds)
            found[question.name].append(room.ask(job(question, code, seed, public=False), left))
    return found


def job(question: Question, code: dict[str, str], seed: int, public: bool) -> bytes:
    """What a worker needs to know: the answers' text, and the arguments of the cases."""
    names = question.exercise.gradient
    gradient = [names] if isinstance(names, str) else list(names or ())
    shown = len(question.exercise.cases())
    cases = [packed(case) for case, _ in expected(question, seed)]
    asked = {"name": question.name, "gradient": gradient, "cases": cases[:shown] if public else cases[shown:]}
    return wire.line({"cells": code, "question": asked})


def merged(question: Question, outcomes: Sequence[Outcome] | None) -> dict[str, Any] | None:
    """What came back for a question, as one answer: public cases, then hidden ones; else why it ended."""
    if not outcomes:
        return None
    for part in outcomes:
        if part.ended != "done" or part.answer is None:
            return {"ended": part.ended}
    first, last = outcomes[0].answer or {}, outcomes[-1].answer or {}
    if len(outcomes) == 1 and "cases" not in first:
        return first
    if last.get("empty") is True:  # no more is told of hidden cases
        return {"empty": True}
    public, hidden = first.get("cases"), last.get("cases")
    counted = isinstance(public, list) and len(public) == len(question.exercise.cases())
    if len(outcomes) == 1 or not counted or not isinstance(hidden, list):
        return {"ended": "died"}
    return {"cases": [*(public or ()), *hidden]}


def packed(case: Case) -> dict[str, Any]:
    """The arguments of a case, as they cross."""
    return {name: wire.pack(value) for name, value in case.arguments.items()}


@lru_cache(maxsize=1000)
def expected(question: Question, seed: int) -> list[tuple[Case, Any]]:
    """Every case of a question and what the reference returns for it."""
    exercise = question.exercise
    return [(case, outcome(exercise, exercise.reference, case)) for case in question.cases(seed)]


def not_graded(student: str, assignment: Assignment, error: Exception) -> Graded:
    """The row of a hand-in that could not be graded: no points, and why; the others are graded all the same."""
    why = f"could not be graded: {readable(str(error) or type(error).__name__)[:300]}"
    marks = tuple(Mark(question.name, question.points, 0.0, why) for question in assignment.questions)
    return Graded(student, "", marks, {part.name: "" for part in assignment.written}, (why,))


def safe_mark(question: Question, answer: dict[str, Any] | None, present: bool, seed: int) -> Mark:
    """Points and hint of one question; what a child sent may be odd in ways that nobody thought of."""
    try:
        return mark(question, answer, present, seed)
    except Exception as error:
        hint = f"could not be graded: {readable(f'{type(error).__name__}: {error}')[:300]}"
        return Mark(question.name, question.points, 0.0, hint)


def mark(question: Question, answer: dict[str, Any] | None, present: bool, seed: int) -> Mark:
    """Points and hint of one question."""

    def none(hint: str) -> Mark:
        return Mark(question.name, question.points, 0.0, hint)

    if not present:
        return none("There is no answer cell for this question.")
    if answer is None or "ended" in answer:
        return none(ENDED.get(str((answer or {}).get("ended")), ENDED["died"]))
    if answer.get("empty") is True:
        return none("Not written yet.")
    if isinstance(error := answer.get("error"), str):
        return none(advice(error[:400]))
    known = expected(question, seed)
    given = answer.get("cases")
    if not isinstance(given, list) or len(given) != len(known):
        return none(ENDED["died"])
    rows, changed, first_error = [], "", ""
    public = len(question.exercise.cases())
    for number, ((case, right), entry) in enumerate(zip(known, given)):
        value, error, touched = read_case(entry, packed(case))
        error = without_message(error) if error and number >= public else error
        rows.append(Row(case.label, right, value, not error and same(right, value, question.exercise.tolerance)))
        first_error = first_error or (f"{advice(error)} (case: {case.label})" if error else "")
        changed = changed or (case.label if touched else "")
    return scored(question, [case for case, _ in known], rows, first_error, changed)


def scored(question: Question, cases: list[Case], rows: list[Row], error: str, changed: str) -> Mark:
    """All points if every case is right, a part if the idea is right, else none."""
    shown = len(question.exercise.cases())
    table = tuple(
        (row.label, row.agrees, *((short(row.expected), short(row.found)) if number < shown else ("", "")))
        for number, row in enumerate(rows)
    )
    if changed:
        hint = f"It changes its arguments (case: {changed}); compute into new tensors instead."
        return Mark(question.name, question.points, 0.0, hint, "changes its arguments", table)
    if all(row.agrees for row in rows):
        return Mark(question.name, question.points, float(question.points), rows=table)
    result = verdict(question.exercise, cases, rows)
    idea = all(row.agrees for case, row in zip(cases, rows) if not case.edge)
    score = round(question.points * KEPT_FOR_IDEA * 2) / 2 if idea else 0.0
    first = next(number for number, row in enumerate(rows) if not row.agrees)
    hint = result.hint if first < shown else without_shape(result.hint, rows[first].label)
    mistake = "" if error else result.mistake  # an answer that raises returns nothing, but that is not its mistake
    return Mark(question.name, question.points, score, error or hint, mistake, table)


def without_shape(hint: str, label: str) -> str:
    """The hint about a hidden case: the sizes of a result that the student chose could be an input's digits."""
    return f"Its shape is not the expected one (case: {label})." if hint.startswith("Its shape is") else hint


def read_case(entry: Any, sent: dict[str, Any]) -> tuple[Any, str, bool]:
    """Value, error, and whether arguments were changed, from what the child sent; it may have sent anything."""
    if not isinstance(entry, dict):
        return FAILED, "it sent something that is no answer", False
    if isinstance(error := entry.get("error"), str):
        return FAILED, error[:400], False
    try:
        value = wire.unpack(entry.get("value"))
    except (ValueError, TypeError, RecursionError):
        return FAILED, "it sent something that is no value", False
    if isinstance(value, dict) and not (
        value.keys() == {"value", "gradient"} and all(isinstance(part, Tensor) for part in value.values())
    ):
        value = wire.Other("a dictionary")
    return value, "", entry.get("arguments") != sent


def without_message(error: str) -> str:
    """An error of a hidden case: its message, or a kind that the student made, could tell what the case is."""
    kind = error.partition(":")[0]
    found = getattr(builtins, kind, None)
    line = re.search(r" \(line \d{1,3} of the cell\)$", error)  # more digits could be those of an input
    named = isinstance(found, type) and issubclass(found, BaseException)
    return (kind if named else "an error") + (line[0] if line else "")


def with_missing_line(mark: Mark, lines: dict[str, str]) -> Mark:
    """The hint about an unknown name also shows the line of another cell that makes it."""
    name = re.search(r"NameError: name '(\w+)' is not defined", mark.hint)
    if not name or name[1] not in lines:
        return mark
    line = readable(lines[name[1]].split("\n")[0][:200])
    return replace(mark, hint=f"{mark.hint} The line “{line}” of another cell was not run: is it needed, and allowed?")


def advice(error: str) -> str:
    """An error, and what to do about the commonest ones."""
    error = readable(error)
    if error.startswith("NameError"):
        return f"It stops with {error}. Only answer cells are run: what an answer needs must be in one of them."
    if error.startswith(("ModuleNotFoundError", "ImportError")):
        return f"It stops with {error}. Answers may use Python, numpy and torch only."
    return f"It stops with {error}"
