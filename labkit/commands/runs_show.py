"""python -m labkit runs list, compare, show."""

from __future__ import annotations

import argparse
import difflib
import json
from collections.abc import Sequence
from typing import Any

from labkit.base.words import duration, is_share, scale_of, with_interval
from labkit.commands.runs import roots_of
from labkit.commands.terminal import plain, print_table, tell
from labkit.runs.compare import paired_difference, table, to_csv, to_latex
from labkit.runs.read import Run, find_runs, finite, open_run
from labkit.runs.schema import FILES, RunError


def chosen_runs(args: argparse.Namespace) -> list[Run]:
    """The runs that pass every filter."""
    wanted = {name: getattr(args, name) for name in ("preset", "loss", "status") if getattr(args, name) is not None}
    runs = [run for run in find_runs(*roots_of(args)) if all(getattr(run, key) == wanted[key] for key in wanted)]
    for condition in args.where or ():
        key, equals, value = condition.partition("=")
        if not equals or not key:
            raise RunError(f"--where {condition!r} must have the form KEY=VALUE")
        runs = [run for run in runs if value in as_texts(setting(run, key))]
    return runs


def setting(run: Run, key: str) -> Any:
    """An entry of run.json: an override, `section.key` of the configuration, or a field of its own."""
    overrides, value = run.info.get("overrides"), run.info.get("config")
    if isinstance(overrides, dict) and key in overrides:
        return overrides[key]
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return run.info.get(key) if value is None else value


def as_texts(value: Any) -> tuple[str, ...]:
    """How a person may write a value: True or true, 0.003 or 3e-3 is left to Python's own form."""
    return () if value is None else (str(value), json.dumps(value))


def list_runs(args: argparse.Namespace) -> int:
    """A line a run."""
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
        for text in filter(None, (*run.problems, run.advice if run.killed else "")):
            tell(f"{run.id}: {text}")
    return 0


def compare_runs(args: argparse.Namespace) -> int:
    """A line a group."""
    runs, metric = chosen_runs(args), args.metric or "R@1"
    frame = table(runs, metric, args.split)
    if frame.empty:
        raise RunError(f"no finished run here has {metric} on {args.split}")
    groups = list(frame["group"])
    if args.baseline is not None and args.baseline not in groups:
        close = difflib.get_close_matches(args.baseline, groups, 1)
        meant = f"; did you mean {close[0]}?" if close else ""
        raise RunError(f"baseline: no finished runs of {args.baseline!r} here{meant}")
    scale = scale_of(metric)
    columns = zip(*(frame[name] for name in ("group", "n", "mean", "low", "high", "sd")))
    rows = [
        [group, str(n), with_interval(mean, low, high, scale), number(finite(sd), metric)]
        for group, n, mean, low, high, sd in columns
    ]
    print_table(["group", "seeds", f"{args.split} {heading(metric)}", "sd"], rows, left=(0,))
    print("± half the 95 % t interval of the mean over seeds")
    for note in frame.attrs["notes"]:
        tell(note)
    if args.baseline is not None:
        others = [group for group in groups if group != args.baseline]
        print_differences(runs, others, args.baseline, metric, args.split)
    for path, text in ((args.csv, to_csv), (args.latex, to_latex)):
        if path is not None:
            path.write_text(text(frame), encoding="utf-8")
            print(f"written: {path}")
    return 0


def print_differences(runs: Sequence[Run], groups: Sequence[str], baseline: str, metric: str, split: str) -> None:
    """Each group minus the baseline, by pairs of the same seed."""
    scale = scale_of(metric)
    rows = []
    for group in groups:
        try:
            found = paired_difference(runs, group, baseline, metric, split)
        except RunError as error:
            tell(str(error))
            continue
        mean = ("+" if found.mean > 0 else "") + with_interval(found.mean, found.low, found.high, scale)
        rows.append([group, str(len(found.seeds)), mean, f"{found.wins}:{found.losses}"])
    if rows:
        print()
        print_table([f"minus {baseline}", "pairs", f"{split} {heading(metric)}", "wins:losses"], rows, left=(0,))


def show_run(args: argparse.Namespace) -> int:
    """What is known of one run."""
    run = open_run(args.ids[0], *roots_of(args))
    print(plain(f"{run.id}: {run.status}"))
    facts = {name: run.info.get(name) for name in ("preset", "loss", "seed", "overrides", "error", "device_name")}
    facts |= {name: run.info.get(name) for name in ("command", "commit", "dirty", "versions", "started", "ended")}
    facts |= {"data": run.info.get("data"), "path": str(run.path), "time": duration(run.seconds)}
    facts["files"] = ", ".join(name for name in FILES if run.has(name))
    for name, value in facts.items():
        if value not in (None, "", {}):
            print(plain(f"  {name:12}{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"))
    summary = run.summary or {}
    splits = [split for split in ("test", "test_last", "validation") if isinstance(summary.get(split), dict)]
    names = dict.fromkeys(name for split in splits for name in summary[split])
    if names:
        print(f"  best step   {summary.get('best_step')} of {summary.get('steps')}\n")
        rows = [[name, *(number(run.value(name, split), name) for split in splits)] for name in names]
        print_table(["metric", *splits], rows, left=(0,))
    for text in filter(None, (*run.problems, run.advice)):
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
