"""A query and what several runs find for it: pictures in a row of HTML, and the ranks of all positives."""

from __future__ import annotations

import base64
import html
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labkit.figures import style

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from PIL.Image import Image

    from labkit.explorers.embedding.sheet import Sheet

SIDE = 64  # pixels of a picture on the page
LONGEST = 30  # letters of a name in the page; the whole of it is under the cursor
FRAMES = {
    "query": f"3px dotted {style.TEXT}",
    "✓": f"3px solid {style.GOOD}",
    "✗": f"3px dashed {style.BAD}",
}


@dataclass(frozen=True)
class Cell:
    """One item of a row. mark: a key of FRAMES; picture: its address, "" if there is none."""

    mark: str
    place: str
    name: str
    detail: str
    picture: str = ""


def addresses(sheet: Sheet, decoded: Image, cells: Sequence[int]) -> list[str]:
    """Pictures of a sprite sheet as PNG addresses; "" for a cell of -1."""
    found = []
    for cell in cells:
        if cell < 0:
            found.append("")
            continue
        buffer = io.BytesIO()
        decoded.crop(sheet.box(cell)).save(buffer, "PNG")
        found.append("data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode())
    return found


def row_html(cells: Sequence[Cell], label: str) -> str:
    """The cells from left to right; ✓ with a solid frame, ✗ with a dashed one (PNP Fig. 7). All texts are escaped."""
    inside = "".join(cell_html(cell) for cell in cells)
    return (
        f'<div role="list" aria-label="{html.escape(label)}" '
        f'style="display:flex;flex-wrap:wrap;gap:0.5rem;padding:0.2rem 0">{inside}</div>'
    )


def cell_html(cell: Cell) -> str:
    """A framed picture, or the name in a frame, with its place and mark beneath."""
    frame = f"border:{FRAMES[cell.mark]};border-radius:4px;box-sizing:border-box;width:{SIDE + 6}px;height:{SIDE + 6}px"
    name = html.escape(short(cell.name))
    told = html.escape(f"{cell.mark}, {cell.name}, {cell.detail}" if cell.place else f"query, {cell.name}")
    if cell.picture:
        shown = f'<img src="{html.escape(cell.picture)}" alt="{told}" style="{frame};display:block;margin:0 auto">'
    else:
        shown = f'<div style="{frame};margin:0 auto;overflow:hidden;font-size:0.8rem;line-height:1.2">{name}</div>'
    words = f"{html.escape(cell.place)} {cell.mark}" if cell.place else "<b>query</b>"
    beneath = f"<br>{name}" if cell.picture else ""
    return (
        f'<div role="listitem" title="{html.escape(cell.name)}, {html.escape(cell.detail)}" '
        f'style="width:{SIDE + 10}px;text-align:center;overflow-wrap:anywhere;font-size:0.75rem;line-height:1.25">'
        f"{shown}{words}{beneath}</div>"
    )


def short(name: str) -> str:
    """A name that fits beneath a picture."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


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
    fig = style.figure(*traces, x="rank of a positive (log scale; 1 is the top)", height=130 + 45 * len(rows))
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000) if tick <= max(2, others)]
    right = math.log10(max(2, others)) + 0.05
    fig.update_xaxes(type="log", range=[-0.05, right], tickvals=ticks, ticktext=[f"{tick:,}" for tick in ticks])
    names = [html.escape(short(name)) for name in rows]
    fig.update_yaxes(
        range=[len(rows) - 0.5, -0.5], tickvals=list(range(len(rows))), ticktext=names, automargin=True, zeroline=False
    )
    return fig
