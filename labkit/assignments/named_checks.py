"""labkit.check: `check.NAME(your_function)` for every exercise of the lessons and every question of the assignments."""

from __future__ import annotations

from collections.abc import Callable

from labkit.assignments import questions
from labkit.assignments.private import Twist, twisted_exercise
from labkit.lessons.check import check_of
from labkit.lessons.exercise import Exercise, Result
from labkit.lessons.exercises import EXERCISES


def __getattr__(name: str) -> Callable[..., Result]:
    """The check of an exercise, of a lesson or else of an assignment."""
    exercise = find(name)
    if exercise is None:
        raise AttributeError(f"no exercise {name!r}; there are: {', '.join(__dir__())}")
    return check_of(exercise, lambda exercise, factor: twisted_exercise(exercise, Twist(exercise.name, factor)))


def find(name: str) -> Exercise | None:
    """An exercise by its name; the assignments are imported only for names that no lesson has."""
    if name.startswith("_"):
        return None
    if name in EXERCISES:
        return EXERCISES[name]
    question = questions.find(name)
    return None if question is None else question.exercise


def __dir__() -> list[str]:
    """The exercises of the lessons, then those of the assignments."""
    return [*EXERCISES, *(question.name for question in questions.every())]
