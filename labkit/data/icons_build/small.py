"""The part of the icons that comes with labkit: whole classes of the whole file, with their split."""

from __future__ import annotations

import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np

from labkit.base.files import atomic

Arrays = dict[str, np.ndarray]

CLASSES = 1000
# Enough drawings to learn from and enough designers to look for a thing among the others' drawings.
FEWEST_IMAGES, FEWEST_FAMILIES = 6, 4
# Classes that lessons show: those with several kinds of drawing in each, and those of one kind.
SEVERAL_KINDS = "share location delete notification sort menu edit help pin refresh globe support"
ONE_KIND = "settings filter save money map"


def small(whole: Arrays) -> Arrays:
    """The classes that lessons show and others in an order by hash, with all their drawings; arrays as in the whole."""
    names, label = whole["names"].tolist(), whole["label"]
    images = np.bincount(label, minlength=len(names))
    pairs = np.unique(np.stack([label, whole["family"]]), axis=1)
    families = np.bincount(pairs[0], minlength=len(names))
    large = np.flatnonzero((images >= FEWEST_IMAGES) & (families >= FEWEST_FAMILIES)).tolist()
    # "small/": the split is by a hash of the name too, and the same hash would take mostly training classes
    chosen = {*SEVERAL_KINDS.split(), *ONE_KIND.split()}
    order = sorted(large, key=lambda c: (names[c] not in chosen, sha256(f"small/{names[c]}".encode()).digest()))
    return of_classes(whole, np.sort(order[:CLASSES]))


def of_classes(data: Arrays, classes: np.ndarray) -> Arrays:
    """The drawings of some classes (in rising order); sets, families and styles without a drawing are left out."""
    rows = np.isin(data["label"], classes)
    sets, set_of = np.unique(data["set"][rows], return_inverse=True)
    families, family_of = np.unique(data["family"][rows], return_inverse=True)
    styles, style_of = np.unique(data["style"][rows], return_inverse=True)
    return {
        "images": data["images"][rows],
        "label": np.searchsorted(classes, data["label"][rows]).astype(np.int16),
        "set": set_of.astype(np.int16),
        "family": family_of.astype(np.int16),
        "style": style_of.astype(np.int8),
        "icon": trimmed(data["icon"][rows]),
        "names": trimmed(data["names"][classes]),
        "split": data["split"][classes],
        "sets": data["sets"][sets],
        "families": data["families"][families],
        "family_of_set": np.searchsorted(families, data["family_of_set"][sets]).astype(np.int16),
        "styles": data["styles"][styles],
        "splits": data["splits"],
    }


def trimmed(words: np.ndarray) -> np.ndarray:
    """Words in an array as wide as the longest of them."""
    return np.array(words.tolist())


def write(data: Arrays, out: Path) -> Path:
    """Write arrays as npz with LZMA, which takes a third less than np.savez_compressed; np.load reads it as any npz."""
    with atomic(out) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_LZMA) as archive:
        for name, array in data.items():
            # the date is fixed: the same arrays give the same file
            member = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_LZMA
            with archive.open(member, "w") as opened:
                np.lib.format.write_array(opened, array, allow_pickle=False)
    return out
