"""Lesson 7: the toy's layouts, its training as a film, and curves of that training; recorded runs, seed 0."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from labkit.base.titles import TITLES
from labkit.explorers.film.packed import Choice, Menu
from labkit.explorers.film.player import recorded_film, show_films
from labkit.figures.lessons.many_centres import during_training, layout_figure
from labkit.runs.film import Film
from labkit.training.toy import toy

if TYPE_CHECKING:
    import plotly.graph_objects as go

LOSSES = ("pnp-o", "pnp-iu", "pnp-ib", "pnp-ds", "pnp-dq", "smooth-ap", "recall-at-k", "contrastive", "triplet")
LAYOUTS = ("ring", "random")
ALT = "The toy during training, seed 0: training classes on the inner circle, unseen classes on the outer one."
BENEATH = (
    "The ring at four steps. Upper row, PNP-I_b: the clusters of a class move together, and unseen classes fall onto "
    "each other. Lower row, PNP-D_q: clusters stay apart, and so do unseen classes."
)


def draw_layout(layout: str, seed: int = 0) -> go.Figure:
    """The toy's points."""
    splits = toy(layout, seed)
    train, test = ((part.inputs, part.labels) for part in (splits.train, splits.test))
    return layout_figure(train, test, layout)


def toy_film(loss: str, layout: str) -> Film:
    """The toy while a loss trains it."""
    return recorded_film(f"toy_{loss}_layout={layout}_s0", f"{TITLES[loss]}, {layout}")


def draw_training(of: str, losses: Sequence[str], layout: str) -> go.Figure:
    """Circular variance ("variance") or R@1 of unseen classes ("recall") of some losses over the steps."""
    return during_training(of, {TITLES[loss]: toy_film(loss, layout) for loss in losses}, layout)


def explore_training() -> Any:
    """Play the training of the toy, by losses and layouts; beneath, two losses at four steps."""
    menus = [
        Menu(label="loss", values=[TITLES[loss] for loss in LOSSES], start=TITLES["pnp-dq"]),
        Menu(label="layout", values=LAYOUTS, start="ring"),
    ]
    chosen = product(LOSSES, LAYOUTS)
    films: dict[Choice, Film] = {(TITLES[loss], layout): toy_film(loss, layout) for loss, layout in chosen}
    twin = [(toy_film(loss, "ring"), frame) for loss in ("pnp-ib", "pnp-dq") for frame in (0, 6, 15, -1)]
    titles = [
        f"{film.title.partition(',')[0]}, step {film.steps[frame]}: {100 * film.recall(frame):.0f} %"
        for film, frame in twin
    ]
    return show_films(films, menus, twin, titles, ALT, BENEATH, columns=4, step=0)
