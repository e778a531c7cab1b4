"""An assignment of two questions and a written one, and notebooks that answer it."""

import json

import torch

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.lessons.exercise import Case, Exercise, Mistake


def hidden(rng):
    cases = [Case(f"random {n}", {"x": torch.rand(n, generator=rng, dtype=torch.float64) + 1}) for n in (1, 3, 5)]
    return [*cases, Case("empty", {"x": torch.zeros(0, dtype=torch.float64)}, edge=True)]


def question(name, factor):
    exercise = Exercise(
        name,
        f"{factor} times x.",
        lambda x: factor * x,
        lambda: [Case("ones", {"x": torch.ones(3, dtype=torch.float64)})],
        (Mistake("square", "That is x squared.", lambda x: x * x),),
        1e-6,
    )
    return Question(exercise, 10, hidden)


TINY = Assignment(
    "tiny",
    "Tiny",
    (question("double", 2), question("triple", 3)),
    (Written("why", 4, ((2, "says what"), (2, "says why"))),),
)
DOUBLE = "def double(x):\n    return 2 * x\n"
TRIPLE = "def triple(x):\n    return 3 * x\n"


def cell(source, grade_id=None, kind="code"):
    """A notebook cell, with nbgrader's mark if it has an id."""
    metadata = {} if grade_id is None else {"nbgrader": {"grade_id": grade_id, "solution": True, "schema_version": 3}}
    extra = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source, **extra}


def notebook(*cells):
    """The bytes of a notebook."""
    return json.dumps({"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def answers(double=DOUBLE, triple=TRIPLE):
    """A usual hand-in."""
    return notebook(
        cell("import labkit"), cell(double, "double"), cell(triple, "triple"), cell("Because.", "why", "markdown")
    )
