"""Pictures that people bring: whatever a camera, a scanner or a program wrote becomes uint8 H × W × 3, or is refused.

Only formats of `FORMATS` are tried, none of which runs code. Sizes are checked before anything is decoded: a file of a
few bytes can announce a picture of terabytes.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from labkit.compression.jxl_header import jxl_size
from labkit.compression.plugins import HEVC, JXL, plugin, plugin_is_there

MAX_BYTES = 100_000_000  # of a file
MAX_PIXELS = 40_000_000
MAX_SIDE = 16_383  # WebP can hold no more
PILLOW_FORMATS = ("PNG", "JPEG", "JPEG2000", "WEBP", "AVIF", "GIF", "BMP", "TIFF", "PPM")
PLUGIN_FORMATS = {"HEIF": HEVC, "JXL": JXL}
WHITE = (255, 255, 255, 255)
ORIENTATION = 0x0112  # of EXIF; 1 is upright


@dataclass(frozen=True)
class Picture:
    """A picture, uint8 H × W × 3, and what had to be done to it, in words."""

    image: np.ndarray
    notes: tuple[str, ...] = ()


def read_picture(source: Path | bytes, formats: Sequence[str] | None = None) -> Picture:
    """Read a picture of a file or of bytes; ValueError says why it cannot be used.

    Turned as its EXIF says; transparent parts on white; palette, grey, CMYK and 16 bits become 8-bit RGB. Colour
    profiles are not applied. Refused: animations and several pages, samples of 32 bits, more than MAX_PIXELS pixels.
    formats: Pillow's names of those that may be meant, by default all that are known.
    """
    name = "the picture" if isinstance(source, bytes) else str(source)
    data = source if isinstance(source, bytes) else content_of(source)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # large pictures and odd metadata: checked here, or of no interest
            return decoded(data, formats or known_formats(data))
    except Refused as error:
        raise ValueError(f"{name} {error}") from None
    except MemoryError:
        raise
    except BaseException as error:  # decoders of foreign bytes raise anything, Rust's panics are no Exception
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        why = " ".join(str(error).split("<_io")[0].split()) or type(error).__name__
        raise ValueError(f"{name} is not a whole picture of a known format ({why[:200]})") from None


class Refused(Exception):
    """Why a picture is not taken; the sentence goes on after its name."""


def content_of(path: Path) -> bytes:
    """A file's bytes, if they are not too many."""
    if not path.is_file():
        raise ValueError(f"{path} is not a file")
    size = os.path.getsize(path)
    if size > MAX_BYTES:
        raise ValueError(f"{path} has {size / 1e6:,.0f} MB; pictures of up to {MAX_BYTES / 1e6:,.0f} MB can be used")
    return path.read_bytes()


def known_formats(data: bytes) -> list[str]:
    """The formats to try; those of plugins only where the bytes are theirs, so that nobody else needs the plugin."""
    formats = [*PILLOW_FORMATS]
    if is_heif(data):
        formats.append("HEIF")
    if is_jxl(data):
        formats.append("JXL")
    return formats


def is_heif(data: bytes) -> bool:
    """Whether the first box says HEVC in HEIF."""
    return data[4:8] == b"ftyp" and data[8:12] in (b"heic", b"heix", b"heim", b"heis", b"mif1", b"msf1")


def is_jxl(data: bytes) -> bool:
    """Whether bytes begin as JPEG XL, bare or in boxes."""
    return data[:2] == b"\xff\x0a" or data[:12] == b"\0\0\0\x0cJXL \r\n\x87\n"


def decoded(data: bytes, formats: Sequence[str]) -> Picture:
    """Open, check the size, decode, and bring to RGB."""
    if len(data) > MAX_BYTES:
        raise Refused(f"has {len(data) / 1e6:,.0f} MB; up to {MAX_BYTES / 1e6:,.0f} MB can be used")
    if not data:
        raise Refused("is empty")
    for extra in (PLUGIN_FORMATS[name] for name in formats if name in PLUGIN_FORMATS):
        if not plugin_is_there(extra):
            raise Refused(f"needs the package {extra.package} to be read: {extra.install}")
        plugin(extra)
    if is_jxl(data):
        check_size(*jxl_size(data))  # the plugin decodes when it opens
    with Image.open(io.BytesIO(data), formats=list(formats)) as opened:
        check_size(*opened.size)
        frames = getattr(opened, "n_frames", 1)
        if frames > 1 and opened.format != "MPO":  # cameras put a preview behind the picture
            raise Refused(f"has {frames} frames or pages; save the one that is meant as a picture of its own")
        if opened.format == "JPEG2000":
            check_whole_jpeg2000(data)
        opened.load()
        return rgb_of(opened)


def check_size(width: int, height: int) -> None:
    """Refuse what would not fit."""
    if min(width, height) < 1:
        raise Refused(f"has no pixels ({width} × {height})")
    if max(width, height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise Refused(
            f"is {width:,} × {height:,} pixels; up to {MAX_PIXELS / 1e6:,.0f} million, none of the sides above "
            f"{MAX_SIDE:,}, can be used: make it smaller first"
        )


def check_whole_jpeg2000(data: bytes) -> None:
    """The decoder makes a blurred picture of a part of the bytes, so the end mark decides."""
    if not data.rstrip(b"\0").endswith(b"\xff\xd9"):
        raise Refused("ends too early: the end mark of JPEG 2000 is missing")


def rgb_of(opened: Any) -> Picture:
    """A loaded picture as RGB, with notes on what that took."""
    notes, image = [], opened
    if opened.format != "JXL" and opened.getexif().get(ORIENTATION, 1) in range(2, 9):  # libjxl has turned its own
        image = ImageOps.exif_transpose(opened)
        notes.append("turned as its EXIF says")
    if image.mode in ("I;16", "I;16L", "I;16B", "I;16N"):
        deep = np.asarray(image).astype(np.uint32)
        grey = ((deep + 128) // 257).astype(np.uint8)
        return Picture(np.ascontiguousarray(np.repeat(grey[:, :, None], 3, axis=2)), (*notes, "16 bits became 8"))
    if image.mode in ("I", "F"):
        raise Refused("has samples of 32 bits, whose black and white are not known; save it with 8 or 16 bits")
    if image.has_transparency_data:
        image = Image.alpha_composite(Image.new("RGBA", image.size, WHITE), image.convert("RGBA"))
        notes.append("transparent parts lie on white")
    elif image.mode == "CMYK":
        notes.append("CMYK became RGB without a colour profile")
    return Picture(np.array(image.convert("RGB")), tuple(notes))
