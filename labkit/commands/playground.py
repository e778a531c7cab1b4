"""python -m labkit playground: the playground as one file."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "write the playground as one HTML file that needs neither network nor Python"


def register(parser: argparse.ArgumentParser) -> None:
    """Which file is written."""
    parser.add_argument("-o", "--output", type=Path, default=Path("playground.html"), help="file (playground.html)")
    parser.set_defaults(run=write_playground)


def write_playground(args: argparse.Namespace) -> int:
    """One file with all it needs."""
    from labkit.base.files import write_bytes
    from labkit.commands.terminal import say
    from labkit.explorers.playground import playground_page

    args.output.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(args.output, playground_page().encode())
    say(f"the playground is in {args.output}; open it in a browser")
    return 0
