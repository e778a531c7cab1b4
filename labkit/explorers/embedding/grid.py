"""Samples as a grid of small pictures in a page: escaped words, a frame and a sign that tell right from wrong."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from labkit.explorers.embedding.data import ExplorerData
from labkit.explorers.embedding.sheet import Sheet
from labkit.figures.style import BAD, GOOD

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 56  # pixels of a picture on the page
STYLE = f"""
.labkit-grid {{ display: flex; flex-wrap: wrap; gap: 8px; }}
.labkit-grid figure {{ margin: 0; width: {SIDE + 14}px; padding: 4px; border: 2px solid #8a8a8a; border-radius: 6px;
  font-size: 12px; line-height: 1.3; text-align: center; }}
.labkit-grid figure.same {{ border-color: {GOOD}; }}
.labkit-grid figure.other {{ border: 2px dashed {BAD}; }}
.labkit-grid i {{ display: block; width: {SIDE}px; height: {SIDE}px; margin: 0 auto 2px; border-radius: 3px; }}
.labkit-grid span {{ display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }}
"""


def picture_grid(
    data: ExplorerData, rows: Sequence[int], same: Sequence[bool], notes: Sequence[str], meaning: tuple[str, str]
) -> str:
    """Some points as HTML: picture, ✓ and a solid frame or ✗ and a dashed one, a note, the class; the id as its title.

    meaning: what ✓ and what ✗ says, for those who hear the page.
    """
    content, places = strip_of(data, rows)
    own = f"labkit-{sha256(content).hexdigest()[:12]}"  # a page has several grids, each with pictures of its own
    address = base64.b64encode(content).decode()
    image = f"url(data:image/webp;base64,{address}) 0 0 / auto {SIDE}px no-repeat" if content else "none"
    figures = []
    for place, row, right, note in zip(places, rows, same, notes):
        name, known = escape(data.classes[data.labels[row]]), escape(data.ids[row])
        words = f"{name}, {known}, {escape(meaning[0] if right else meaning[1])}"
        picture = "" if place is None else f'<i style="background-position: {-place * SIDE}px 0"></i>'
        mark = f"{'✓' if right else '✗'} {escape(note)}".strip()
        figures.append(
            f'<figure class="{"same" if right else "other"}" role="img" aria-label="{words}" title="{words}" '
            f'data-id="{known}">{picture}<span>{mark}</span><span>{name}</span></figure>'
        )
    style = f"{STYLE}.{own} i {{ background: {image}; }}"
    return f'<div class="labkit-grid {own}"><style>{style}</style>{"".join(figures)}</div>'


def strip_of(data: ExplorerData, rows: Sequence[int]) -> tuple[bytes, list[int | None]]:
    """The pictures of some points side by side in one small file, and each one's place there; b"" if there are none."""
    cells = sorted({int(data.cells[row]) for row in rows} - {-1})
    place = {cell: number for number, cell in enumerate(cells)}
    try:
        content = strip(data.sheet, tuple(cells)) if cells else b""
    except OSError:  # a damaged sheet: the points still have their words
        content, place = b"", {}
    return content, [place.get(int(data.cells[row])) for row in rows]


@lru_cache(maxsize=64)
def strip(sheet: Sheet, cells: tuple[int, ...]) -> bytes:
    """Some cells of a sheet in one row, as WebP."""
    from PIL import Image

    whole, size = decoded(sheet), sheet.size
    made = Image.new("RGB", (len(cells) * size, size), "white")
    for number, cell in enumerate(cells):
        made.paste(whole.crop(sheet.box(cell)), (number * size, 0))
    buffer = io.BytesIO()
    made.save(buffer, "WEBP", quality=85)
    return buffer.getvalue()


@lru_cache(maxsize=4)
def decoded(sheet: Sheet) -> Image:
    """The sheet's pixels: decoding a large one takes longer than cutting from it."""
    return sheet.open()
