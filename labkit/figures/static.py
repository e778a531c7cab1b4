"""The static twin of an interactive figure: the same figure at a few settings, side by side, as a picture.

GitHub, nbviewer and paper show pictures only. The twin is drawn by matplotlib from the plotly figures themselves, so
that it cannot tell another story than they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from labkit.figures.style import COLORS

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
PANEL = (3.6, 2.9)  # inches


def small_multiples(
    figures: Sequence[go.Figure],
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    panel: tuple[float, float] = PANEL,
) -> Figure:
    """One picture of several figures, each of panel inches; the legend is drawn once, beneath."""
    from matplotlib.figure import Figure

    if not figures:
        raise ValueError("figures: there must be at least one")
    columns = columns or (2 if len(figures) == 4 else min(len(figures), 3))
    rows = -(-len(figures) // columns)
    page = Figure(figsize=(panel[0] * columns, panel[1] * rows + 0.4), dpi=90, facecolor="white")
    page.set_layout_engine("constrained", w_pad=0.08)
    panels: list[tuple[Any, dict[str, Any]]] = []
    looks: dict[str, set[tuple[Any, ...]]] = {}
    for number, fig in enumerate(figures):
        solid = any(trace.type in ("scatter3d", "surface") for trace in fig.data)
        axes = page.add_subplot(rows, columns, number + 1, projection="3d" if solid else None)
        labelled: dict[str, Any] = {}
        for position, trace in enumerate(fig.data):
            if trace.visible in (None, True):
                handle = DRAW[trace.type](axes, trace, position)
                if handle is not None and trace.name and trace.showlegend is not False:
                    labelled.setdefault(trace.name, handle)
                    looks.setdefault(trace.name, set()).add(look_of(trace, position))
        dress(axes, fig, titles[number] if titles else fig.layout.title.text or "")
        panels.append((axes, labelled))
    scale = 2.5 if any(axes.name == "3d" for axes, _ in panels) else 1.0  # points in space are small
    if all(len(kinds) == 1 for kinds in looks.values()):
        names = {name: handle for _, labelled in reversed(panels) for name, handle in labelled.items()}
        shared = {name: names[name] for name in looks}
        if shared:
            page.legend(
                shared.values(),
                shared.keys(),
                loc="outside lower center",
                fontsize=9,
                frameon=False,
                ncols=legend_columns(shared, panel[0] * columns),
                markerscale=scale,
            )
    else:  # one name means different things: each panel explains its own
        for axes, labelled in panels:
            axes.legend(
                labelled.values(),
                labelled.keys(),
                loc="upper center",
                bbox_to_anchor=(0.5, -0.22),
                fontsize=8,
                frameon=False,
                ncols=legend_columns(labelled, panel[0]),
                markerscale=scale,
            )
    if any("text" in (trace.mode or "") for fig in figures for trace in fig.data if trace.type.startswith("scatter")):
        page.draw_without_rendering()  # places are known only after the layout
        for (axes, _), fig in zip(panels, figures):
            if axes.name != "3d":
                name_points(axes, fig)
    return page


def panel_for(fig: go.Figure) -> tuple[float, float]:
    """Inches for a figure by itself: a long list, such as a forest plot, keeps a readable height for every line."""
    height = fig.layout.height or 0
    return PANEL if height <= 700 else (10.0, height / 105)


def look_of(trace: Any, position: int) -> tuple[Any, ...]:
    """Colour, dash and shape by which the legend tells a trace from others; many colours in one trace count as none."""
    if not trace.type.startswith("scatter"):
        return (trace.type,)
    color = first(trace.line.color, first(trace.marker.color, str(position)))
    return tuple(
        part for part in (color, trace.line.dash, trace.marker.symbol) if part is None or isinstance(part, str)
    )


def legend_columns(names: Iterable[str], inches: float) -> int:
    """As many names side by side as fit into the picture's width, so that none is cut off."""
    longest = max(map(len, names))
    return max(1, int(inches / (0.6 + 0.075 * longest)))  # a name's mark and space, and its letters


