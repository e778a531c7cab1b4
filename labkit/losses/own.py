"""A loss of the reader's own, in a file: `--loss mine.py:MyLoss` trains it beside those of the catalogue."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
from pathlib import Path

from labkit.losses.catalog import CATALOG, Card


def is_own(name: str) -> bool:
    """Whether a name points into a file: FILE.py:NAME."""
    return name.rpartition(":")[0].endswith(".py")


def card_of(name: str) -> Card:
    """The card of a loss: from the catalogue, or made for FILE.py:NAME, which runs that file.

    NAME is a class or function that returns a Module, called as `module(embeddings, labels)`. If it takes
    num_classes and dim, it gets them.
    """
    if not is_own(name):
        return CATALOG[name]
    file, _, attribute = name.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise ValueError(f"loss: there is no file {file}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"loss: {file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    factory = getattr(module, attribute, None)
    if not callable(factory):
        there = ", ".join(key for key, value in vars(module).items() if inspect.isclass(value)) or "none"
        raise ValueError(f"loss: {file} has no {attribute!r} that can be called; classes in it: {there}")
    return Card(attribute, attribute, "own", "", file, "", (), {}, factory)


def fingerprint(name: str) -> dict[str, str]:
    """For run.json: the file of an own loss and its checksum; nothing for a loss of the catalogue."""
    if not is_own(name):
        return {}
    path = Path(name.rpartition(":")[0])
    return {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
