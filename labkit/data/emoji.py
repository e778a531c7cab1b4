"""Emoji drawn by eight vendors, 48 × 48 RGB on white: the same thing in other styles, every mistake visible by eye."""

from __future__ import annotations

import hashlib

import numpy as np
import torch

from labkit._validate import check_choice
from labkit.data.dataset import Dataset, Splits
from labkit.data.files import File, locate

FILE = File("emoji48.npz", "emoji", "dfda71a8ec29bc814bcb445faa2674e1611852b624404309401d0619e68ea8e4")
TEST_VENDOR = "fluent-emoji-flat"
VALIDATION_VENDOR = "twemoji"


def emoji(split: str = "class", seed: int = 0) -> Splits:
    """Unseen emoji (split="class") or an unseen vendor's drawings of known emoji (split="vendor")."""
    check_choice("split", split, ("class", "vendor"))
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ValueError(f"seed must be a whole number, got {seed!r}")
    return by_class(read(), seed) if split == "class" else by_vendor(read())


def by_class(data: Dataset, seed: int) -> Splits:
    """Half the emoji are tested on, a tenth of the other half is held out for validation."""
    order = sorted(range(data.num_classes), key=lambda c: hashlib.sha256(f"{seed}/{data.class_names[c]}".encode()).digest())
    half = data.num_classes // 2
    tenth = half // 10
    return Splits(
        train=data.keep_classes(sorted(order[tenth:half])),
        validation=data.keep_classes(sorted(order[:tenth])),
        test=data.keep_classes(sorted(order[half:])),
    )


def by_vendor(data: Dataset) -> Splits:
    """All emoji are known; queries are drawings of a vendor never seen, the gallery holds the training vendors'."""
    vendor = data.columns["vendor"]
    train = data.take(torch.tensor([i for i, v in enumerate(vendor) if v not in (TEST_VENDOR, VALIDATION_VENDOR)]))
    return Splits(
        train=train,
        validation=data.take(torch.tensor([i for i, v in enumerate(vendor) if v in (VALIDATION_VENDOR, "noto")])),
        test=data.take(torch.tensor([i for i, v in enumerate(vendor) if v == TEST_VENDOR])),
        gallery=train,
    )


def read() -> Dataset:
    """All drawings, one class an emoji."""
    with np.load(locate(FILE), allow_pickle=False) as arrays:
        images, label = arrays["images"], arrays["label"].astype(np.int64)
        vendor = tuple(str(arrays["vendors"][v]) for v in arrays["vendor"])
        codepoints, names = [[str(x) for x in arrays[key]] for key in ("codepoints", "names")]
    return Dataset(
        name="emoji",
        inputs=torch.from_numpy(np.ascontiguousarray(images.transpose(0, 3, 1, 2))),
        labels=torch.from_numpy(label),
        class_names=tuple(names),
        ids=tuple(f"{codepoints[c]}/{v}" for c, v in zip(label, vendor)),
        columns={
            "vendor": vendor,
            "codepoint": tuple(codepoints[c] for c in label),
            "name": tuple(names[c] for c in label),
        },
    )
