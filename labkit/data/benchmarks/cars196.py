"""Cars196 (Krause et al., 2013): photographs of 196 models of car.

The first 98 models train, the last 98 test, as MPA, SGSL and the RS@k slides count them (SGSL's "198 classes" is a
misprint, E-SG-2). The data set's own split into halves of each model, the field `test`, is not used.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from labkit.data.benchmarks.lists import ListedImage, Lists, entry, malformed, require_counts
from labkit.data.files import DataError

FOLDER = "cars196"
WHERE = """\
Cars196, for research only: car_ims.tgz and cars_annos.mat from http://ai.stanford.edu/~jkrause/cars/car_dataset.html,
both put into a folder named cars196
  cars196/cars_annos.mat
  cars196/car_ims/000001.jpg …"""
COUNTS = {"train": (98, 8_054), "test": (98, 8_131)}
LAST_TRAIN_CLASS = 98


def read(folder: Path, *, check: bool) -> Lists:
    """The lists of both splits."""
    file = folder / "cars_annos.mat"
    numbers, paths, names = read_annotations(file)
    train: list[ListedImage] = []
    test: list[ListedImage] = []
    for i in np.argsort(numbers, kind="stable").tolist():  # so that labels follow the official order of classes
        if not 1 <= numbers[i] <= len(names):
            raise malformed(file, i + 1, f"class {numbers[i]} has no name")
        split = train if numbers[i] <= LAST_TRAIN_CLASS else test
        split.append(entry(file, i + 1, paths[i], names[numbers[i] - 1]))
    if check:
        require_counts(folder, {"train": train, "test": test}, COUNTS)
    return Lists(train, test)


def read_annotations(file: Path) -> tuple[list[int], list[str], list[str]]:
    """Class number (from 1) and path of every image, and the names of the classes."""
    try:
        from scipy.io import loadmat
    except ModuleNotFoundError:
        raise DataError(f"{file} is a MATLAB file, and reading it needs scipy: pip install scipy") from None
    with file.open("rb") as opened:
        try:
            content: dict[str, Any] = loadmat(opened, squeeze_me=True)
            images, names = np.atleast_1d(content["annotations"]), np.atleast_1d(content["class_names"])
            return [int(c) for c in images["class"]], [str(p) for p in images["relative_im_path"]], names.tolist()
        except Exception as error:  # scipy raises whatever its parser happens to trip over
            raise DataError(
                f"{file} is damaged or not Cars196's annotations ({type(error).__name__}: {error}). Fetch it anew."
            ) from None
