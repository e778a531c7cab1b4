"""The embedding explorer in lessons: alive in JupyterLab and in the book, a picture in a built notebook."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from labkit.base.mode import mode
from labkit.explorers.embedding.data import ExplorerData, explorer_data, nearest, with_neighbours
from labkit.explorers.embedding.picture import still
from labkit.explorers.hosts import EMBEDDING, book_html
from labkit.figures.display import caption, display_html, picture

if TYPE_CHECKING:
    from labkit.runs.run import Run

BOOK_POINTS = 1_500
BOOK_SHEET = 400_000  # bytes
HEIGHT = 460  # pixels


def explore_embeddings(
    run: Run | str, projection: str = "pca", compare: Run | str | None = None, *, alt: str | None = None
) -> EmbeddingExplorer | None:
    """Show the embeddings of a run, beside those of another one if `compare` names it; both select the same samples.

    Returns the live explorer, whose `selected` can be read and set; None while notebooks or the book are built.
    """
    limits: dict[str, Any] = {} if mode() == "live" else {"limit": BOOK_POINTS, "sheet_limit": BOOK_SHEET}
    panels = [explorer_data(one, projection, **limits) for one in (run, compare) if one is not None]
    words = alt or describe(panels)
    if mode() == "notebook":
        from IPython.display import display

        display(picture(still(panels), words, few_colors=True))
        return None
    if mode() == "book":
        display_html(book_page(panels) + caption(words))
        return None
    explorer = EmbeddingExplorer(panels)
    explorer.show(words)
    return explorer


def describe(panels: Sequence[ExplorerData]) -> str:
    """What is to be seen, for those who see no figure."""
    return " Beside it: ".join(
        f"{data.subtitle} of the run {data.title}: every point is the embedding of a sample; similar ones lie close "
        "together."
        for data in panels
    )


class EmbeddingExplorer:
    """The live form: one widget, or two whose selections are one."""

    def __init__(self, panels: Sequence[ExplorerData], height: int = HEIGHT) -> None:
        """Build the widgets and link them."""
        import ipywidgets
        import traitlets

        group = uuid4().hex if len(panels) > 1 else ""
        self.panels = list(panels)
        self.widgets = [widget_class()(data, group=group, height=height) for data in panels]
        for other in self.widgets[1:]:
            traitlets.link((self.widgets[0], "selected"), (other, "selected"))
        columns = " ".join(["minmax(0, 1fr)"] * len(panels))
        self.box = ipywidgets.GridBox(
            self.widgets, layout=ipywidgets.Layout(grid_template_columns=columns, grid_gap="16px", width="auto")
        )

    @property
    def selected(self) -> list[str]:
        """The ids that are selected."""
        return list(self.widgets[0].selected)

    @selected.setter
    def selected(self, ids: Sequence[str]) -> None:
        """Select samples by their ids."""
        self.widgets[0].selected = list(ids)

    def show(self, words: str) -> None:
        """Put it on the page, with its description beneath."""
        from IPython.display import display

        display(self.box)
        display_html(caption(words))

    def _ipython_display_(self) -> None:
        """It is on the page already."""


@cache
def widget_class() -> Any:
    """The anywidget, made when first asked for: building notebooks and tests of the data need no widgets."""
    import anywidget
    import traitlets

    class EmbeddingWidget(anywidget.AnyWidget):  # type: ignore[misc]
        """One explorer. `selected` holds ids, `lasso` the corners of the last lasso in data coordinates."""

        _esm = EMBEDDING.module("jupyter")
        _css = EMBEDDING.css
        points = traitlets.Bytes().tag(sync=True)
        sheet = traitlets.Bytes().tag(sync=True)
        selected = traitlets.List(traitlets.Unicode()).tag(sync=True)
        lasso: Any = traitlets.List().tag(sync=True)
        near = traitlets.Dict().tag(sync=True)
        group = traitlets.Unicode().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)

        def __init__(self, data: ExplorerData, **values: Any) -> None:
            """Send the points once; what is near is computed when somebody selects a point."""
            self.data = data
            super().__init__(points=data.packed, sheet=data.sheet.data, **values)
            self.observe(self.answer, "selected")

        def answer(self, change: Any) -> None:
            """The neighbours of a point that was selected alone."""
            chosen = change["new"]
            self.near = nearest(self.data, chosen[0]) if len(chosen) == 1 else {}

    return EmbeddingWidget


def book_page(panels: Sequence[ExplorerData], height: int = HEIGHT) -> str:
    """The explorers for a page without Python: each with the neighbours of all its points."""
    group = uuid4().hex if len(panels) > 1 else ""
    values = {"selected": [], "near": {}, "group": group, "height": height}
    data = [{"points": with_neighbours(panel).packed, "sheet": panel.sheet.data} for panel in panels]
    return book_html(EMBEDDING, [values] * len(panels), data)
