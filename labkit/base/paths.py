"""Where things are: the project, its data, recorded runs and the user's own."""

from __future__ import annotations

import os
from pathlib import Path


def home_of(package: Path) -> Path:
    """Where data, lessons and dashboard are: in the clone around the package, or in what its wheel brought along."""
    clone = package.parent
    # Looks for a file, not the folder: beside an installed package another project may have put a `data` folder.
    return clone if (clone / "data" / "papers" / "pnp.csv").is_file() else package / "_home"


PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent  # of a clone
HOME = home_of(PACKAGE)
CLONE = HOME == ROOT
WORK = ROOT if CLONE else Path()  # where commands put what they make: the clone, else where the user stands
RECORDED = HOME / "data" / "runs"
OWN = Path("runs")  # in the folder where the user stands
SYSTEM = Path("/usr/share/datasets")  # where Debian's dataset packages put their files


def shipped() -> Path:
    """The data that come with labkit."""
    return HOME / "data"


def cache() -> Path:
    """The user's folder for what is downloaded or converted."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "labkit"


def given_folders() -> list[Path]:
    """The folders with data that the user names in $LABKIT_DATA."""
    return [Path(entry) for entry in os.environ.get("LABKIT_DATA", "").split(os.pathsep) if entry]


def data_folders() -> list[Path]:
    """Where files are looked for, in this order: $LABKIT_DATA, labkit's own data, the system's, the user's cache."""
    return [*given_folders(), shipped(), SYSTEM, cache()]
