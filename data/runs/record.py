"""Makes every recorded run of data/runs: `make runs`, or `python data/runs/record.py TOPIC …`.

Runs that are there already are skipped, so it can be stopped and started at will. `--list` prints the command lines.
`trials PRESET …` comes first: the random search of search.py. `tuned` writes the best trials as the presets' settings,
and `gate` prints the table: nothing is recorded before every loss ends above raw pixels and the untrained network.
What counts as equal, how many seeds there are and when more are added was written down before: PROTOCOL.md.
`pack` puts the runs that keep results only into one file for each topic; `finishing` does so, and adds projections
and sprites. Runs of a new recipe gather elsewhere (`--into data/runs/new`) until a topic is whole and takes its place.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE)]

import search  # noqa: E402
import torch  # noqa: E402

from labkit.__main__ import main as labkit_command  # noqa: E402
from labkit.base import interrupts  # noqa: E402
from labkit.commands.errors import guarded  # noqa: E402
from labkit.data import Dataset, load  # noqa: E402
from labkit.data.sprites import write_sprites  # noqa: E402
from labkit.runs import find_runs  # noqa: E402
from labkit.runs.pack import pack_runs  # noqa: E402
from labkit.runs.project import project  # noqa: E402
from labkit.runs.read import read_run  # noqa: E402
from labkit.runs.tracker import remove_folder  # noqa: E402
from labkit.training.config import load_config  # noqa: E402
from labkit.training.queue import Job, run_queue  # noqa: E402
from labkit.training.recording import recorded_points  # noqa: E402

SEEDS = (0, 1, 2, 3, 4, 5)
EMOJI_SEEDS = tuple(range(10))
ABLATION_SEEDS = (0, 1, 2)
TUNED_PRESETS = ("omniglot", "emoji", "icons", "emoji-pretrained")
LOSSES_OF = {
    "emoji-pretrained": (
        "smooth-ap",
        "pnp-ib",
        "pnp-dq",
        "recall-at-k",
        "recall-at-k-simix",
        "multi-similarity",
        "softmax",
        "norm-softmax",
        "sgsl",
        "proxy-anchor",
        "soft-triple",
        "mpa-ap",
    )
}  # the others would take hours

SPRITES = {
    "omniglot": ["omniglot"],
    "icons": ["icons"],
    "emoji": ["emoji", "emoji-pretrained"],
    "fashion-mnist": ["fashion-mnist-3d"],
}


def comparison(preset: str, seeds: tuple[int, ...] = SEEDS) -> Iterator[Job]:
    """Every loss and both baselines, seed by seed, so that a stopped recording is balanced; the first seed is shown."""
    yield Job(preset, "pixels", (0,), {}, "metrics")
    for seed in seeds:
        for loss in ("untrained", *search.LOSSES):
            yield Job(preset, loss, (seed,), {}, "metrics" if seed else "embeddings")


def toy(layout: str) -> Iterator[Job]:
    """Ten seeds of every ranking loss; the first keeps the frames for the player."""
    losses = ("pnp-o", "pnp-iu", "pnp-iu-exact", "pnp-ib", "pnp-ds", "pnp-dq", "smooth-ap", "recall-at-k")
    settings = {"data.layout": layout}
    for keep, seeds in (("embeddings", (0,)), ("metrics", tuple(range(1, 10)))):
        for loss in (*losses, "contrastive", "triplet", "untrained"):
            yield Job("toy", loss, seeds, settings, keep)
        yield Job("toy", "pnp-dq", seeds, settings | {"alpha": "1.0"}, keep)


def fashion_3d() -> Iterator[Job]:
    """Softmax losses in three dimensions, label smoothing on and off; norm-softmax at scale 1 stalls at its floor."""
    for seed, smoothing in product(ABLATION_SEEDS, ("0.0", "0.1")):
        keep = "metrics" if seed else "embeddings"
        for loss in ("softmax", "sgsl", "norm-softmax"):
            yield Job("fashion-mnist-3d", loss, (seed,), {"label_smoothing": smoothing}, keep)
        yield Job("fashion-mnist-3d", "norm-softmax", (seed,), {"label_smoothing": smoothing, "scale": "1.0"}, keep)


def pretrained() -> Iterator[Job]:
    """The papers' regime: a backbone with ImageNet weights; softmax losses also without its last BN-ReLU (RBR)."""
    configurations: list[tuple[str, dict[str, str]]] = [("untrained", {})]
    configurations += [(loss, {"model.last": last}) for loss in ("softmax", "sgsl") for last in ("bn-relu", "rbr")]
    configurations += [("pnp-dq", {"alpha": alpha}) for alpha in ("1.0", "4.0")]
    configurations += [(loss, {}) for loss in ("recall-at-k-simix", "proxy-anchor", "mpa-ap")]
    for (loss, settings), seed in product(configurations, ABLATION_SEEDS):
        yield Job("emoji-pretrained", loss, (seed,), settings, "metrics" if seed else "embeddings")


