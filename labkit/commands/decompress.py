"""python -m labkit decompress: the bytes of a codec become a picture that every program reads."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

HELP = "decode a compressed picture and save it as PNG"


def register(parser: argparse.ArgumentParser) -> None:
    """What to decode, and where it goes."""
    parser.add_argument("file", type=Path, help="a file of `python -m labkit compress`, or of another program")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="OUT", help="the PNG to write")
    parser.add_argument("--weights", type=Path, metavar="FILE", help="of the learned codec (default: labkit's own)")
    parser.set_defaults(run=run_decompress)


def run_decompress(args: argparse.Namespace) -> int:
    """Decode and write; a PNG keeps every pixel."""
    from PIL import Image

    from labkit.base.files import write_output
    from labkit.compression import CODECS, codec_of, decode
    from labkit.compression.pictures import content_of

    if args.output.suffix.lower() not in (".png", "") and args.output.name != "stdout":
        raise ValueError(f"{args.output}: the decoded picture is written as PNG: give it a name that ends in .png")
    data = content_of(args.file)
    try:
        codec, image = codec_of(data), decode(data, args.weights)
    except ValueError as error:
        raise ValueError(f"{args.file}: {error}") from None
    target = io.BytesIO()
    Image.fromarray(image).save(target, "PNG")
    write_output(args.output, target.getvalue())
    print(f"{args.output}: {image.shape[1]} × {image.shape[0]}, decoded from {CODECS[codec].title}")
    return 0
