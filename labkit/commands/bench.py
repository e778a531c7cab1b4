"""python -m labkit bench: speed and memory beside other libraries."""

from __future__ import annotations

import argparse
import sys

from labkit.commands.processes import needs_checkout, run

HELP = "measure speed and memory beside other libraries"


def register(parser: argparse.ArgumentParser) -> None:
    """Which benchmarks, and whether only to see that they run."""
    parser.add_argument("names", nargs="*", help="only these benchmarks (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes: checks that the benchmarks run")
    parser.set_defaults(run=run_bench)


def run_bench(args: argparse.Namespace) -> int:
    """In a process of its own: it measures memory."""
    needs_checkout("benchmarks")
    return run([sys.executable, "-m", "benchmarks", *args.names, *(["--quick"] if args.quick else [])])