def budget() -> Iterator[Job]:
    """Does the ranking of losses change with the length of training? (The 2000 steps are the comparison's own.)"""
    for seed, steps, loss in product(
        ABLATION_SEEDS, ("500", "1000", "4000"), ("pnp-dq", "proxy-anchor", "softmax", "mpa-ap")
    ):
        yield Job("omniglot-merged", loss, (seed,), {"steps": steps}, "metrics")


def ablations() -> Iterator[Job]:
    """One option at a time, as the papers print them; the default's value is in the comparison."""
    for seed in ABLATION_SEEDS:

        def job(loss: str, seed: int = seed, preset: str = "omniglot", **settings: str) -> Job:
            return Job(preset, loss, (seed,), settings, "metrics")

        yield from (job("smooth-ap", tau=t) for t in ("0.001", "0.1", "1.0"))  # lesson 3
        yield from (job("pnp-dq", alpha=a) for a in ("0.5", "2.0", "4.0", "8.0"))  # PNP Fig. 8 (a)
        yield from (job("pnp-ib", b=b) for b in ("1.0", "2.0", "8.0"))  # Fig. 8 (b)
        for per_class, classes in (("2", "64"), ("8", "16")):  # Fig. 8 (c), same batch size
            yield Job(
                "omniglot", "pnp-dq", (seed,), {"batch.per_class": per_class, "batch.classes": classes}, "metrics"
            )
        yield from (job("recall-at-k", ks=k) for k in ("(1,)", "(1,2,4)", "(4,8,16)"))  # RS@k, sets of k
        for classes, steps in (("8", "2000"), ("16", "2000"), ("64", "2000"), ("8", "8000"), ("64", "1000")):
            yield Job("omniglot", "recall-at-k", (seed,), {"batch.classes": classes, "steps": steps}, "metrics")
        yield from (job("mpa", preset="omniglot-merged", centers=k) for k in ("1", "4", "20"))  # MPA Tables 7, 8
        yield from (job("mpa-ap", preset="omniglot-merged", centers=k) for k in ("1", "4", "20"))
        yield from (job("sgsl", gamma=g) for g in ("1.0", "10.0", "70.0"))  # SGSL Table 4
        yield from (job("sgsl", beta=b) for b in ("0.25", "4.0"))
        for last in ("bn-relu", "rbr", "rbr-released", "extra-bn-relu"):  # SGSL Table 6, Fig. 4
            settings = {"model.name": "small-resnet", "model.pool": "avg", "model.neck": "bn", "model.last": last}
            yield Job("omniglot", "softmax", (seed,), settings | {"classes": "16", "steps": "1000"}, "metrics")


