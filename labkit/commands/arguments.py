"""Kinds of arguments: what cannot be meant is refused where it is read, with its name and the way out."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from labkit.runs.bounds import in_words


def whole(bounds: tuple[int, int]) -> Callable[[str], int]:
    """A whole number within bounds."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:  # also thousands of digits
            value = bounds[0] - 1
        if not bounds[0] <= value <= bounds[1]:
            shown = text if len(text) <= 30 else f"{text[:30]}…"
            raise argparse.ArgumentTypeError(f"must be a whole number {in_words(*bounds)}; got {shown!r}")
        return value

    return read


def new_folder(text: str) -> Path:
    """A folder, there already or yet to be made."""
    path = Path(text)
    if not text.strip():
        raise argparse.ArgumentTypeError("needs the name of a folder, such as runs")
    for part in (path, *path.parents):
        if part.exists():
            if not part.is_dir():
                raise argparse.ArgumentTypeError(f"{part} is a file; name a folder, such as runs")
            break
    return path
