"""Where data files live, and the proof that a file is the one expected; download.py fetches them."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.base.errors import LabkitError
from labkit.base.paths import data_folders, shipped

if TYPE_CHECKING:  # only files that labkit builds are looked into
    import numpy as np


class DataError(LabkitError):
    """A data file is missing, damaged or not the one expected; the message says how to repair it."""


@dataclass(frozen=True)
class File:
    """A published file: its name, the data set it belongs to, its sha256 in hex, and addresses.

    size: bytes; where it is known, an address that announces or sends something else is refused early.
    repacked: the sha256 of the same content as a distribution packs it.
    shipped: it comes with labkit, in the data set's folder, and nowhere else.
    built: labkit makes it (`make` in labkit/data/NAME_build), and its arrays have this checksum. The bytes may differ
    from machine to machine, since not every zlib packs alike.
    optional: few need it, and it is fetched only when asked for.
    """

    name: str
    dataset: str
    checksum: str
    urls: tuple[str, ...] = ()
    shipped: bool = False
    built: str = ""
    optional: bool = False
    size: int | None = None
    repacked: str = ""

    @property
    def repair(self) -> str:
        """What to do when the file is missing or damaged."""
        if self.shipped:
            return f"run `git checkout -- data/{self.dataset}/{self.name}` in a clone of labkit, or install it anew"
        return f"run `python -m labkit data get {self.dataset}{' --all' if self.optional else ''}`"


def find(file: File) -> Path | None:
    """The first of `data_folders()`, or of their subfolders named after the data set, that has the file."""
    if file.shipped:
        places = [shipped() / file.dataset / file.name]
    else:
        names = (Path(file.name), Path(file.dataset, file.name))
        places = [folder / name for folder in data_folders() for name in names]
    return next((place for place in places if place.is_file()), None)


def locate(file: File) -> Path:
    """The verified path of a file, or a DataError that says what to do."""
    path = find(file)
    if path is None:
        searched = shipped() / file.dataset if file.shipped else ", ".join(map(str, data_folders()))
        advice = "" if file.shipped else ", or set LABKIT_DATA to the folder that holds it"
        raise DataError(
            f"{file.name} (checksum {file.checksum}) was not found in {searched}. To get it, {file.repair}{advice}."
        )
    verify(path, file)
    return path


def checksum(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def arrays_checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """Hash of arrays with their names, types and shapes."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def same_arrays(path: Path, file: File) -> bool:
    """Whether a file that labkit built holds the arrays expected, however they are packed."""
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as arrays:
            return arrays_checksum(arrays) == file.built
    except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error):  # damaged
        return False


def right(path: Path, file: File) -> bool:
    """Whether a file's content is the published one."""
    return checksum(path) in (file.checksum, file.repacked) or (bool(file.built) and same_arrays(path, file))


def verify(path: Path, file: File) -> None:
    """Refuse a file whose content is not the published one."""
    if not right(path, file):
        found = checksum(path)
        raise DataError(
            f"{path} ({path.stat().st_size:,} bytes) is damaged or not the expected file: checksum {found}, "
            f"expected {file.checksum}. Remove it and {file.repair}."
        )
