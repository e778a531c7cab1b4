"""How the icons are made from the npm package `@iconify/json`: `python -m labkit data get icons`.

A class is what an icon depicts, told by its name (names.py); its images are the drawings of it in different sets and
styles (sets.py). Each family of sets gives a class one drawing for each design and style. What is nearly the same
drawing is kept once (duplicates.py). The same package gives the same arrays: nothing is random.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import numpy as np

from labkit.base.files import atomic
from labkit.data.files import DataError, File, arrays_checksum
from labkit.data.icons_build.drawing import draw_all, require_renderer, visible
from labkit.data.icons_build.duplicates import once_in_class, one_name, same_across
from labkit.data.icons_build.package import fetch_package
from labkit.data.icons_build.sets import FAMILY, Icon, choose, large_enough, read_icons

FEWEST = (4, 2)  # images of a class, and families that drew them
FEWEST_WIDE = (2, 1)
MOST_IMAGES = 40
MADE_WITH = "resvg-py 0.5.0, pillow 13.0.0, numpy 2.4.6 on x86-64"
SPLITS = ("train", "validation", "test")


def make(file: File, folder: Path) -> Path:
    """Build a declared file in a folder, from the package that is fetched into it; other arrays are refused."""
    require_renderer()  # before 104 MB are fetched
    tarball = fetch_package(folder)
    data = arrays(tarball, FEWEST_WIDE if file.name.endswith("_wide.npz") else FEWEST)
    if arrays_checksum(data) != file.built:
        here = ", ".join(f"{name} {version(name)}" for name in ("resvg-py", "pillow", "numpy"))
        raise DataError(
            f"{file.name} as drawn on this machine is not the expected one, and was not kept: here are {here}, "
            f"it was made with {MADE_WITH}."
        )
    return write(data, folder / file.name)


def build(tarball: Path, out: Path, *, wide: bool = False) -> Path:
    """Draw the icons of the package's archive and write icons48.npz, or the wide form; whole or not at all."""
    require_renderer()
    return write(arrays(tarball, FEWEST_WIDE if wide else FEWEST), out)


def write(data: dict[str, np.ndarray], out: Path) -> Path:
    """Write the arrays as npz; on a full disk nothing is kept."""
    try:
        with atomic(out) as temporary, temporary.open("wb") as opened:
            np.savez_compressed(opened, **data)  # type: ignore[arg-type]
    except OSError as error:
        raise DataError(f"{out} could not be written: {error}. Nothing was kept; make room and try again.") from error
    return out


def arrays(tarball: Path, fewest: tuple[int, int]) -> dict[str, np.ndarray]:
    """The arrays of the data set with classes of at least so many (images, families)."""
    icons = choose(read_icons(tarball), fewest)
    images = draw_all(tarball, icons)
    icons, images = kept(icons, images, visible(images))
    icons, images = kept(icons, images, once_in_class([icon.key for icon in icons], images))
    keys = [icon.key for icon in icons]
    icons, images = kept(icons, images, one_name(keys, same_across(keys, images)))
    icons, images = kept(icons, images, np.array(large_enough(icons, fewest), bool))
    icons, images = kept(icons, images, not_too_many(icons))
    return in_order(icons, images)


def kept(icons: list[Icon], images: np.ndarray, stays: np.ndarray) -> tuple[list[Icon], np.ndarray]:
    """The icons and drawings that stay."""
    return [icon for icon, stay in zip(icons, stays) if stay], images[stays]


def not_too_many(icons: list[Icon]) -> np.ndarray:
    """Which icons stay when a class has at most 40, the families taking turns."""
    turns: Counter[tuple[str, str]] = Counter()
    queue = defaultdict(list)
    for place, icon in enumerate(icons):
        turns[icon.key, icon.family] += 1
        queue[icon.key].append((turns[icon.key, icon.family], sha256(icon.family.encode()).digest(), place))
    stays = np.zeros(len(icons), bool)
    for waiting in queue.values():
        stays[[place for _, _, place in sorted(waiting)[:MOST_IMAGES]]] = True
    return stays


def in_order(icons: list[Icon], images: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays as they are stored: classes by name, in them sets and icons by name."""
    names = class_names(icons)
    keys = sorted(names, key=lambda key: names[key])
    number = {key: place for place, key in enumerate(keys)}
    order = sorted(range(len(icons)), key=lambda p: (number[icons[p].key], icons[p].prefix, icons[p].name))
    icons = [icons[place] for place in order]
    sets = sorted({icon.prefix for icon in icons})
    families = sorted({icon.family for icon in icons})
    styles = sorted({icon.drawn for icon in icons})
    return {
        "images": images[order],
        "label": np.array([number[icon.key] for icon in icons], np.int16),
        "set": np.array([sets.index(icon.prefix) for icon in icons], np.int16),
        "family": np.array([families.index(icon.family) for icon in icons], np.int16),
        "style": np.array([styles.index(icon.drawn) for icon in icons], np.int8),
        "icon": np.array([icon.name for icon in icons]),
        "names": np.array([names[key] for key in keys]),
        "split": np.array([split_of(names[key]) for key in keys], np.int8),
        "sets": np.array(sets),
        "families": np.array(families),
        "family_of_set": np.array([families.index(FAMILY.get(prefix, prefix)) for prefix in sets], np.int16),
        "styles": np.array(styles),
        "splits": np.array(SPLITS),
    }


def class_names(icons: list[Icon]) -> dict[str, str]:
    """The most frequent spelling of each class with its hyphens, the first by letters of equally frequent ones."""
    spellings: dict[str, Counter[str]] = defaultdict(Counter)
    for icon in icons:
        spellings[icon.key][icon.words] += 1
    return {key: min(count, key=lambda words: (-count[words], words)) for key, count in spellings.items()}


def split_of(name: str) -> int:
    """0 train, 1 validation, 2 test: by a hash, alike for names that differ in number, order or a plural s."""
    words = sorted(re.sub(r"(?<=[a-z]{3})s$", "", re.sub(r"\d", "", word)) for word in name.split("-"))
    part = int.from_bytes(sha256("-".join(words).encode()).digest()[:4], "big") / 2**32
    return 0 if part < 0.45 else 1 if part < 0.55 else 2
