"""Omniglot (Lake et al., 2015): 1,623 handwritten characters of 50 alphabets, 20 drawers each, at 28 × 28 pixels.

Read from the prepared files `omniglot_{background,evaluation}_28.npz`, else from the official zips, whose 105 × 105
one-bit drawings are inverted (ink = 255) and then shrunk by Pillow's box filter: each of 28 × 28 fields averages the
pixels whose centres lie in it, rounded across and again down. The order matters: inverting afterwards rounds halves
the other way and changes pixels by one. Checked bit for bit on all 32,460 drawings of the prepared full-size files,
packed as the official zips are; the official zips themselves are known here by size and
sha256 only, as TensorFlow Datasets publishes them.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from labkit.base.files import atomic
from labkit.base.paths import cache
from labkit.data.dataset import Dataset, Splits
from labkit.data.files import DataError, File, find, locate

LICENCE = "MIT, © 2015 Brenden Lake"
SIZE = 28
DRAWERS = 20
OFFICIAL = "https://raw.githubusercontent.com/brendenlake/omniglot/master/python/"
DRAWING = re.compile(r"images_\w+/(?P<character>[^/]+/character\d\d)/\d{4}_(?P<drawer>\d\d)\.png")


@dataclass(frozen=True)
class Half:
    """One of the two official sets, as a prepared file or as the official zip."""

    prepared: File
    zip: File
    characters: int


def _half(name: str, prepared_sha256: str, zip_sha256: str, size: int, characters: int) -> Half:
    prepared = File(f"omniglot_{name}_28.npz", "omniglot", prepared_sha256)
    official = f"images_{name}.zip"
    return Half(prepared, File(official, "omniglot", zip_sha256, (OFFICIAL + official,), size=size), characters)


HALVES = {
    "background": _half(
        "background",
        "61a044e8286af1f69b4ad2e16e8294226f2f21fcbfa8b9e9e71a19763af94fae",
        "ad41ab679c8b5d90b271ef46be6987cc81211774a695c29dcc5367b2b26ee640",
        9_464_212,
        964,
    ),
    "evaluation": _half(
        "evaluation",
        "100623fa4690f08977604ed426b000c25282d5f78d0b2a1766e6ee5a0b371b11",
        "1f61a8f3366785b057fc117d9228e78a16e3d976c8953b2a10fcc74cf0609cee",
        6_462_886,
        659,
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

    The first five, held out by default, have 137 of the 964 background characters (14 %): Korean,
    Syriac_(Estrangelo), Malay_(Jawi_-_Arabic), Alphabet_of_the_Magi, Ojibwe_(Canadian_Aboriginal_Syllabics).
    """
    return sorted({alphabet(name) for name in characters}, key=lambda name: hashlib.sha256(name.encode()).digest())


def merged(data: Dataset, merge: int) -> Dataset:
    """Every `merge` consecutive characters of one alphabet under one label, named after the first to the last."""
    if merge == 1:
        return data
    seen: Counter[str] = Counter()
    groups: list[list[str]] = []
    new = []
    for name in data.class_names:
        if seen[alphabet(name)] % merge == 0:
            groups.append([])
        groups[-1].append(name)
        seen[alphabet(name)] += 1
        new.append(len(groups) - 1)
    names = tuple(group[0] if len(group) == 1 else f"{group[0]}…{group[-1][-2:]}" for group in groups)
    return replace(data, labels=torch.tensor(new)[data.labels], class_names=names)


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


def files() -> list[File]:
    """The files that are read: a prepared file where there is one, else the official zip."""
    return [half.prepared if find(half.prepared) else half.zip for half in HALVES.values()]


def read(name: str) -> Drawings:
    """The drawings of "background" or "evaluation": prepared, converted earlier, or converted now from the zip."""
    half = HALVES[name]
    if find(half.prepared):
        return read_npz(locate(half.prepared))
    path = locate(half.zip)
    converted = cache() / "omniglot" / f"converted_{half.prepared.name}"
    try:
        return read_npz(converted)
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):  # none yet, or damaged: it can be made anew
        drawings = read_zip(path)
    if len(drawings.characters) != half.characters or len(drawings.images) != half.characters * DRAWERS:
        raise DataError(
            f"{path} has {len(drawings.images):,} drawings of {len(drawings.characters)} characters, "
            f"expected {half.characters * DRAWERS:,} of {half.characters}. Remove it and {half.zip.repair}."
        )
    write_npz(converted, drawings)
    return drawings


def read_npz(path: Path) -> Drawings:
    """The drawings in a prepared file."""
    with np.load(path, allow_pickle=False) as arrays:
        characters = tuple(str(name) for name in arrays["characters"])
        return Drawings(arrays["images"], arrays["label"], arrays["drawer"], characters)


def write_npz(path: Path, drawings: Drawings) -> None:
    """Write a prepared file."""
    with atomic(path) as temporary, temporary.open("wb") as opened:
        np.savez_compressed(
            opened,
            images=drawings.images,
            label=drawings.label,
            drawer=drawings.drawer,
            characters=np.array(drawings.characters),
        )


def read_zip(path: Path) -> Drawings:
    """The drawings in an official zip, made small, in the order of alphabet, character and drawer."""
    with zipfile.ZipFile(path) as archive:
        found = sorted(
            (match["character"], int(match["drawer"]), match.string)
            for match in map(DRAWING.fullmatch, archive.namelist())
            if match
        )
        images = [
            shrink(archive.read(member), f"{path}: {member}")
            for _, _, member in tqdm(found, desc=f"Converting {path.name}", leave=False, delay=2)
        ]
    characters = tuple(sorted({character for character, _, _ in found}))
    number = {character: c for c, character in enumerate(characters)}
    return Drawings(
        images=np.stack(images) if images else np.empty((0, SIZE, SIZE), np.uint8),
        label=np.array([number[character] for character, _, _ in found], np.int16),
        drawer=np.array([drawer for _, drawer, _ in found], np.int8),
        characters=characters,
    )


def shrink(png: bytes, name: str) -> NDArray[np.uint8]:
    """A black-on-white drawing as 28 × 28 bytes with ink = 255."""
    from PIL import Image

    try:
        paper = np.asarray(Image.open(io.BytesIO(png)).convert("L"))
    except OSError as error:
        raise DataError(f"{name} is not a readable image ({error}); {HALVES['background'].zip.repair}") from error
    return np.asarray(Image.fromarray(255 - paper).resize((SIZE, SIZE), Image.Resampling.BOX))
