"""python -m labkit grade: the authoritative marks, from answers that run in a sealed process."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.commands.terminal import plain, print_table, say, tell

if TYPE_CHECKING:
    from labkit.grading.grade import Graded


HELP = "mark a folder of hand-ins"
DESCRIPTION = (
    "Marks every hand-in in a folder: one .ipynb, .zip or folder for each student. Answers run in a sealed process "
    "without network and files; only numbers come back and are compared here. Writes grades.csv, grades.json, a page "
    "for each student, and a list of hand-ins that look alike. Stopped, it goes on where it was."
)
NO_SANDBOX = 3  # exit code


def register(parser: argparse.ArgumentParser) -> None:
    """Which hand-ins of which assignment, and what each may use."""
    parser.add_argument("submissions", type=Path, help="the folder of hand-ins")
    parser.add_argument("--assignment", required=True, help="1_metrics … 6_study, or only its number or topic")
    parser.add_argument("-o", "--output", type=Path, help="where results go (default grades/ASSIGNMENT)")
    parser.add_argument("--jobs", type=int, default=1, help="hand-ins at a time (default 1)")
    parser.add_argument("--seed", type=int, help="of the hidden cases (default: drawn once and kept with the results)")
    parser.add_argument("--seconds", type=float, default=20, help="for one hand-in (default 20)")
    parser.add_argument("--memory", type=int, default=4096, metavar="MB", help="address space (default 4096)")
    parser.add_argument(
        "--no-sandbox", action="store_true", help="go on where there is no sandbox: answers can then read your files"
    )
    parser.set_defaults(run=run_grade, goes_on=True)


def run_grade(args: argparse.Namespace) -> int:
    """Grade, show progress, and print the table."""
    from tqdm import tqdm

    from labkit.assignments import load
    from labkit.grading.batch import grade_all
    from labkit.grading.sandbox import Limits, problem
    from labkit.grading.submission import find_students

    check_limits(args)
    assignment = load(args.assignment)
    students = find_students(args.submissions)
    if not args.no_sandbox and (why := problem()):
        tell(f"this system offers no sandbox: {why}")
        tell("answers would run with your rights. On a machine that holds nothing of worth, --no-sandbox goes on.")
        return NO_SANDBOX
    if args.no_sandbox:
        tell("NO SANDBOX: answers can read, write and send what you can")
    output = args.output or Path("grades") / assignment.name
    terminal = sys.stderr.isatty()
    with tqdm(total=len(students), unit="hand-in", dynamic_ncols=True, disable=not terminal) as bar:

        def progress(row: Graded, done: int, total: int) -> None:
            name = plain(row.student)[:30]
            bar.update()
            bar.set_postfix_str(name)
            if not terminal:
                tell(f"{done} of {total}: {name}, {row.score:g} points")

        rows = grade_all(
            args.submissions,
            assignment,
            output,
            seed=args.seed,
            sandbox=not args.no_sandbox,
            jobs=args.jobs,
            limits=Limits(seconds=args.seconds, memory_mb=args.memory),
            progress=progress,
        )
    print_marks(rows)
    waiting = f", {len(assignment.written)} written questions wait for you" if assignment.written else ""
    say(f"{len(rows)} hand-ins{waiting}; results are in {output}/: grades.csv, grades.json, students/*.html")
    return 0


def check_limits(args: argparse.Namespace) -> None:
    """What torch needs to start at all, and numbers that make sense."""
    for option, least in (("jobs", 1), ("memory", 2048)):
        if getattr(args, option) < least:
            raise ValueError(f"--{option} must be at least {least}; got {getattr(args, option)}")
    if args.seconds <= 0:
        raise ValueError(f"--seconds must be above 0; got {args.seconds:g}")


def print_marks(rows: list[Graded]) -> None:
    """Student, score, and score by question."""
    if not rows:
        say("there are no hand-ins in the folder")
        return
    names = [mark.question for mark in rows[0].marks]
    cells = [[row.student[:40], f"{row.score:g}", *(f"{mark.score:g}" for mark in row.marks)] for row in rows]
    print_table(["student", "score", *names], cells, left=(0,))
