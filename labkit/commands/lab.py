"""python -m labkit lab: JupyterLab on the lessons."""

from __future__ import annotations

import argparse

from labkit.base.paths import ROOT
from labkit.commands.processes import add_server_options, become, needs_checkout

HELP = "open JupyterLab on the notebooks, with its options if any follow"


def register(parser: argparse.ArgumentParser) -> None:
    """Port and browser; other options are JupyterLab's."""
    add_server_options(parser, 8888)
    parser.set_defaults(run=run_lab, others=[])


def run_lab(args: argparse.Namespace) -> int:
    """JupyterLab on loopback, opened in the notebooks folder."""
    from labkit.classroom.lab import lab_command, lab_environment

    needs_checkout("notebooks")
    command = [*lab_command(ROOT / "notebooks", args.port, args.headless), *args.others]
    return become(command, lab_environment("lessons", "every"))
