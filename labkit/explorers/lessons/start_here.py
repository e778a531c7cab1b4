"""A retrieval to play with: choose a query and a way of comparing, see what is found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from labkit.base.mode import mode
from labkit.explorers.drag import show_drag
from labkit.explorers.sliders import Control, Explorer, book_html
from labkit.figures.display import caption, display_html, picture
from labkit.figures.lessons.start_here import ITEMS, MARGIN, on_the_circle
from labkit.figures.retrieval import page, retrieved
from labkit.training.galleries import Gallery

VENDOR = "twemoji"
QUERIES = (
    "panda",
    "dog-face",
    "tiger-face",
    "eagle",
    "fish",
    "red-apple",
    "melon",
    "sushi",
    "cheese-wedge",
    "taxi",
    "minibus",
    "helicopter",
    "three-oclock",
    "five-thirty",
    "smirking-face",
    "grimacing-face",
    "crying-cat",
    "ghost",
    "blue-heart",
    "rainbow",
    "guitar",
    "scissors",
    "bell",
    "warning",
)


def explore_retrieval(
    gallery: Gallery, still: Sequence[str] = ("panda", "five-thirty"), start: str = "panda"
) -> Explorer | None:
    """Show the explorer and, beneath, a still page of two queries; returns the live form, None where there is none."""
    from IPython.display import display

    items = query_items(gallery)
    ways = tuple(gallery.ways)
    controls = [
        Control("query", "query emoji", tuple(items), start, menu=True),
        Control("way", "compared by", ways, ways[-1], menu=True),
    ]

    def draw(query: str, way: str) -> Any:
        return retrieved(gallery, items[query], way)

    live = None
    if mode() == "live":
        live = Explorer(draw, controls)
        live.show()
    alt = (
        f"Queries {' and '.join(still)}, drawn by {VENDOR}, and the ten nearest drawings of unseen emoji, "
        f"compared by {', by '.join(ways)}. "
        "Drawings of the same emoji have ✓ and a solid frame, others ✗ and a dashed one."
    )
    if mode() == "book":
        display_html(book_html(draw, controls) + caption(alt))
    else:
        display(picture(page(gallery, [items[name] for name in still]), alt, few_colors=True))
    return live


def query_items(gallery: Gallery) -> dict[str, int]:
    """The queries to choose from, by the name of the emoji: all drawn by one vendor."""
    drawn = {name: i for i, (name, vendor) in enumerate(zip(gallery.names, gallery.vendors)) if vendor == VENDOR}
    return {name: drawn[name] for name in QUERIES if name in drawn}


def explore_circle(query: float = 38.0) -> None:
    """Drag the query, or an item, round the circle. The still picture: the query at three angles."""
    items = [{"angle": angle, "positive": positive} for angle, positive in ITEMS]
    values = {"kind": "circle", "items": items, "query": query, "margin": MARGIN}
    angles = (30.0, 38.0, 42.0)
    alt = (
        "A query (q) and five items on a quarter of the circle: two positives (discs, +), three negatives (squares). "
        "Drag any of them, or move it with the arrow keys: R@1 and average precision jump, the pair loss slides."
    )
    beneath = (
        "The still picture has the query at 30, 38 and 42 degrees. From 30 to 38 no metric changes and the loss falls; "
        "from 38 to 42 the loss falls a little more and R@1 drops from 1 to 0."
    )
    titles = [f"query at {angle:g}°" for angle in angles]
    show_drag(values, lambda: [on_the_circle(angle) for angle in angles], titles, alt, beneath)
