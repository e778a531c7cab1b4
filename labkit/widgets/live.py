"""A figure on a live page, drawn anew in place.

JupyterLab's own plotly renderer draws it: loaded once a page, it keeps zoom and camera between drawings. A FigureWidget
would send all of plotly.js, 5 MB, with every figure, and stays blank where that takes longer than two seconds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import plotly.graph_objects as go

MIME = "application/vnd.plotly.v1+json"


class LiveFigure:
    """The figure that is on the page now."""

    def __init__(self, figure: go.Figure) -> None:
        """Not on the page yet."""
        self.figure = figure
        self.handle: Any = None

    def show(self) -> None:
        """Put it on the page, beneath what the cell has shown so far."""
        from IPython.display import display

        self.handle = display(bundle(self.figure), raw=True, display_id=True)

    def draw(self, figure: go.Figure) -> None:
        """Show another figure in its place."""
        self.figure = figure
        if self.handle is not None:
            self.handle.update(bundle(figure), raw=True)


class Shell:
    """Controls (`box`) with a live figure beneath; a shell sets both."""

    box: Any
    live: LiveFigure

    @property
    def figure(self) -> go.Figure:
        """What is drawn now."""
        return self.live.figure

    def show(self) -> None:
        """Put controls and figure on the page."""
        from IPython.display import display

        display(self.box)
        self.live.show()

    def _ipython_display_(self) -> None:
        """It is on the page already."""


def bundle(figure: go.Figure) -> dict[str, Any]:
    """What the page gets; the same uirevision tells plotly.js to keep the reader's view."""
    content = json.loads(figure.to_json())
    content["layout"].setdefault("uirevision", "kept")
    content["config"] = {"displaylogo": False, "responsive": True}
    title = (content["layout"].get("title") or {}).get("text") or "figure"
    return {MIME: content, "text/plain": f"[{title}]"}
