"""The explorer as a still picture, for notebooks that are read where no script runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.base.words import shortened
from labkit.explorers.embedding.data import ExplorerData
from labkit.explorers.embedding.sheet import NO_SHEET
from labkit.explorers.packing import SHAPES
from labkit.figures.static_traces import SHAPES as MARKS
from labkit.figures.static_traces import TEXT
from labkit.figures.style import COLORS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = (4.6, 3.9)  # inches, beside another
ALONE = (7.2, 5.2)
EXAMPLES = 5  # classes shown in colour where there are too many for all
LONGEST = 26  # letters of a name in the legend
PLACES = 12  # pictures across, at most
MARK = MARKS | {"triangle-down": "v", "circle-open": "o", "square-open": "s"}


def still(panels: Sequence[ExplorerData]) -> Figure:
    """One panel an explorer, side by side; colours, shapes and pictures as in the live form."""
    from matplotlib.figure import Figure

    width, height = PANEL if len(panels) > 1 else ALONE
    page = Figure(figsize=(width * len(panels), height + 0.7), dpi=90, facecolor="white", layout="constrained")
    handles: dict[str, Any] = {}
    for number, data in enumerate(panels):
        axes = page.add_subplot(1, len(panels), number + 1)
        for group, handle in draw_points(axes, data):
            handles.setdefault(shortened(no_formula(data.colors.names[group]), LONGEST), handle)
        draw_pictures(axes, data)
        axes.set_title(f"{no_formula(data.title)}\n{data.subtitle}", fontsize=10, color=TEXT)
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xticks([])
        axes.set_yticks([])
    page.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=5 if len(panels) > 1 else 3,
        fontsize=9,
        frameon=False,
        markerscale=1.6,
    )
    return page


def draw_points(axes: Axes, data: ExplorerData) -> list[tuple[int, Any]]:
    """All groups in colour, or all grey but a few examples; returns what the legend names."""
    names, numbers = data.colors.names, data.colors.numbers
    shown = np.arange(len(names))
    if not data.colored:
        axes.scatter(data.xy[:, 0], data.xy[:, 1], s=9, c="#8a8a8a", alpha=0.5, linewidths=0)
        shown = np.unique(np.linspace(0, len(names) - 1, EXAMPLES).astype(int))
    drawn = []
    for place, group in enumerate(shown):
        x, y = data.xy[numbers == group].T
        shape, color = SHAPES[place], COLORS[place % len(COLORS)]
        face = "none" if shape.endswith("-open") else color
        width = 1.2 if face == "none" else 0
        handle = axes.scatter(x, y, s=18, marker=MARK[shape], facecolors=face, edgecolors=color, linewidths=width)
        drawn.append((int(group), handle))
    return drawn


def draw_pictures(axes: Axes, data: ExplorerData) -> None:
    """Some points as their pictures, none over another."""
    from matplotlib.offsetbox import AnnotationBbox, OffsetImage

    if data.sheet is NO_SHEET:
        return
    whole = data.sheet.open()
    step = np.ptp(data.xy, axis=0).max() / PLACES
    taken = np.empty((0, 2), np.float32)
    for xy, cell in zip(data.xy, data.cells):
        if cell < 0 or (np.abs(taken - xy).max(axis=1) < step).any():
            continue
        taken = np.vstack([taken, xy])
        image = OffsetImage(np.asarray(whole.crop(data.sheet.box(int(cell)))), zoom=17 / data.sheet.size)
        frame = {"edgecolor": "#999999", "linewidth": 0.5}
        axes.add_artist(AnnotationBbox(image, (float(xy[0]), float(xy[1])), pad=0.08, bboxprops=frame))


def no_formula(text: str) -> str:
    """A text as it stands: matplotlib would take what is between dollar signs for a formula."""
    return text.replace("$", r"\$")
