"""Words in a terminal: messages beside the output, and tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def plain(text: str, besides: str = "") -> str:
    """Text that a terminal can only print: names come from files and may hold what moves the cursor or sets colours."""
    return "".join(mark if mark.isprintable() or mark in besides else "�" for mark in text)


def say(text: str) -> None:
    """What happens, at once."""
    print(f"labkit: {plain(text)}", flush=True)


def tell(text: str) -> None:
    """What the reader should know, beside the output; it may have several lines."""
    print(f"labkit: {plain(text, besides=chr(10))}", file=sys.stderr, flush=True)


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int]) -> None:
    """Columns as wide as they must be; texts (the columns named by left) to the left, numbers to the right."""
    lines = [[plain(cell) for cell in line] for line in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    for line in lines:
        cells = [c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())
