"""All assignments: references pass, right answers in other styles pass, every wrong one fails with its own hint."""

import math
import runpy
from functools import cache
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from labkit.assignments import NAMES, load
from labkit.classroom.folder import MASTERS
from labkit.classroom.release import version
from labkit.grading.grade import expected, scored
from labkit.lessons.diagnosis import verdict
from labkit.lessons.exercise import Row, outcome, same
from labkit.lessons.exercises import EXERCISES

QUESTIONS = {question.name: question for name in NAMES for question in load(name).questions}
ZOO = [(question, mistake) for question in QUESTIONS.values() for mistake in question.exercise.mistakes]
SEEDS = range(5)


def judge(question, answer, seed):
    """As the grader does it, without the child."""
    known = expected(question, seed)
    rows = []
    for case, right in known:
        try:
            found = outcome(question.exercise, answer, case)
        except Exception:
            found = None
        rows.append(Row(case.label, right, found, same(right, found, question.exercise.tolerance)))
    return scored(question, [case for case, _ in known], rows, "", "")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("question", "mistake"), ZOO, ids=lambda x: x.name)
def test_each_wrong_answer_loses_points_with_its_own_hint(question, mistake, seed):
    mark = judge(question, mistake.answer, seed)
    assert mark.score < mark.points
    assert mark.mistake == mistake.name
    assert mark.hint == mistake.hint


@pytest.mark.parametrize(("question", "mistake"), ZOO, ids=lambda x: x.name)
def test_the_public_check_names_it_too_or_lets_it_pass(question, mistake):
    exercise = question.exercise
    rows = []
    for case in exercise.cases():
        right = outcome(exercise, exercise.reference, case)
        try:
            found = outcome(exercise, mistake.answer, case)
        except Exception:
            found = None
        rows.append(Row(case.label, right, found, same(right, found, exercise.tolerance)))
    result = verdict(exercise, exercise.cases(), rows)
    assert result.passed or result.hint


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=lambda q: q.name)
def test_references_pass_and_questions_are_complete(question):
    for seed in SEEDS:
        assert judge(question, question.exercise.reference, seed).score == question.points
    cases = question.cases(0)
    assert len(question.exercise.mistakes) >= 8
    assert len({mistake.name for mistake in question.exercise.mistakes}) == len(question.exercise.mistakes)
    assert len(question.exercise.cases()) >= 3
    assert len(cases) - len(question.exercise.cases()) >= 5
    assert any(not case.edge for case in cases)
    assert len({case.label for case in cases}) == len(cases)
    assert not same([case.arguments for case in cases], [case.arguments for case in question.cases(1)], 0)


def test_a_question_is_a_file_of_its_name_in_the_folder_of_its_assignment():
    for name, topic in NAMES.items():
        package = import_module(f"labkit.assignments.{topic}")
        files = {path.stem for path in Path(package.__file__).parent.glob("*.py")} - {"__init__"}
        assert files == {question.name for question in load(name).questions}
        assert all(getattr(package, question.name).QUESTION is question for question in load(name).questions)


def test_names_are_unique_and_marks_add_up():
    assert len(QUESTIONS) == sum(len(load(name).questions) for name in NAMES)
    assert not QUESTIONS.keys() & EXERCISES.keys()
    for name in NAMES:
        assert load(name).name == name
        assert load(name).points == 30
        assert load(name.split("_")[0]) is load(name) is load(name.split("_")[1])
    with pytest.raises(ValueError, match="there are 1_metrics"):
        load("8")


RIGHT = {
    name: answers
    for path in sorted((Path(__file__).parent / "right_answers").glob("*.py"))
    for name, answers in runpy.run_path(str(path))["RIGHT"].items()
}


def test_every_question_has_right_answers_in_several_styles():
    assert RIGHT.keys() == QUESTIONS.keys()
    assert all(len(answers) >= 3 for answers in RIGHT.values())


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, answers in RIGHT.items() for a in answers])
def test_right_answers_in_other_styles_get_all_points(name, answer):
    for seed in SEEDS:
        torch.manual_seed(seed)
        mark = judge(QUESTIONS[name], answer, seed)
        assert mark.score == mark.points, mark


WRONG = {
    (path.stem, name): answers
    for path in sorted((Path(__file__).parent / "wrong_answers").glob("*.py"))
    for name, answers in runpy.run_path(str(path))["WRONG"].items()
}
LET_PASS = 0.02  # of the wrong answers that were written before the cases were looked at


@cache
def solutions(topic):
    """The text of every model answer of an assignment."""
    name = next(name for name in NAMES if NAMES[name] == topic)
    made = version(MASTERS / f"{name}.py", load(name), "solution")
    names = {question.name for question in load(name).questions}
    return {cell.id: cell.source for cell in made.cells if cell.id in names}


def answer_from(topic, name, change):
    """A function: the solution with some text replaced, or the text of another one."""
    source = change
    if not isinstance(change, str):
        source = solutions(topic)[name]
        for old, new in zip(change[::2], change[1::2], strict=True):
            assert old in source, f"{name}: {old!r} is not in the solution any more"
            source = source.replace(old, new)
    space = {"math": math, "np": np, "torch": torch, "Tensor": torch.Tensor}
    for text in [*solutions(topic).values(), source]:
        exec(text, space)
    return space[name]


def test_wrong_answers_written_without_the_cases_are_caught():
    assert {name for _, name in WRONG} == QUESTIONS.keys()
    assert all(len(answers) >= 10 for answers in WRONG.values())
    tried, passed = 0, []
    for (topic, name), answers in WRONG.items():
        for what, change in answers.items():
            tried += 1
            mark = judge(QUESTIONS[name], answer_from(topic, name, change), tried % 5)
            if mark.score == mark.points:
                passed.append(f"{name}: {what} (seed {tried % 5})")
    assert len(passed) <= LET_PASS * tried, passed
