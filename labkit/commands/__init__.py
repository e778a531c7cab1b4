"""The command line: one file per command, which offers HELP (one line) and register(parser).

register adds the command's options and sets `run`: called with the parsed options, it returns the exit code. Only the
command that was asked for is imported, so that set-up can run on a bare Python: what it imports must do with the
standard library.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from labkit.base.words import did_you_mean
from labkit.commands.errors import ended, guarded, how_to_get, missing

NAMES = (
    "train",
    "sweep",
    "reproduce",
    "evaluate",
    "runs",
    "project",
    "compress",
    "decompress",
    "rates",
    "data",
    "grade",
    "course",
    "bench",
    "dashboard",
    "lab",
    "book",
    "playground",
    "notebooks",
    "setup",
    "test",
    "losses",
    "audit",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        parser = parser_of(given[:1]) if given and given[0] in NAMES else parser_of_all()
    except ModuleNotFoundError as error:
        return missing(error)
    if given and given[0] not in NAMES and not given[0].startswith("-"):
        meant = did_you_mean(given[0], NAMES)
        parser.error(f"no command {given[0][:40]!r}{meant} (there are: {', '.join(NAMES)})")
    chosen, others = parser.parse_known_args(given)
    if others and "others" not in chosen:
        parser.error(f"unknown arguments: {' '.join(others)}; see `python -m labkit {chosen.command} --help`")
    chosen.others = others
    return ended(guarded(chosen))


def parser_of(names: Iterable[str]) -> argparse.ArgumentParser:
    """A parser that knows these commands."""
    parser, commands = empty_parser()
    for name in names:
        module = import_module(f"labkit.commands.{name}")
        own = commands.add_parser(name, help=module.HELP, description=getattr(module, "DESCRIPTION", module.HELP))
        module.register(own)
    return parser


def parser_of_all() -> argparse.ArgumentParser:
    """A parser for the list of commands; one whose packages are not installed stands there with the way to get them."""
    parser, commands = empty_parser()
    for name in NAMES:
        try:
            text = import_module(f"labkit.commands.{name}").HELP
        except ModuleNotFoundError as error:
            text = f"needs more packages: {how_to_get(error.name or '')}"
        commands.add_parser(name, help=text)
    return parser


def empty_parser() -> tuple[argparse.ArgumentParser, Any]:
    """A parser, and where its commands go."""
    parser = argparse.ArgumentParser(prog="python -m labkit", description="labkit: train on what you measure")
    return parser, parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
