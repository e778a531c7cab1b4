"""Films as the bytes that the player gets: one alone, or several with menus to choose by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypedDict

import numpy as np

from labkit.explorers.packing import joined, looks, smallest
from labkit.runs.film import Film

Choice = tuple[str, ...]  # a value of each menu

FINE = 32_767  # steps of a coordinate on either side of zero


class Menu(TypedDict):
    """What is chosen, the values to choose from, and the one to begin with."""

    label: str
    values: Sequence[str]
    start: str


@lru_cache(maxsize=64)
def packed(film: Film, per_class: int | None = None, classes: int | None = None) -> bytes:
    """A film; coordinates are whole numbers of two bytes. What is said of a frame is about all samples.

    per_class and classes: show at most so many samples of each class, and so many classes of each split.
    """
    whole = per_class is None and classes is None
    rows = np.arange(len(film.labels)) if whole else film.some(per_class or len(film.labels), classes)
    shown, labels = np.unique(film.labels[rows], return_inverse=True)
    number = film.numbers[rows][np.unique(labels, return_index=True)[1]]  # classes of two splits may look alike
    part = np.argmax(np.stack(list(film.splits.values())), axis=0)[rows]
    head = {
        "title": film.title,
        "kind": film.kind,
        "steps": film.steps,
        "words": words(film),
        "scale": 1 / FINE,
        "n": len(rows),
        "d": film.places.shape[2],
        "splits": list(film.splits),
        "classes": [film.classes[k] for k in shown],
        **looks(number.tolist()),
    }
    places = np.rint(film.places[:, rows] * FINE).astype(np.int16)
    return joined(head, {"frames": places, "labels": smallest(labels), "part": smallest(part)})


def words(film: Film) -> list[str]:
    """What is said of every frame: "step 1,000, R@1 of test 85 %, CSC 6.7"."""
    found = []
    for row in film.table:
        said = [f"step {row['step']:,}" if len(film.steps) > 1 else "after training"]
        said += [f"{name.removesuffix(' (%)')} {row[name]:.0f} %" for name in row if name.startswith("R@1")]
        found.append(", ".join([*said, *([f"CSC {row['CSC']:.1f}"] if "CSC" in row else [])]))
    return found


def reel(films: Mapping[Choice, bytes], menus: Sequence[Menu]) -> bytes:
    """Packed films by what is chosen in the menus."""
    listed = [{"key": key, "size": len(content)} for key, content in films.items()]
    return joined({"menus": menus, "films": listed}, {"bytes": np.frombuffer(b"".join(films.values()), np.uint8)})
