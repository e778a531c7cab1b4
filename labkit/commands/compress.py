"""python -m labkit compress: a picture becomes the bytes of a codec."""

from __future__ import annotations

import argparse
from pathlib import Path

from labkit.commands.arguments import whole
from labkit.commands.terminal import tell

HELP = "encode a picture with a codec, and say its bits per pixel"
DESCRIPTION = (
    "Encode a picture. Example: python -m labkit compress photo.png -o photo.webp --codec webp --quality 40. "
    "Without --codec, the ending of the output decides."
)


def register(parser: argparse.ArgumentParser) -> None:
    """What to encode, how, and where it goes."""
    parser.add_argument("file", type=Path, help="a picture: PNG, JPEG, TIFF, WebP, AVIF, HEIC, JPEG XL …")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT", help="the file to write")
    parser.add_argument(
        "--codec", help="jpeg, jpeg2000, webp, avif, hevc, jxl, learned (default: by the ending of OUT)"
    )
    parser.add_argument("--quality", type=whole((0, 100)), default=50, help="0 … 100 (default 50)")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="of the learned codec (default: labkit's own)")
    parser.set_defaults(run=run_compress)


def run_compress(args: argparse.Namespace) -> int:
    """Read, encode, write, and say what came of it."""
    from labkit.base.files import write_output
    from labkit.compression import bits_per_pixel, encode, read_picture

    codec = args.codec or codec_by_ending(args.output)
    picture = read_picture(args.file)
    for note in picture.notes:
        tell(f"{args.file}: {note}")
    data = encode(picture.image, codec, args.quality, args.weights)
    write_output(args.output, data)
    height, width = picture.image.shape[:2]
    rate = bits_per_pixel(data, picture.image)
    print(f"{args.output}: {width} × {height}, {len(data):,} bytes, {rate:.3f} bits per pixel")
    return 0


def codec_by_ending(path: Path) -> str:
    """The codec whose files end so."""
    from labkit.compression import CODECS

    for name, codec in CODECS.items():
        if path.suffix.lower() == codec.ending:
            return name
    endings = ", ".join(codec.ending for codec in CODECS.values())
    raise ValueError(f"--codec is needed: {path} ends with none of {endings}")
