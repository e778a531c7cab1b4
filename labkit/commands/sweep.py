"""python -m labkit sweep: losses × seeds, each run in a process of its own."""

from __future__ import annotations

import argparse
from pathlib import Path

from labkit.base.errors import Failed
from labkit.commands.arguments import whole
from labkit.commands.train import add_run_options, settings_of
from labkit.runs.bounds import JOBS, SEEDS
from labkit.runs.presets import CODEC, WORDS, kind_of
from labkit.runs.read import read_run

HELP = "train losses × seeds, skipping what is finished"


def register(parser: argparse.ArgumentParser) -> None:
    """Which losses and seeds, and how many runs at a time."""
    parser.add_argument("preset", help="a preset of `python -m labkit train`")
    parser.add_argument("--losses", nargs="+", metavar="LOSS", help="losses, or all (default: the preset's own)")
    parser.add_argument("--seeds", type=whole(SEEDS), nargs="+", default=[0, 1, 2], help="default 0 1 2")
    parser.add_argument(
        "--jobs", type=whole(JOBS), help="runs at a time (default: one, or one on each of several GPUs)"
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const="local",
        metavar="ADDRESS",
        help="on a Ray cluster (its address, or none to start one on this machine)",
    )
    add_run_options(parser)
    parser.set_defaults(run=run_sweep, goes_on=True)


def run_sweep(args: argparse.Namespace) -> int:
    """Losses × seeds; every configuration is read first, so that a wrong name is refused before anything starts."""
    from labkit.losses import CATALOG
    from labkit.surrogates.word_config import ARMS, load_any
    from labkit.training.queue import Job, run_queue

    if kind_of(args.preset) == CODEC:
        raise ValueError(f"{args.preset} is trained by `python -m labkit train {args.preset}`, one run at a time")
    every = list(ARMS if kind_of(args.preset) == WORDS else CATALOG)
    losses = every if args.losses == ["all"] else args.losses or [None]
    settings = settings_of(args)
    names = [load_any(args.preset, loss, settings).loss for loss in losses]
    jobs = [
        Job(args.preset, loss, (seed,), settings, args.keep) for loss in names for seed in dict.fromkeys(args.seeds)
    ]
    left = run_queue(jobs, args.runs, parallel=args.jobs, device=args.device, threads=args.threads, ray=args.ray)
    if left:
        raise Failed("these runs failed:\n" + "\n".join(f"  {folder}: {why_failed(folder)}" for folder in left))
    return 0


def why_failed(folder: Path) -> str:
    """How a run ended, and which of its files says why."""
    there = [name for name in ("run.json", "log.txt") if (folder / name).is_file()]
    status = read_run(folder).status if "run.json" in there else "did not start"
    return f"{status}; see {' and '.join(there)} there" if there else f"{status}, and left no message"
