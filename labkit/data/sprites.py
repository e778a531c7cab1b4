"""Sprite sheets: one small picture a sample in one WebP file, for hover images in notebooks and the dashboard."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labkit.base.files import atomic, write_json
from labkit.data.files import DataError

if TYPE_CHECKING:  # a page that only shows a sheet needs no torch
    from PIL.Image import Image
    from torch import Tensor

    from labkit.data.dataset import Dataset

LONGEST_SIDE = 16_383  # of a WebP file
NAME = re.compile(r"[\w-][\w.-]*")
INK_ON_BLACK = ("omniglot",)  # drawn with bright ink, shown inverted so that it reads on white


@dataclass(frozen=True)
class Sprites:
    """A sheet on disk: the picture of ids[i] is `size` pixels square, in row i // columns and column i % columns."""

    sheet: Path
    size: int
    columns: int
    ids: tuple[str, ...]

    def images(self) -> Tensor:
        """The pictures, uint8 (N, 3, size, size)."""
        import torch
        from PIL import Image

        try:
            with Image.open(self.sheet) as opened:
                pixels = torch.from_numpy(np.array(opened.convert("RGB")))
        except OSError as error:
            raise DataError(
                f"{self.sheet} is missing or not a readable picture ({error}); write the sprites anew"
            ) from error
        rows = -(-len(self.ids) // self.columns)
        if pixels.shape[:2] != (rows * self.size, self.columns * self.size):
            raise DataError(f"{self.sheet} does not have the size that its index says; write the sprites anew")
        cells = pixels.reshape(rows, self.size, self.columns, self.size, 3).permute(0, 2, 4, 1, 3)
        return cells.reshape(-1, 3, self.size, self.size)[: len(self.ids)]


def write_sprites(dataset: Dataset, folder: Path, size: int = 32, columns: int = 64) -> Path:
    """Write `<name>.webp` and its index `<name>.json` into a folder; returns the path of the sheet.

    The index is {"size", "columns", "ids"}. Points of the plane have no pictures, so toys are refused.
    """
    from PIL import Image
    from torch import Tensor
    from tqdm import tqdm

    for option, value in (("size", size), ("columns", columns)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{option} must be a whole number, 1 or above; got {value!r}")
    if len(dataset) == 0 or (isinstance(dataset.inputs, Tensor) and dataset.inputs.dim() != 4):
        raise ValueError(f"dataset must hold images, which {dataset.name} does not")
    rows = -(-len(dataset) // columns)
    if max(rows, columns) * size > LONGEST_SIDE:
        raise ValueError(
            f"a sheet of {rows} × {columns} pictures of {size} pixels is more than the {LONGEST_SIDE} pixels a side "
            "that WebP holds: take fewer samples, a smaller size, or rows and columns more alike"
        )
    sheet = Image.new("RGB", (columns * size, rows * size), "white")
    for i in tqdm(range(len(dataset)), desc=f"Sprites of {dataset.name}", delay=2, leave=False):
        sheet.paste(picture(dataset, i, size), (i % columns * size, i // columns * size))
    path = folder / f"{dataset.name}.webp"
    with atomic(path) as temporary:
        sheet.save(temporary, "WEBP", quality=80)
    write_json(path.with_suffix(".json"), {"size": size, "columns": columns, "ids": list(dataset.ids)})
    return path


def picture(dataset: Dataset, i: int, size: int) -> Image:
    """One sample as a small square RGB picture; a file's picture keeps its proportions."""
    from PIL import Image, ImageOps
    from torch import Tensor

    if isinstance(dataset.inputs, Tensor):
        pixels = dataset.inputs[i].permute(1, 2, 0).numpy()
        if dataset.name in INK_ON_BLACK:
            pixels = 255 - pixels
        return Image.fromarray(pixels.squeeze()).convert("RGB").resize((size, size), Image.Resampling.BICUBIC)
    try:
        with Image.open(dataset.inputs[i]) as opened:
            return ImageOps.pad(opened.convert("RGB"), (size, size), color="white")
    except OSError as error:
        raise DataError(f"{dataset.inputs[i]} is missing or not a readable image ({error})") from error


def read_sprites(folder: Path, name: str) -> Sprites:
    """The sheet of a data set; its pictures are decoded only when asked for."""
    if not NAME.fullmatch(name):
        raise ValueError(f"name must be that of a data set (letters, digits, '-', '_' and '.'), got {name!r}")
    index = folder / f"{name}.json"
    try:
        found = json.loads(index.read_text(encoding="utf-8"))
        size, columns, ids = int(found["size"]), int(found["columns"]), tuple(map(str, found["ids"]))
        whole = size > 0 and columns > 0 and len(ids) > 0
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{index} is missing or damaged ({error!r}); write the sprites anew") from error
    if not whole:
        raise DataError(f"{index} is damaged: size {size}, columns {columns}, {len(ids)} ids; write the sprites anew")
    return Sprites(index.with_suffix(".webp"), size, columns, ids)
