"""Real words from photographs, grey 32 × 100: IIIT5K, SVT, ICDAR 2003 and ICDAR 2013, four of the slides' seven sets.

Read from the prepared file `scene_text_32x100.npz` where LABKIT_DATA points; nothing of it comes with labkit, since the
data are for research use. `scene_text_archives` reads the official archives instead. Words are as annotated;
`WordImages.folded` brings them to an alphabet.
"""

from __future__ import annotations

import numpy as np
import torch

from labkit.base.checks import check_choice
from labkit.data.files import DataError, File, find, verify
from labkit.data.word_images import WordImages

LICENCE = "research use; not distributed with labkit"
FILE = File("scene_text_32x100.npz", "scene-text", "dd2857f81020552d17cdf772e3d5e16103facaad8f439236f835bad01d69deb2")
PARTS = {
    "IIIT5K train": ("iiit5k_train", 2000),
    "IIIT5K": ("iiit5k_test", 3000),
    "SVT": ("svt1_test", 647),
    "ICDAR'03": ("icdar03_test", 860),
    "ICDAR'13": ("icdar13_test", 857),
}


def scene_text(part: str) -> WordImages:
    """The pictures of one set of `PARTS`; all are test sets but "IIIT5K train"."""
    check_choice("part", part, PARTS)
    path = find(FILE)
    if path is None:
        raise DataError(
            f"{FILE.name} (checksum {FILE.checksum}) was not found. Real words are for research use and cannot be "
            "downloaded by labkit; set LABKIT_DATA to the folder that holds the file, or read the official archives "
            "with labkit.data.scene_text_archives.read_archive."
        )
    verify(path, FILE)
    array, count = PARTS[part]
    with np.load(path, allow_pickle=False) as arrays:
        images, words = arrays[array], arrays[f"{array}_words"].tolist()
    if len(images) != count:
        raise DataError(f"{path}: {part} should have {count:,} pictures, it has {len(images):,}")
    ids = tuple(f"{array}/{number}" for number in range(count))
    return WordImages(part, torch.from_numpy(images)[:, None], tuple(words), ids)
