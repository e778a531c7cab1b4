"""python -m labkit grade: the authoritative marks, from answers that run in a sealed process."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any


def register(commands: Any) -> None:
    """Add the command to the command line."""
    grade = commands.add_parser(
        "grade", help="mark a folder of hand-ins",
        description="Marks every hand-in in a folder: one .ipynb, .zip or folder for each student. Answers run in a "
        "sealed process without network and files; only numbers come back and are compared here. Writes grades.csv, "
        "grades.json, a page for each student, and a list of hand-ins that look alike. Stopped, it goes on where it "
        "was.",
    )  # fmt: skip
    grade.add_argument("submissions", type=Path, help="the folder of hand-ins")
    grade.add_argument("--assignment", required=True, help="1_metrics … 6_study, or only its number or topic")
    grade.add_argument("-o", "--output", type=Path, help="where results go (default grades/ASSIGNMENT)")
    grade.add_argument("--jobs", type=int, default=1, help="hand-ins at a time (default 1)")
    grade.add_argument("--seed", type=int, help="of the hidden cases (default: drawn once and kept with the results)")
    grade.add_argument("--seconds", type=float, default=20, help="for one hand-in (default 20)")
    grade.add_argument("--memory", type=int, default=4096, metavar="MB", help="address space (default 4096)")
    grade.add_argument(
        "--no-sandbox", action="store_true", help="go on where there is no sandbox: answers can then read your files"
    )
    grade.set_defaults(run=run_grade)


def run_grade(args: argparse.Namespace) -> int:
    """Grade, show progress, and print the table."""
    from tqdm import tqdm

    from labkit.assignments import load
    from labkit.grading.batch import grade_all
    from labkit.grading.grade import Graded
    from labkit.grading.sandbox import Limits, problem
    from labkit.grading.submission import find_students

    try:
        assignment = load(args.assignment)
        students = find_students(args.submissions)
        if args.jobs < 1 or args.seconds <= 0 or args.memory < 2048:
            raise ValueError("--jobs must be at least 1, --seconds above 0, --memory at least 2048 (torch needs it)")
    except ValueError as error:
        print(f"labkit: {error}", file=sys.stderr)
        return 2
    if not args.no_sandbox and (why := problem()):
        print(
            f"labkit: this system offers no sandbox: {why}\nlabkit: answers would run with your rights. On a machine "
            "that holds nothing of worth, --no-sandbox goes on.",
            file=sys.stderr,
        )
        return 3
    if args.no_sandbox:
        print("labkit: NO SANDBOX: answers can read, write and send what you can", file=sys.stderr)
    output = args.output or Path("grades") / assignment.name
    terminal = sys.stderr.isatty()
    with tqdm(total=len(students), unit="hand-in", dynamic_ncols=True, disable=not terminal) as bar:

        def progress(row: Graded, done: int, total: int) -> None:
            name = printable(row.student)[:30]
            bar.update()
            bar.set_postfix_str(name)
            if not terminal:
                print(f"labkit: {done} of {total}: {name}, {row.score:g} points", file=sys.stderr, flush=True)

        try:
            rows = grade_all(
                args.submissions, assignment, output, seed=args.seed, sandbox=not args.no_sandbox, jobs=args.jobs,
                limits=Limits(seconds=args.seconds, memory_mb=args.memory), progress=progress,
            )  # fmt: skip
        except KeyboardInterrupt:
            print("labkit: interrupted; the same command goes on where it stopped", file=sys.stderr)
            return 130
    print(table(rows))
    waiting = f", {len(assignment.written)} written questions wait for you" if assignment.written else ""
    print(f"labkit: {len(rows)} hand-ins{waiting}; results are in {output}/: grades.csv, grades.json, students/*.html")
    return 0


def table(rows: list[Any]) -> str:
    """Student, score, and score by question."""
    if not rows:
        return "labkit: there are no hand-ins in the folder"
    width = min(40, max(len("student"), *(len(row.student) for row in rows)))
    names = [mark.question for mark in rows[0].marks]
    lines = [f"{'student':{width}}  {'score':>6}  " + "  ".join(names)]
    for row in rows:
        cells = "  ".join(f"{mark.score:>{len(mark.question)}g}" for mark in row.marks)
        lines.append(f"{printable(row.student)[:width]:{width}}  {row.score:>6g}  {cells}")
    return "\n".join(lines)


def printable(text: str) -> str:
    """A name without what would move the cursor or change colours."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
