"""Whole numbers as bytes by range coding, with integer tables that are part of a codec's file.

A table a scale: counts of −K … K under a Gaussian of that scale, and of an escape, after which a number is written with
16 bits. All numbers of one scale are coded together, in the order of scales: the decoder knows the scales of a slice
before it reads the slice. The coder is constriction's range coder (exact; its queue, first in, first out).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit.compression.network import SCALES, SMALLEST, STEP
from labkit.compression.plugins import RANGE_CODER, plugin

TOTAL = 1 << 20  # counts of a table sum to this
REACH = 6.0  # standard deviations on each side that have a count of their own
ESCAPE_BITS = 16
LIMIT = 1 << (ESCAPE_BITS - 1)  # numbers are −LIMIT … LIMIT − 1


def gaussian_tables() -> tuple[Tensor, Tensor]:
    """Counts of all scales one after another, 2 K + 2 of each, and K of each, as int32.

    Made once, when a codec is written: another machine's error function may differ in its last digit.
    """
    rows, reaches = [], []
    for index in range(SCALES):
        scale = SMALLEST * np.exp(index * STEP)
        reach = int(np.ceil(REACH * scale))
        places = torch.arange(-reach, reach + 1, dtype=torch.float64)
        far = places.abs()
        mass = torch.special.ndtr((0.5 - far) / scale) - torch.special.ndtr((-0.5 - far) / scale)
        counts = (mass * TOTAL).round().clamp(min=1).to(torch.int64)
        counts = torch.cat((counts, torch.ones(1, dtype=torch.int64)))  # the escape
        counts[reach] += TOTAL - counts.sum()  # zero, the commonest, takes what rounding left
        rows.append(counts)
        reaches.append(reach)
    return torch.cat(rows).to(torch.int32), torch.tensor(reaches, dtype=torch.int32)


class Tables:
    """The models of all scales, made of counts."""

    def __init__(self, counts: Tensor, reaches: Tensor) -> None:
        """Counts as `gaussian_tables` makes them."""
        self.coder: Any = plugin(RANGE_CODER)
        self.reach: list[int] = reaches.tolist()
        self.models: list[Any] = []
        if len(self.reach) != SCALES or min(self.reach) < 1 or 2 * sum(self.reach) + 2 * SCALES != len(counts):
            raise ValueError("the codec's tables of counts are not whole")
        for row in counts.split([2 * reach + 2 for reach in self.reach]):
            own = row.numpy()
            if int(own.sum()) != TOTAL or int(own.min()) < 1:
                raise ValueError("the codec's tables of counts are not whole")
            # multiples of 1 / TOTAL, whose sums are exact: nothing is left to a machine's rounding
            self.models.append(self.coder.stream.model.Categorical(own / TOTAL, perfect=False))
        self.escaped: Any = self.coder.stream.model.Uniform(1 << ESCAPE_BITS)


def encode_numbers(encoder: Any, tables: Tables, numbers: np.ndarray, indices: np.ndarray) -> None:
    """Write numbers, each by the table of its index."""
    if numbers.size and (numbers.min() < -LIMIT or numbers.max() >= LIMIT):
        raise ValueError(f"numbers must be within −{LIMIT} … {LIMIT - 1}")
    for index in np.unique(indices):
        reach = tables.reach[index]
        own = numbers[indices == index]
        outside = np.abs(own) > reach
        symbols = np.where(outside, 2 * reach + 1, own + reach).astype(np.int32)
        encoder.encode(symbols, tables.models[index])
        if outside.any():
            encoder.encode((own[outside] + LIMIT).astype(np.int32), tables.escaped)


def decode_numbers(decoder: Any, tables: Tables, indices: np.ndarray) -> np.ndarray:
    """Read as many numbers as there are indices, which must be those they were written by."""
    numbers = np.zeros(indices.shape, np.int64)
    for index in np.unique(indices):
        reach, chosen = tables.reach[index], indices == index
        symbols = decoder.decode(tables.models[index], int(chosen.sum())).astype(np.int64)
        own, outside = symbols - reach, symbols == 2 * reach + 1
        if outside.any():
            own[outside] = decoder.decode(tables.escaped, int(outside.sum())).astype(np.int64) - LIMIT
        numbers[chosen] = own
    return numbers
