"""python -m labkit notebooks: the lessons with their outputs, and the table of lessons."""

from __future__ import annotations

import argparse

from labkit.base.paths import ROOT
from labkit.commands.processes import needs_checkout

HELP = "execute the lessons and write them with their outputs"


def register(parser: argparse.ArgumentParser) -> None:
    """Which lessons."""
    parser.add_argument("names", nargs="*", help="only these sources (default: all)")
    parser.set_defaults(run=run_notebooks)


def run_notebooks(args: argparse.Namespace) -> int:
    """Build the lessons from their paired sources."""
    from labkit.book.notebooks import build_all
    from labkit.lessons.overview import write_table

    needs_checkout("notebooks")
    failures = build_all(ROOT / "notebooks", args.names)
    write_table(ROOT / "notebooks")
    return failures
