"""Photographs to code and to train codecs on: Kodak, BSDS500 and the first images of COCO val2017.

Read from a folder of their name where LABKIT_DATA points; nothing of them comes with labkit. A checksum over all files
of a part proves that they are the published ones: of pixels where the format keeps every one (Kodak, whose PNGs have
been packed anew many times), else of bytes.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from labkit.base.checks import check_choice
from labkit.base.paths import data_folders
from labkit.data.files import DataError


@dataclass(frozen=True)
class Part:
    """A folder of photographs: what it must hold, and where it comes from."""

    folder: str
    pattern: str
    count: int
    checksum: str
    pixels: bool
    source: str
    licence: str


KODAK_SOURCE = "Kodak PhotoCD PCD0992, kodim01.png … kodim24.png of https://r0k.us/graphics/kodak/"
BSDS_SOURCE = "BSR_bsds500.tgz of https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html"
COCO_SOURCE = "val2017.zip of https://cocodataset.org/#download, the first 128 images by name"
RESEARCH = "research use; not distributed with labkit"
PARTS: dict[str, Part] = {
    "kodak": Part(
        "kodak",
        "*.png",
        24,
        "2e18f14a8407785ad98a45973ea3be6db4738bf5c6b473ac2204c1c8e31f829d",
        True,
        KODAK_SOURCE,
        RESEARCH,
    ),
    "bsds500 train": Part(
        "bsds500/train",
        "*.jpg",
        200,
        "b626d29a9653bf7a573863ad2470032b8d6e01a04a88d1c1e4b599055eb60e71",
        False,
        BSDS_SOURCE,
        RESEARCH,
    ),
    "bsds500 val": Part(
        "bsds500/val",
        "*.jpg",
        100,
        "9c367aefcd426152a2d3c94a520270bc2302da644fb1dbfa574e9abae1442de8",
        False,
        BSDS_SOURCE,
        RESEARCH,
    ),
    "bsds500 test": Part(
        "bsds500/test",
        "*.jpg",
        200,
        "93a43b3f3d4612ac0750dc938801bde0cd2ad6fa0e02a22cc1df9bf77eb6cfdf",
        False,
        BSDS_SOURCE,
        RESEARCH,
    ),
    "coco_val128": Part(
        "coco_val128",
        "*.jpg",
        128,
        "361c4526ecbed8ecefe17a191d0aefecf92d2e0ee5cbc9a842f2867e93f31560",
        False,
        COCO_SOURCE,
        "Flickr's terms; not distributed with labkit",
    ),
}


@dataclass(frozen=True)
class Photographs:
    """Pictures, uint8 H × W × 3 each, with the names of their files, and the checksum that they have."""

    name: str
    ids: tuple[str, ...]
    images: tuple[np.ndarray, ...]
    checksum: str

    def __len__(self) -> int:
        """How many."""
        return len(self.images)


@cache
def photographs(name: str) -> Photographs:
    """The photographs of a part of `PARTS`, in the order of their names; read once a process."""
    check_choice("name", name, PARTS)
    part = PARTS[name]
    folder = find_part(part)
    if folder is None:
        raise DataError(
            f"{name} was not found: no folder {part.folder} in {', '.join(map(str, data_folders()))}. Put the "
            f"{part.count} photographs there ({part.source}) or let LABKIT_DATA name the place of {part.folder}."
        )
    paths = sorted(folder.glob(part.pattern))
    if len(paths) != part.count:
        raise DataError(f"{folder} should hold {part.count} photographs ({part.source}), it has {len(paths)}")
    images = tuple(read(path) for path in paths)
    found = checksum_of(images if part.pixels else paths)
    if found != part.checksum:
        raise DataError(
            f"{folder}: the photographs are not those of {part.source}: checksum {found}, expected {part.checksum}"
        )
    return Photographs(name, tuple(path.stem for path in paths), images, found)


def find_part(part: Part) -> Path | None:
    """The folder of a part, in the first place that has it."""
    return next((place / part.folder for place in data_folders() if (place / part.folder).is_dir()), None)


def read(path: Path) -> np.ndarray:
    """A photograph as RGB; COCO has a few grey ones."""
    from PIL import Image

    try:
        with Image.open(path, formats=("PNG", "JPEG")) as opened:
            return np.array(opened.convert("RGB"))
    except (OSError, SyntaxError) as error:
        raise DataError(f"{path} is not a whole picture ({error}); put the published file there") from None


def checksum_of(items: tuple[np.ndarray, ...] | list[Path]) -> str:
    """sha256 over the shapes and pixels of pictures, or over the bytes of files."""
    digest = hashlib.sha256()
    for item in items:
        if isinstance(item, Path):
            digest.update(item.read_bytes())
        else:
            digest.update(str(item.shape).encode() + item.tobytes())
    return digest.hexdigest()
