"""python -m labkit runs and project: what they are called and which options they take."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from labkit.base.errors import LabkitError
from labkit.runs.schema import PROJECTIONS, STATUSES

Action = Callable[[argparse.Namespace], int]
Parsers = Any  # argparse's own type for this is private


def register(commands: Parsers) -> None:
    """Add `runs` and `project` to the command line."""
    runs = commands.add_parser("runs", help="list, compare, show, move or delete runs")
    add_filters(runs)
    runs.set_defaults(run=action("runs_show", "list_runs"), runs=None)
    runs.set_defaults(preset=None, loss=None, status=None, where=None, metric=None)
    actions = runs.add_subparsers(metavar="ACTION")
    register_showing(actions)
    register_moving(actions)
    project = commands.add_parser("project", help="project a run's embeddings to the plane, for the dashboard")
    project.set_defaults(run=action("runs_move", "project_run"), runs=None)
    add_ids(project)
    project.add_argument("--methods", nargs="+", choices=PROJECTIONS, default=list(PROJECTIONS))
    project.add_argument("--max-points", type=int, default=10_000, help="points in UMAP (default 10000)")
    project.add_argument("--seed", type=int, default=0, help="seed of UMAP and of the points drawn for it (default 0)")


def register_showing(actions: Parsers) -> None:
    """Actions that only look."""
    add_filters(add(actions, "list", "runs_show", "list_runs", "list the runs (also without any action)"))
    compare = add(actions, "compare", "runs_show", "compare_runs", "mean and interval over the seeds of each group")
    add_filters(compare)
    compare.add_argument("--split", default="test", help="test, validation or test_last (default test)")
    compare.add_argument("--baseline", metavar="GROUP", help="also show each group minus this one, seed by seed")
    compare.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")
    compare.add_argument("--latex", type=Path, metavar="FILE", help="write the table for LaTeX")
    add_ids(add(actions, "show", "runs_show", "show_run", "everything about one run"))


def register_moving(actions: Parsers) -> None:
    """Actions that write, send or delete."""
    bring = add(actions, "import", "runs_move", "import_zip", "put the runs of a zip into runs/ (or --runs DIR)")
    add_roots(bring)
    bring.add_argument("file", type=Path, metavar="FILE.zip")
    bring.add_argument("--overwrite", action="store_true", help="replace runs that are there already")
    export = add(actions, "export", "runs_move", "export_zip", "write runs to a zip")
    add_ids(export, "+")
    export.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.zip")
    delete = add(actions, "delete", "runs_move", "delete_runs", "delete runs of runs/ (or --runs DIR)")
    add_ids(delete, "+")
    delete.add_argument("--yes", action="store_true", help="do not ask")
    send = add(actions, "mlflow", "runs_move", "send_to_mlflow", "send a run to an MLflow server")
    add_ids(send)
    send.add_argument("--uri", required=True, help="address of the server, e.g. http://127.0.0.1:5000")
    send.add_argument("--experiment", default="labkit", help="name of the experiment there (default labkit)")


def add(actions: Parsers, name: str, module: str, function: str, text: str) -> argparse.ArgumentParser:
    """One action of `runs`."""
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text)
    parser.set_defaults(run=action(module, function))
    return parser


def add_ids(parser: argparse.ArgumentParser, count: int | str = 1) -> None:
    """The runs to work on."""
    add_roots(parser)
    parser.add_argument("ids", nargs=count, metavar="ID", help="id of a run, its beginning, or its path")


def add_roots(parser: argparse.ArgumentParser) -> None:
    """--runs; without a default, since one given here would overwrite what the parent parser has read."""
    text = "folder with runs; may be repeated (default: data/runs and runs)"
    parser.add_argument("--runs", action="append", type=Path, metavar="DIR", default=argparse.SUPPRESS, help=text)


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Which runs to look at, and which metric of them."""
    add_roots(parser)
    statuses = (*STATUSES, "killed", "unreadable")
    options: dict[str, dict[str, Any]] = {
        "--preset": {"help": "only runs of this preset"},
        "--loss": {"help": "only runs with this loss"},
        "--status": {"help": f"only runs that are {', '.join(statuses)}", "choices": statuses, "metavar": "STATUS"},
        "--where": {"help": "only runs with this setting; may be repeated", "action": "append", "metavar": "KEY=VALUE"},
        "--metric": {"help": "metric to show (default R@1)"},
    }
    for name, option in options.items():
        parser.add_argument(name, default=argparse.SUPPRESS, **option)


def action(module: str, function: str) -> Action:
    """A function of another module, imported when it runs; what the user can put right is told in one line."""

    def run(args: argparse.Namespace) -> int:
        try:
            chosen: Action = getattr(import_module(f"labkit.commands.{module}"), function)
            return chosen(args)
        except (LabkitError, ValueError) as error:
            message = str(error)
        except BrokenPipeError:  # the reader, such as head, has seen enough; nothing is left to flush at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except OSError as error:
            message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        except ModuleNotFoundError as error:
            message = f'{error.name} is not installed: pip install "labkit[dashboard]"'
        print(f"labkit: {plain(message)}", file=sys.stderr)
        return 2

    return run


def plain(text: str) -> str:
    """Text that a terminal can only print: names come from files and may hold control characters."""
    return "".join(mark if mark.isprintable() else "�" for mark in text)
