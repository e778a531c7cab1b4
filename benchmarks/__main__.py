"""Run the benchmarks, print a line for each row, write table, figures and raw numbers to benchmarks/results."""

import argparse
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import torch

from benchmarks import dashboard, evaluation, grading, proxies, ranking, report, training

BENCHMARKS = {
    "import": training.import_time,
    "pnp": ranking.against_cube,
    "rsk": ranking.against_loop,
    "streamed": ranking.streamed,
    "simix": ranking.simix,
    "proxies": proxies.against_library,
    "regularizer": proxies.regularizer,
    "two-pass": training.two_pass,
    "evaluate-medium": evaluation.medium,
    "evaluate-large": evaluation.large,
}
CURVES = {"losses": ranking.curves, "evaluation": evaluation.curves}
TABLES = {"dashboard": dashboard, "grading": grading}  # with a table of their own
OTHERS = ("curves", *TABLES)  # not rows of the table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m labkit bench", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join([*BENCHMARKS, *OTHERS])} (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that everything runs, means nothing")
    parser.add_argument("--results", type=Path, help="folder to write to (default: benchmarks/results; none if quick)")
    chosen = parser.parse_args()
    names = chosen.names or [*BENCHMARKS, *OTHERS]
    unknown = set(names) - set(BENCHMARKS) - set(OTHERS)
    if unknown:
        parser.error(f"unknown benchmark: {', '.join(sorted(unknown))}")
    rows, curves, tables, started = [], {}, {}, time.monotonic()
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name} …", file=sys.stderr, flush=True)
        if name == "curves":
            curves = {kind: apart(measure, chosen.quick) for kind, measure in CURVES.items()}
        elif name in TABLES:
            tables[name] = apart(TABLES[name].measure, chosen.quick)
        else:
            rows += apart(BENCHMARKS[name], chosen.quick)
    for kind, curve in curves.items():
        print(f"\nscaling exponents, {kind}:")
        for name, value in curve["exponents"].items():
            print(f"  {name:32} {value:.2f}")
    # a quick run is no record; a partial one renews its own rows only
    folder = chosen.results or (None if chosen.quick else Path(__file__).parent / "results")
    if folder is not None:
        if rows or curves:
            report.write(folder, rows, curves)
        for name, found in tables.items():
            TABLES[name].write(folder, found)
        print(f"\nwritten to {folder}, {(time.monotonic() - started) / 60:.1f} minutes\n")
    for name, found in tables.items():
        print(TABLES[name].table(found), end="\n\n")
    for row in rows:
        # small sizes are all overhead: a verdict on them would mislead
        print(f"{row.what}: {report.number(row.value)}{row.unit}" if chosen.quick else report.line(row))
    return 0


def apart(measure: Callable, quick: bool):
    """Each benchmark in a fresh process: no heap or cache of an earlier one counts for or against it."""
    with get_context("spawn").Pool(1, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        return pool.apply(measure, (quick,))


if __name__ == "__main__":
    sys.exit(main())