def icons_ablations() -> Iterator[Job]:
    """The papers' options on icons, one at a time; the default's value is in the comparison."""
    for seed in ABLATION_SEEDS:
        for loss, option, values in (
            ("pnp-dq", "alpha", ("0.5", "2.0", "4.0", "8.0")),  # PNP Fig. 8 (a)
            ("pnp-ib", "b", ("1.0", "2.0", "8.0")),  # Fig. 8 (b)
            ("recall-at-k", "ks", ("(1,)", "(1,2,4)", "(4,8,16)")),  # RS@k, sets of k
            ("mpa", "centers", ("1", "4", "8")),  # MPA Tables 7, 8
            ("mpa-ap", "centers", ("1", "4", "8")),
            ("sgsl", "gamma", ("1.0", "10.0", "70.0")),  # SGSL Table 4
            ("sgsl", "beta", ("0.25", "4.0")),
        ):
            yield from (Job("icons", loss, (seed,), {option: value}, "metrics") for value in values)
        for per_class, classes in (("2", "64"), ("8", "16")):  # PNP Fig. 8 (c), same batch size
            settings = {"batch.per_class": per_class, "batch.classes": classes}
            yield Job("icons", "pnp-dq", (seed,), settings, "metrics")


def icons_batches() -> Iterator[Job]:
    """RS@k with batches of 64 to 1024, at 2000 steps each and at 256,000 images each."""
    for seed, (classes, steps) in product(ABLATION_SEEDS, ((16, 4000), (64, 1000), (128, 500), (256, 250))):
        yield Job("icons", "recall-at-k", (seed,), {"batch.classes": str(classes), "steps": str(steps)}, "metrics")
    for seed, classes in product(ABLATION_SEEDS, (16, 32, 64, 128, 256)):
        yield Job("icons", "recall-at-k", (seed,), {"batch.classes": str(classes), "steps": "2000"}, "metrics")


def large_batches() -> Iterator[Job]:
    """The slides' headline: batches of 1024 and 4096 in two passes, at 500 steps and at two million images.

    Batch norms see 128 images at a time whatever the batch, so that nothing but the loss's view changes.
    """
    for loss, (classes, steps) in product(
        ("recall-at-k", "recall-at-k-simix"), ((32, 500), (256, 500), (1024, 500), (32, 16000), (256, 2000))
    ):
        settings = {"batch.classes": str(classes), "steps": str(steps)}
        settings |= {"batch.micro": "128", "batch.batch_norm": "micro"}
        yield Job("icons", loss, (0,), settings, "metrics")


def kinds() -> Iterator[Job]:
    """Is the gap between D and I due to several centres? Trained on things drawn in one way, or in several."""
    for seed, kind, loss in product(SEEDS, ("one", "several"), ("pnp-ib", "pnp-dq", "smooth-ap")):
        yield Job("icons", loss, (seed,), {"data.train_kinds": kind, "steps": "2000"}, "metrics")


def doubled() -> Iterator[Job]:
    """Every loss once with twice the steps: has it arrived?"""
    for preset, steps in (("icons", "8000"), ("omniglot", "6000"), ("omniglot-merged", "6000"), ("emoji", "4000")):
        for loss in search.LOSSES:
            yield Job(preset, loss, (0,), {"steps": steps}, "metrics")


TOPICS = {
    "toy-ring": lambda: toy("ring"),
    "toy-random": lambda: toy("random"),
    "omniglot": lambda: comparison("omniglot"),
    "omniglot-merged": lambda: comparison("omniglot-merged"),
    "fashion-3d": fashion_3d,
    "icons": lambda: comparison("icons"),
    "emoji": lambda: comparison("emoji", EMOJI_SEEDS),
    "pretrained": pretrained,
    "budget": budget,
    "ablations": ablations,
    "kinds": kinds,
    "icons-ablations": icons_ablations,
    "icons-batches": icons_batches,
    "large-batches": large_batches,
    "doubled": doubled,
}


def finishing() -> None:
    """Projections of every run that keeps embeddings, and one sprite sheet a data set of the points they show."""
    for run in find_runs(HERE):
        wide = run.record.config.model.get("dim", 0) > 3  # what has three dimensions is seen as it is
        wanted = "projections/umap.parquet" if wide else "projections/pca.parquet"
        if run.has("embeddings.safetensors") and not run.has(wanted):
            project(run)
    for name, presets in SPRITES.items():
        images = {}
        for config in map(load_config, presets):
            for part in recorded_points(config, load(**config.data)).values():
                images |= dict(zip(part.ids, part.inputs))
        anonymous = torch.zeros(len(images), dtype=torch.long)
        write_sprites(
            Dataset(name, torch.stack(list(images.values())), anonymous, ("",), tuple(images)), HERE / "sprites"
        )
    pack(HERE)


