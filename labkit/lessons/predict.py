"""labkit.predict: commit a guess, then see the answer."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from labkit.base.mode import mode
from labkit.figures.display import display_html


def predict(question: str, choices: Sequence[str], answer: str, why: str) -> Prediction | None:
    """Ask, and reveal the answer only after a choice. On a page without Python the answer is folded away.

    Returns the live widget; None while notebooks or the book are built.
    """
    if answer not in choices:
        raise ValueError(f"answer must be one of the choices {tuple(choices)}; got {answer!r}")
    if mode() != "live":
        options = "".join(f"<li>{html.escape(choice)}</li>" for choice in choices)
        display_html(
            f"<p><b>Predict.</b> {html.escape(question)}</p><ul>{options}</ul>"
            f"<details><summary>Answer</summary><p><b>{html.escape(answer)}</b>. {html.escape(why)}</p></details>"
        )
        return None
    from IPython.display import display

    live = Prediction(question, choices, answer, why)
    display(live.box)
    return live


class Prediction:
    """The live form: choose, commit, see."""

    def __init__(self, question: str, choices: Sequence[str], answer: str, why: str) -> None:
        """Nothing is chosen yet, so there is nothing to commit."""
        import ipywidgets as widgets

        self.answer, self.why = answer, why
        self.choices = widgets.RadioButtons(options=list(choices), value=None, layout=widgets.Layout(width="auto"))
        self.commit = widgets.Button(description="Commit my guess", disabled=True)
        self.reveal = widgets.HTML()
        self.choices.observe(self.chosen, "value")
        self.commit.on_click(self.committed)
        asked = widgets.HTML(f"<b>Predict.</b> {html.escape(question)}")
        self.box = widgets.VBox([asked, self.choices, self.commit, self.reveal])

    def _ipython_display_(self) -> None:
        """Nothing: `predict` has put the form on the page already."""

    def chosen(self, change: Any) -> None:
        """A choice can be committed."""
        self.commit.disabled = False

    def committed(self, button: Any) -> None:
        """From here on the guess stands."""
        self.choices.disabled = self.commit.disabled = True
        right = self.choices.value == self.answer
        word = "✓ As you said" if right else "✗ Not as you said"
        self.reveal.value = f"<b>{word}: {html.escape(self.answer)}.</b> {html.escape(self.why)}"
