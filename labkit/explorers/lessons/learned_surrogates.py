"""Lesson 10: letters that are typed and dragged, a surrogate that learns, boxes that leave each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labkit.explorers.drag import show_drag
from labkit.explorers.layers import packed_layers
from labkit.explorers.packing import joined
from labkit.figures.lessons.learned_surrogates import TARGET, leaving, one_slot, predicted
from labkit.surrogates.pocket import SLOTS, box_surrogate, learning, word_surrogate

WORDS = {"read": "hause", "truth": "house"}
STILLS = (("hause", "house", 1), ("horse", "house", 2), ("hous", "house", 4))


def explore_letters() -> None:
    """Type what was read and what is true, drag a slot; the still picture: one slot of three words."""
    values = {"kind": "letters", "words": WORDS, "slots": SLOTS, "sure": 0.9}
    alt = (
        "Ten slots of a word. Above each the true letter, beneath it the one read; where they differ, a disc is "
        "dragged (or moved with the arrow keys) from one to the other. Bars: how hard the surrogate's gradient pulls "
        "at the slot, and the letter that it pulls towards. Beneath: e and ê."
    )
    beneath = "The still picture moves one slot of three words: e jumps once, ê and the soft edit distance slide."
    titles = [f"{read} → {truth}" for read, truth, _ in STILLS]
    data = {"layers": packed_layers(word_surrogate())}
    show_drag(values, lambda: [one_slot(*one) for one in STILLS], titles, alt, beneath, data)


def explore_learning() -> None:
    """Play a surrogate's learning, with λ or without; the still picture: three frames and the end without λ."""
    film = learning()
    head = {"lams": [round(float(lam), 3) for lam in film.lams], "steps": film.steps.tolist(), "pairs": len(film.exact)}
    arrays: dict[str, NDArray[Any]] = {
        "exact": film.exact,
        "estimates": film.estimates.astype(np.float32).ravel(),
        "norms": film.norms.astype(np.float32).ravel(),
    }
    alt = (
        "The surrogate's distance against the true edit distance of pairs of words that it never learns from; a dot "
        "a pair, a bar the mean of each distance, dashed where both are equal. Beneath, the mean error and the mean "
        "length of the gradient over the training; drag its disc, or press play."
    )
    last = len(film.steps) - 1
    frames = [(0, 0), (0, int(np.searchsorted(film.steps, 200))), (0, last), (1, last)]
    titles = [f"λ = {film.lams[lam]:g}, step {film.steps[frame]:,}" for lam, frame in frames]
    show_drag(
        {"kind": "learning"},
        lambda: [predicted(film, *frame) for frame in frames],
        titles,
        alt,
        data={"film": joined(head, arrays)},
    )


def explore_boxes() -> None:
    """Drag and turn a box out of its target; the still picture: values and slopes over the way out."""
    box = [TARGET[0] + 0.42, TARGET[1] + 0.3, *TARGET[2:4], 2.5]
    values = {"kind": "boxes", "target": list(TARGET), "box": box}
    alt = (
        "A target box (dashed) and a box that is dragged by its centre and turned by its knob, or both with the arrow "
        "keys. The blue arrow is a step down 1 − IoU, the orange one a step down its surrogate. When the boxes part, "
        "the blue arrow is gone. Buttons descend on the one or on the other."
    )
    data = {"layers": packed_layers(box_surrogate())}
    beneath = "The still picture moves a turned box to the right: from where the boxes part, the slope of IoU is 0."
    show_drag(
        values, lambda: [leaving("value"), leaving("slope")], ["value", "slope along the way"], alt, beneath, data
    )
