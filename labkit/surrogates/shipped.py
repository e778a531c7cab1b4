"""Weights of readers and of a surrogate that come with labkit, by name; data/words/readers/make.py wrote them."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

from torch import Tensor

from labkit.base.paths import shipped
from labkit.data.files import File, locate
from labkit.training.state import read_checkpoint


@cache
def shipped_files() -> dict[str, File]:
    """The files of `data/words/readers`, by name."""
    path = shipped() / "words" / "readers" / "readers.csv"
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        sums = {row["name"]: row["sha256"] for row in csv.DictReader(file)}
    return {
        name: File(f"readers/{name}.safetensors", "words", checksum, shipped=True) for name, checksum in sums.items()
    }


def weights_file(where: str) -> Path:
    """A file of weights: of a name that comes with labkit, of a run's folder, or the file itself."""
    if where in shipped_files():
        return locate(shipped_files()[where])
    path = Path(where)
    found = path if path.suffix == ".safetensors" else path / "checkpoints" / "last.safetensors"
    if not found.is_file():
        names = ", ".join(shipped_files()) or "none"
        raise ValueError(f"{where} holds no trained weights (there is no file {found.name}); with labkit come: {names}")
    return found


def weights_of(where: str, part: str) -> dict[str, Tensor]:
    """The weights of a reader (part "model") or of its surrogate (part "loss") that lie there."""
    tensors, _ = read_checkpoint(weights_file(where).read_bytes(), Path(where))
    prefix = f"{part}."
    found = {name.removeprefix(prefix): tensor.float() for name, tensor in tensors.items() if name.startswith(prefix)}
    if not found:
        raise ValueError(f"{where} holds no weights of a {'reader' if part == 'model' else 'surrogate'}")
    return found
