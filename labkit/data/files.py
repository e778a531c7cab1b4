"""Where data files live, and the proof that a file is the one expected."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from labkit.setup import ROOT

SYSTEM = Path("/usr/share/datasets")  # where Debian's dataset packages put their files


class DataError(RuntimeError):
    """A data file is missing, damaged or not the one expected; the message says how to repair it."""


@dataclass(frozen=True)
class File:
    """A published file: its name, the data set it belongs to, its checksum (sha256 or md5 in hex) and addresses."""

    name: str
    dataset: str
    checksum: str
    urls: tuple[str, ...] = ()

    @property
    def repair(self) -> str:
        """The command that fetches the file anew."""
        return f"python -m labkit data get {self.dataset}"


def cache() -> Path:
    """The user's folder for what is downloaded or converted."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "labkit"


def shipped() -> Path:
    """The data that come with labkit: `data` in a checkout, `labkit/_data` in an installed wheel."""
    checkout = ROOT / "data"
    # Looks for a file, not the folder: beside an installed package another project may have put a `data` folder.
    return checkout if (checkout / "emoji" / "dropped.csv").is_file() else Path(__file__).resolve().parents[1] / "_data"


def folders() -> list[Path]:
    """Where files are looked for, in this order: $LABKIT_DATA, labkit's own data, the system's, the user's cache."""
    given = [Path(entry) for entry in os.environ.get("LABKIT_DATA", "").split(os.pathsep) if entry]
    return [*given, shipped(), SYSTEM, cache()]


def find(name: str, dataset: str = "") -> Path | None:
    """The first file of that name in `folders()`, or in their subfolders named after the data set."""
    places = [place for folder in folders() for place in (folder / name, folder / dataset / name)]
    return next((place for place in places if place.is_file()), None)


def locate(file: File) -> Path:
    """The verified path of a file, or a DataError that says what to do."""
    path = find(file.name, file.dataset)
    if path is None:
        searched = ", ".join(str(folder) for folder in folders())
        raise DataError(
            f"{file.name} was not found in {searched} (nor in a subfolder {file.dataset}); "
            f"expected checksum {file.checksum}. Run `{file.repair}`, or set LABKIT_DATA to the folder that holds it."
        )
    verify(path, file)
    return path


def checksum(path: Path, like: str) -> str:
    """Hash of a file, with the algorithm that `like` is a hash of: 32 hex digits are md5, 64 are sha256."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "md5" if len(like) == 32 else "sha256").hexdigest()


def verify(path: Path, file: File) -> None:
    """Refuse a file whose content is not the published one."""
    found = checksum(path, file.checksum)
    if found != file.checksum:
        raise DataError(
            f"{path} is damaged or not the expected file: checksum {found}, expected {file.checksum} "
            f"({path.stat().st_size:,} bytes). Remove it and run `{file.repair}`."
        )
