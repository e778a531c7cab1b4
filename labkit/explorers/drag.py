"""Explorers whose items are dragged. They run in the page alone, in JupyterLab as in the book, and need no kernel; a
built notebook holds a still picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from labkit.base.mode import mode
from labkit.explorers.hosts import DRAG, book_html
from labkit.figures.display import caption, display_html, picture
from labkit.figures.static import small_multiples

# the losses of the running picture, in the order of the course
COURSE = ("recall@k", "Smooth-AP", "RS@k", "PNP-O", "PNP-I_b", "PNP-D_s", "PNP-D_q", "ProxyAnchor")


def show_drag(
    values: Mapping[str, Any],
    still: Callable[[], Sequence[Any]],
    titles: Sequence[str],
    alt: str,
    beneath: str = "",
    data: Mapping[str, bytes] | None = None,
) -> None:
    """Show a dragged explorer. values: its kind (web/drag/book.js) and what that kind begins with.

    still: draws the figures of the still picture, under their titles; alt: what the explorer shows; beneath: what the
    still picture adds; data: values that are bytes.
    """
    if mode() == "book":
        display_html(book_html(DRAG, [values], [data or {}]) + caption(alt))
        return
    from IPython.display import display

    drawn = picture(small_multiples(still(), titles), f"{alt} {beneath}".strip(), few_colors=True)
    if mode() == "notebook":
        display(drawn)
        return
    instead = f"{drawn.data}<p><i>Run this cell to make it live.</i></p>"
    display_html(book_html(DRAG, [values], [data or {}], instead) + caption(alt))


def who_is_pulled(
    loss: str, menu: Sequence[str] = COURSE, *, curves: bool = False, tau: float = 0.02, k: int = 2
) -> None:
    """The one running picture of the course: a query's gallery on the axis of similarity under a loss of the menu."""
    from labkit.figures.lessons.recall_at_k import GALLERY, moved_gallery

    items = [{"name": name, "s": s, "positive": positive} for name, (s, positive) in GALLERY.items()]
    settings = {"tau": tau, "k": k}
    values = {"kind": "strip", "items": items, "loss": loss, "menu": list(menu), "settings": settings, "curves": curves}
    alt = (
        "One query's gallery of eight items on the axis of similarity: three positives (discs, +) and five negatives "
        "(squares, −). Drag an item, or move it with the arrow keys. Arrows show where the loss pulls each item, "
        "bars what the metrics say."
    )
    beneath = (
        "The still picture has RS@k: the positive P2 moves from 0.55 to 0.62 and to 0.66. At 0.62 no rank has changed, "
        "so recall@k stays, but rs@4 has risen. At 0.66 P2 has passed N3, and recall@4 jumps."
    )
    places = (0.55, 0.62, 0.66)
    titles = [f"P2 at {place}" for place in places]
    show_drag(values, lambda: [moved_gallery("P2", place, 1.0, 0.01) for place in places], titles, alt, beneath)
