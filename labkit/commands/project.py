"""python -m labkit project: a run's embeddings in the plane."""

from __future__ import annotations

import argparse

from labkit.commands.arguments import whole
from labkit.commands.runs import add_ids, roots_of
from labkit.runs.bounds import SEEDS
from labkit.runs.schema import PROJECTIONS

HELP = "project a run's embeddings to the plane, for the dashboard"


def register(parser: argparse.ArgumentParser) -> None:
    """Which run, and how."""
    parser.set_defaults(run=run_project, runs=None)
    add_ids(parser)
    parser.add_argument("--methods", nargs="+", choices=PROJECTIONS, default=list(PROJECTIONS))
    parser.add_argument(
        "--max-points", type=whole((1, 10_000_000)), default=10_000, help="points in UMAP (default 10000)"
    )
    parser.add_argument(
        "--seed", type=whole(SEEDS), default=0, help="seed of UMAP and of the points drawn for it (default 0)"
    )


def run_project(args: argparse.Namespace) -> int:
    """Compute the projections of one run."""
    from labkit.runs.project import project
    from labkit.runs.read import open_run

    run = open_run(args.ids[0], *roots_of(args))
    for path in project(run, args.methods, args.max_points, args.seed).values():
        print(f"written: {path}")
    return 0
