"""Where data files live, the proof that a file is the one expected, and how to fetch it."""

from __future__ import annotations

import hashlib
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

from tqdm import tqdm

from labkit.base.errors import LabkitError
from labkit.base.files import atomic
from labkit.base.paths import data_folders, shipped

if TYPE_CHECKING:  # only files that labkit builds are looked into
    import numpy as np

TIMEOUT = 30.0  # seconds without an answer
CHUNK = 1 << 16


class DataError(LabkitError):
    """A data file is missing, damaged or not the one expected; the message says how to repair it."""


@dataclass(frozen=True)
class File:
    """A published file: its name, the data set it belongs to, its checksum (sha256 or md5 in hex) and addresses.

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


def checksum(path: Path, like: str) -> str:
    """Hash of a file, with the algorithm that `like` is a hash of: 32 hex digits are md5, 64 are sha256."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "md5" if len(like) == 32 else "sha256").hexdigest()


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
    return checksum(path, file.checksum) == file.checksum or (bool(file.built) and same_arrays(path, file))


def verify(path: Path, file: File) -> None:
    """Refuse a file whose content is not the published one."""
    if not right(path, file):
        found = checksum(path, file.checksum)
        raise DataError(
            f"{path} ({path.stat().st_size:,} bytes) is damaged or not the expected file: checksum {found}, "
            f"expected {file.checksum}. Remove it and {file.repair}."
        )


def download(file: File, folder: Path) -> Path:
    """Fetch a file into a folder from the first address that gives it whole; there is never half a file.

    A mirror that fails, stops early or sends something else is passed over; DataError says what each one did.
    """
    path = folder / file.name
    failures = []
    for url in file.urls:
        try:
            with atomic(path) as temporary:
                fetch(url, temporary)
                if (found := checksum(temporary, file.checksum)) != file.checksum:
                    raise NetworkError(f"sent another file, with checksum {found}")
        except NetworkError as error:
            failures.append(f"{url}: {error}")
        except OSError as error:
            raise DataError(
                f"{path} could not be written: {error}. Nothing was kept; make room and try again."
            ) from error
        else:
            return path
    raise DataError(
        f"{file.name} (checksum {file.checksum}) could not be downloaded. "
        f"Try again later, or put it into {folder} by hand. " + "; ".join(failures)
    )


class NetworkError(Exception):
    """An address did not give the whole file."""


def fetch(url: str, path: Path) -> None:
    """Write what an address gives to path, with a progress bar; network trouble becomes a NetworkError."""
    received = 0
    with (
        path.open("wb") as file,
        tqdm(desc=url.rpartition("/")[2], unit="B", unit_scale=True, leave=False, delay=2) as bar,
    ):
        for size, chunk in chunks(url):
            if received == 0 and size is not None:
                bar.total = size
                if size > (free := shutil.disk_usage(path.parent).free):
                    raise OSError(f"needs {size:,} bytes, but the disk has {free:,} left")
            file.write(chunk)
            received += len(chunk)
            bar.update(len(chunk))


def chunks(url: str) -> Iterator[tuple[int | None, bytes]]:
    """Pieces of the body, each with the announced length of the whole; a body that ends early is an error."""
    try:
        with urlopen(Request(url, headers={"User-Agent": "labkit"}), timeout=TIMEOUT) as answer:
            announced = answer.headers.get("Content-Length")
            size = int(announced) if announced else None
            received = 0
            while chunk := answer.read(CHUNK):
                received += len(chunk)
                yield size, chunk
    except (OSError, HTTPException, ValueError) as error:
        raise NetworkError(str(error) or type(error).__name__) from error
    if size is not None and received != size:
        raise NetworkError(f"the connection ended after {received:,} of {size:,} bytes")
