"""An explorer: sliders and menus round one pure figure function, the same in JupyterLab, in the book and in print.

In JupyterLab the figure answers at once; in the book the figures are computed beforehand; a still picture of a few
settings shows the idea to those who have neither, and in a saved notebook that is opened again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from labkit.base.mode import mode
from labkit.explorers.live import LiveFigure, Shell
from labkit.figures.display import caption, display_html, picture
from labkit.figures.static import small_multiples

Draw = Callable[..., Any]
MOST_FRAMES = 200  # of a figure in the book


@dataclass(frozen=True)
class Control:
    """One thing to change: an argument of the figure function, what the reader calls it, and its possible values.

    menu: a menu in place of a slider.
    """

    name: str
    label: str
    values: tuple[Any, ...]
    start: Any
    menu: bool = False

    def __post_init__(self) -> None:
        """The start must be among the values."""
        if self.start not in self.values:
            raise ValueError(f"{self.name}: it starts at {self.start!r}, which is not among its values {self.values}")

    def text(self, value: Any) -> str:
        """A value as it is shown."""
        return f"{value:.4g}" if isinstance(value, float) else str(value)


def explore(
    draw: Draw, controls: Sequence[Control], twin: Sequence[Mapping[str, Any]], alt: str, *, live: bool = True
) -> Explorer | None:
    """Show an explorer of draw(**values); where it is not live, its still picture at the settings of `twin`.

    Returns the live explorer, so that a cell can set its values; None while notebooks or the book are built, or with
    live=False, where a lesson has a richer live form of its own.
    """
    from IPython.display import display

    if mode() == "book":
        display_html(book_html(draw, controls) + caption(alt))
        return None
    start = {control.name: control.start for control in controls}
    figures = [draw(**(start | dict(settings))) for settings in twin]
    titles = [", ".join(f"{label_of(controls, n)}: {shown(controls, n, v)}" for n, v in s.items()) for s in twin]
    still = picture(small_multiples(figures, titles), alt, few_colors=True)
    if mode() == "notebook" or not live:
        display(still)
        return None
    explorer = Explorer(draw, controls)
    explorer.show(still.data.removesuffix(caption(alt)))
    display_html(caption(alt))
    return explorer


def label_of(controls: Sequence[Control], name: str) -> str:
    """What the reader calls an argument; the name itself if it has no control."""
    return next((control.label for control in controls if control.name == name), name)


def shown(controls: Sequence[Control], name: str, value: Any) -> str:
    """A value as the reader sees it."""
    return next((control.text(value) for control in controls if control.name == name), str(value))


class Explorer(Shell):
    """The live form. Keyboard: Tab reaches a control, arrows change it."""

    def __init__(self, draw: Draw, controls: Sequence[Control]) -> None:
        """Build the widgets and draw once."""
        import ipywidgets as widgets

        self.draw = draw
        self.controls = {control.name: make_widget(control) for control in controls}
        self.live = LiveFigure(draw(**self.values()))
        for widget in self.controls.values():
            widget.observe(self.changed, "value")
        self.box = widgets.HBox(list(self.controls.values()), layout=widgets.Layout(flex_flow="row wrap"))

    def values(self) -> dict[str, Any]:
        """The present setting."""
        return {name: widget.value for name, widget in self.controls.items()}

    def changed(self, change: Any) -> None:
        """Draw anew, in place: the view that the reader has turned or zoomed to stays."""
        self.live.draw(self.draw(**self.values()))


def make_widget(control: Control) -> Any:
    """A slider over the values, or a menu of them."""
    import ipywidgets as widgets

    options = [(control.text(value), value) for value in control.values]
    kind = widgets.Dropdown if control.menu else widgets.SelectionSlider
    more = {} if control.menu else {"continuous_update": True}
    return kind(
        options=options,
        value=control.start,
        description=control.label,
        style={"description_width": "initial"},
        layout=widgets.Layout(width=f"{max(340, 230 + 7 * len(control.label))}px", margin="0 24px 0 0"),
        **more,
    )


def book_html(draw: Draw, controls: Sequence[Control]) -> str:
    """All figures of an explorer, computed beforehand, for a page without Python."""
    kept = thinned(controls)
    frames = {}
    for setting in product(*(control.values for control in kept)):
        key = "|".join(control.text(value) for control, value in zip(kept, setting))
        fig = draw(**{control.name: value for control, value in zip(kept, setting)})
        frames[key] = json.loads(fig.to_json())
    menus = [
        {"label": c.label, "values": [c.text(v) for v in c.values], "start": c.text(c.start), "menu": c.menu}
        for c in kept
    ]
    spec = json.dumps({"controls": menus, "frames": frames}, separators=(",", ":")).replace("</", "<\\/")
    return f'<div class="labkit-explorer"><script type="application/json">{spec}</script></div>'


def thinned(controls: Sequence[Control]) -> list[Control]:
    """Every second value of the longest control, until all combinations fit into the book; the start always stays."""
    kept = list(controls)

    def count() -> int:
        total = 1
        for control in kept:
            total *= len(control.values)
        return total

    while count() > MOST_FRAMES:
        position = max(range(len(kept)), key=lambda i: len(kept[i].values))
        control = kept[position]
        if len(control.values) < 4:
            break
        offset = control.values.index(control.start) % 2
        kept[position] = replace(control, values=control.values[offset::2])
    return kept
