"""A private course: its own solutions pass, the public ones do not; nothing of it follows without the key."""

import math

import nbformat
import numpy as np
import pytest
import torch

from labkit.assignments import NAMES, load
from labkit.assignments.private import draw, twisted, twists
from labkit.classroom.folder import MASTERS
from labkit.classroom.release import CODE_STUB, version
from tests.assignments.test_assignments import judge

KEY = bytes(range(32))


def functions(notebook, names):
    space = {"math": math, "np": np, "torch": torch, "Tensor": torch.Tensor}
    for cell in notebook.cells:
        if cell.id in names:
            exec(cell.source, space)
    return space


@pytest.mark.parametrize("name", NAMES)
def test_the_courses_solutions_pass_and_public_ones_do_not(name):
    chosen = twists(load(name), KEY)
    own, public = twisted(load(name), chosen), load(name)
    made = version(MASTERS / f"{name}.py", public, "solution", KEY)
    right = functions(made, {question.name for question in own.questions})
    for question, before in zip(own.questions, public.questions):
        twist = chosen[before.name]
        assert question.name == twist.called != before.name
        assert judge(question, right[question.name], draw(KEY, name, "hidden", "ada")).score == question.points
        assert (judge(question, before.exercise.reference, 1).score == 0) == bool(twist.factor)
        mistake = judge(question, question.exercise.mistakes[0].answer, 1)
        assert mistake.mistake == before.exercise.mistakes[0].name
    assert sum(bool(twist.factor) for twist in chosen.values()) >= len(chosen) - 3


def test_the_released_notebook_tells_the_names_and_hides_the_rest():
    assignment = load("1")
    chosen = twists(assignment, KEY)
    student = version(MASTERS / "1_metrics.py", assignment, "student", KEY)
    cells = {cell.id: cell.source for cell in student.cells}
    twist = chosen["mean_ap"]
    assert f"{twist.factor}: float = 1.0) -> float:" in cells[twist.called]
    assert CODE_STUB in cells[twist.called]
    assert "def mean_ap(" not in "".join(cells.values())
    assert cells[f"{twist.called}-test"] == f'check.mean_ap({twist.called}, factor="{twist.factor}")'
    assert student.metadata.labkit.twists["mean_ap"] == [twist.called, twist.factor]
    assert KEY.hex() not in nbformat.writes(student)
    source = version(MASTERS / "1_metrics.py", assignment, "source", KEY)
    tests = next(cell.source for cell in source.cells if cell.id == f"{twist.called}-test")
    assert f'require("mean_ap", {twist.called}, {draw(KEY, "1_metrics", "hidden")}, factor=' in tests


def test_another_key_draws_other_names_cases_and_texts():
    other = KEY[::-1]
    assert twists(load("2"), KEY) != twists(load("2"), other)
    assert draw(KEY, "hidden", "ada") != draw(other, "hidden", "ada") != draw(other, "hidden", "bob")
    texts = {
        tuple(
            cell.source.partition("**In this course:** ")[2]
            for cell in version(MASTERS / "2_ranks.py", load("2"), "student", bytes([n] * 32)).cells
            if "**In this course:** " in cell.source
        )
        for n in range(12)
    }
    assert len(texts) > 1
    assert {len(drawn) for drawn in texts} == {2}


def test_every_written_question_has_variants():
    assert all(len(part.variants) >= 2 for name in NAMES for part in load(name).written)
