"""Selections in the address of a page, so that they can be sent: a few by their names, many as a packed row of bits."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

FEW = 20
LONGEST = 6000  # letters; longer addresses are cut by servers and messengers
MARK = "~"


def for_address(selected: Sequence[str], ids: Sequence[str]) -> list[str]:
    """What stands in the address for some of the ids; nothing if that would be too long."""
    if len(selected) <= FEW:
        return list(selected)
    chosen = set(selected)
    bits = np.packbits([name in chosen for name in sorted(ids)]).tobytes()
    text = MARK + checksum(ids) + base64.urlsafe_b64encode(zlib.compress(bits, 9)).decode().rstrip("=")
    return [text] if len(text) <= LONGEST else []


def from_address(values: Sequence[str], ids: Sequence[str]) -> list[str]:
    """The ids that an address names; of a packed one nothing if it was made for other samples or is damaged."""
    if len(values) != 1 or not values[0].startswith(MARK):
        return list(values)
    check, text = values[0][1:9], values[0][9 : LONGEST + 1]
    if check != checksum(ids):
        return []
    try:
        packed = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
        bits = zlib.decompressobj().decompress(packed, len(ids) // 8 + 1)  # no more than there can be
    except (zlib.error, binascii.Error, ValueError):
        return []
    found = np.unpackbits(np.frombuffer(bits, np.uint8))[: len(ids)]
    return [name for name, bit in zip(sorted(ids), found) if bit]


def checksum(ids: Sequence[str]) -> str:
    """Tells samples from others."""
    return sha256("\n".join(sorted(ids)).encode()).hexdigest()[:8]
