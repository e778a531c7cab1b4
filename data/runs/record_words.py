"""Makes the recorded runs of readers of words: `python data/runs/record_words.py [--seeds 0 1 …] TOPIC …`.

Runs that are there already are skipped and unfinished ones go on, so it can be stopped and started at will; more seeds
are added by the same command. First come a preset's trials (`words-tune-trials`) and `tuned` (word_search.py), then the
topics. All runs are made in this process, one after the other: most take less than a minute, of which starting a
process anew would be a good part.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import word_search  # noqa: E402

from labkit.__main__ import main as labkit_command  # noqa: E402
from labkit.base import interrupts  # noqa: E402
from labkit.commands.errors import guarded  # noqa: E402
from labkit.runs.paper_claims import SAME_TIME  # noqa: E402
from labkit.runs.read import read_run  # noqa: E402
from labkit.runs.tracker import remove_folder  # noqa: E402
from labkit.training.queue import Job, unfinished  # noqa: E402

SEEDS = (0, 1, 2, 3, 4)
HOW = ["--device", "cpu", "--threads", "1"]
TRIALS = {f"{preset}-trials": preset for preset in SAME_TIME}
KEPT = "embeddings"  # what was read of every test word, no checkpoints


def arms(preset: str, seeds: tuple[int, ...] = SEEDS) -> Iterator[Job]:
    """The reader as it is, and every way of tuning it, seed by seed, so that a stopped recording is balanced."""
    for seed in seeds:
        yield Job(preset, "untrained", (seed,), {}, KEPT)  # the same for all seeds, so that each has its pair
        yield from (Job(preset, loss, (seed,), {}, KEPT) for loss in word_search.OWN)
        yield Job(preset, "cross-entropy", (seed,), {"train.steps": str(SAME_TIME[preset])}, KEPT)


def words() -> Iterator[Job]:
    """The base to its plateau, then the arms."""
    yield Job("words", "cross-entropy", (0,), {}, KEPT)
    yield from arms("words-tune")


def stages() -> Iterator[Job]:
    """Does the gain shrink as the base converges? Readers from three earlier stages; the last stage is in `words`."""
    readers, losses = ("base-15", "base-30", "base-60"), ("untrained", "cross-entropy", "ls-ed")
    for seed, reader, loss in product(SEEDS, readers, losses):
        yield Job("words-tune", loss, (seed,), {"data.reader": reader}, KEPT)


def options() -> Iterator[Job]:
    """One part of the method at a time; the default's value is in `words`. Φ is drawn anew where λ or the pairs matter.

    A surrogate that has learned from random pairs with λ would hide what learning without them or without it does.
    """
    fresh = {"data.surrogate": "", "I_a": "100"}
    chosen: list[tuple[str, dict[str, str]]] = [
        ("ls-ed", fresh),
        ("ls-ed", fresh | {"lam": "0.0"}),
        ("ls-ed", fresh | {"generator": "false"}),
        ("ls-ed", {"I_a": "50"}),
        ("ls-ed", {"I_b": "100"}),
        ("feds", {"epsilon": "0.25"}),
        ("feds", {"epsilon": "4.0"}),
    ]
    for seed, (loss, settings) in product(SEEDS, chosen):
        yield Job("words-tune", loss, (seed,), settings, "metrics")


TOPICS = {
    "words": words,
    "words-stages": stages,
    "words-options": options,
    "scene-text": lambda: arms("scene-text"),
}


def run_trials(preset: str) -> int:
    """The trials that are not in the table yet; each is in the table as soon as it is finished."""
    for loss, number, job in word_search.trials(preset):
        rows = word_search.read_table()
        if any((row["preset"], row["loss"], row["trial"]) == (preset, loss, str(number)) for row in rows):
            continue
        root = HERE.parents[1] / "runs" / "trials"
        remove_folder(root / job.run_ids()[0])  # a trial that was interrupted begins anew
        if code := labkit_command(["train", *job.arguments(), "--runs", str(root), "--keep", job.keep, *HOW]):
            return code
        word_search.write_table([*rows, word_search.row_of(number, job, read_run(root / job.run_ids()[0]))])
    return 0


def run_topic(jobs: list[Job], root: Path) -> int:
    """The runs of a topic that are not finished yet."""
    for job in jobs:
        for part, begun in unfinished(job, root):
            what = ["--resume", begun] if begun else [*part.arguments(), "--keep", part.keep]
            if code := labkit_command(["train", *what, "--runs", str(root), *HOW]):
                return code
    return 0


def make(args: argparse.Namespace) -> int:
    """Make what was asked for; returns the exit code."""
    for topic in args.topics or TOPICS:
        if topic == "tuned":
            for preset in SAME_TIME:
                word_search.write_tuned(preset)
            continue
        if topic in TRIALS:
            if code := run_trials(TRIALS[topic]):
                return code
            continue
        jobs = [job for job in TOPICS[topic]() if not args.seeds or job.seeds[0] in args.seeds]
        if args.list:
            print("\n".join(job.command() for job in jobs))
        elif code := run_topic(jobs, args.into / topic):
            return code
    return 0


def main() -> int:
    """Make what is asked for, all topics by default."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = (*TRIALS, "tuned", *TOPICS)
    parser.add_argument("topics", nargs="*", choices=[*known, []], help="a preset's trials, tuned, or topics")
    parser.add_argument("--seeds", type=int, nargs="+", help="only these seeds (default: all)")
    parser.add_argument("--into", type=Path, default=HERE, help="folder for the topics' folders (default: here)")
    parser.add_argument("--list", action="store_true", help="print the command lines only")
    parser.set_defaults(run=make, goes_on=True)
    return guarded(parser.parse_args())


if __name__ == "__main__":
    sys.exit(interrupts.guarded(main))
