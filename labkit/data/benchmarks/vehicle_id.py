"""VehicleID (Liu et al., 2016): 26,328 vehicles seen by traffic cameras, with three test lists of growing size.

protocol: "all", each image a query against all others of its list, is what PNP describes (though it cites the protocol
of Liu et al.) and what the released code of Smooth-AP and RS@k does; "one-per-id", one image of each vehicle drawn into
the gallery and all others queries against it, is usual in vehicle re-identification since Liu et al., with results
averaged over several draws (`gallery_seed`).

The counts are those of the lists as distributed, 13,164 vehicles in 113,346 images for training. PNP and the RS@k
slides print the counts of Liu et al. (13,134 in 110,178; test lists of 7,332, 12,995 and 20,038 images), but the
lists were corrected after that paper, as their README says.
"""

from __future__ import annotations

from pathlib import Path

import torch

from labkit.base.checks import check_choice
from labkit.data.benchmarks.lists import ListedImage, Lists, entry, require_counts, rows, whole
from labkit.data.samplers import generator

FOLDER = "VehicleID_V1.0"
WHERE = """\
VehicleID, for research only: VehicleID_V1.0.zip by request from https://pkuml.org/resources/pku-vehicleid.html
  VehicleID_V1.0/train_test_split/train_list.txt
  VehicleID_V1.0/train_test_split/test_list_800.txt (small), test_list_1600.txt (medium), test_list_2400.txt (large)
  VehicleID_V1.0/image/0000001.jpg …"""
TRAIN = (13_164, 113_346)
TEST = {"small": (800, 6_493), "medium": (1_600, 13_377), "large": (2_400, 19_777)}
NOTE = " (Papers print other counts than the distributed lists have: 13,134 vehicles in 110,178 images for training.)"
PROTOCOLS = ("all", "one-per-id")


def read(folder: Path, *, check: bool, size: str = "small", protocol: str = "all", gallery_seed: int = 0) -> Lists:
    """The lists of training and of one test size, parted into queries and gallery where the protocol asks for it."""
    check_choice("size", size, tuple(TEST))
    check_choice("protocol", protocol, PROTOCOLS)
    train = vehicles(folder / "train_test_split" / "train_list.txt")
    test = vehicles(folder / "train_test_split" / f"test_list_{TEST[size][0]}.txt")
    if check:
        require_counts(folder, {"train": train, "test": test}, {"train": TRAIN, "test": TEST[size]}, NOTE)
    return Lists(train, test) if protocol == "all" else one_per_id(train, test, gallery_seed)


def vehicles(file: Path) -> list[ListedImage]:
    """The images of one list; its lines hold the image's number and the vehicle's."""
    return [
        entry(file, line, f"image/{whole(file, line, image):07d}.jpg", str(whole(file, line, vehicle)))
        for line, (image, vehicle) in rows(file, ("image", "vehicle"))
    ]


def one_per_id(train: list[ListedImage], test: list[ListedImage], seed: int) -> Lists:
    """One image of each vehicle drawn at random into the gallery; the others are queries."""
    drawn: dict[str, int] = {}
    for i in torch.randperm(len(test), generator=generator(seed)).tolist():
        drawn.setdefault(test[i].label, i)
    gallery = set(drawn.values())
    queries = [image for i, image in enumerate(test) if i not in gallery]
    return Lists(train, queries, [test[i] for i in sorted(gallery)])
