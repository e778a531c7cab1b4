"""Predict: nothing is revealed before a guess is committed, and a guess stands."""

import pytest

from labkit.lessons.predict import Prediction, predict


def ask():
    return Prediction("Is 1 < 2?", ["yes", "no <b>"], "yes", "Because it is.")


def test_nothing_is_revealed_before_a_guess_is_committed():
    live = ask()
    assert live.commit.disabled
    live.choices.value = "yes"
    assert live.reveal.value == ""
    live.commit.click()
    assert "As you said: yes" in live.reveal.value
    assert live.choices.disabled


def test_a_wrong_guess_is_told_kindly():
    live = ask()
    live.choices.value = "no <b>"
    live.commit.click()
    assert "Not as you said: yes" in live.reveal.value
    assert "Because it is." in live.reveal.value


@pytest.mark.parametrize("build", ["notebook", "book"])
def test_without_python_the_answer_is_folded_away(monkeypatch, build):
    shown = []
    monkeypatch.setenv("LABKIT_BUILD", build)
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: shown.extend(things))
    assert predict("Is 1 < 2?", ["yes", "no"], "yes", "Because.") is None
    text = shown[0].data
    assert "Is 1 &lt; 2?" in text
    assert text.index("<details>") < text.index("<b>yes</b>")


def test_the_answer_must_be_a_choice():
    with pytest.raises(ValueError, match="answer"):
        predict("?", ["a"], "b", "")
