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


def explore_sphere(smoothing: str = "0.0") -> Any:
    """Two spheres that go and turn together, softmax and SGSL; beneath, both at the end."""
    both = ("softmax", "softmax + SGSL")
    menus = [
        Menu(label="loss", values=list(LOSSES), start=both[0]),
        Menu(label="label smoothing", values=SMOOTHING, start=smoothing),
    ]
    films: dict[Choice, Film] = {choice: sphere_film(*choice) for choice in product(LOSSES, SMOOTHING)}
    twin = [(films[loss, smoothing], -1) for loss in both]
    titles = [f"{film.title.partition(',')[0]}, step {film.steps[frame]}" for film, frame in twin]
    alt = (
        "Test images of Fashion-MNIST as points on the unit sphere while two losses train, seed 0: turn one sphere and "
        "the other turns with it. At first all lie at one spot; they spread over the sphere, and the classes draw "
        "together. A class has one colour and one shape on both."
    )
    beneath = f"Left softmax, right softmax + SGSL: {len(twin[0][0].labels)} images at the end of training."
    starts = [(loss, smoothing) for loss in both]
    return show_films(films, menus, twin, titles, alt, beneath, starts=starts)


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
