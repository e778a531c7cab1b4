"""Lesson 7: the toy's layouts, its training as a film, and curves of that training; recorded runs, seed 0."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.base.paths import RECORDED
from labkit.base.titles import TITLES
from labkit.explorers.drag import show_drag
from labkit.explorers.film.packed import Choice, Menu
from labkit.explorers.film.player import recorded_film, show_films
from labkit.figures.film import film_figure
from labkit.figures.lessons.many_centres import during_training, layout_figure
from labkit.runs.contents import read_samples
from labkit.runs.film import Film
from labkit.runs.read import open_run
from labkit.training.toy import toy

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from numpy.typing import NDArray

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


FOLDED = ("pnp-ib", "pnp-o", "pnp-dq")
PER_CLASS = 28  # samples of a class in the linked picture


def fold_values(losses: Sequence[str] = FOLDED) -> dict[str, Any]:
    """What the linked picture holds: samples of the ring, and of each loss their directions over the steps."""
    splits = toy("ring", 0)
    parts = (splits.train, splits.test)
    inputs = {one: np.asarray(place).round(2).tolist() for part in parts for one, place in zip(part.ids, part.inputs)}
    films = {loss: toy_film(loss, "ring") for loss in losses}
    film = films[losses[0]]
    kept = np.concatenate([evenly(np.flatnonzero(film.labels == label)) for label in range(len(film.classes))])
    frames = [*range(0, len(film.steps) - 1, 3), len(film.steps) - 1]
    ids = read_samples(open_run(f"toy_{losses[0]}_layout=ring_s0", RECORDED))["id"].tolist()
    turned = {loss: np.degrees(np.arctan2(one.unit[..., 1], one.unit[..., 0])) for loss, one in films.items()}
    unseen = film.unseen[kept]
    return {
        "kind": "fold",
        "loss": TITLES[losses[0]],
        "inputs": [inputs[ids[i]] for i in kept],
        "labels": (film.numbers[kept] + 4 * unseen).tolist(),
        "steps": [film.steps[k] for k in frames],
        "films": {TITLES[loss]: np.rint(turned[loss][frames][:, kept]).astype(int).tolist() for loss in losses},
        "chosen": int(np.argmax(unseen)),
    }


def evenly(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Some of a class's samples, from all of its clusters."""
    some: NDArray[np.intp] = rows[np.linspace(0, len(rows) - 1, PER_CLASS).astype(int)]
    return some


def explore_fold() -> None:
    """The ring beside the circle, linked; the still picture has two losses before and after training."""
    alt = (
        "The ring of inputs and their embeddings on the circle; in both a sample has the colour of its direction, "
        "and the shape of its class. Drag the black disc on either, or point at a sample: everything "
        "that is sent in the same direction is outlined in both."
    )
    shown = [(toy_film(loss, "ring"), frame) for loss in ("pnp-ib", "pnp-dq") for frame in (0, -1)]
    titles = [f"{film.title.partition(',')[0]}, step {film.steps[frame]}" for film, frame in shown]
    show_drag(fold_values(), lambda: [film_figure(*one) for one in shown], titles, alt)
