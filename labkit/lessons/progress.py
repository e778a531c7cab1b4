"""A progress bar that leaves no trace in saved notebooks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from labkit.base.mode import mode

T = TypeVar("T")


def progress(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Go through items with a live bar; at the end one line says what was done. Built notebooks show nothing."""
    live = mode() == "live"
    if live:
        from tqdm.auto import tqdm

        bar = tqdm(items, desc=what, total=total, leave=False)
    began, count = time.monotonic(), 0
    for item in bar if live else items:
        yield item
        count += 1
    if live:
        print(f"{what}: {count} in {time.monotonic() - began:.1f} s")
