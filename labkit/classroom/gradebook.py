"""The marks of `python -m labkit grade`, in nbgrader's gradebook: they stand above what nbgrader found itself."""

from __future__ import annotations

import json
from pathlib import Path

from labkit.classroom.nbgrader_pages import as_text
from labkit.classroom.release import test_id


def enter_marks(course: Path, results: Path) -> tuple[str, int]:
    """Write results (grades.json) into a course's gradebook; the assignment's name and the number of students."""
    from nbgrader.api import Gradebook, MissingEntry

    try:
        content = json.loads(results.read_text(encoding="utf-8"))
        assignment, students = content["assignment"], content["students"]
        marks = {
            row["student"]: {mark["question"]: (float(mark["score"]), mark["hint"]) for mark in row["marks"]}
            for row in students
        }
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{results} is not the grades.json that `python -m labkit grade` writes") from None
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        try:
            book.find_assignment(assignment)
        except MissingEntry:
            raise ValueError(
                f"{course} has no assignment {assignment}: `python -m labkit course init` adds it"
            ) from None
        for student, scores in marks.items():
            book.update_or_create_student(student)
            book.update_or_create_submission(assignment, student)
            for question, (score, hint) in scores.items():
                grade = book.find_grade(test_id(question), assignment, assignment, student)
                grade.manual_score, grade.needs_manual_grade = score, False
                book.find_comment(question, assignment, assignment, student).manual_comment = as_text(hint) or None
        book.db.commit()
    return assignment, len(marks)
