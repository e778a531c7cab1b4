"""Every wrong answer of every zoo fails with its own hint; right answers in different styles pass."""

import html
import runpy
from pathlib import Path

import pytest
import torch

from labkit.lessons.check import comparison, feedback
from labkit.lessons.diagnosis import judge
from labkit.lessons.exercise import Case, Exercise, Mistake, same
from labkit.lessons.exercises import EXERCISES

ZOO = [(exercise, mistake) for exercise in EXERCISES.values() for mistake in exercise.mistakes]


@pytest.mark.parametrize(("exercise", "mistake"), ZOO, ids=lambda x: x.name)
def test_each_wrong_answer_fails_with_its_own_hint(exercise, mistake):
    result = judge(exercise, mistake.answer)
    assert not result.passed
    assert result.mistake == mistake.name
    assert result.hint == mistake.hint
    text = feedback(result)
    assert "NOT YET" in text
    assert html.escape(mistake.hint) in text
    assert comparison(result).axes


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda x: x.name)
def test_the_reference_passes_and_there_are_enough_mistakes(exercise):
    result = judge(exercise, exercise.reference)
    assert result.passed
    assert "PASS" in feedback(result)
    assert len(exercise.mistakes) >= 8
    assert len({m.name for m in exercise.mistakes}) == len(exercise.mistakes)
    assert len(exercise.cases()) >= 5


TINY = Exercise(
    "double",
    "Twice x.",
    lambda x: 2 * x,
    lambda: [Case("ones", {"x": torch.ones(3)}), Case("steps", {"x": torch.arange(3.0)})],
    (Mistake("square", "That is x squared.", lambda x: x * x),),
    gradient="x",
)


def broken(x):
    raise RuntimeError("oops <b>")


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x: x * x, "x squared"),
        (broken, "stops with RuntimeError"),
        (lambda x: None, "returns nothing"),
        (lambda x: (2 * x)[:2], "shape is"),
        (lambda x: 2 * x / 0 * 0, "NaN"),
        (lambda x: (2 * x).detach(), "carries no gradient"),
        (lambda x: 2 * x.detach() + (x - x.detach()), "gradient is not"),
        (lambda x: 3 * x, "1.5 times the right one"),
        (lambda x: 1 - 2 * x, "1 minus the right one"),
        (lambda x: 2 * x + 0.25, "the right one + 0.25"),
        (lambda x: -3 * x * x, "x squared. Besides"),
        (lambda x: 2 * x / x.norm(), "When x is multiplied by 2, the right answer changes"),
        (lambda x: 2 * x.sum(), "too many"),
        (lambda x: 2 * x + 0.1 * x.sin(), "see the case"),
        (lambda x: 2 * x.detach().numpy(), "NumPy array"),
        (lambda x: (2 * x).tolist(), "plain Python numbers"),
        (lambda x: torch.log(torch.exp(2000 * x)) / 1000, "overflows"),
        (lambda x: 2 * x + (x - x).sqrt(), "gradient is NaN"),
        (lambda x: 1.0001 * x * x, "x squared"),
        (3.0, "function itself"),
    ],
)
def test_other_mistakes_get_a_hint_that_says_what_is_wrong(answer, hint):
    result = judge(TINY, answer)
    assert not result.passed
    assert hint in result.hint
    assert "<b>oops" not in feedback(result)


def test_an_answer_that_is_not_written_yet_says_so():
    def stub(x):
        raise NotImplementedError

    assert "Not written yet" in judge(TINY, stub).hint


def test_an_answer_that_changes_its_arguments_is_told():
    def sort(x):
        x.sort()
        return x

    spoilt = Exercise("spoilt", "Sort.", lambda x: sorted(x), lambda: [Case("three", {"x": [3, 1, 2]})], ())
    assert "changes its arguments" in judge(spoilt, sort).hint


def test_numbers_tensors_and_lists_are_compared_by_value():
    assert same(1, torch.tensor(1.0), 0)
    assert same([1.0, float("nan")], (1, float("nan")), 0)
    assert not same([1, 2], [1, 2, 3], 0)
    assert not same(torch.zeros(2), torch.zeros(3), 1)
    assert not same("a", 1, 1)


def test_a_mistake_made_only_where_it_matters_is_named():
    result = judge(TINY, lambda x: x * x if x[0] == 1 else 2 * x)
    assert (result.passed, result.mistake) == (False, "square")


def test_outputs_whose_sum_is_constant_need_a_gradient_each():
    share = Exercise(
        "share",
        "Shares.",
        lambda x: torch.softmax(x, 0),
        lambda: [Case("three", {"x": torch.arange(3.0)})],
        (),
        gradient="x",
    )
    assert judge(share, lambda x: torch.softmax(x, 0).detach()).mistake == "no gradient"


# one file a lesson: RIGHT = {"exercise": [answers in different styles]}
def answers_in(folder: str, name: str) -> dict:
    """What the files of a folder hold."""
    found: dict = {}
    for path in sorted((Path(__file__).parent / folder).glob("*.py")):
        for exercise, answers in runpy.run_path(str(path))[name].items():
            found.setdefault(exercise, []).extend(answers)
    return found


RIGHT = answers_in("right_answers", "RIGHT")


def test_every_exercise_has_right_answers_in_several_styles():
    assert RIGHT.keys() == EXERCISES.keys()
    assert all(len(answers) >= 3 for answers in RIGHT.values())


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, answers in RIGHT.items() for a in answers])
def test_right_answers_in_other_styles_pass(name, answer):
    result = judge(EXERCISES[name], answer)
    assert result.passed, result.hint


# both were written from the statements alone; see the folders
@pytest.mark.filterwarnings("ignore::UserWarning")  # of torch, about what these answers do
@pytest.mark.parametrize("folder", ["wrong_answers", "blind_answers"])
def test_wrong_answers_written_before_looking_at_the_checks_fail_and_are_named(folder):
    wrong = answers_in(folder, "WRONG")
    assert wrong.keys() == EXERCISES.keys()
    results = [judge(EXERCISES[name], answer) for name, answers in wrong.items() for answer in answers]
    assert len(results) >= 100
    assert not any(result.passed for result in results)
    assert sum(bool(result.mistake) for result in results) >= 0.95 * len(results)
