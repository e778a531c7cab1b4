"""Lesson 2: a ranking to rearrange by hand with every metric beside it, and arrangements of classes on a circle."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from labkit import metrics
from labkit.base.checks import check_choice
from labkit.base.mode import mode
from labkit.explorers.live import LiveFigure, Shell
from labkit.explorers.sliders import Control, explore
from labkit.figures.lessons.metrics_that_disagree import ranking_metrics, separability

if TYPE_CHECKING:
    import plotly.graph_objects as go

LISTS = {
    "one hit at the top": (1, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "hits at 1 and 10": (1, 0, 0, 0, 0, 0, 0, 0, 0, 1),
    "hits at 1 and 3": (1, 0, 1, 0, 0, 0, 0, 0, 0, 0),
    "hits at 1, 3, 7, 10": (1, 0, 1, 0, 0, 0, 1, 0, 0, 1),
    "hits at 1 to 4": (1, 1, 1, 1, 0, 0, 0, 0, 0, 0),
}  # Table 3 of the MPA paper


def explore_ranking(num_relevant: int = 4) -> RankingExplorer | None:
    """Swap two items by clicking one after the other; all metrics answer at once. Beneath, the lists of MPA Table 3."""
    live = None
    if mode() == "live":
        live = RankingExplorer(LISTS["hits at 1, 3, 7, 10"], num_relevant)
        live.show()
    controls = [
        Control("name", "list", tuple(LISTS), "hits at 1, 3, 7, 10", menu=True),
        Control("k", "cut-off k", tuple(range(1, 11)), 10),
    ]
    chosen = ("one hit at the top", "hits at 1, 3, 7, 10", "hits at 1 to 4")
    alt = (
        "Three rankings with four relevant items. Recall@10 (any hit) is 100 % for all three, and AP@10 divided by the "
        "hits for the first and the last; nDCG@10, MAP@R and AP@10 with its other denominators tell all three apart, "
        "and disagree about by how much."
    )
    explore(draw_named, controls, [{"name": name} for name in chosen], alt, live=False)
    return live


def draw_named(name: str, k: int) -> Any:
    """The figure of one of LISTS."""
    return ranking_metrics(LISTS[name], k, 4)


class RankingExplorer(Shell):
    """Ten items as buttons: the first click marks one, the second swaps it with another."""

    def __init__(self, relevance: Sequence[int], num_relevant: int) -> None:
        """Build the widgets and draw once."""
        import ipywidgets as widgets

        self.relevance, self.num_relevant = list(relevance), num_relevant
        self.marked: int | None = None
        self.items = [widgets.Button(layout=widgets.Layout(width="64px")) for _ in relevance]
        for place, item in enumerate(self.items):
            item.on_click(partial(self.clicked, place))
        self.k = widgets.IntSlider(len(self.items), 1, len(self.items), description="cut-off k")
        self.k.observe(lambda change: self.draw(), "value")
        self.live = LiveFigure(ranking_metrics(tuple(relevance), self.k.value, num_relevant))
        told = widgets.HTML("Click an item, then another: they change places. ✓ is relevant, rank 1 is on the left.")
        self.box = widgets.VBox([told, widgets.HBox(self.items), self.k])
        self.label()

    def clicked(self, place: int, button: Any = None) -> None:
        """Mark, or swap with what is marked."""
        if self.marked is None:
            self.marked = place
        else:
            items = self.relevance
            items[self.marked], items[place] = items[place], items[self.marked]
            self.marked = None
            self.draw()
        self.label()

    def label(self) -> None:
        """Rank and relevance on each button; a marked one is framed by arrows."""
        for place, (item, relevant) in enumerate(zip(self.items, self.relevance)):
            text = f"{place + 1} {'✓' if relevant else '·'}"
            item.description = f"▸{text}◂" if place == self.marked else text
            item.button_style = "info" if relevant else ""
            item.tooltip = f"rank {place + 1}, {'relevant' if relevant else 'not relevant'}"

    def draw(self) -> None:
        """All metrics of the present order."""
        self.live.draw(ranking_metrics(tuple(self.relevance), self.k.value, self.num_relevant))


SHAPES = ("each class in its own place", "two classes share a place", "each class in four places")
CLASSES, A_CLASS = 6, 24


def arrangement(shape: str, spread: float, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Unit vectors (N, 2) and labels (N,): six classes, as the shape says, with an angular spread in degrees."""
    check_choice("shape", shape, SHAPES)
    label = torch.arange(CLASSES).repeat_interleave(A_CLASS)
    place = {
        SHAPES[0]: 60.0 * label,
        SHAPES[1]: 120.0 * (label // 2),
        SHAPES[2]: 15.0 * label + 90.0 * (torch.arange(len(label)) % 4),
    }[shape]
    noise = torch.randn(len(label), generator=torch.Generator().manual_seed(seed))
    angle = torch.deg2rad(place + spread * noise)
    return torch.stack([angle.cos(), angle.sin()], 1), label


def draw_arrangement(shape: str, spread: float) -> go.Figure:
    """The arrangement with its metrics."""
    points, label = arrangement(shape, spread)
    return separability(points, label, metrics.evaluate(points, label, ks=(1,), nmi=True, progress=False))
