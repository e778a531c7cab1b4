"""The sprite sheet of an explorer: the data set's own as it is, or cut down to the pictures that are shown."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from labkit.base.paths import RECORDED
from labkit.data.files import DataError
from labkit.data.sprites import NAME, read_sprites
from labkit.runs.run import Run
from labkit.runs.schema import SPRITES

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

COLUMNS = 40
SMALLER = ((32, 80), (32, 60), (28, 50), (24, 40), (20, 30), (16, 20))  # pixels a side and quality, until it fits


@dataclass(frozen=True)
class Sheet:
    """An image file with square cells of `size` pixels, `columns` in a row; without data there are no pictures."""

    data: bytes
    size: int
    columns: int

    def open(self) -> Image:
        """The decoded picture."""
        from PIL import Image

        try:
            return Image.open(io.BytesIO(self.data)).convert("RGB")
        except Image.DecompressionBombError as error:  # a run from elsewhere may bring any file
            raise OSError(f"the sheet of pictures is too large: {error}") from None

    def box(self, cell: int) -> tuple[int, int, int, int]:
        """Left, upper, right and lower edge of a cell."""
        left, upper = cell % self.columns * self.size, cell // self.columns * self.size
        return left, upper, left + self.size, upper + self.size

    def pictures(self, cells: Sequence[int]) -> list[str]:
        """Cells as addresses of small WebP pictures; "" for a cell of -1."""
        return ["" if cell < 0 else picture(self, cell) for cell in cells]


NO_SHEET = Sheet(b"", 0, 0)


@lru_cache(maxsize=4)
def decoded(sheet: Sheet) -> Image:
    """The sheet's pixels: decoding a large one takes longer than cutting from it."""
    return sheet.open()


@lru_cache(maxsize=2000)
def picture(sheet: Sheet, cell: int) -> str:
    """A cell as the address of a picture."""
    buffer = io.BytesIO()
    decoded(sheet).crop(sheet.box(cell)).save(buffer, "WEBP", quality=90)
    return "data:image/webp;base64," + base64.b64encode(buffer.getvalue()).decode()


def find_sheet(folder: Path, name: str, ids: tuple[str, ...]) -> tuple[NDArray[np.int32], Sheet]:
    """The cell of every id, -1 where there is no picture, and the sheet of a data set; NO_SHEET if it has none."""
    none = np.full(len(ids), -1, np.int32)
    if not NAME.fullmatch(name) or not (folder / f"{name}.json").is_file():
        return none, NO_SHEET
    found = read_sprites(folder, name)
    try:
        sheet = Sheet(found.sheet.read_bytes(), found.size, found.columns)
    except OSError as error:
        raise DataError(f"{found.sheet} cannot be read ({error}); write the sprites anew") from error
    place = {known: cell for cell, known in enumerate(found.ids)}
    cells = np.array([place.get(wanted, -1) for wanted in ids], np.int32)
    return (cells, sheet) if (cells >= 0).any() else (none, NO_SHEET)


def sheet_of(run: Run, ids: tuple[str, ...], sprites: Path = RECORDED / "sprites") -> tuple[NDArray[np.int32], Sheet]:
    """The same for the samples of a run: pictures of its own, else those of its data set."""
    own = run.has(f"{SPRITES}.json") and run.has(f"{SPRITES}.webp")
    return find_sheet(run.path, SPRITES, ids) if own else find_sheet(sprites, run.data_name, ids)


def cut(sheet: Sheet, cells: NDArray[np.int32], limit: int) -> tuple[NDArray[np.int32], Sheet]:
    """A sheet of only the pictures in use, of at most `limit` bytes; NO_SHEET if even the smallest is larger."""
    from PIL import Image

    if len(sheet.data) <= limit:
        return cells, sheet
    used = np.unique(cells[cells >= 0])
    renamed = np.where(cells >= 0, np.searchsorted(used, cells), -1).astype(np.int32)
    whole = sheet.open()
    for size, quality in SMALLER:
        made = Image.new("RGB", (COLUMNS * size, -(-len(used) // COLUMNS) * size), "white")
        for place, cell in enumerate(used):
            picture = whole.crop(sheet.box(int(cell))).resize((size, size), Image.Resampling.LANCZOS)
            made.paste(picture, (place % COLUMNS * size, place // COLUMNS * size))
        buffer = io.BytesIO()
        made.save(buffer, "WEBP", quality=quality)
        if buffer.tell() <= limit:
            return renamed, Sheet(buffer.getvalue(), size, COLUMNS)
    return np.full(len(cells), -1, np.int32), NO_SHEET
