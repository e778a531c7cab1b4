"""What the official lists of images have in common: lines of fields, paths inside the data set, counts to check."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from labkit.data.files import DataError

# an absolute path, a drive, a step upwards or an end of string, with the slashes of any system
OUTSIDE = re.compile(r"^[/\\]|^.:|(^|[/\\])\.\.([/\\]|$)|\0")


class ListedImage(NamedTuple):
    """An image of a list: its path inside the data set's folder, with slashes, and the name of its class."""

    path: str
    label: str


@dataclass(frozen=True)
class Lists:
    """The images of each split; with a gallery, those of test are queries against it."""

    train: Sequence[ListedImage]
    test: Sequence[ListedImage]
    gallery: Sequence[ListedImage] | None = None


def malformed(file: Path, line: int, what: str) -> DataError:
    """The error for a line that is not as the official lists have it."""
    return DataError(f"{file}, line {line}: {what}. Unpack the official file anew, or mend the line.")


def rows(
    file: Path, columns: tuple[str, ...], *, skip: int = 0, header: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of each line, after the lines to skip and, if there is one, the header of column names."""
    first = skip + 1
    try:
        with file.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(tqdm(lines, desc=f"Reading {file.name}", delay=2, leave=False), start=1):
                fields = line.split()
                if number < first or not fields:
                    continue
                if header and number == first:
                    if tuple(fields) != columns:
                        raise malformed(
                            file, number, f"expected the header {' '.join(columns)!r}, got {line.strip()!r}"
                        )
                    continue
                if len(fields) != len(columns):
                    raise malformed(file, number, f"expected {' '.join(columns)!r}, got {line.strip()!r}")
                yield number, fields
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is not a text file ({error}). Unpack the official file anew.") from None


def entry(file: Path, line: int, path: str, label: str) -> ListedImage:
    """The image at a line of a list, whose path must stay inside the data set's folder."""
    if OUTSIDE.search(path):
        raise malformed(file, line, f"the path {path!r} leads out of the data set's folder")
    return ListedImage(path, label)


def whole(file: Path, line: int, text: str) -> int:
    """The whole number that a field must be."""
    if not (text.isascii() and text.isdigit()):
        raise malformed(file, line, f"expected a whole number, got {text!r}")
    return int(text)


def require_counts(
    folder: Path, found: dict[str, Sequence[ListedImage]], expected: dict[str, tuple[int, int]], note: str = ""
) -> None:
    """Refuse lists whose numbers of (classes, images) are not the official ones."""
    wrong = []
    fewer = False
    for split, (classes, images) in expected.items():
        got_images = len(found[split])
        got_classes = len({image.label for image in found[split]})
        if (got_classes, got_images) != (classes, images):
            fewer |= got_images < images
            wrong.append(
                f"{split}: expected {classes:,} classes and {images:,} images, "
                f"found {got_classes:,} classes and {got_images:,} images"
            )
    if wrong:
        cause = "a list is cut short or is your own subset" if fewer else "a list was changed or is another version's"
        raise DataError(
            f"{folder}: {'; '.join(wrong)}. Probably {cause}: unpack the official files anew, "
            f"or load your own subset with check=False.{note}"
        )
