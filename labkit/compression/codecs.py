"""One way to encode and decode a picture, whatever the codec; the rate is counted from real bytes, headers included.

quality runs from 0 to 100 and means what each codec makes of it: codecs are compared by bits and likeness, not by it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from labkit.base.checks import check_choice
from labkit.base.paths import shipped
from labkit.compression.pictures import MAX_PIXELS, MAX_SIDE, is_heif, is_jxl, read_picture
from labkit.compression.plugins import HEVC, JXL, RANGE_CODER, Plugin, plugin, plugin_is_there

if TYPE_CHECKING:
    from labkit.compression.learned import LearnedCodec

# JPEG 2000 is told a rate: bits per pixel grow by a constant factor with every step of quality, in this range.
JPEG2000_BPP = (0.05, 8.0)


@dataclass(frozen=True)
class Codec:
    """A codec: its name for people, Pillow's name, the ending of files, what a quality means, how its bytes begin.

    The learned codec, which Pillow does not know, has no format.
    """

    title: str
    format: str
    ending: str
    options: Callable[[int], dict[str, Any]]
    begins: Callable[[bytes], bool]
    extra: Plugin | None = None


def jpeg2000_rate(quality: int) -> float:
    """The compression ratio that a quality stands for."""
    low, high = JPEG2000_BPP
    return float(24 / (low * (high / low) ** (quality / 100)))


CODECS: dict[str, Codec] = {
    "jpeg": Codec(
        "JPEG",
        "JPEG",
        ".jpg",
        lambda q: {"quality": max(q, 1), "subsampling": "4:2:0", "optimize": True},
        lambda data: data[:3] == b"\xff\xd8\xff",
    ),
    "jpeg2000": Codec(
        "JPEG 2000",
        "JPEG2000",
        ".jp2",
        lambda q: {"irreversible": True, "quality_mode": "rates", "quality_layers": [jpeg2000_rate(q)]},
        lambda data: data[:12] == b"\0\0\0\x0cjP  \r\n\x87\n" or data[:4] == b"\xff\x4f\xff\x51",
    ),
    "webp": Codec(
        "WebP",
        "WEBP",
        ".webp",
        lambda q: {"quality": q, "method": 4},
        lambda data: data[:4] == b"RIFF" and data[8:12] == b"WEBP",
    ),
    "avif": Codec(
        "AVIF",
        "AVIF",
        ".avif",
        lambda q: {"quality": q, "subsampling": "4:2:0", "speed": 6, "max_threads": 1, "autotiling": False},
        lambda data: data[4:8] == b"ftyp" and data[8:12] in (b"avif", b"avis"),
    ),
    "hevc": Codec("HEVC intra", "HEIF", ".heic", lambda q: {"quality": q}, is_heif, HEVC),
    "jxl": Codec(
        "JPEG XL",
        "JXL",
        ".jxl",
        # libjxl calls 100 lossless and takes it in no other way
        lambda q: {"quality": q, "lossless": q == 100, "effort": 7, "num_threads": 1},
        is_jxl,
        JXL,
    ),
    "learned": Codec("learned", "", ".lkc", lambda q: {}, lambda data: data[:4] == b"LKC1", RANGE_CODER),
}


def available() -> list[str]:
    """The codecs that can be used here: all but those whose package, or whose trained weights, are missing."""
    found = [name for name, codec in CODECS.items() if codec.extra is None or plugin_is_there(codec.extra)]
    return [name for name in found if name != "learned" or weights_path().is_file()]


def weights_path() -> Path:
    """Where the learned codec that comes with labkit has its weights."""
    return shipped() / "codec" / "learned.safetensors"


@cache
def learned_codec(path: Path) -> LearnedCodec:
    """The learned codec of a file, read once a process."""
    from labkit.compression.learned import LearnedCodec  # needs torch, which the other codecs do without

    if not path.is_file():
        raise ValueError(
            f"no trained weights of the learned codec at {path}; `python -m labkit train codec` writes such a file, "
            f"codec.safetensors, into its run"
        )
    return LearnedCodec(path.read_bytes())


def check_image(name: str, image: np.ndarray) -> None:
    """A picture as everything here takes it."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        what = f"{image.dtype} {image.shape}" if isinstance(image, np.ndarray) else type(image).__name__
        raise ValueError(f"{name} must be a uint8 array H × W × 3, got {what}")
    height, width = image.shape[:2]
    if min(height, width) < 1 or max(height, width) > MAX_SIDE or height * width > MAX_PIXELS:
        raise ValueError(f"{name} must have 1 … {MAX_PIXELS:,} pixels, no side above {MAX_SIDE:,}; got {image.shape}")


def check_quality(quality: int) -> None:
    """0 … 100."""
    if not isinstance(quality, Integral) or isinstance(quality, bool) or not 0 <= quality <= 100:
        raise ValueError(f"quality must be a whole number 0 … 100, got {quality!r}")


def encode(image: np.ndarray, codec: str, quality: int, weights: Path | None = None) -> bytes:
    """The bytes of a picture (uint8 H × W × 3) as a codec of `CODECS` writes them at a quality 0 … 100.

    weights: of the learned codec, by default those that come with labkit.
    """
    check_image("image", image)
    check_choice("codec", codec, CODECS)
    check_quality(quality)
    chosen = CODECS[codec]
    if chosen.extra is not None:
        plugin(chosen.extra)
    if codec == "learned":
        return learned_codec(weights or weights_path()).encode(image, int(quality))
    target = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(target, chosen.format, **chosen.options(int(quality)))
    return target.getvalue()


def decode(data: bytes, weights: Path | None = None) -> np.ndarray:
    """The picture (uint8 H × W × 3) that the bytes of any codec of `CODECS` stand for.

    Bytes that are cut short, damaged or of something else raise a ValueError that says what is wrong.
    weights: of the learned codec, by default those that come with labkit.
    """
    name = codec_of(data)
    if name == "learned":
        plugin(RANGE_CODER)
        return learned_codec(weights or weights_path()).decode(bytes(data))
    return read_picture(bytes(data), [CODECS[name].format]).image


def codec_of(data: bytes) -> str:
    """Which codec wrote these bytes, by how they begin."""
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ValueError(f"data must be bytes, got {type(data).__name__}")
    head = bytes(data[:64])
    if not head:
        raise ValueError("data holds no bytes")
    for name, codec in CODECS.items():
        if codec.begins(head):
            return name
    known = ", ".join(codec.title for codec in CODECS.values())
    raise ValueError(f"data begins like none of the codecs ({known}): {head[:8].hex(' ')}")


def bits_per_pixel(data: bytes, image: np.ndarray) -> float:
    """The rate: all bytes, headers included, over the pixels of the picture."""
    return 8 * len(data) / int(image.shape[0] * image.shape[1])
