"""Lesson 10: letters that are typed and dragged, a surrogate that learns, boxes that leave each other, and what tuning
gains over how converged the base is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labkit.explorers.drag import show_drag
from labkit.explorers.layers import packed_layers
from labkit.explorers.packing import joined
from labkit.figures.arms import over_bases, share_of_training, unit_of
from labkit.figures.lessons.learned_surrogates import TARGET, leaving, one_slot, predicted
from labkit.runs.gains import READER, Gain
from labkit.surrogates.pocket import SLOTS, box_surrogate, learning, word_surrogate

STEPS = "train.steps"
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


def gain_values(gains: Sequence[Gain]) -> dict[str, Any]:
    """What the page gets: of every base its arms with their intervals, the least trained base first."""
    metric = gains[0].difference.metric
    scale, unit = unit_of(metric)
    bases = []
    for reader in sorted({gain.reader for gain in gains}, key=share_of_training):
        # options, one at a time, are for the table of results; here arms are compared
        own = [gain for gain in gains if gain.reader == reader and gain.variant.changes.keys() <= {READER, STEPS}]
        rows = []
        for gain in own:
            low, high = np.nan_to_num(gain.interval, nan=gain.mean).tolist()
            ends = {"gain": scale * gain.mean, "low": scale * low, "high": scale * high}
            rows.append({"name": gain.title, "control": gain.is_control, **ends})
        share = share_of_training(reader)
        seeds = sorted({len(gain.difference.seeds) for gain in own})
        said = (
            f"Base after {share} % of its training: {metric} {scale * own[0].base:,.4g}. Arms with "
            f"{' or '.join(map(str, seeds))} seeds; discs use a learned surrogate, squares are controls."
        )
        bases.append({"name": f"{share} %", "arms": rows, "said": said})
    learned = [gain.title for gain in gains if gain.variant.loss == "ls-ed" and "," not in gain.title]
    curve = learned[0] if learned else gains[0].title
    return {"kind": "gain", "bases": bases, "unit": unit, "curve": curve, "digits": 1, "start": len(bases) - 1}


def explore_gain(gains: Sequence[Gain]) -> None:
    """Drag how converged the base is; the still picture: LS-ED and cross-entropy over the bases."""
    if not gains:
        print("No recorded run of a tuned reader is here yet: `make runs` makes them.")
        return
    alt = (
        "What LS-ED gains over its base, for bases that were stopped earlier or later, with 95 % intervals. Drag the "
        "disc along the axis (or move it with the arrow keys): beneath are all arms that were tuned from that base."
    )
    still = [over_bases(gains, ("ls-ed", "cross-entropy"))]
    show_drag(gain_values(gains), lambda: still, ["gain over the training of the base"], alt)
