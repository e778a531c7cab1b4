"""python -m labkit test: what must hold before a change lands."""

from __future__ import annotations

import argparse
import sys

from labkit.commands.processes import needs_checkout, run
from labkit.commands.terminal import say

HELP = "check format, lint and types, then run pytest, with its options if any follow"
ALL = ["-n", "auto", "-q", "--durations=10"]
QUICK = ["-n", "auto", "-q", "-m", "quick"]


def register(parser: argparse.ArgumentParser) -> None:
    """How much; other options are pytest's."""
    parser.add_argument("--quick", action="store_true", help="only the tests that finish in a minute in all")
    parser.set_defaults(run=run_test, others=[])


def run_test(args: argparse.Namespace) -> int:
    """Format, lint, types, tests, in this order; the first that fails ends it."""
    needs_checkout("tests")
    options = [*(QUICK if args.quick else [] if args.others else ALL), *args.others]
    for step in (["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"], ["pytest", *options]):
        say(" ".join(step))
        if failed := run([sys.executable, "-m", *step]):
            return failed
    return 0
