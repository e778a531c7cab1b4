"""A row of pictures as HTML, each marked ✓ or ✗; and the ranks of all positives of a query."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labkit.base.words import RIGHT, WRONG, shortened
from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

SIDE = 64  # pixels of a picture on the page
LONGEST = 30  # letters of a name in the page; the whole of it is under the cursor
CSS = {"dot": "dotted", "solid": "solid", "dash": "dashed"}
KINDS = {style.QUERY: "query", RIGHT: "same", WRONG: "other"}  # classes in the page


@dataclass(frozen=True)
class Cell:
    """One item of a row. mark: a key of style.FRAMES; id: of the sample; detail: what else is under the cursor.

    place: before the mark, beneath the picture; picture: its address, "" if there is none.
    """

    mark: str
    name: str
    id: str
    detail: str = ""
    place: str = ""
    picture: str = ""


def row_html(cells: Sequence[Cell], label: str) -> str:
    """The cells from left to right; ✓ with a solid frame, ✗ with a dashed one (PNP Fig. 7). All texts are escaped."""
    inside = "".join(cell_html(cell) for cell in cells)
    return (
        f'<div class="labkit-grid" role="list" aria-label="{html.escape(label)}" '
        f'style="display:flex;flex-wrap:wrap;gap:0.5rem;padding:0.2rem 0">{inside}</div>'
    )


def cell_html(cell: Cell) -> str:
    """A framed picture, or the name in a frame, with its place and mark beneath."""
    color, dash = style.FRAMES[cell.mark]
    frame = f"border:3px {CSS[dash]} {color};border-radius:4px;box-sizing:border-box;"
    frame += f"width:{SIDE + 6}px;height:{SIDE + 6}px"
    name = html.escape(shortened(cell.name, LONGEST))
    told = html.escape(", ".join(filter(None, (cell.name, cell.id, cell.detail))))
    if cell.picture:
        shown = (
            f'<img src="{html.escape(cell.picture)}" alt="{cell.mark}, {told}" '
            f'style="{frame};display:block;margin:0 auto">'
        )
    else:
        shown = f'<div style="{frame};margin:0 auto;overflow:hidden;font-size:0.8rem;line-height:1.2">{name}</div>'
    words = "<b>query</b>" if cell.mark == style.QUERY else f"{html.escape(cell.place)} {cell.mark}".strip()
    beneath = f"<br>{name}" if cell.picture else ""
    return (
        f'<div class="{KINDS[cell.mark]}" role="listitem" title="{told}" data-id="{html.escape(cell.id)}" '
        f'style="width:{SIDE + 10}px;text-align:center;overflow-wrap:anywhere;font-size:0.75rem;line-height:1.25">'
        f"{shown}{words}{beneath}</div>"
    )


def positive_ranks(ranks: Mapping[str, Sequence[int]], others: int) -> go.Figure:
    """The rank of every positive of one query among `others` points, a row a run; ranks on a log scale."""
    import plotly.graph_objects as go

    rows = list(ranks)
    traces = [
        go.Scatter(
            x=list(ranks[name]),
            y=[number] * len(ranks[name]),
            mode="markers",
            showlegend=False,
            name="",
            marker=style.marker(number, size=12, opacity=0.7),
            hovertemplate="rank %{x}<extra></extra>",
        )
        for number, name in enumerate(rows)
    ]
    fig = style.figure(*traces, x="rank of a positive (1 is the top)", height=130 + 55 * len(rows))
    ticks = [tick for tick in (1, 3, 10, 30, 100, 300, 1000, 3000) if tick <= max(3, others)]
    right = math.log10(max(2, others)) + 0.05
    fig.update_xaxes(type="log", range=[-0.05, right], tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    fig.update_yaxes(range=[len(rows) - 0.5, -0.7], visible=False)
    for number, name in enumerate(rows):  # above its points: beside them it would take half of a narrow window
        fig.add_annotation(
            text=html.escape(shortened(name, 44)),
            x=0,
            xref="paper",
            xanchor="left",
            y=number - 0.2,
            yanchor="bottom",
            showarrow=False,
            font={"size": 12, "color": "#808080"},
        )
    return fig.update_layout(margin={"l": 10, "r": 10})
