"""A query and what is found for it, as pictures: emoji that no network has seen, compared in several ways."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from labkit.base.words import RIGHT, WRONG, shortened
from labkit.figures import style
from labkit.figures.static_traces import LINES
from labkit.training.galleries import SHOWN, Gallery, find

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure
    from torch import Tensor

    Box = tuple[float, float]

SIDE, WIDE, HIGH = 48, 66, 82  # pixels of a picture, and of the place it has
LONGEST = 14  # letters of a name beneath a picture


def retrieved(gallery: Gallery, query: int, way: str) -> go.Figure:
    """The query on the left, its ten nearest drawings beside it; ✓ and a solid frame, or ✗ and a dashed one."""
    import plotly.graph_objects as go

    found = find(gallery, way, query)
    corners = [(0.0, HIGH / 2)] + [(WIDE * (1.4 + i % 5), HIGH * (i // 5)) for i in range(SHOWN)]
    items = [query, *found.order.tolist()]
    names = ["query"] + [
        f"{i + 1} {RIGHT if hit else WRONG}<br>{shortened(gallery.names[item], LONGEST)}"
        for i, (item, hit) in enumerate(zip(items[1:], found.hit))
    ]
    hover = ["query: " + gallery.title(query)]
    hover += [f"{gallery.title(item)}, similarity {s:.3f}" for item, s in zip(items[1:], found.similarity)]
    hits = [corner for corner, hit in zip(corners[1:], found.hit) if hit]
    misses = [corner for corner, hit in zip(corners[1:], found.hit) if not hit]
    fig = style.figure(
        go.Image(source=montage([gallery.images[i] for i in items], corners), zsmooth="fast", hoverinfo="skip"),
        frames([corners[0]], style.QUERY, "query"),
        frames(hits, RIGHT, "✓ the same emoji"),
        frames(misses, WRONG, "✗ another emoji"),
        go.Scatter(
            x=[x + SIDE / 2 for x, _ in corners],
            y=[y + SIDE + 13 for _, y in corners],
            mode="text",
            text=names,
            textfont={"size": 12},
            hoverinfo="skip",
            showlegend=False,
            cliponaxis=False,
        ),
        go.Scatter(
            x=[x + SIDE / 2 for x, _ in corners],
            y=[y + SIDE / 2 for _, y in corners],
            mode="markers",
            marker={"size": 50, "opacity": 0, "symbol": "square"},
            hovertext=hover,
            hoverinfo="text",
            showlegend=False,
        ),
        title=found.told(),
        height=430,
    )
    fig.update_xaxes(range=[-6, WIDE * 6.3], visible=False, constrain="domain")
    fig.update_yaxes(range=[2 * HIGH + 2, -6], visible=False, scaleanchor="x", constrain="domain")
    fig.update_layout(
        margin={"l": 10, "r": 10, "t": 46, "b": 10}, legend={"orientation": "h", "x": 0, "y": 0, "yanchor": "top"}
    )
    return fig


def frames(corners: Sequence[Box], mark: str, name: str) -> go.Scatter:
    """Squares round some pictures, as one line with gaps."""
    import plotly.graph_objects as go

    x: list[float | None] = []
    y: list[float | None] = []
    for left, top in corners:
        right, bottom = left + SIDE, top + SIDE
        x += [left, right, right, left, left, None]
        y += [top, top, bottom, bottom, top, None]
    color, dash = style.FRAMES[mark]
    line = {"color": color, "dash": dash, "width": 3}
    return go.Scatter(x=x or [None], y=y or [None], mode="lines", name=name, line=line, hoverinfo="skip")


def montage(pictures: Sequence[Tensor], corners: Sequence[Box]) -> str:
    """Pictures at their places on a clear ground, few colours, as a PNG address."""
    from PIL import Image

    width, height = (round(max(c[i] for c in corners)) + SIDE for i in (0, 1))
    page = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    for picture, (left, top) in zip(pictures, corners):
        page.paste(Image.fromarray(picture.permute(1, 2, 0).numpy()), (round(left), round(top)))
    buffer = io.BytesIO()
    page.quantize(96).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def page(gallery: Gallery, queries: Sequence[int]) -> Figure:
    """The still twin: for each query a row for each way of comparing, the query first."""
    from matplotlib.figure import Figure

    rows = [(query, way) for query in queries for way in gallery.ways]
    fig = Figure(figsize=(10.4, 1.42 * len(rows)), dpi=80, facecolor="white")
    grid = fig.add_gridspec(
        len(rows), SHOWN + 1, left=0.01, right=0.99, top=1 - 0.3 / len(rows), bottom=0.02, hspace=0.75, wspace=0.12
    )
    for row, (query, way) in enumerate(rows):
        found = find(gallery, way, query)
        for column, item in enumerate([query, *found.order.tolist()]):
            axes = fig.add_subplot(grid[row, column])
            axes.imshow(gallery.images[item].permute(1, 2, 0).numpy())
            axes.set_xticks([])
            axes.set_yticks([])
            mark = style.QUERY if column == 0 else RIGHT if found.hit[column - 1] else WRONG
            color, dash = style.FRAMES[mark]
            for spine in axes.spines.values():
                spine.set(color=color, linestyle=LINES[dash], linewidth=2.2)
            axes.set_xlabel(f"{column} {mark}" if column else "query", fontsize=9, labelpad=2)
            if column == 0:
                axes.set_title(f"{way}: {found.told()}", fontsize=10, loc="left", pad=5)
    return fig
