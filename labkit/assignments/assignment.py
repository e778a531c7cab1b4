"""What an assignment is: coding questions that a program marks, written ones that a person marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from labkit.lessons.draw import seeded
from labkit.lessons.exercise import Case, Exercise


@dataclass(frozen=True)
class Question:
    """An exercise with points; grading adds cases that are drawn anew from a seed of the instructor's.

    Case.edge marks the cases that show care (ties, empty sets, one class). Who fails only such cases keeps a part.
    """

    exercise: Exercise
    points: int
    hidden: Callable[[torch.Generator], Sequence[Case]]

    @property
    def name(self) -> str:
        """One name for the exercise, the function to write and the notebook's cell."""
        return self.exercise.name

    def cases(self, seed: int) -> list[Case]:
        """The public cases and the hidden ones of a seed."""
        return [*self.exercise.cases(), *self.hidden(seeded(seed))]


@dataclass(frozen=True)
class Written:
    """A question that is answered in words: what earns points, and an answer that earns all."""

    name: str
    points: int
    rubric: tuple[tuple[int, str], ...]
    variants: tuple[str, ...] = ()  # for private courses: what else can be asked, so that the rubric still fits

    def __post_init__(self) -> None:
        """Refuse a rubric that does not share out all points."""
        if sum(points for points, _ in self.rubric) != self.points:
            raise ValueError(f"{self.name}: the rubric's points must add up to {self.points}")


@dataclass(frozen=True)
class Assignment:
    """A problem set; its text is notebooks/assignments/NAME.py, where NAME is 1_metrics, say."""

    name: str
    title: str
    questions: tuple[Question, ...]
    written: tuple[Written, ...] = ()

    @property
    def points(self) -> int:
        """What all questions are worth together, coded and written."""
        return sum(question.points for question in self.questions) + sum(part.points for part in self.written)
