"""Samples of an explorer as a grid of small pictures in a page, each marked by whether it is right."""

from __future__ import annotations

from collections.abc import Sequence

from labkit.base.words import RIGHT, WRONG
from labkit.explorers.embedding.data import ExplorerData
from labkit.figures.retrieval_grid import Cell, row_html


def picture_grid(data: ExplorerData, rows: Sequence[int], same: Sequence[bool], meaning: tuple[str, str]) -> str:
    """Some points as HTML: picture, ✓ and a solid frame or ✗ and a dashed one, the class; the id is under the cursor.

    meaning: what ✓ and what ✗ says.
    """
    try:
        shown = data.sheet.pictures([int(data.cells[row]) for row in rows])
    except OSError:  # a damaged sheet: the points still have their words
        shown = [""] * len(rows)
    cells = [
        Cell(
            RIGHT if right else WRONG,
            data.classes[data.labels[row]],
            data.ids[row],
            meaning[0] if right else meaning[1],
            picture=picture,
        )
        for row, right, picture in zip(rows, same, shown)
    ]
    return row_html(cells, "Selected samples")
