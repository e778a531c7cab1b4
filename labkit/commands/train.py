"""python -m labkit train and sweep."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from labkit.base.errors import LabkitError
from labkit.base.paths import OWN
from labkit.runs.names import free_folder, group_name

EXPECTED = (LabkitError, ValueError, RuntimeError, FloatingPointError, OSError)  # what a user can put right


def register(commands: Any) -> None:
    """Add the commands to the command line."""
    train = commands.add_parser("train", help="train a preset, or go on with a run", description=DESCRIPTION)
    train.add_argument("preset", nargs="?", help="a preset; without one, the presets are listed")
    train.add_argument("--loss", help="a loss of `python -m labkit losses`, untrained, pixels, or FILE.py:NAME")
    train.add_argument("--seed", type=int, nargs="+", default=[0], help="one or several, trained one after another")
    add_run_options(train)
    train.add_argument("--resume", metavar="RUN", help="go on with this run (a folder or its id), and nothing else")
    train.set_defaults(run=run_train)
    sweep = commands.add_parser("sweep", help="train losses × seeds, skipping what is finished")
    sweep.add_argument("preset", help="a preset of `python -m labkit train`")
    sweep.add_argument("--losses", nargs="+", metavar="LOSS", help="losses, or all (default: the preset's own)")
    sweep.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="default 0 1 2")
    sweep.add_argument("--jobs", type=int, default=1, help="runs at a time (default 1)")
    add_run_options(sweep)
    sweep.set_defaults(run=run_sweep)


DESCRIPTION = (
    "Train a preset. Example: python -m labkit train omniglot --loss pnp-dq --seed 0 --set tau=0.02. Several processes "
    "or machines: torchrun --nproc-per-node 2 -m labkit train omniglot."
)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """What train and sweep share."""
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", dest="settings",
                        help="change an option of the loss (tau=0.02) or a setting (optimizer.lr=1e-3)")  # fmt: skip
    parser.add_argument("--runs", type=Path, default=OWN, help="where runs go (default runs/)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps")
    parser.add_argument("--threads", type=int, help="CPU threads of a run (default: torch's own choice)")
    parser.add_argument("--micro-batch", type=int, help="two passes with so many items at a time")
    parser.add_argument("--keep", choices=("all", "embeddings", "metrics"), default="all",
                        help="what a finished run keeps: all, no checkpoints, or metrics only")  # fmt: skip


def run_train(args: argparse.Namespace) -> int:
    """Train one or several seeds in this process."""
    from labkit.runs.presets import describe, preset_names

    if args.resume is None and args.preset is None:
        print("Presets:")
        for name in preset_names():
            print(f"  {name:22} {describe(name)}")
        print("\nTrain one with: python -m labkit train PRESET [--loss NAME] [--seed N] [--set KEY=VALUE]")
        return 0
    try:
        code = train_all(args) if args.resume is None else resume_one(args)
    except KeyboardInterrupt:
        code = 130
    except EXPECTED as error:
        code = told(error)
    return leave(code)


def leave(code: int) -> int:
    """The exit code; one of several processes ends here and now.

    Everything is written by then. Tidying up at exit, gloo's threads have been seen to abort a process whose training
    was finished, and torchrun takes that for a failure of the whole run.
    """
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    return code


def train_all(args: argparse.Namespace) -> int:
    """Every seed, in one group of processes; an interruption ends them all, a failure only its own."""
    import torch

    from labkit.training.devices import choose_device, process_group
    from labkit.training.distributed import world_size

    if args.threads:
        torch.set_num_threads(args.threads)
    worst = 0
    with process_group(choose_device(args.device)):
        for seed in args.seed:
            try:
                code = train_one(args, seed)
            except EXPECTED as error:
                if world_size() > 1:  # the other processes would wait for this one for ever
                    raise
                code = told(error)
            if code == 130:
                return code
            worst = max(worst, code)
    return worst


def told(error: Exception) -> int:
    """One line that says what was wrong; with LABKIT_DEBUG set, the whole story."""
    if os.environ.get("LABKIT_DEBUG"):
        raise error
    print(f"labkit: {error}", file=sys.stderr)
    return 2


def train_one(args: argparse.Namespace, seed: int) -> int:
    """One new run."""
    from labkit.training.config import load_config
    from labkit.training.loop import start

    settings = parse_settings(args)
    config = load_config(args.preset, args.loss, settings)
    group = group_name(args.preset, config.loss, settings)
    folder = free_folder(args.runs / f"{group}_s{seed}")
    info = {"id": folder.name, "group": group, "overrides": settings, "command": command_line(args, seed)}
    return report(folder, start(config, seed, folder, device=args.device, keep=args.keep, info=info))


def resume_one(args: argparse.Namespace) -> int:
    """Go on with a run."""
    from labkit.training.loop import resume

    if args.preset or args.loss or args.settings or args.micro_batch:
        raise ValueError("--resume goes on with the run as it is: it takes no preset, --loss, --set or --micro-batch")
    folder = Path(args.resume)
    if not folder.is_dir() and (args.runs / args.resume).is_dir():
        folder = args.runs / args.resume
    return report(folder, resume(folder, device=args.device, threads=args.threads))


def measured_weights(summary: dict[str, Any], select: str) -> str:
    """Which step the numbers are of."""
    best, steps = summary["best_step"], summary["steps"]
    if summary["test"] and (select == "last" or best == steps):
        return f"the last step, {steps}"
    return f"step {best} of {steps}, the best on validation classes"


def report(folder: Path, info: dict[str, Any]) -> int:
    """Say how it ended and what to do next."""
    from labkit.training.report import headline

    if int(os.environ.get("RANK", 0)) > 0:
        return 0
    if info["status"] != "finished":
        print(f"labkit: {info['status']}; go on with: python -m labkit train --resume {folder}", file=sys.stderr)
        return 130
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    print(f"{folder}: {headline(summary)} ({measured_weights(summary, info['config']['train']['select'])})")
    return 0


def run_sweep(args: argparse.Namespace) -> int:
    """Losses × seeds, each in a process of its own."""
    from labkit.losses import CATALOG
    from labkit.training.config import load_config
    from labkit.training.queue import Job, run_queue

    losses = args.losses or [None]
    if losses == ["all"]:
        losses = list(CATALOG)
    try:
        settings = parse_settings(args)
        # every configuration is read first, so that a wrong name is refused before anything starts
        names = [load_config(args.preset, loss, settings).loss for loss in losses]
        jobs = [Job(args.preset, loss, (seed,), settings, args.keep) for loss in names for seed in args.seeds]
    except ValueError as error:
        return told(error)
    return run_queue(jobs, args.runs, parallel=args.jobs, device=args.device, threads=args.threads)


def parse_settings(args: argparse.Namespace) -> dict[str, str]:
    """`--set` entries, and `--micro-batch` as the setting it is."""
    settings = {}
    for entry in args.settings:
        name, equals, value = entry.partition("=")
        if not equals or not name:
            raise ValueError(f"--set takes KEY=VALUE, such as tau=0.02; got {entry!r}")
        settings[name] = value
    if args.micro_batch:
        settings["batch.micro"] = str(args.micro_batch)
    return settings


def command_line(args: argparse.Namespace, seed: int) -> str:
    """What to type to make this run again."""
    parts = ["python", "-m", "labkit", "train", args.preset]
    parts += ["--loss", args.loss] if args.loss else []
    parts += ["--seed", str(seed)]
    parts += ["--set", *args.settings] if args.settings else []
    parts += ["--micro-batch", str(args.micro_batch)] if args.micro_batch else []
    return shlex.join(parts)
