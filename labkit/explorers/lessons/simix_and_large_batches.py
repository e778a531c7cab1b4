"""Lesson 5: two images and their virtual sample, dragged."""

from __future__ import annotations

from labkit.explorers.drag import show_drag
from labkit.figures.lessons.simix_and_large_batches import mixed_pair


def explore_pair(a: float = 0.7) -> None:
    """Drag x and z round the circle and v along the chord. The still picture: three weights at a right angle."""
    weights = (0.5, 0.7, 0.9)
    alt = (
        "Two unit vectors x and z and the virtual sample v on the chord between them. Drag any of them, or use "
        "the arrow keys. v is shorter than 1. Its similarity to the nearer parent is larger than to itself, except at "
        "a = 0.5."
    )
    titles = [f"weight a: {weight}" for weight in weights]
    values = {"kind": "mix", "x": 90, "z": 0, "a": a}
    beneath = "The still picture has three weights."
    show_drag(values, lambda: [mixed_pair(weight, 90) for weight in weights], titles, alt, beneath)
