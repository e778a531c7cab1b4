"""python -m labkit reproduce: the rows of a paper's table as runs, and its numbers beside ours."""

from __future__ import annotations

import argparse
from statistics import mean
from typing import TYPE_CHECKING

from labkit.base.errors import Failed, LabkitError
from labkit.commands.arguments import whole
from labkit.commands.train import add_run_options, settings_of
from labkit.data.papers import PAPERS
from labkit.runs.bounds import JOBS, SEEDS

if TYPE_CHECKING:
    from labkit.training.reproduce import Row

HELP = "list, run and compare the rows of a paper's table"
DESCRIPTION = (
    "List what the rows of a table would train and what it costs; with --run, train them (resumable, one run on each "
    "GPU). What is finished stands beside the paper's numbers. Example: python -m labkit reproduce pnp 1 PNP-Dq --run"
)


def register(parser: argparse.ArgumentParser) -> None:
    """Which table, which of its rows, and whether to train them."""
    parser.add_argument("paper", choices=tuple(PAPERS))
    parser.add_argument("table", nargs="?", help="a table; without one, the paper's tables are listed")
    parser.add_argument("rows", nargs="*", default=[], metavar="ROW", help="only rows that contain one of these words")
    parser.add_argument("--run", action="store_true", dest="go", help="train what is not finished yet")
    parser.add_argument("--seeds", type=whole(SEEDS), nargs="+", default=[0], help="default 0")
    parser.add_argument(
        "--jobs", type=whole(JOBS), help="runs at a time (default: one, or one on each of several GPUs)"
    )
    add_run_options(parser)
    parser.set_defaults(run=run_reproduce, goes_on=True)


def run_reproduce(args: argparse.Namespace) -> int:
    """The tables of a paper, or the rows of one with their costs, runs and numbers."""
    from labkit.data.papers import tables

    known = list(dict.fromkeys(tables(args.paper)["table"]))
    if args.table is None:
        print(f"tables of {args.paper}: {', '.join(known)}")
        return 0
    from labkit.training.queue import run_queue
    from labkit.training.reproduce import jobs_of, rows_of

    rows = [row for row in rows_of(args.paper, args.table) if not args.rows or any(w in row.title for w in args.rows)]
    if not rows:
        raise LabkitError(f"no row of table {args.table} contains {' or '.join(args.rows)}")
    more = settings_of(args)
    if args.go:
        jobs = jobs_of(rows, list(dict.fromkeys(args.seeds)), more)
        left = run_queue(jobs, args.runs, parallel=args.jobs, device=args.device, threads=args.threads)
        if left:
            raise Failed("these runs failed:\n" + "\n".join(f"  {folder}" for folder in left))
    show(rows, args, more)
    return 0


def show(rows: list[Row], args: argparse.Namespace, more: dict[str, str]) -> None:
    """The rows that can be run, with both sets of numbers in per cent; then the others, by reason."""
    from labkit.runs.read import find_runs
    from labkit.training.reproduce import cost, own_numbers

    runs = find_runs(args.runs)
    for row in rows:
        if row.variant is None:
            continue
        print(f"{row.title}: {row.variant}, {cost(row.variant, more)}")
        ours = own_numbers(row, runs, more)
        for metric, value in row.printed.items():
            found = ours.get(metric, [])
            own = f"{100 * mean(found):5.1f} ({len(found)} seed{'s' * (len(found) != 1)})" if found else "    –"
            print(f"  {metric:8}  paper {100 * value:5.1f}  here {own}")
    for reason in dict.fromkeys(row.why_not for row in rows if row.why_not):
        print(f"cannot be run, {reason}: {'; '.join(row.title for row in rows if row.why_not == reason)}")
    needed = {row.variant for row in rows if row.variant is not None}
    print(f"{len(needed)} runs for each seed")
