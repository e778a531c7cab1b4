"""The size that a JPEG XL file announces, read before it is decoded (ISO/IEC 18181-1, SizeHeader)."""

from __future__ import annotations

SIGNATURE = b"\xff\x0a"
BITS = (9, 13, 18, 30)
RATIOS = ((1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1))  # width : height


def jxl_size(data: bytes) -> tuple[int, int]:
    """Width and height; ValueError if the header is not there."""
    stream = data if data[:2] == SIGNATURE else codestream(data)
    if stream[:2] != SIGNATURE or len(stream) < 4:
        raise ValueError("no codestream of JPEG XL")
    bits = Bits(int.from_bytes(stream[2:16], "little"))
    small = bits.take(1)
    height = side(bits, small)
    ratio = bits.take(3)
    if ratio == 0:
        return side(bits, small), height
    across, down = RATIOS[ratio - 1]
    return height * across // down, height


class Bits:
    """Bits from the lowest on."""

    def __init__(self, value: int) -> None:
        """Of a number."""
        self.value = value

    def take(self, count: int) -> int:
        """The next bits as a number."""
        found = self.value & ((1 << count) - 1)
        self.value >>= count
        return found


def side(bits: Bits, small: int) -> int:
    """One side: eights in five bits, or a number of a length that two bits choose."""
    return (bits.take(5) + 1) * 8 if small else bits.take(BITS[bits.take(2)]) + 1


def codestream(data: bytes) -> bytes:
    """The beginning of the codestream in a file of boxes."""
    place = 0
    while place + 8 <= len(data):
        size, kind, head = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8], 8
        if size == 1:
            size, head = int.from_bytes(data[place + 8 : place + 16], "big"), 16
        if kind in (b"jxlc", b"jxlp"):  # a part begins with its number
            start = place + head + (4 if kind == b"jxlp" else 0)
            return data[start : start + 64]
        if size < head:  # 0: up to the end
            break
        place += size
    return b""
