"""ROxford5k and RParis6k (Radenović et al. 2018): queries, a gallery, and which pictures show the query's landmark.

They are for testing only. The ground truth is read from the official .mat file; the .pkl of the same name is a pickle,
which could run code, and is not read.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from labkit.base.checks import check_choice
from labkit.data.files import DataError
from labkit.metrics.revisited import Landmark

WHERE = """\
ROxford5k and RParis6k: gnd_roxford5k.mat, gnd_rparis6k.mat and the pictures from
http://cmp.felk.cvut.cz/revisitop
  roxford5k/gnd_roxford5k.mat
  roxford5k/jpg/all_souls_000000.jpg …"""
COUNTS = {"roxford5k": (70, 4_993), "rparis6k": (70, 6_322)}


@dataclass(frozen=True)
class Landmarks:
    """Paths of the queries' and the gallery's pictures, each query's box (x1, y1, x2, y2), and its pictures."""

    queries: tuple[Path, ...]
    gallery: tuple[Path, ...]
    boxes: tuple[tuple[float, float, float, float], ...]
    truth: tuple[Landmark, ...]


def load_landmarks(name: str, root: Path | str, *, check: bool = True) -> Landmarks:
    """A test set, from root/NAME; check: insist on the official numbers of queries and pictures."""
    from scipy.io import loadmat

    check_choice("name", name, tuple(COUNTS))
    folder = Path(root) / name
    file = folder / f"gnd_{name}.mat"
    if not file.is_file():
        raise DataError(f"{file} is missing: give the folder that holds {name} as root.\n{WHERE}")
    try:
        content = loadmat(file, simplify_cells=True)
        names = [tuple(str(each) for each in content[key]) for key in ("qimlist", "imlist")]
        truth = [as_landmark(entry, len(names[1])) for entry in content["gnd"]]
        boxes = tuple(tuple(float(x) for x in entry["bbx"]) for entry in content["gnd"])
    except Exception as error:  # SciPy raises whatever the damaged place makes it stumble over
        raise DataError(f"{file} is damaged or not the official ground truth ({error}): fetch it again") from None
    if check and (len(names[0]), len(names[1])) != COUNTS[name]:
        raise DataError(f"{file}: expected {COUNTS[name]} queries and pictures, found {tuple(map(len, names))}")
    if len(truth) != len(names[0]) or any(len(box) != 4 or not all(map(isfinite, box)) for box in boxes):
        raise DataError(f"{file}: each of the {len(names[0])} queries needs a ground truth and a box of four numbers")
    queries, gallery = (tuple(picture(folder, each) for each in group) for group in names)
    return Landmarks(queries, gallery, boxes, tuple(truth))  # type: ignore[arg-type]


def as_landmark(entry: Any, size: int) -> Landmark:
    """Numbers from 1 to size, as MATLAB counts, as numbers from 0 on."""
    import numpy as np

    found = []
    for kind in ("easy", "hard", "junk"):
        numbers = np.atleast_1d(entry[kind])
        if any(number != int(number) or not 1 <= number <= size for number in numbers):
            raise ValueError(f"{kind} must hold whole numbers from 1 to {size}")
        found.append(tuple(int(number) - 1 for number in numbers))
    return Landmark(*found)


def picture(folder: Path, name: str) -> Path:
    """The file of a picture, which must be a plain name."""
    if not name or Path(name).name != name or "\\" in name:
        raise DataError(f"{folder}: {name!r} is not a picture's name")
    return folder / "jpg" / f"{name}.jpg"
