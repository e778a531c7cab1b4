"""Lesson 9: three-dimensional embeddings of Fashion-MNIST on the sphere while losses train; recorded runs, seed 0."""

from __future__ import annotations

from itertools import product
from typing import Any

from labkit.explorers.film.packed import Choice, Menu
from labkit.explorers.film.player import recorded_film, show_films
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
