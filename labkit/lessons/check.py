"""Instant feedback on an exercise, in words, numbers and a picture.

These are the public checks; grading uses more cases.
"""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from labkit.figures.display import display_html, picture
from labkit.lessons.diagnosis import judge
from labkit.lessons.exercise import Answer, Exercise, Result, short, value_of


def check_of(exercise: Exercise, vary: Callable[..., Exercise] | None = None) -> Callable[..., Result]:
    """The function that a notebook calls with an answer; vary: how options change the exercise."""

    def check(answer: Answer, **twist: str) -> Result:
        result = judge(vary(exercise, **twist) if vary and twist else exercise, answer)
        display_html(feedback(result))
        if not result.passed and any(value_of(row.found) is not None for row in result.rows):
            from IPython.display import display

            words = f"Expected against yours, case by case, for the exercise {exercise.name}."
            display(picture(comparison(result), words))
        return result

    check.__doc__ = exercise.task
    return check


def feedback(result: Result) -> str:
    """PASS or FAIL in words, the hint, and a table of the cases."""
    word = "✓ PASS" if result.passed else "✗ NOT YET"
    color = "#0072B2" if result.passed else "#D55E00"
    parts = [f'<p><b style="color: {color}">{word}</b> &nbsp; {html.escape(result.exercise.task)}</p>']
    if result.hint:
        parts.append(f"<p><b>Hint.</b> {html.escape(result.hint)}</p>")
    if result.rows:
        rows = "".join(
            f"<tr><td>{'✓' if row.agrees else '✗'}</td><td style='text-align: left'>{html.escape(row.label)}</td>"
            f"<td>{html.escape(short(row.expected))}</td><td>{html.escape(short(row.found))}</td></tr>"
            for row in result.rows
        )
        parts.append(f"<table><tr><th></th><th>case</th><th>expected</th><th>yours</th></tr>{rows}</table>")
    if result.passed:
        parts.append("<p>The public checks passed; grading uses more cases.</p>")
    return "".join(parts)


def comparison(result: Result) -> Any:
    """Expected and found numbers of the first case that disagrees, side by side."""
    from matplotlib.figure import Figure

    from labkit.figures.style import COLORS

    row = next((row for row in result.rows if not row.agrees), result.rows[-1])
    fig = Figure(figsize=(6.0, 2.6), dpi=90, facecolor="white", layout="constrained")
    axes = fig.add_subplot()
    for number, (name, found) in enumerate((("expected", row.expected), ("yours", row.found))):
        value = value_of(found)
        if value is not None:
            y = value.reshape(-1)[:200]
            axes.plot(range(len(y)), y, "os"[number], color=COLORS[number], label=name, markersize=9 - 4 * number)
    axes.set_title(f"case: {row.label}", fontsize=10)
    axes.set_xlabel("entry", fontsize=9)
    axes.set_ylabel("value", fontsize=9)
    axes.legend(fontsize=9, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.grid(alpha=0.25)
    return fig
