"""python -m labkit rates: rate and likeness of codecs on Kodak, picture by picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from labkit.commands.arguments import whole
from labkit.commands.terminal import print_table

HELP = "measure codecs on Kodak: bits per pixel, PSNR, MS-SSIM"
DESCRIPTION = (
    "Code the 24 Kodak photographs (LABKIT_DATA) at several qualities. What the output holds already is not computed "
    "again. Example: python -m labkit rates -o rates.csv --codecs jpeg webp --qualities 10 30 50."
)
QUALITIES = (5, 10, 20, 30, 50, 70, 85)


def register(parser: argparse.ArgumentParser) -> None:
    """Which codecs, at which qualities."""
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="CSV", help="the points, made or gone on with"
    )
    parser.add_argument("--codecs", nargs="+", help="default: all that can be used here")
    parser.add_argument("--qualities", type=whole((0, 100)), nargs="+", default=list(QUALITIES), help="0 … 100")
    parser.set_defaults(run=run_rates, goes_on=True)


def run_rates(args: argparse.Namespace) -> int:
    """Sweep, then print the mean curves."""
    from labkit.compression import available
    from labkit.compression.sweep import curve, sweep
    from labkit.data.photographs import photographs

    kodak = photographs("kodak")
    codecs = args.codecs or available()
    points = sweep(dict(zip(kodak.ids, kodak.images)), codecs, args.qualities, args.output)
    rows = [
        (codec, str(quality), f"{bpp:.3f}", f"{psnr:.2f}", f"{ms_ssim:.4f}")
        for codec in codecs
        for quality, bpp, psnr, ms_ssim in curve(points, codec)
    ]
    print_table(("codec", "quality", "bits per pixel", "PSNR (dB)", "MS-SSIM"), rows, left=(0,))
    return 0
