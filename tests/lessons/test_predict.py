"""Predict: the question is on the page, the answer is not there to be read, and every text can be filled in."""

import base64
import html
import json
import re
from pathlib import Path

import pytest

from labkit.lessons.predict import predict, spec
from labkit.lessons.predictions import QUESTIONS
from labkit.lessons.question import Choice, Curve, Number

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
VALUES = {"better": "A <b>", "worse": "B", "points": 1.5, "wrong": 30.0, "share": 12.0}
VALUES |= {"error_with": 0.9, "error_without": 0.7, "norm_with": 2.0, "norm_without": 7.0}


def secret_of(content):
    return json.loads(base64.b64decode(content["secret"]))


@pytest.fixture
def shown(monkeypatch):
    found = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: found.extend(thing.data for thing in things))
    return found


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("build", ["live", "book", "notebook"])
def test_every_question_is_asked_everywhere(monkeypatch, shown, name, build):
    monkeypatch.setenv("LABKIT_BUILD", build)
    predict(name, **VALUES)
    (text,) = shown
    why = QUESTIONS[name].why.format(**VALUES)
    assert (html.escape(why) in text) == (build == "notebook")
    assert why in html.unescape(text) or build != "notebook"
    assert "A <b>" not in text.partition("<script")[0]
    assert ("Run this cell to answer" in text) == (build == "live")


def test_the_secret_holds_the_answer():
    number = Number("?", 0.5, "Because.", low=0, high=1, close=0.1)
    assert secret_of(spec("n", number, {})) == {"answer": 0.5, "close": 0.1, "why": "Because."}
    curve = spec("6.2", QUESTIONS["6.2"], {})
    assert isinstance(QUESTIONS["6.2"], Curve)
    assert (curve["x"]["low"], curve["x"]["high"]) == (0, 8)
    assert len(secret_of(curve)["answer"]) == 41
    assert secret_of(curve)["answer"][0] == 1.0


def test_an_answer_follows_the_lesson_s_numbers():
    asked = QUESTIONS["12.1"]
    assert secret_of(spec("12.1", asked, VALUES))["answer"] == "in a third of the draws or more"
    assert secret_of(spec("12.1", asked, VALUES | {"wrong": 0.0}))["answer"] == "never"


def test_an_answer_must_be_a_choice_and_a_name_known():
    with pytest.raises(ValueError, match="answer"):
        Choice("?", ("a",), "b", "").secret()
    with pytest.raises(ValueError, match="name must be one of"):
        predict("99.1")


def test_lessons_ask_every_question_once_and_each_form_is_in_two_lessons():
    asked = [name for path in NOTEBOOKS.glob("*.py") for name in re.findall(r'predict\("([\d.]+)"', path.read_text())]
    assert sorted(asked) == sorted(QUESTIONS)
    for kind in (Number, Curve):
        assert len({name.split(".")[0] for name, question in QUESTIONS.items() if isinstance(question, kind)}) >= 2
