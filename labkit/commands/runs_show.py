"""python -m labkit runs list, compare, show."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict

from labkit.base.files import write_output
from labkit.base.typed import finite
from labkit.base.words import did_you_mean, duration, is_share, scale_of, with_interval
from labkit.commands.runs import roots_of
from labkit.commands.terminal import plain, print_table, tell
from labkit.runs.compare import paired_difference, table, to_csv, to_latex
from labkit.runs.read import find_runs, open_run
from labkit.runs.run import Run
from labkit.runs.schema import FILES, RunError
from labkit.runs.select import made_with
from labkit.runs.variant import Variant


def chosen_runs(args: argparse.Namespace) -> list[Run]:
    """The runs that pass every filter, and broken ones that may: of those it cannot be told."""
    wanted = {name: getattr(args, name) for name in ("preset", "loss", "status") if getattr(args, name) is not None}
    found = find_runs(*roots_of(args))
    kept = set(map(id, made_with(found, args.where or ())))
    return [
        run
        for run in found
        if all(getattr(run, key) in (wanted[key], "" if run.problems else None) for key in wanted)
        and (run.problems or id(run) in kept)
    ]


def list_runs(args: argparse.Namespace) -> int:
    """One line per run."""
    runs = chosen_runs(args)
    if not runs:
        print("no runs here; `python -m labkit train --help` says how to make one")
        return 0
    metrics = list(dict.fromkeys(["R@1", "MAP@R", args.metric or "R@1"]))
    rows = []
    for run in runs:
        values = [number(run.value(metric), metric) for metric in metrics]
        seed = "" if run.seed is None else str(run.seed)
        rows.append([run.id, run.status, seed, run.device, *values, duration(run.seconds)])
    header = ["id", "status", "seed", "device", *(f"test {heading(metric)}" for metric in metrics), "time"]
    print_table(header, rows, left=(0, 1, 3))
    for run in runs:
        for text in filter(None, (run.broken, run.log_problem(), run.advice if run.killed else "")):
            tell(f"{run.id}: {text}")
    return 0


def compare_runs(args: argparse.Namespace) -> int:
    """One line per group."""
    runs, metric = chosen_runs(args), args.metric or "R@1"
    frame = table(runs, metric, args.split)
    for note in frame.attrs["notes"]:
        tell(note)
    if frame.empty:
        raise RunError(
            f"no finished run here has {metric} on {args.split}; `python -m labkit runs` lists what there is"
        )
    variants = list(frame["variant"])
    baseline = None if args.baseline is None else baseline_of(args.baseline, variants)
    scale = scale_of(metric)
    columns = zip(*(frame[name] for name in ("title", "n", "mean", "low", "high", "sd", "group")))
    rows = [
        [title, str(n), with_interval(mean, low, high, scale), number(finite(sd), metric), group]
        for title, n, mean, low, high, sd, group in columns
    ]
    print_table(["configuration", "seeds", f"{args.split} {heading(metric)}", "sd", "group"], rows, left=(0, 4))
    print("± half the 95 % t interval of the mean over seeds")
    if baseline is not None:
        print_differences(runs, [other for other in variants if other != baseline], baseline, metric, args.split)
    for path, text in ((args.csv, to_csv), (args.latex, to_latex)):
        if path is not None:
            write_output(path, text(frame).encode())
            print(f"written: {path}")
    return 0


def baseline_of(name: str, variants: Sequence[Variant]) -> Variant:
    """The variant with this name."""
    for variant in variants:
        if variant.is_named(name):
            return variant
    meant = did_you_mean(name, [variant.name for variant in variants])
    raise RunError(f"baseline: no finished runs of {name!r} here{meant}")


def print_differences(
    runs: Sequence[Run], variants: Sequence[Variant], baseline: Variant, metric: str, split: str
) -> None:
    """Each variant minus the baseline, by pairs of the same seed."""
    scale = scale_of(metric)
    rows = []
    for variant in variants:
        try:
            found = paired_difference(runs, variant, baseline, metric, split)
        except RunError as error:
            tell(str(error))
            continue
        mean = ("+" if found.mean > 0 else "") + with_interval(found.mean, found.low, found.high, scale)
        rows.append([variant.title, str(len(found.seeds)), mean, f"{found.wins}:{found.losses}"])
    if rows:
        print()
        header = [f"minus {baseline.title}", "pairs", f"{split} {heading(metric)}", "wins:losses"]
        print_table(header, rows, left=(0,))


def show_run(args: argparse.Namespace) -> int:
    """What is known of one run."""
    run = open_run(args.ids[0], *roots_of(args))
    print(plain(f"{run.id}: {run.status}"))
    print(plain(f"  {run.preset}: {run.title}"))
    known = asdict(run.record)
    facts = {name: known[name] for name in ("preset", "loss", "seed", "overrides", "error", "device_name", "command")}
    facts |= {name: known[name] for name in ("commit", "dirty", "versions", "started", "ended", "data")}
    facts |= {"path": str(run.path), "time": duration(run.seconds)}
    facts["files"] = ", ".join(name for name in FILES if run.has(name))
    for name, value in facts.items():
        if value not in (None, "", {}):
            print(plain(f"  {name:12}{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"))
    found = {split: getattr(run.summary, split, None) or {} for split in ("test", "test_last", "validation")}
    splits = [split for split in found if found[split]]
    names = dict.fromkeys(name for split in splits for name in found[split])
    if names and run.summary:
        print(f"  best step   {run.summary.best_step} of {run.summary.steps}\n")
        rows = [[name, *(number(run.value(name, split), name) for split in splits)] for name in names]
        print_table(["metric", *splits], rows, left=(0,))
    for text in filter(None, (*run.problems, run.log_problem(), run.advice)):
        tell(text)
    return 0


def heading(metric: str) -> str:
    """The metric's name, with its unit."""
    return f"{metric} %" if is_share(metric) else metric


def number(value: float | None, metric: str) -> str:
    """A metric for a table."""
    if value is None:
        return ""
    return f"{100 * value:.2f}" if is_share(metric) else f"{value:.4g}"
