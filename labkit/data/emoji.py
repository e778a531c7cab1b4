"""Emoji drawn by eight vendors, 48 × 48 RGB on white: the same thing in other styles, every mistake visible by eye."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch

from labkit.base.checks import check_choice
from labkit.base.files import atomic
from labkit.data.dataset import Dataset, Splits
from labkit.data.files import File, locate

LICENCE = "Apache-2.0, CC-BY-4.0 or MIT, by vendor"
VENDORS = (
    "noto",
    "noto-v1",
    "twemoji",
    "emojione",
    "fluent-emoji",
    "fluent-emoji-flat",
    "fluent-emoji-high-contrast",
    "emojione-monotone",
)
FILE = File("emoji48.npz", "emoji", "88ba21342ae5c88311dddb4025d7932b7961ea8bb7eafd931f8de720e9204330", shipped=True)
# Twemoji drew every emoji, and no other set comes from its designers. Fluent and EmojiOne come in several versions of
# the same drawings: with one of them held out, raw pixels find the twin (R@1 95 % for fluent-emoji-flat, 39 % here).
TEST_VENDOR = "twemoji"
# Noto's first version (the "blobs") has no twin either; it is judged together with Noto's present drawings.
VALIDATION_VENDORS = ("noto-v1", "noto")


def emoji(split: str = "class", seed: int = 0) -> Splits:
    """Unseen emoji (split="class") or an unseen vendor's drawings of known emoji (split="vendor")."""
    check_choice("split", split, ("class", "vendor"))
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise ValueError(f"seed must be a whole number, got {seed!r}")
    return by_class(read(), seed) if split == "class" else by_vendor(read())


def by_class(data: Dataset, seed: int) -> Splits:
    """Half the emoji are tested on, a tenth of the other half is held out for validation."""
    # ordered by hash, not by a generator: the same on every machine and in every version for ever
    order = sorted(range(data.num_classes), key=lambda c: sha256(f"{seed}/{data.class_names[c]}".encode()).digest())
    half = data.num_classes // 2
    tenth = half // 10
    return Splits(
        train=data.keep_classes(sorted(order[tenth:half])),
        validation=data.keep_classes(sorted(order[:tenth])),
        test=data.keep_classes(sorted(order[half:])),
    )


def by_vendor(data: Dataset) -> Splits:
    """All emoji are known; queries are drawings of a vendor never seen, the gallery holds the training vendors'.

    Validation has the drawings of another unseen vendor and those of one training vendor, of emoji that both drew.
    """
    unseen, seen = VALIDATION_VENDORS
    train = of_vendors(data, [vendor for vendor in VENDORS if vendor not in (TEST_VENDOR, unseen)])
    both = set(of_vendors(data, [unseen]).labels.tolist()) & set(of_vendors(data, [seen]).labels.tolist())
    return Splits(
        train=train,
        validation=of_vendors(data, VALIDATION_VENDORS).keep_classes(sorted(both)),
        test=of_vendors(data, [TEST_VENDOR]),
        gallery=train,
    )


def of_vendors(data: Dataset, vendors: Sequence[str]) -> Dataset:
    """The drawings of some vendors."""
    return data.take(torch.tensor([i for i, vendor in enumerate(data.columns["vendor"]) if vendor in vendors]))


def files() -> list[File]:
    """The one file that is read."""
    return [FILE]


def read() -> Dataset:
    """All drawings, one class an emoji."""
    with np.load(locate(FILE), allow_pickle=False) as arrays:
        images, label, vendor_of = arrays["images"], arrays["label"].astype(np.int64), arrays["vendor"]
        vendors, codepoints, names = (arrays[key].tolist() for key in ("vendors", "codepoints", "names"))
    vendor = tuple(vendors[v] for v in vendor_of)
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


def contact_sheet(dataset: Dataset, path: Path, classes: Sequence[int]) -> Path:
    """Write a picture with a row for each of the classes and a column for each vendor, labelled; gaps stay white."""
    from PIL import Image, ImageDraw, ImageFont

    if not isinstance(dataset.inputs, torch.Tensor) or "vendor" not in dataset.columns:
        raise ValueError(f"dataset must hold emoji in memory, with the column vendor; got {dataset.name}")
    margin, head, cell = 195, 40, 52
    page = Image.new("RGB", (margin + cell * len(VENDORS), head + cell * len(classes)), "white")
    pen, font = ImageDraw.Draw(page), ImageFont.load_default(10)
    for column, vendor in enumerate(VENDORS):
        for line, word in enumerate(vendor.replace("fluent-emoji", "fluent").split("-")):
            pen.text((margin + column * cell, 2 + 11 * line), word, fill="black", font=font)
    row = {label: number for number, label in enumerate(classes)}
    for label, top in row.items():
        pen.text((4, head + top * cell + 18), dataset.class_names[label], fill="black", font=font)
    for image, label, vendor in zip(dataset.inputs, dataset.labels.tolist(), dataset.columns["vendor"]):
        if label in row:
            place = (margin + VENDORS.index(vendor) * cell + 2, head + row[label] * cell + 2)
            page.paste(Image.fromarray(image.permute(1, 2, 0).numpy()), place)
    with atomic(path) as temporary:
        page.save(temporary, path.suffix[1:].upper(), quality=80)
    return path
