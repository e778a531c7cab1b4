"""The papers' benchmarks, read from their official folders: `load("cub")` gives lists of image files with labels.

Their licences forbid passing them on, so nothing is downloaded: `WHERE` says where to obtain each and how its folder
looks. The papers train on all training classes, and released code keeps the epoch that is best on the test set; here
a tenth of the training classes is held out to choose by, unless `validation=0`.
"""

from __future__ import annotations

import errno
import inspect
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from labkit.base.checks import check_choice
from labkit.base.paths import given_folders
from labkit.data.benchmarks import cars196, cub, in_shop, inaturalist, sop, vehicle_id
from labkit.data.benchmarks.lists import ListedImage
from labkit.data.dataset import Dataset, Splits
from labkit.data.files import DataError
from labkit.data.samplers import generator

READERS = {
    "cub": cub,
    "cars196": cars196,
    "sop": sop,
    "in-shop": in_shop,
    "vehicle-id": vehicle_id,
    "inaturalist": inaturalist,
}
WHERE: dict[str, str] = {name: reader.WHERE for name, reader in READERS.items()}


def load(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    validation: float = 0.1,
    seed: int = 0,
    check: bool = True,
    **options: Any,
) -> Splits:
    """The splits of a benchmark; inputs are paths, and ids are the paths below root, with slashes.

    root: folder that holds the data set's official folder; by default each entry of $LABKIT_DATA is tried.
    validation: share of the training classes to hold out, chosen by seed; with 0 the validation set has no samples,
        as in the papers, and there is nothing to stop early by.
    check: insist on the official numbers of classes and images; False is for your own subsets.
    options: for vehicle-id, size="small" | "medium" | "large", protocol="all" | "one-per-id" and gallery_seed=0.
    """
    check_choice("name", name, tuple(READERS))
    reader = READERS[name]
    check_options(name, options)
    if not isinstance(validation, Real) or isinstance(validation, bool) or not 0 <= validation < 1:
        raise ValueError(f"validation must be a share of the training classes, from 0 to below 1; got {validation!r}")
    folder = find(name, root)
    try:
        lists = reader.read(folder, check=check, **options)
        require_images(folder, [*lists.train, *lists.test, *(lists.gallery or ())])
    except FileNotFoundError as error:
        raise DataError(
            f"{error.filename} is missing: unpack the data set in {folder.parent}, "
            f"or set root or LABKIT_DATA to the folder that holds a whole {folder.name}.\n{WHERE[name]}"
        ) from None
    train_classes = classes_of(name, "train", lists.train)
    test_classes = classes_of(name, "test", [*lists.test, *(lists.gallery or ())])
    if shared := train_classes.keys() & test_classes.keys():
        raise DataError(f"{folder}: class {min(shared)} is in the lists of both train and test")
    train, held_out = hold_out(dataset(name, folder, lists.train, train_classes), validation, seed)
    gallery = None if lists.gallery is None else dataset(name, folder, lists.gallery, test_classes)
    return Splits(train, held_out, dataset(name, folder, lists.test, test_classes), gallery)


def check_options(name: str, options: dict[str, Any]) -> None:
    """Refuse options that the data set does not have."""
    known = tuple(inspect.signature(READERS[name].read).parameters)[2:]  # after folder and check
    for option in options:
        if option not in known:
            names = ", ".join(("root", "validation", "seed", "check", *known))
            raise ValueError(f"{name} has no option {option!r}; its options are {names}")


def find(name: str, root: str | os.PathLike[str] | None) -> Path:
    """The data set's official folder, in root or in the first entry of $LABKIT_DATA that has it."""
    official: str = READERS[name].FOLDER
    places = given_folders() if root is None else [Path(root)]
    for place in places:
        if (place / official).is_dir():
            return place / official
    tried = f"was not found in {', '.join(map(str, places))}" if places else "was not looked for: no folder is set"
    raise DataError(
        f"The folder {official!r} {tried}. Set root or LABKIT_DATA to the folder that holds it "
        f"(not to {official!r} itself).\n{WHERE[name]}"
    )


def require_images(folder: Path, images: Sequence[ListedImage]) -> None:
    """Refuse lists of which an image is missing or named twice."""
    wanted: dict[str, set[str]] = {}
    for image in images:
        place, _, file = image.path.rpartition("/")
        wanted.setdefault(place, set()).add(file)
    if sum(map(len, wanted.values())) < len(images):
        twice = Counter(image.path for image in images).most_common(1)[0][0]
        raise DataError(f"{folder}: the lists name the image {twice} twice. Unpack the official lists anew.")
    # a folder is read once and whole, which is faster than asking for each file
    for place, files in tqdm(wanted.items(), desc=f"Looking for the images of {folder.name}", delay=2, leave=False):
        if absent := files.difference(os.listdir(folder / place)):
            raise FileNotFoundError(errno.ENOENT, "image", str(folder / place / min(absent)))


def classes_of(name: str, split: str, images: Iterable[ListedImage]) -> dict[str, int]:
    """Label of each class, in the order of their first images."""
    classes: dict[str, int] = {}
    for image in images:
        classes.setdefault(image.label, len(classes))
    if not classes:
        raise DataError(f"{name}: the lists have no image for {split}")
    return classes


def dataset(name: str, folder: Path, images: Sequence[ListedImage], classes: dict[str, int]) -> Dataset:
    """The images of one split."""
    return Dataset(
        name=name,
        inputs=[folder / image.path for image in tqdm(images, desc=f"Listing {name}", delay=2, leave=False)],
        labels=torch.tensor([classes[image.label] for image in images], dtype=torch.long),
        class_names=tuple(classes),
        ids=tuple(f"{folder.name}/{image.path}" for image in images),
    )


def hold_out(train: Dataset, share: float, seed: int) -> tuple[Dataset, Dataset]:
    """Part whole classes: the last of a seeded shuffle, at least one unless the share is 0, are for validation."""
    held = max(1, round(share * train.num_classes)) if share else 0
    if held == train.num_classes:
        raise ValueError(f"validation={share} leaves none of the {train.num_classes} classes to train on")
    order = torch.randperm(train.num_classes, generator=generator(seed)).tolist()
    kept = train.num_classes - held
    return train.keep_classes(sorted(order[:kept])), train.keep_classes(sorted(order[kept:]))
