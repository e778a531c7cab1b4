"""One look for every figure: colours that colour-blind readers can tell apart, always with a second cue beside them.

Backgrounds are transparent and text is a grey that reads on white and on black alike, so that one figure serves light
and dark pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.base.words import RIGHT, WRONG

if TYPE_CHECKING:
    import plotly.graph_objects as go

# Okabe and Ito's set without its yellow, which is lost on white; order: neighbours differ in lightness, too
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#7F7F7F")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot", "solid")
MARKERS = ("circle", "square", "diamond", "cross", "triangle-up", "x", "star")
TEXT = "#767676"  # contrast 4.5 on white, 4.6 on black
GRID = "rgba(128, 128, 128, 0.25)"
GOOD, BAD = COLORS[0], COLORS[1]  # blue and orange, never without ✓ and ✗
QUERY = "query"
FRAMES = {QUERY: (TEXT, "dot"), RIGHT: (GOOD, "solid"), WRONG: (BAD, "dash")}  # of a picture: colour and line
SEQUENTIAL = "Cividis"
FONT_SIZE = 14


def line(number: int, **changes: Any) -> dict[str, Any]:
    """The number-th line: its colour and its dash."""
    n = number % len(COLORS)
    return {"color": COLORS[n], "dash": DASHES[n], "width": 2.5} | changes


def marker(number: int, **changes: Any) -> dict[str, Any]:
    """The number-th kind of point: its colour and its shape."""
    n = number % len(COLORS)
    return {"color": COLORS[n], "symbol": MARKERS[n], "size": 9} | changes


def figure(*traces: Any, x: str = "", y: str = "", title: str = "", height: int = 380, **layout: Any) -> go.Figure:
    """A plotly figure in this style; x and y are the axes' titles, with units."""
    import plotly.graph_objects as go

    axis = {"gridcolor": GRID, "zerolinecolor": GRID, "linecolor": GRID, "ticks": "outside", "tickcolor": GRID}
    fig = go.Figure(data=list(traces))
    fig.update_layout(
        template="none",
        height=height,
        title={"text": title, "x": 0.0, "xref": "container", "pad": {"l": 10}, "font": {"size": FONT_SIZE + 2}},
        font={"size": FONT_SIZE, "color": TEXT},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        margin={"l": 76, "r": 20, "t": 50 if title else 20, "b": 66},
        legend={"orientation": "v", "x": 1.02, "y": 1, "xanchor": "left", "bgcolor": "rgba(0,0,0,0)"},
        xaxis=axis | {"title": {"text": x}},
        yaxis=axis | {"title": {"text": y}},
        colorway=list(COLORS),
        hoverlabel={"font": {"size": FONT_SIZE}},
    )
    fig.update_layout(**layout)
    return fig
