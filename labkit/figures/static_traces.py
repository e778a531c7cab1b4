"""Plotly's traces drawn by matplotlib, one function a kind: lines and points, bars, heat maps, surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labkit.figures.style import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES = {
    "solid": "-",
    "dash": "--",
    "dot": ":",
    "dashdot": "-.",
    "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 2, 3)),
}
SHAPES = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "cross": "P",
    "triangle-up": "^",
    "triangle-down": "v",
    "x": "X",
    "star": "*",
    "circle-open": "o",
    "line-ns": "|",
    "triangle-left": "<",
    "triangle-right": ">",
}
TEXT = "#333333"


def scatter(axes: Axes, trace: Any, position: int) -> Any:
    """Lines, points or both."""
    mode = trace.mode or "lines"
    color = first(trace.line.color, COLORS[position % len(COLORS)])
    handle: Any = None
    if "lines" in mode:
        style = LINES.get(trace.line.dash or "solid", "-")
        width = 0.7 * (trace.line.width or 2)
        looks = {"color": color, "linestyle": style, "linewidth": width, "alpha": trace.opacity or 1}
        (handle,) = axes.plot(trace.x, trace.y, **looks, solid_capstyle="butt")  # a broad line ends where it says
        if trace.fill == "tozeroy":
            axes.fill_between(trace.x, trace.y, color=color, alpha=0.3, linewidth=0)
    if "markers" in mode:
        shapes = axes.scatter(trace.x, trace.y, **points(trace, position))
        handle = shapes if handle is None else (handle, shapes)
        for error in ("error_x", "error_y"):
            if trace[error].array is not None:
                below = trace[error].arrayminus if trace[error].symmetric is False else trace[error].array
                bars: dict[str, Any] = {error.replace("error_", "") + "err": [below, trace[error].array]}
                axes.errorbar(trace.x, trace.y, **bars, fmt="none", ecolor=trace[error].color or color, capsize=3)
    return handle


def scatter3d(axes: Any, trace: Any, position: int) -> Any:
    """Points, lines or words in space."""
    mode = trace.mode or "markers"
    if "text" in mode:
        for *place, text in zip(trace.x, trace.y, trace.z, trace.text):
            axes.text(*place, plain(str(text)), fontsize=7, color=TEXT, ha="center", va="center")
    if "lines" in mode:
        color = first(trace.line.color, COLORS[position % len(COLORS)])
        width = 0.5 * (trace.line.width or 2)
        axes.plot(*blanked(trace.x, trace.y, trace.z), color=color, linewidth=width, alpha=trace.opacity or 1)
    if "markers" in mode:
        return axes.scatter(trace.x, trace.y, trace.z, **points(trace, position), depthshade=False)
    return None


def blanked(*axes: Any) -> list[list[float]]:
    """Coordinates with a gap (NaN) where a line is broken (None)."""
    return [[float("nan") if value is None else value for value in values] for values in axes]


def points(trace: Any, position: int) -> dict[str, Any]:
    """How markers look: one colour, or one for each point."""
    symbol, size, color = trace.marker.symbol, trace.marker.size, trace.marker.color
    shape = SHAPES.get(symbol if isinstance(symbol, str) else "circle", "o")
    side = float(size) if isinstance(size, int | float) else 6.0
    colors = COLORS[position % len(COLORS)] if color is None else color
    return {
        "c": colors,
        "marker": shape,
        "s": (0.75 * side) ** 2,
        "alpha": trace.marker.opacity or 0.9,
        "linewidths": 0,
    }


def bar(axes: Axes, trace: Any, position: int) -> Any:
    """Bars, upright or lying."""
    color = trace.marker.color if trace.marker.color is not None else COLORS[position % len(COLORS)]
    bars = (
        axes.barh(trace.y, trace.x, color=color)
        if trace.orientation == "h"
        else axes.bar(trace.x, trace.y, color=color)
    )
    if trace.text is not None:
        axes.bar_label(bars, [plain(str(text)) for text in trace.text], fontsize=7, color=TEXT, padding=2)
    return bars


def heatmap(axes: Axes, trace: Any, position: int) -> None:
    """A matrix of colours, with names along its sides and numbers in it where the figure has them."""
    import numpy as np

    z = np.asarray(trace.z, dtype=float)
    drawn = axes.imshow(z, cmap="cividis", aspect="auto", origin="upper", vmin=trace.zmin, vmax=trace.zmax)
    for name, values in (("x", trace.x), ("y", trace.y)):
        if values is not None and all(isinstance(value, str) for value in values):
            names = [plain(value) for value in values]
            turned = {"rotation": 30, "ha": "right"} if name == "x" and sum(map(len, names)) > 24 else {}
            getattr(axes, f"set_{name}ticks")(range(len(names)), names, **turned)
    if trace.texttemplate:
        light = np.asarray(drawn.norm(z), dtype=float) > 0.5
        for (row, column), value in np.ndenumerate(z):
            color = "black" if light[row, column] else "white"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8, color=color)


def surface(axes: Any, trace: Any, position: int) -> None:
    """A faint wire frame: only the sphere that points lie on is drawn so."""
    axes.plot_wireframe(trace.x, trace.y, trace.z, color="#bbbbbb", linewidth=0.3, rcount=12, ccount=24)


def first(color: Any, otherwise: str) -> Any:
    """A colour if one is set."""
    return otherwise if color is None else color


def plain(text: str) -> str:
    """Plotly's small HTML as text."""
    for tag, mark in (("<br>", "\n"), ("<b>", ""), ("</b>", ""), ("<i>", ""), ("</i>", "")):
        text = text.replace(tag, mark)
    return text


DRAW: dict[str, Any] = {
    "scatter": scatter,
    "scattergl": scatter,
    "scatter3d": scatter3d,
    "bar": bar,
    "heatmap": heatmap,
    "surface": surface,
}
