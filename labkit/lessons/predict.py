"""labkit.predict: commit a guess, then see the answer. The questions are in `predictions/`, so that the source of a
lesson does not give the answer away."""

from __future__ import annotations

import base64
import html
import json
from typing import Any

from labkit.base.mode import mode
from labkit.explorers.hosts import PREDICT, book_html
from labkit.figures.display import display_html
from labkit.lessons.predictions import QUESTIONS
from labkit.lessons.question import Choice, Question


def predict(name: str, **values: Any) -> None:
    """Ask the question of this name. In JupyterLab and in the book the outputs that follow are covered until a guess is
    committed; elsewhere the answer is folded away. values: numbers of the lesson that the texts name."""
    if name not in QUESTIONS:
        raise ValueError(f"name must be one of {', '.join(QUESTIONS)}; got {name!r}")
    question = QUESTIONS[name]
    if mode() == "notebook":
        display_html(folded(question, values))
        return
    still = "" if mode() == "book" else f"{asked(question, values)}<p><i>Run this cell to answer.</i></p>"
    display_html(book_html(PREDICT, [{"spec": spec(name, question, values)}], [{}], still))


def spec(name: str, question: Question, values: dict[str, Any]) -> dict[str, Any]:
    """What the page gets; the answer is not there to be read in passing."""
    secret = question.secret(**values) | {"why": question.why.format(**values)}
    hidden = base64.b64encode(json.dumps(secret, ensure_ascii=False).encode()).decode()
    return question.form() | {"name": name, "question": question.question.format(**values), "secret": hidden}


def asked(question: Question, values: dict[str, Any]) -> str:
    """The question as text."""
    text = f"<p><b>Predict.</b> {html.escape(question.question.format(**values))}</p>"
    if not isinstance(question, Choice):
        return text
    return f"{text}<ul>{''.join(f'<li>{html.escape(choice)}</li>' for choice in question.choices)}</ul>"


def folded(question: Question, values: dict[str, Any]) -> str:
    """Question and answer where nothing runs."""
    found = question.secret(**values)["answer"]
    answer = "" if isinstance(found, list) else f"<b>{html.escape(str(found))}</b>. "
    why = html.escape(question.why.format(**values))
    return f"{asked(question, values)}<details><summary>Answer</summary><p>{answer}{why}</p></details>"
