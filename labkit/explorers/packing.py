"""Arrays as the bytes that a page gets, read by `web/shared/bytes.js`; and the colours and shapes that it draws with.

First the length of a JSON head (four bytes), then the head, then the arrays that it lists.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.figures.style import COLORS, MARKERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SHAPES = (*MARKERS, "triangle-down", "circle-open", "square-open")
TEN = (*COLORS, "#882255", "#999933", "#5B4DB1")  # three more for groups of up to ten, told apart with the shapes


def joined(head: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> bytes:
    """Length of the head, the head with a list of the arrays, the arrays."""
    listed = {"arrays": [[name, array.dtype.str[1:], array.size] for name, array in arrays.items()]}
    text = json.dumps(head | listed, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
    return struct.pack("<I", len(text)) + text + b"".join(array.tobytes() for array in arrays.values())


def smallest(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers, 0 or above, in as few bytes as hold the largest."""
    largest = int(numbers.max()) if numbers.size else 0
    return numbers.astype(np.uint8 if largest < 2**8 else np.uint16 if largest < 2**16 else np.uint32)


def looks(numbers: Sequence[int]) -> dict[str, list[str]]:
    """A colour and a shape for each number of a group; of more than ten, colours begin anew, with other shapes."""
    colors = TEN if max(numbers, default=0) < len(TEN) else COLORS
    return {
        "colors": [colors[k % len(colors)] for k in numbers],
        "shapes": [SHAPES[k % len(SHAPES)] for k in numbers],
    }
