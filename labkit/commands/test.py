"""python -m labkit test: what must hold before a change lands."""

from __future__ import annotations

import argparse
import sys

from labkit.commands.processes import needs_checkout, run
from labkit.commands.terminal import say

HELP = "check format, lint and types, then run pytest; other options are passed to it"
CHECKS = (["ruff", "format", "--check", "."], ["ruff", "check", "."], ["mypy"])
EVERYTHING = ["-n", "auto", "-q", "--durations=10"]
# something of most rooms, chosen by CPU time: with the checks a minute on two cores
QUICK = [
    *("-n", "2", "-q", "tests/base", "tests/losses/test_catalog.py", "tests/losses/test_softmax.py"),
    *("tests/metrics/test_lists.py", "tests/metrics/test_nearest.py", "tests/models/test_layers.py"),
    *("tests/data/test_data_files.py", "tests/data/test_samplers.py", "tests/data/test_toy.py"),
    *("tests/runs/test_read_runs.py", "tests/runs/test_variant.py", "tests/runs/test_verdicts.py"),
    *("tests/runs/test_compare_runs.py", "tests/training/test_config.py", "tests/figures/test_static.py"),
    *("tests/explorers/test_modules.py", "tests/explorers/test_embedding_groups.py", "tests/lessons/test_predict.py"),
    *("tests/assignments/test_assignment_metrics.py", "tests/commands/test_command_line.py", "tests/test_readme.py"),
]


def register(parser: argparse.ArgumentParser) -> None:
    """How much; other options are pytest's."""
    parser.add_argument("--quick", action="store_true", help="only tests that take a minute in all")
    parser.set_defaults(run=run_test, others=[])


def run_test(args: argparse.Namespace) -> int:
    """Format, lint, types, tests, in this order; the first that fails ends it."""
    needs_checkout("tests")
    options = args.others or (QUICK if args.quick else EVERYTHING)
    for step in (*CHECKS, ["pytest", *options]):
        say(" ".join(step))
        if failed := run([sys.executable, "-m", *step]):
            return failed
    return 0
