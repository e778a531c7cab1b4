"""python -m labkit runs: what its actions are called and which options they take."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from labkit.base.errors import LabkitError
from labkit.commands.arguments import new_folder
from labkit.runs.record import STATUSES
from labkit.runs.schema import PROJECTIONS

HELP = "list, compare, show, move or delete runs"
Parsers = Any  # argparse's own type for this is private


def register(parser: argparse.ArgumentParser) -> None:
    """Actions; without one, the runs are listed."""
    add_filters(parser)
    parser.set_defaults(run=action("runs_show", "list_runs"), runs=None)
    parser.set_defaults(preset=None, loss=None, status=None, where=None, metric=None)
    actions = parser.add_subparsers(metavar="ACTION")
    register_showing(actions)
    register_moving(actions)


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
    about = "put the runs of a zip, or embeddings of your own in a npz, into runs/ (or --runs DIR)"
    bring = add(actions, "import", "runs_move", "import_file", about)
    add_roots(bring)
    bring.add_argument("file", type=Path, metavar="FILE", help="a zip of `runs export`, or a npz (see below)")
    bring.add_argument("--overwrite", action="store_true", help="replace runs that are there already (zip)")
    bring.add_argument("--images", type=Path, metavar="DIR", help="pictures of the samples (npz)")
    bring.add_argument("--data", default="", metavar="NAME", help="what the samples are called (npz; default its name)")
    bring.add_argument("--methods", nargs="+", choices=PROJECTIONS, default=list(PROJECTIONS), help="default pca umap")
    bring.epilog = (
        "A npz holds embeddings (N, D) and labels (N,), numbers or names; if you like, ids (N,), and images as uint8 "
        "(N, height, width) or (N, height, width, 3), or with --images their file names (N,) as `files` (without: the "
        "pictures of DIR in the order of their names)."
    )
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
    parser.add_argument("--runs", action="append", type=new_folder, metavar="DIR", default=argparse.SUPPRESS, help=text)


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


def action(module: str, function: str) -> Callable[[argparse.Namespace], int]:
    """A function of another module, imported when it runs: what it needs takes a while to load."""

    def run(args: argparse.Namespace) -> int:
        chosen: Callable[[argparse.Namespace], int] = getattr(import_module(f"labkit.commands.{module}"), function)
        return chosen(args)

    return run


def roots_of(args: argparse.Namespace) -> Sequence[Path]:
    """The folders named by --runs, or the usual ones."""
    from labkit.runs.read import default_roots

    for root in args.runs or ():
        if not root.is_dir():
            raise LabkitError(f"--runs {root}: no such folder; name a folder that holds runs")
    return args.runs or default_roots()
