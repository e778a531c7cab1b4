"""python -m labkit lab: JupyterLab on a working copy of the lessons."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from labkit.base.paths import HOME, WORK
from labkit.commands.processes import add_server_options, become, needs_package
from labkit.commands.terminal import say

HELP = "open JupyterLab on your copy of the lessons; other options are passed to JupyterLab"


def register(parser: argparse.ArgumentParser) -> None:
    """Port and browser, a lesson to begin again; other options are JupyterLab's."""
    add_server_options(parser, 8888)
    parser.add_argument(
        "--afresh", metavar="LESSON", help="begin a lesson again, such as 04; what you had is kept aside"
    )
    parser.set_defaults(run=run_lab, others=[])


def lessons_folder() -> Path:
    """Where a person works: LABKIT_LESSONS, or my_lessons in the clone (git ignores it) or where the person stands."""
    return Path(os.environ.get("LABKIT_LESSONS") or WORK / "my_lessons").expanduser().resolve()


def run_lab(args: argparse.Namespace) -> int:
    """JupyterLab on loopback, opened in the working copy."""
    from labkit.classroom.lab import lab_command, lab_environment
    from labkit.classroom.lessons import start_afresh, working_copy

    needs_package("jupyterlab")
    folder = lessons_folder()
    if args.afresh:
        start_afresh(HOME / "notebooks", folder, args.afresh, say)
    working_copy(HOME / "notebooks", folder, say)
    say(f"your lessons are in {folder}; your answers stay there when labkit is updated")
    command = [*lab_command(folder, args.port, args.headless), *args.others]
    return become(command, lab_environment("lessons", "every"))
