"""A course's own variants of the questions, drawn from a key that only the instructor has.

A copy of the public solution does not fit: in the course a function has another name and, where its result is made of
numbers, one more argument, a factor by which the result is asked for. Hidden cases come from the key, too, others for
each student, and of the texts that a written question knows one is drawn.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

from torch import Tensor

from labkit.assignments.assignment import Assignment, Question
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake, outcome, value_of

ENDS = [letter + digit for letter in "bdfghkmnprstvwxz" for digit in "23456789"]  # of names
FACTORS = ("unit", "gain", "price", "dose", "rate", "toll")  # no question has an argument of these names
VALUES = (0.5, 1.5, 2.0, 3.0, 4.0)

PRIVATE = "private.json"  # in the course's folder


@dataclass(frozen=True)
class Twist:
    """What a question is called in a course, and the name of its factor ("" where the result is no number)."""

    called: str
    factor: str = ""


def read_key(path: Path) -> bytes:
    """The key of a course."""
    try:
        return bytes.fromhex(json.loads(path.read_text(encoding="utf-8"))["key"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is not the key that `python -m labkit course init --private` makes") from None


def draw(key: bytes, *what: str) -> int:
    """A number that follows from the key and the words, and from which nobody can tell the key."""
    return int.from_bytes(hmac.new(key, "\0".join(what).encode(), sha256).digest()[:6], "big") % 2**31


def twists(assignment: Assignment, key: bytes) -> dict[str, Twist]:
    """The twist of every question, by its public name."""
    found = {}
    for question in assignment.questions:
        name = question.name
        end = "".join(ENDS[draw(key, name, "name", place) % len(ENDS)] for place in "12")
        factor = FACTORS[draw(key, name, "factor") % len(FACTORS)] if has_numbers(question.exercise) else ""
        found[name] = Twist(f"{name}_{end}", factor)
    return found


def has_numbers(exercise: Exercise) -> bool:
    """Whether the result is one number or a tensor of numbers, neither counts nor yes and no."""
    found: Any = outcome(exercise, exercise.reference, exercise.cases()[0])
    found = found["value"] if isinstance(found, dict) else found
    return isinstance(found, float) or (isinstance(found, Tensor) and found.is_floating_point())


def twisted(assignment: Assignment, chosen: dict[str, Twist]) -> Assignment:
    """The assignment as the course has it."""
    questions = tuple(
        replace(
            question,
            exercise=twisted_exercise(question.exercise, chosen[question.name]),
            hidden=twisted_hidden(question, chosen[question.name].factor),
        )
        for question in assignment.questions
    )
    return replace(assignment, questions=questions)


def twisted_exercise(exercise: Exercise, twist: Twist) -> Exercise:
    """Reference, public cases and mistakes, with the factor."""
    return replace(
        exercise,
        name=twist.called,
        task=exercise.task + (f" Here times {twist.factor}." if twist.factor else ""),
        reference=times(exercise.reference, twist.factor),
        cases=lambda: with_factor(exercise.cases(), twist.factor),
        mistakes=tuple(twisted_mistake(mistake, twist.factor) for mistake in exercise.mistakes),
    )


def twisted_mistake(mistake: Mistake, factor: str) -> Mistake:
    """A wrong answer in all its forms, with the factor."""
    also = tuple(times(answer, factor) for answer in mistake.also)
    return replace(mistake, answer=times(mistake.answer, factor), also=also)


def twisted_hidden(question: Question, factor: str) -> Any:
    """The hidden cases, with the factor."""
    return lambda rng: with_factor(question.hidden(rng), factor)


def times(answer: Answer, factor: str) -> Answer:
    """The answer, with one more argument."""

    def scaled(**arguments: Any) -> Any:
        by, found = arguments.pop(factor), answer(**arguments)
        return by * (found if isinstance(found, Tensor) else value_of(found))

    return scaled if factor else answer


def with_factor(cases: Sequence[Case], factor: str) -> list[Case]:
    """Every case with a factor that follows from its label, so that the notebook's check needs no key."""
    if not factor:
        return list(cases)
    values = [VALUES[crc32(case.label.encode()) % len(VALUES)] for case in cases]
    return [replace(case, arguments=case.arguments | {factor: value}) for case, value in zip(cases, values)]
