"""A figure on a live page, drawn anew in place.

plotly.js goes to the page once; every figure uses it. A FigureWidget would bring its own copy, 5 MB, with every figure,
and stays blank where that takes longer than two seconds.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from labkit.explorers.modules import joined

if TYPE_CHECKING:
    import plotly.graph_objects as go


class LiveFigure:
    """The figure that is on the page now, and its widget."""

    def __init__(self, figure: go.Figure) -> None:
        """A widget to be put on the page."""
        self.figure = figure
        self.widget = view_class()(spec=spec(figure), library=library())

    def draw(self, figure: go.Figure) -> None:
        """Show another figure in its place."""
        self.figure = figure
        self.widget.spec = spec(figure)


class Shell:
    """Controls with a live figure beneath; a shell sets `box`, its controls, and `live`."""

    box: Any
    live: LiveFigure

    @property
    def figure(self) -> go.Figure:
        """What is drawn now."""
        return self.live.figure

    def show(self, still: str = "") -> None:
        """Put controls and figure on the page; still: HTML for a page that has no widgets, such as a reopened one."""
        import ipywidgets as widgets
        from IPython.display import display

        both = widgets.VBox([self.box, self.live.widget], layout=widgets.Layout(margin="0 0 16px 0"))
        if still:
            display(both._repr_mimebundle_() | {"text/html": still}, raw=True)
        else:
            display(both)

    def _ipython_display_(self) -> None:
        """It is on the page already."""


def spec(figure: go.Figure) -> str:
    """What the page gets; the same uirevision tells plotly.js to keep the reader's zoom and camera."""
    content = json.loads(figure.to_json())
    content["layout"].setdefault("uirevision", "kept")
    return json.dumps(content, separators=(",", ":"))


@cache
def library() -> Any:
    """The carrier of plotly.js, one for the kernel."""
    import anywidget
    import traitlets
    from plotly.offline import get_plotlyjs

    class Library(anywidget.AnyWidget):  # type: ignore[misc]
        """Code that figures fetch from here."""

        _esm = "export default {}"
        code = traitlets.Unicode().tag(sync=True)

    return Library(code=get_plotlyjs())


@cache
def view_class() -> Any:
    """The widget of one figure; made when first used, so that importing this module needs no Jupyter."""
    import anywidget
    import ipywidgets as widgets
    import traitlets

    class FigureView(anywidget.AnyWidget):  # type: ignore[misc]
        """A figure, drawn by `web/figure.js`."""

        _esm = joined("figure.js")
        spec = traitlets.Unicode().tag(sync=True)
        library = traitlets.Instance(anywidget.AnyWidget).tag(sync=True, **widgets.widget_serialization)

    return FigureView