def pack(folder: Path) -> None:
    """Put the runs of every topic in a folder that keep results only into its pack."""
    for topic in sorted({run.path.parent for run in find_runs(folder)}):
        print(f"{topic.name}: {len(pack_runs(topic, find_runs(topic)))} runs packed")


def run_trials(preset: str, rounds: int) -> int:
    """The trials that are not in the table yet, one at a time; each is in the table as soon as it is finished."""
    code = 0
    for loss, number, job in search.trials(preset, LOSSES_OF.get(preset, search.LOSSES), rounds):
        rows = search.read_table()
        if any((row["data"], row["loss"], row["trial"]) == (preset, loss, str(number)) for row in rows):
            continue
        root = HERE.parents[1] / "runs" / "trials"
        remove_folder(root / job.run_ids()[0])  # a trial that was interrupted begins anew
        # in this process: a trial takes less than a minute, and importing torch would be a tenth of it
        where = ["--runs", str(root), "--device", "cpu", "--threads", "1", "--keep", job.keep]
        failed = labkit_command(["train", *job.arguments(), *where])
        if failed == 130:
            return failed
        if failed:
            code = failed
            continue
        search.write_table([*rows, search.row_of(number, job, read_run(root / job.run_ids()[0]))])
    return code


def make(args: argparse.Namespace) -> int:
    """Make what was asked for; returns the exit code."""
    if args.topics[:1] == ["trials"]:
        for preset in args.topics[1:] or TUNED_PRESETS:
            if code := run_trials(preset, args.rounds):
                return code
        return 0
    failed = 0
    for topic in args.topics or [*TOPICS, "finishing"]:
        if topic == "gate":
            table, passed = search.gate()
            print(table)
            failed = failed or int(not passed)
            continue
        if topic == "tuned":
            for preset in {row["data"] for row in search.read_table()}:
                search.write_tuned(preset)
            continue
        if topic == "finishing":
            finishing()
            continue
        if topic == "pack":
            pack(args.into)
            continue
        jobs = list(TOPICS[topic]())
        if args.seeds:
            chosen = [replace(job, seeds=tuple(s for s in job.seeds if s in args.seeds)) for job in jobs]
            jobs = [job for job in chosen if job.seeds]
        if args.list:
            print(f"# {topic}: {len(jobs)} runs")
            print("\n".join(job.command() for job in jobs))
            continue
        left = run_queue(jobs, args.into / topic, parallel=args.jobs, device="cpu", threads=1)
        for folder in left:
            print(f"failed: {folder}", file=sys.stderr)
        failed = failed or int(bool(left))
    return failed


def main() -> int:
    """Make what is asked for, all topics by default."""
    known = ("trials", "tuned", "gate", *TOPICS, "pack", "finishing")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topics", nargs="*", help=f"{', '.join(known)}; after trials: presets (default: all topics)")
    parser.add_argument("--rounds", type=int, default=search.TRIALS, help="trials a loss (default: all)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (default 1)")
    parser.add_argument("--seeds", type=int, nargs="+", help="only these seeds (default: all)")
    parser.add_argument("--into", type=Path, default=HERE, help="folder for the topics' folders (default: here)")
    parser.add_argument("--list", action="store_true", help="print the command lines only")
    parser.set_defaults(run=make, goes_on=True)
    args = parser.parse_args()
    if args.topics[:1] == ["trials"]:
        if unknown := set(args.topics[1:]) - set(TUNED_PRESETS):
            parser.error(f"no trials for: {', '.join(sorted(unknown))}; there are: {', '.join(TUNED_PRESETS)}")
    elif unknown := set(args.topics) - set(known):
        parser.error(f"no such topic: {', '.join(sorted(unknown))}")
    return guarded(args)


if __name__ == "__main__":
    sys.exit(interrupts.guarded(main))
