"""Fashion-MNIST (Xiao et al., 2017): 70,000 grey images of clothes in ten classes, 28 × 28 pixels.

Read from the four official idx files; without them, from a small subset that comes with labkit.
MIT licence, © 2017 Zalando SE.
"""

from __future__ import annotations

import gzip
import math
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from labkit.base.checks import check_choice
from labkit.data.dataset import Dataset, Splits
from labkit.data.files import DataError, File, find, locate

LICENCE = "MIT, © 2017 Zalando SE"
MIRRORS = (
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
)


def _official(name: str, size: int, sha256: str, debian: str) -> File:
    urls = tuple(mirror + name for mirror in MIRRORS)
    return File(name, "fashion-mnist", sha256, urls, size=size, repacked=debian)


# Debian's package dataset-fashion-mnist has the same streams behind gzip headers of its own.
FILES = {
    "train-images": _official(
        "train-images-idx3-ubyte.gz",
        26_421_880,
        "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
        "b0564c3eedabfbf835052cff8503ea422014ce006caf5b757f851416ee8300c7",
    ),
    "train-labels": _official(
        "train-labels-idx1-ubyte.gz",
        29_515,
        "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
        "0ae29f65d86684f32d1b9c85147786c547b9c6aebcaf235f0400a0cce308b056",
    ),
    "test-images": _official(
        "t10k-images-idx3-ubyte.gz",
        4_422_102,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
        "cc1d090a38ace84dfa1aa66e3ada7c336ef481a96936906477e6dd344da56eaa",
    ),
    "test-labels": _official(
        "t10k-labels-idx1-ubyte.gz",
        5_148,
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
        "8d3605d196f4be44669e46906da9733c8131fef761fdbfec72c424d5222f1a05",
    ),
}
SUBSET = File(
    "subset.npz", "fashion-mnist", "c4d04f2850ffdcebaee76187eb905d1b66ea61e2d994ec3f8cc458006033b6ca", shipped=True
)
CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
COARSE = ("tops", "trousers", "shoes", "bag")
COARSE_OF = (0, 1, 0, 0, 0, 2, 0, 2, 3, 2)  # for each class of CLASSES
HELD_OUT = 0.1


def fashion_mnist(subset: str = "auto", per_class: int | None = None, merged: bool = False) -> Splits:
    """Ten classes, the same in every split: the last tenth of each class's training images is validation.

    subset: "full" for the official files, "embedded" for 200 + 100 images per class, "auto" for full where found.
    per_class: train on the first so many images of each class only.
    merged: train on four coarse classes (tops, trousers, shoes, bag); validation and test keep the ten.
    """
    check_choice("subset", subset, ("auto", "full", "embedded"))
    if per_class is not None and (not isinstance(per_class, int) or isinstance(per_class, bool) or per_class < 1):
        raise ValueError(f"per_class must be a whole number, 1 or above, or None; got {per_class!r}")
    if subset == "auto":
        subset = "full" if all(map(find, FILES.values())) else "embedded"
    whole, test = (read_official if subset == "full" else read_subset)()
    train, validation = hold_out(whole)
    if per_class is not None:
        train = train.take((position_in_class(train.labels) < per_class).nonzero().flatten())
    if merged:
        train = replace(train, labels=torch.tensor(COARSE_OF)[train.labels], class_names=COARSE)
    return Splits(train=train, validation=validation, test=test)


def position_in_class(labels: torch.Tensor) -> torch.Tensor:
    """For each sample, how many of its class come before it."""
    one_hot = torch.nn.functional.one_hot(labels)
    return (one_hot.cumsum(0) - 1).gather(1, labels[:, None]).flatten()


def hold_out(data: Dataset) -> tuple[Dataset, Dataset]:
    """Without the last tenth of each class, and that tenth."""
    sizes = torch.bincount(data.labels, minlength=data.num_classes)
    late = position_in_class(data.labels) >= (sizes - (HELD_OUT * sizes).ceil().long())[data.labels]
    return data.take((~late).nonzero().flatten()), data.take(late.nonzero().flatten())


def dataset(split: str, images: NDArray[np.uint8], labels: NDArray[np.uint8], index: NDArray[np.int64]) -> Dataset:
    """Images (N, 1, 28, 28); an id names the split and the place in the official file."""
    return Dataset(
        name="fashion-mnist",
        inputs=torch.from_numpy(images)[:, None],
        labels=torch.from_numpy(labels.astype(np.int64)),
        class_names=CLASSES,
        ids=tuple(f"{split}-{i:05d}" for i in index),
    )


def files() -> list[File]:
    """The official files and the subset."""
    return [*FILES.values(), SUBSET]


def read_official() -> tuple[Dataset, Dataset]:
    """The 60,000 training and the 10,000 test images."""
    halves = []
    for split in ("train", "test"):
        images, labels = (read_idx(locate(FILES[f"{split}-{kind}"])) for kind in ("images", "labels"))
        halves.append(dataset(split, images, labels, np.arange(len(labels))))
    return halves[0], halves[1]


def read_subset() -> tuple[Dataset, Dataset]:
    """The embedded 200 training and 100 test images per class."""
    with np.load(locate(SUBSET), allow_pickle=False) as arrays:
        train, test = (
            dataset(split, *(arrays[f"{split}_{part}"] for part in ("images", "labels", "index")))
            for split in ("train", "test")
        )
    return train, test


def read_idx(path: Path) -> NDArray[np.uint8]:
    """The array of bytes in a gzipped idx file: 0, 0, 8 (bytes), number of dimensions, big-endian sizes, data."""
    again = "Remove it and run `python -m labkit data get fashion-mnist`."
    try:
        with gzip.open(path, "rb") as opened:
            content = opened.read()
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} is not a whole gzip file ({error}). {again}") from error
    if len(content) < 4 or content[:3] != b"\0\0\x08" or len(content) < (start := 4 + 4 * content[3]):
        raise DataError(f"{path} is not an idx file of bytes: it starts with {content[:4].hex(' ')}. {again}")
    shape = tuple(int(size) for size in np.frombuffer(content[4:start], ">u4"))
    if len(content) - start != math.prod(shape):
        raise DataError(f"{path} has {len(content) - start:,} values, but its header announces {shape}. {again}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()
