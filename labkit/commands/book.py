"""python -m labkit book: the lessons as HTML pages."""

from __future__ import annotations

import argparse

from labkit.base.paths import HOME, WORK

HELP = "write the lessons as HTML pages that need neither network nor Python"


def register(parser: argparse.ArgumentParser) -> None:
    """Which lessons, and where to."""
    parser.add_argument("names", nargs="*", help="only these lessons, by number or name (default: all)")
    parser.add_argument("-o", "--output", default="book", help="folder (default book/)")
    parser.set_defaults(run=run_book)


def run_book(args: argparse.Namespace) -> int:
    """Build the book from the lessons."""
    from labkit.book import build_book

    return build_book(HOME / "notebooks", WORK / args.output, args.names)
