"""python -m labkit train: one preset, one loss, one or several seeds, in this process."""

from __future__ import annotations

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from labkit.base.interrupts import INTERRUPTED
from labkit.base.paths import OWN
from labkit.commands.arguments import new_folder, whole
from labkit.commands.errors import EXPECTED, told
from labkit.commands.terminal import tell
from labkit.runs.bounds import MICRO, SEEDS, THREADS
from labkit.runs.presets import CODEC, WORDS, describe, kind_of, preset_names
from labkit.runs.read import is_run, read_run
from labkit.runs.record import RunRecord, Summary
from labkit.runs.tracker import TakenError, free_folder
from labkit.runs.variant import Variant, read_settings

HELP = "train a preset, or go on with a run"
DESCRIPTION = (
    "Train a preset. Example: python -m labkit train omniglot --loss pnp-dq --seed 0 --set tau=0.02. Several processes "
    "or machines: torchrun --nproc-per-node 2 -m labkit train omniglot."
)


def register(parser: argparse.ArgumentParser) -> None:
    """What to train, or which run to go on with."""
    parser.add_argument("preset", nargs="?", help="a preset; without one, the presets are listed")
    parser.add_argument("--loss", help="a loss of `python -m labkit losses`, untrained, pixels, or FILE.py:NAME")
    parser.add_argument(
        "--seed", type=whole(SEEDS), nargs="+", default=[0], help="one or several, trained one after another"
    )
    add_run_options(parser)
    parser.add_argument(
        "--resume", metavar="RUN", help="go on with this run (a folder or its id); takes no preset and no settings"
    )
    # what the queue expects of FILE.py when it starts a run
    parser.add_argument("--loss-sha256", default="", help=argparse.SUPPRESS)
    parser.set_defaults(run=run_train)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """What train and sweep share."""
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="change an option of the loss (tau=0.02) or a setting (optimizer.lr=1e-3)",
    )
    parser.add_argument("--runs", type=new_folder, default=OWN, help="where runs go (default runs/)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda, cuda:N or mps")
    parser.add_argument("--threads", type=whole(THREADS), help="CPU threads of a run (default: torch's own choice)")
    parser.add_argument("--micro-batch", type=whole(MICRO), help="train in two passes, this many items at a time")
    parser.add_argument(
        "--keep",
        choices=("all", "embeddings", "metrics"),
        default="all",
        help="what a finished run keeps: all, no checkpoints, or metrics only",
    )


def run_train(args: argparse.Namespace) -> int:
    """Train, resume, or list what can be trained."""
    if args.resume is not None:
        return resume_one(args)
    return list_presets() if args.preset is None else train_all(args)


def list_presets() -> int:
    """One line per preset."""
    print("Presets:")
    for name in preset_names():
        print(f"  {name:22} {describe(name)}")
    print("\nTrain one with: python -m labkit train PRESET [--loss NAME] [--seed N] [--set KEY=VALUE]")
    return 0


def train_all(args: argparse.Namespace) -> int:
    """Every seed, in one group of processes; an interruption ends them all, a failure only its own."""
    import torch

    from labkit.training.devices import choose_device, process_group
    from labkit.training.distributed import world_size

    if args.threads:
        torch.set_num_threads(args.threads)
    worst = 0
    with process_group(choose_device(args.device)):
        for seed in dict.fromkeys(args.seed):
            try:
                code = train_one(args, seed)
            except EXPECTED as error:
                if world_size() > 1:  # the other processes would wait for this one for ever
                    raise
                code = told(error)
            if code == INTERRUPTED:
                return code
            worst = max(worst, code)
    return worst


def train_one(args: argparse.Namespace, seed: int) -> int:
    """One new run."""
    from labkit.compression.codec_config import CodecConfig, load_codec_config
    from labkit.compression.codec_run import start_codec
    from labkit.surrogates.word_config import WordConfig, load_any
    from labkit.surrogates.word_run import start_words
    from labkit.training.distributed import world_size
    from labkit.training.loop import start

    settings = settings_of(args)
    load = load_codec_config if kind_of(args.preset) == CODEC else load_any
    config = load(args.preset, args.loss, settings)
    variant = Variant(args.preset, config.loss, settings)
    how: dict[str, Any] = {
        "variant": variant,
        "device": args.device,
        "keep": args.keep,
        "command": command_line(args, seed),
    }
    while True:
        folder = free_folder(args.runs / variant.run_id(seed))
        try:
            if isinstance(config, CodecConfig):
                return report(folder, start_codec(config, seed, folder, **how))
            if isinstance(config, WordConfig):
                return report(folder, start_words(config, seed, folder, **how))
            return report(folder, start(config, seed, folder, loss_sha256=args.loss_sha256, **how))
        except TakenError:  # another training of this name came first; it is there now, so the next name is free
            if world_size() > 1:
                raise


def resume_one(args: argparse.Namespace) -> int:
    """Go on with a run."""
    from labkit.compression.codec_run import resume_codec
    from labkit.surrogates.word_run import resume_words
    from labkit.training.loop import resume

    if args.preset or args.loss or args.settings or args.micro_batch:
        raise ValueError("--resume goes on with the run as it is: it takes no preset, --loss, --set or --micro-batch")
    folder = run_to_resume(args.resume, args.runs)
    here = os.path.lexists(folder / "run.json")
    kind = kind_of(read_run(folder).preset) if here else None
    go_on = {WORDS: resume_words, CODEC: resume_codec}.get(kind or "", resume)
    return report(folder, go_on(folder, device=args.device, threads=args.threads))


def run_to_resume(name: str, runs: Path) -> Path:
    """The folder of a run that is named by its folder or its id."""
    for folder in (Path(name), runs / name) if name.strip() else ():
        if os.path.lexists(folder / "run.json"):
            return folder
        if is_run(folder):
            raise ValueError(f"{folder} is in a pack, where only finished runs are; there is nothing to resume")
    if os.environ.get("RANK", "0") != "0":  # torchrun: the first process's disk holds the run, and it tells if not
        return runs / name
    raise ValueError(f"--resume: {name!r} holds no run; give the folder or the id of one (`python -m labkit runs`)")


def measured_weights(summary: Summary, select: str) -> str:
    """Which step the numbers are of."""
    if summary.test and (select == "last" or summary.best_step == summary.steps):
        return f"the last step, {summary.steps}"
    return f"step {summary.best_step} of {summary.steps}, the best on validation classes"


def report(folder: Path, record: RunRecord) -> int:
    """Say how it ended and what to do next."""
    from labkit.training.report import headline

    if int(os.environ.get("RANK", 0)) > 0:
        return 0
    summary = read_run(folder).summary
    if record.status != "finished" or summary is None:
        tell(f"{record.status}; go on with: python -m labkit train --resume {folder}")
        return INTERRUPTED
    print(f"{folder}: {headline(summary)} ({measured_weights(summary, record.config.train.select)})")
    return 0


def settings_of(args: argparse.Namespace) -> dict[str, str]:
    """`--set` entries, and `--micro-batch` as the setting it is."""
    micro = [f"batch.micro={args.micro_batch}"] if args.micro_batch else []
    return read_settings([*args.settings, *micro])


def command_line(args: argparse.Namespace, seed: int) -> str:
    """What to type to make this run again."""
    parts = ["python", "-m", "labkit", "train", args.preset]
    parts += ["--loss", args.loss] if args.loss else []
    parts += ["--seed", str(seed)]
    parts += ["--set", *args.settings] if args.settings else []
    parts += ["--micro-batch", str(args.micro_batch)] if args.micro_batch else []
    return shlex.join(parts)
