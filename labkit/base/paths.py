"""Where things are: the project, its data, recorded runs and the user's own."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
RECORDED = ROOT / "data" / "runs"
OWN = Path("runs")  # in the folder where the user stands
SYSTEM = Path("/usr/share/datasets")  # where Debian's dataset packages put their files


def shipped() -> Path:
    """The data that come with labkit: `data` in a checkout, `labkit/_data` in an installed wheel."""
    checkout = ROOT / "data"
    # Looks for a file, not the folder: beside an installed package another project may have put a `data` folder.
    return checkout if (checkout / "papers" / "pnp.csv").is_file() else PACKAGE / "_data"


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
