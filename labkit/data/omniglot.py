"""Omniglot (Lake et al., 2015): 1,623 handwritten characters of 50 alphabets, 20 drawers each, at 28 × 28 pixels.

Read from the prepared files `omniglot_{background,evaluation}_28.npz`, else from the official zips, whose 105 × 105
one-bit drawings are inverted (ink = 255) and then box-filtered by Pillow to 28 × 28. The order matters: inverting
after the filter rounds halves the other way and changes some pixels by one. MIT licence, © 2015 Brenden Lake.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from labkit.data.dataset import Dataset, Splits
from labkit.data.files import DataError, File, cache, find, locate, verify
from labkit.runs.files import atomic

SIZE = 28
OFFICIAL = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python/"
DRAWING = re.compile(r"images_\w+/(?P<character>[^/]+/character\d\d)/\d{4}_(?P<drawer>\d\d)\.png")


@dataclass(frozen=True)
class Half:
    """One of the two official sets: its prepared file, its zip, and the sha256 of its prepared images and names."""

    prepared: File
    zip: File
    content: str


HALVES = {
    "background": Half(
        File(
            "omniglot_background_28.npz",
            "omniglot",
            "61a044e8286af1f69b4ad2e16e8294226f2f21fcbfa8b9e9e71a19763af94fae",
        ),
        File(
            "images_background.zip",
            "omniglot",
            "68d2efa1b9178cc56df9314c21c6e718",
            (OFFICIAL + "images_background.zip",),
        ),
        "",
    ),
    "evaluation": Half(
        File(
            "omniglot_evaluation_28.npz",
            "omniglot",
            "100623fa4690f08977604ed426b000c25282d5f78d0b2a1766e6ee5a0b371b11",
        ),
        File(
            "images_evaluation.zip",
            "omniglot",
            "6b91aef0f799c5bb55b94e3f2daec811",
            (OFFICIAL + "images_evaluation.zip",),
        ),
        "",
    ),
}


@dataclass(frozen=True)
class Drawings:
    """The arrays of one half: images (N, 28, 28) uint8 with ink = 255, labels and drawers (N,), names of characters."""

    images: NDArray[np.uint8]
    label: NDArray[np.int16]
    drawer: NDArray[np.int8]
    characters: tuple[str, ...]


def omniglot(merge: int = 1, validation_alphabets: int = 5) -> Splits:
    """Train on background characters, validate on whole background alphabets held out, test on the evaluation set.

    merge: every `merge` consecutive characters of one alphabet share a training label (PNP's robustness experiment);
    validation and test stay single characters.
    """
    if not isinstance(merge, int) or isinstance(merge, bool) or merge < 1:
        raise ValueError(f"merge must be a whole number, 1 or above; got {merge!r}")
    background = dataset(read("background"))
    order = held_out_order(background.class_names)
    if not isinstance(validation_alphabets, int) or not 1 <= validation_alphabets < len(order):
        raise ValueError(f"validation_alphabets must lie in 1..{len(order) - 1}, got {validation_alphabets!r}")
    held_out = set(order[:validation_alphabets])
    inside = [alphabet(name) in held_out for name in background.class_names]
    train = background.keep_classes([c for c, out in enumerate(inside) if not out])
    return Splits(
        train=merged(train, merge),
        validation=background.keep_classes([c for c, out in enumerate(inside) if out]),
        test=dataset(read("evaluation")),
    )


def alphabet(character: str) -> str:
    """The alphabet of "Greek/character05"."""
    return character.partition("/")[0]


def held_out_order(characters: Sequence[str]) -> list[str]:
    """Alphabets in the order they are held out: by the hash of their name, the same on every machine for ever.

    The first five are …
    """
    return sorted({alphabet(name) for name in characters}, key=lambda name: hashlib.sha256(name.encode()).digest())


def merged(data: Dataset, merge: int) -> Dataset:
    """Every `merge` consecutive characters of one alphabet under one label, named after the first to the last."""
    if merge == 1:
        return data
    new, names = [], list[str]()
    for name in data.class_names:
        position = sum(alphabet(earlier) == alphabet(name) for earlier in data.class_names[: len(new)])
        if position % merge == 0:
            names.append(name)
        else:
            names[-1] = f"{names[-1].partition('…')[0]}…{name.partition('/character')[2]}"
        new.append(len(names) - 1)
    return Dataset(data.name, data.inputs, torch.tensor(new)[data.labels], tuple(names), data.ids, data.columns)


def dataset(drawings: Drawings) -> Dataset:
    """The arrays as a data set: images (N, 1, 28, 28), one class a character."""
    character = [drawings.characters[c] for c in drawings.label]
    return Dataset(
        name="omniglot",
        inputs=torch.from_numpy(drawings.images)[:, None],
        labels=torch.from_numpy(drawings.label.astype(np.int64)),
        class_names=drawings.characters,
        ids=tuple(f"{name}/{drawer:02d}" for name, drawer in zip(character, drawings.drawer)),
        columns={
            "alphabet": tuple(alphabet(name) for name in character),
            "drawer": tuple(f"{drawer:02d}" for drawer in drawings.drawer),
            "character": tuple(character),
        },
    )


def read(half: str) -> Drawings:
    """The drawings of "background" or "evaluation": prepared, converted before, or converted now from the zip."""
    files = HALVES[half]
    prepared = find(files.prepared.name, "omniglot")
    if prepared is not None:
        verify(prepared, files.prepared)
        return read_npz(prepared)
    return read_npz(locate(files.prepared))


def read_npz(path: Path) -> Drawings:
    """The drawings in a prepared file."""
    with np.load(path, allow_pickle=False) as arrays:
        characters = tuple(str(name) for name in arrays["characters"])
        return Drawings(arrays["images"], arrays["label"], arrays["drawer"], characters)
