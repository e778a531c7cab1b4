"""Makes every recorded run of data/runs: `make runs`, or `python data/runs/record.py TOPIC …`.

Runs that are there already are skipped, so it can be stopped and started at will. `--list` prints the command lines.
`finishing` adds projections and sprites. Tuning comes first: on Omniglot, on emoji and with the ImageNet backbone every
loss gets the same four trials on validation classes; all of them go into tuning.csv, the best into
labkit/training/presets/tuned, which the presets of the same data use.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import torch  # noqa: E402

from labkit.data import Dataset, load  # noqa: E402
from labkit.data.sprites import write_sprites  # noqa: E402
from labkit.runs import find_runs  # noqa: E402
from labkit.runs.project import project  # noqa: E402
from labkit.training.config import load_config  # noqa: E402
from labkit.training.queue import Job, run_queue  # noqa: E402
from labkit.training.recording import recorded_points  # noqa: E402

PNP = ("pnp-o", "pnp-iu", "pnp-ib", "pnp-ds", "pnp-dq")
RANKING = ("smooth-ap", *PNP, "recall-at-k", "recall-at-k-simix")
PROXY = ("proxy-nca", "proxy-anchor", "soft-triple", "mpa", "mpa-dw", "mpa-ap")
SOFTMAX = ("softmax", "norm-softmax", "sgsl")
PAIR = ("contrastive", "triplet", "multi-similarity")
SEEDS = (0, 1, 2)
TUNING_SEED = 100  # not a seed that results use

# The one option that matters most for each loss: two values each, times two learning rates.
TUNED_OPTION: dict[str, dict[str, tuple[str, str]]] = {
    **{loss: {"tau": ("0.01", "0.05")} for loss in ("smooth-ap", *PNP)},
    **{loss: {"tau_sim": ("0.01", "0.05")} for loss in ("recall-at-k", "recall-at-k-simix")},
    "proxy-nca": {"scale": ("9", "18")},
    **{loss: {"alpha": ("16", "32")} for loss in ("proxy-anchor", "mpa", "mpa-dw", "mpa-ap")},
    "soft-triple": {"lam": ("10", "20")},
    "softmax": {"label_smoothing": ("0", "0.1")},
    "sgsl": {"label_smoothing": ("0", "0.1")},
    "norm-softmax": {"scale": ("16", "32")},
    "contrastive": {"margin": ("0.5", "1.0")},
    "triplet": {"margin": ("0.1", "0.2")},
    "multi-similarity": {"base": ("0.5", "0.7")},
}
SPRITES = {
    "omniglot": ["omniglot"],
    "emoji": ["emoji", "emoji-vendor", "emoji-pretrained"],
    "fashion-mnist": ["fashion-mnist-3d"],
}


class Trials(NamedTuple):
    """What every loss is tried with; steps are half of what the comparison trains."""

    losses: tuple[str, ...]
    steps: str
    learning_rates: tuple[str, str]


TRIALS = {
    "omniglot": Trials((*RANKING, *PROXY, *SOFTMAX, *PAIR), "1000", ("0.001", "0.003")),
    "emoji": Trials((*RANKING, *PROXY, *SOFTMAX, *PAIR), "500", ("0.001", "0.003")),
    "emoji-pretrained": Trials(
        ("pnp-dq", "recall-at-k-simix", "proxy-anchor", "mpa-ap", "softmax", "sgsl"), "125", ("0.0001", "0.0003")
    ),
}
PRESETS = HERE.parents[1] / "labkit" / "training" / "presets"


def tuning(preset: str) -> Iterator[Job]:
    """Four short trials for every loss; judged on validation classes, kept as a table only."""
    trials = TRIALS[preset]
    for loss in trials.losses:
        ((option, values),) = TUNED_OPTION[loss].items()
        for value, rate in product(values, trials.learning_rates):
            settings = {option: value, "lr": rate, "steps": trials.steps, "nmi": "false", "test": "false"}
            yield Job(preset, loss, (TUNING_SEED,), settings, "metrics")


def comparison(preset: str) -> Iterator[Job]:
    """Every loss and both baselines; the first seed keeps its embeddings, the others run in one process."""
    for keep, seeds in (("embeddings", SEEDS[:1]), ("metrics", SEEDS[1:])):
        for loss in ("untrained", *RANKING, *PROXY, *SOFTMAX, *PAIR):
            yield Job(preset, loss, seeds, {}, keep)
    yield Job(preset, "pixels", (0,), {}, "metrics")


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
    for seed, smoothing in product(SEEDS, ("0.0", "0.1")):
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
    for (loss, settings), seed in product(configurations, SEEDS):
        yield Job("emoji-pretrained", loss, (seed,), settings, "metrics" if seed else "embeddings")


def budget() -> Iterator[Job]:
    """Does the ranking of losses change with the length of training? (The 2000 steps are the comparison's own.)"""
    for seed, steps, loss in product(SEEDS, ("500", "1000", "4000"), ("pnp-dq", "proxy-anchor", "softmax", "mpa-ap")):
        yield Job("omniglot-merged", loss, (seed,), {"steps": steps}, "metrics")


def ablations() -> Iterator[Job]:
    """One option at a time, as the papers print them; the default's value is in the comparison."""
    for seed in SEEDS:

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


TOPICS = {
    "toy-ring": lambda: toy("ring"),
    "toy-random": lambda: toy("random"),
    "omniglot": lambda: comparison("omniglot"),
    "omniglot-merged": lambda: comparison("omniglot-merged"),
    "fashion-3d": fashion_3d,
    "emoji": lambda: comparison("emoji"),
    "emoji-vendor": lambda: comparison("emoji-vendor"),
    "pretrained": pretrained,
    "budget": budget,
    "ablations": ablations,
}


def finishing() -> None:
    """Projections of every run that keeps embeddings, and one sprite sheet a data set of the points they show."""
    for run in find_runs(HERE):
        if run.has("embeddings.safetensors") and not run.has("projections/pca.parquet"):
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


def write_tuning_table(preset: str, root: Path) -> None:
    """What every trial scored on the validation classes, as CSV; the best of each loss becomes the preset's setting."""
    table = HERE / "tuning.csv"
    with table.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["data"] != preset]
    for loss in (loss for loss in TUNED_OPTION if loss in TRIALS[preset].losses):
        ((option, _),) = TUNED_OPTION[loss].items()
        trials = []
        for job in (job for job in tuning(preset) if job.loss == loss):
            summary = json.loads((root / job.run_ids()[0] / "summary.json").read_text(encoding="utf-8"))
            settings = {"option": option, "value": job.settings[option], "lr": job.settings["lr"]}
            trials.append({"data": preset, "loss": loss} | settings | {"validation_R@1": summary["validation"]["R@1"]})
        best = max(trials, key=lambda row: row["validation_R@1"])  # of equals the first
        rows += [
            row | {"validation_R@1": f"{row['validation_R@1']:.4f}", "chosen": "yes" if row is best else ""}
            for row in trials
        ]
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    lines = [
        f"# The best of four trials for each loss on {preset}'s validation classes: data/runs/tuning.csv, made by",
        f"# `python data/runs/record.py tuning-{preset}`.",
    ]
    for row in (row for row in rows if row["data"] == preset and row["chosen"]):
        lines += ["", f"[{row['loss']}]", f"{row['option']} = {float(row['value'])}", f"lr = {row['lr']}"]
    (PRESETS / "tuned" / f"{preset}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    """Make the topics asked for, all by default."""
    trials = {f"tuning-{preset}": preset for preset in TRIALS}
    known = (*trials, *TOPICS, "finishing")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topics", nargs="*", help=f"{', '.join(known)} (default: all but tuning)")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time (default 2)")
    parser.add_argument("--seeds", type=int, nargs="+", help="only these seeds (default: all)")
    parser.add_argument("--list", action="store_true", help="print the command lines only")
    args = parser.parse_args()
    if unknown := set(args.topics) - set(known):
        parser.error(f"no such topic: {', '.join(sorted(unknown))}")
    failed = 0
    for topic in args.topics or [*TOPICS, "finishing"]:
        if topic == "finishing":
            finishing()
            continue
        jobs = list(tuning(trials[topic]) if topic in trials else TOPICS[topic]())
        if args.seeds:
            chosen = [replace(job, seeds=tuple(s for s in job.seeds if s in args.seeds)) for job in jobs]
            jobs = [job for job in chosen if job.seeds]
        if args.list:
            print(f"# {topic}: {len(jobs)} runs")
            print("\n".join(job.command() for job in jobs))
            continue
        root = HERE.parents[1] / "runs" / "tuning" if topic in trials else HERE / topic
        code = run_queue(jobs, root, parallel=args.jobs, device="cpu", threads=1)
        if code == 130:
            return code
        failed = failed or code
        if topic in trials and not code:
            write_tuning_table(trials[topic], root)
    return failed


if __name__ == "__main__":
    sys.exit(main())