def dress(axes: Axes, fig: go.Figure, title: str) -> None:
    """Titles, limits and scales of the axes, and annotations."""
    axes.set_title(plain(title), fontsize=10, color=TEXT)
    for name, settings in (("x", fig.layout.xaxis), ("y", fig.layout.yaxis)):
        getattr(axes, f"set_{name}label")(plain(settings.title.text or ""), fontsize=9, color=TEXT)
        if settings.type == "log":
            getattr(axes, f"set_{name}scale")("log")
        if settings.range:
            low, high = settings.range
            lying = name == "x" and any(trace.type == "bar" and trace.orientation == "h" for trace in fig.data)
            room = 1.1 if lying else 1.0  # for numbers beside bars
            limits = (10**low, 10**high) if settings.type == "log" else (low, room * high)
            getattr(axes, f"set_{name}lim")(*limits)
        elif settings.minallowed is not None:
            low, high = getattr(axes, f"get_{name}lim")()
            getattr(axes, f"set_{name}lim")(max(low, settings.minallowed), min(high, settings.maxallowed))
        elif settings.autorange == "reversed" and not axes.images:  # an image has its first row on top already
            getattr(axes, f"invert_{name}axis")()
        if settings.ticktext is not None and settings.tickvals is not None:
            getattr(axes, f"set_{name}ticks")(settings.tickvals, [plain(text) for text in settings.ticktext])
        if settings.visible is False:
            getattr(axes, f"get_{name}axis")().set_visible(False)
    if fig.layout.yaxis.scaleanchor:
        axes.set_aspect("equal")
    axes.tick_params(labelsize=8, colors=TEXT)
    if axes.name == "3d":
        if fig.layout.scene.xaxis.visible is False:
            unit_sphere(axes)
    else:
        axes.grid(alpha=0.25)
        axes.set_axisbelow(True)
        for note in fig.layout.annotations:
            if note.xref in (None, "x") and note.yref in (None, "y") and note.text:
                axes.annotate(plain(note.text), (note.x, note.y), fontsize=8, color=TEXT, ha="center")


def unit_sphere(axes: Any) -> None:
    """No axes; round, and as large as it fits."""
    axes.set_axis_off()
    axes.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    axes.set_box_aspect((1, 1, 1), zoom=1.35)


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


NAME = {"left": 4, "right": -4}, {"bottom": 3, "top": -3}  # distance from the point, in typographic points


def name_points(axes: Axes, fig: go.Figure) -> None:
    """Words beside points, each inside the frame and on no other; a word that has no such place is left out."""
    unit = axes.figure.dpi / 72  # of a typographic point, in pixels
    frame = axes.get_window_extent()
    taken: list[tuple[float, float, float, float]] = []
    named = [trace for trace in fig.data if trace.type.startswith("scatter") and "text" in (trace.mode or "")]
    named = [trace for trace in named if trace.visible in (None, True)]
    for x, y, text in ((x, y, plain(str(t))) for trace in named for x, y, t in zip(trace.x, trace.y, trace.text) if t):
        place = axes.transData.transform((axes.convert_xunits(x), axes.convert_yunits(y)))
        width, height = 4.8 * unit * len(text), 9 * unit
        best: tuple[float, Any] | None = None
        for (across, dx), (up, dy) in product(NAME[0].items(), NAME[1].items()):
            left = place[0] + dx * unit - (width if across == "right" else 0)
            low = place[1] + dy * unit - (height if up == "top" else 0)
            box = (left, low, left + width, low + height)
            outside = max(0.0, frame.x0 - left, box[2] - frame.x1, frame.y0 - low, box[3] - frame.y1)
            cost = 100 * outside + sum(overlap(box, other) for other in taken)
            if best is None or cost < best[0]:
                best = (cost, (across, up, dx, dy, box))
        assert best is not None
        if best[0] > 0.1 * width * height:
            continue  # no room: two words on one another are no words
        across, up, dx, dy, box = best[1]
        taken.append(box)
        axes.annotate(
            text, (x, y), fontsize=8, color=TEXT, xytext=(dx, dy), textcoords="offset points", ha=across, va=up
        )


def overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> float:
    """The area that two boxes share."""
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))


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


DRAW: dict[str, Any] = {
    "scatter": scatter,
    "scattergl": scatter,
    "scatter3d": scatter3d,
    "bar": bar,
    "heatmap": heatmap,
    "surface": surface,
}


def first(color: Any, otherwise: str) -> Any:
    """A colour if one is set."""
    return otherwise if color is None else color


def plain(text: str) -> str:
    """Plotly's small HTML as text."""
    for tag, mark in (("<br>", "\n"), ("<b>", ""), ("</b>", ""), ("<i>", ""), ("</i>", "")):
        text = text.replace(tag, mark)
    return text
