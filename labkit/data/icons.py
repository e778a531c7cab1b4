"""Icons: the same thing drawn by many designers, 48 × 48 grey; unseen things are tested, best among other designers.

A designer's own drawings of a thing often are one drawing in outline and solid, so a network that knows the designer's
hand finds them by style. The honest measure leaves the query's designer out of the gallery: `Splits.across`.
"""

from __future__ import annotations

import csv

import numpy as np
import torch

from labkit.base.checks import check_choice
from labkit.data.dataset import Dataset, Splits
from labkit.data.files import File, locate

LICENCE = "MIT, Apache-2.0, CC-BY and more, by set"
# small: 1,000 of the things, in every clone; whole: 6,274 things in four drawings or more, by two designers or more;
# wide: 23,599 things in two drawings or more, the size of Stanford Online Products
FILES = {
    "small": File(
        "icons48_small.npz", "icons", "9effd2daee2d9a72d6b10cd33a9515478f7da17312f22aaf8486f0688d44164f", shipped=True
    ),
    "whole": File(
        "icons48.npz",
        "icons",
        "c82349f0b295043b3f0ae47882131f2b6f9923209187fb3312f1e97e771bf4f1",
        built="d6b5a8c896ff2753de6750f412064768caa722c24f4849c07897fbce276903b9",
    ),
    "wide": File(
        "icons48_wide.npz",
        "icons",
        "44317d8634b6a49b7a9e3f0211c3e7518cef3d06994da3d981fee5d33549b8e8",
        built="e50d43d251de1f1d393ceee36c2751e06ffbdc548f7639e7de00e1cf1cf87454",
        optional=True,
    ),
}


# which things are drawn in one way and which in several: icons_build/kinds.py
KINDS = File("kinds.csv", "icons", "6216cad010dea5fab823593dbb23b87e64a9e2155fed83b8b1ba918041632a44", shipped=True)


def icons(form: str = "whole", train_kinds: str = "all") -> Splits:
    """Unseen things, split by a hash of their names: form="whole", "wide" (many more, small classes), "small".

    train_kinds: train on "all" things, or on equally many that are drawn in "one" way or in "several" ways.
    """
    check_choice("form", form, tuple(FILES))
    check_choice("train_kinds", train_kinds, ("all", "one", "several"))
    data, split = read(FILES[form])
    train, validation, test = (data.keep_classes(np.flatnonzero(split == part).tolist()) for part in range(3))
    if train_kinds != "all":
        train = train.keep_classes(classes_of_kind(train, train_kinds))
    return Splits(train=train, validation=validation, test=test, across="designer")


def read(file: File) -> tuple[Dataset, np.ndarray]:
    """All drawings, one class a thing, and the split of each class: 0 train, 1 validation, 2 test."""
    with np.load(locate(file), allow_pickle=False) as arrays:
        images, label, icon = arrays["images"], arrays["label"].astype(np.int64), arrays["icon"].tolist()
        names, split = arrays["names"].tolist(), arrays["split"]
        column = {key: arrays[many][arrays[key]].tolist() for key, many in COLUMNS.items()}
    data = Dataset(
        name="icons",
        inputs=torch.from_numpy(images[:, None]),
        labels=torch.from_numpy(label),
        class_names=tuple(names),
        ids=tuple(f"{names[c]}/{part}:{own}" for c, part, own in zip(label, column["set"], icon)),
        columns={
            "designer": tuple(column["family"]),
            "set": tuple(column["set"]),
            "style": tuple(column["style"]),
            "name": tuple(names[c] for c in label),
        },
    )
    return data, split


def classes_of_kind(data: Dataset, kind: str) -> list[int]:
    """The classes drawn in one way, or in several; as many of either, the largest first, so that sizes are alike."""
    kinds = read_kinds()
    size = torch.bincount(data.labels, minlength=data.num_classes).tolist()
    found = {
        each: sorted((c for c, name in enumerate(data.class_names) if kinds.get(name) == each), key=lambda c: -size[c])
        for each in ("one", "several")
    }
    return sorted(found[kind][: min(map(len, found.values()))])


def read_kinds() -> dict[str, str]:
    """By name, "one" for a thing that is drawn in one way, "several" for one drawn in several; others are left out."""
    with locate(KINDS).open(encoding="utf-8", newline="") as file:
        return {row["name"]: row["kinds"] for row in csv.DictReader(file)}


COLUMNS = {"family": "families", "set": "sets", "style": "styles"}  # an index for each drawing, and what it points to


def files() -> list[File]:
    """The files that are read, one for each form."""
    return list(FILES.values())
