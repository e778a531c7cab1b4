"""The coding questions of all assignments, by name."""

from __future__ import annotations

from collections.abc import Iterator

from labkit.assignments.assignment import Question


def find(name: str) -> Question | None:
    """A question by its name, or None; imports the assignments up to the one that has it."""
    return next((question for question in every() if question.name == name), None)


def every() -> Iterator[Question]:
    """All questions, assignment by assignment."""
    from labkit.assignments import NAMES, load

    for name in NAMES:
        yield from load(name).questions
