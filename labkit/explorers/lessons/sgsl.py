"""Lesson 9: three-dimensional embeddings of Fashion-MNIST on the sphere while losses train; recorded runs, seed 0."""

from __future__ import annotations

from itertools import product
from typing import Any

from labkit.explorers.drag import show_drag
from labkit.explorers.film.packed import Choice, Menu
from labkit.explorers.film.player import recorded_film, show_films
from labkit.figures.lessons.sgsl import OTHERS, shares
from labkit.runs.film import Film

LOSSES = {
    "softmax": "softmax_label_smoothing={}",
    "softmax + SGSL": "sgsl_label_smoothing={}",
    "unit vectors, scale 16": "norm-softmax_label_smoothing={}",
    "unit vectors, scale 1": "norm-softmax_label_smoothing={}_scale=1.0",
}
SMOOTHING = ("0.0", "0.1")


def sphere_film(loss: str, smoothing: str) -> Film:
    """The test images while one of LOSSES trains."""
    run_id = f"fashion-mnist-3d_{LOSSES[loss].format(smoothing)}_s0"
    return recorded_film(run_id, f"{loss}, label smoothing {smoothing}")


def explore_sphere(loss: str = "softmax + SGSL", smoothing: str = "0.0") -> Any:
    """Choose a loss, play its training, turn the sphere; beneath, the start, two steps between and the end."""
    menus = [
        Menu(label="loss", values=list(LOSSES), start=loss),
        Menu(label="label smoothing", values=SMOOTHING, start=smoothing),
    ]
    films: dict[Choice, Film] = {choice: sphere_film(*choice) for choice in product(LOSSES, SMOOTHING)}
    film = films[loss, smoothing]
    twin = [(film, frame) for frame in (0, 4, 11, -1)]
    steps = [film.steps[frame] for _, frame in twin]
    alt = (
        "Test images of Fashion-MNIST as points on the unit sphere while a loss trains, seed 0. At first all lie at "
        "one spot; they spread over the sphere, and the classes draw together."
    )
    beneath = f"All {len(film.labels)} images with {film.title}, at the steps {', '.join(map(str, steps))}."
    return show_films(films, menus, twin, [f"step {step}" for step in steps], alt, beneath)


def explore_maximum(gamma: float = 30.0) -> None:
    """Drag the cosines of five classes, change γ. The still picture: the shares of one near class at three γ."""
    others = "two near classes"
    values = {"kind": "maximum", "cosines": list(OTHERS[others]), "gamma": int(gamma)}
    alt = (
        "The cosines of other classes on an axis (squares), and a triangle at their soft maximum, to the right of the "
        "largest (dashed). Drag a class, or move it with the arrow keys; change γ. Bars are the classes' shares of the "
        "gradient: at γ = 1 all push, at γ = 30 the nearest alone."
    )
    gammas = (1.0, 5.0, 30.0)
    titles = [f"γ: {chosen:g}" for chosen in gammas]
    show_drag(values, lambda: [shares(others, chosen) for chosen in gammas], titles, alt)
