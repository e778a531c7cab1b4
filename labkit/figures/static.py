"""The static twin of an interactive figure: the same figure at a few settings, side by side, as a picture.

GitHub, nbviewer and paper show pictures only. The twin is drawn by matplotlib from the plotly figures themselves, so
that it cannot tell another story than they do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from labkit.figures.static_traces import DRAW, TEXT, first, plain

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
