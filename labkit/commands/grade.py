"""python -m labkit grade: the authoritative marks, from answers that run in a sealed process."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from labkit.commands.terminal import plain, print_table, say, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from labkit.assignments.assignment import Assignment
    from labkit.grading.grade import Graded


HELP = "mark a folder of hand-ins, or try your own notebook on the public cases"
DESCRIPTION = (
    "Marks every hand-in in a folder: one .ipynb, .zip or folder for each student. Answers run in a sealed process "
    "without network and files; only numbers come back and are compared here. Writes grades.csv, grades.json, a page "
    "for each student, and a list of hand-ins that look alike. If it is stopped, the same command continues where it "
    "was. With one .ipynb: what "
    "grading will say about it, as far as the public cases tell."
)
NO_SANDBOX = 3  # exit code


def register(parser: argparse.ArgumentParser) -> None:
    """Which hand-ins of which assignment, and what each may use."""
    parser.add_argument("submissions", type=Path, help="the folder of hand-ins, or one notebook")
    parser.add_argument(
        "--assignment", help="1_metrics … 7_surrogates, or only its number or topic; a notebook knows its own"
    )
    parser.add_argument(
        "--question", default="", metavar="NAME", help="mark only this one anew, for all; the rest stays"
    )
    parser.add_argument(
        "--key",
        type=Path,
        metavar="FILE",
        help="key of a private course (default: beside the hand-ins)",
    )
    parser.add_argument("-o", "--output", type=Path, help="where results go (default grades/ASSIGNMENT)")
    parser.add_argument("--jobs", type=int, default=1, help="hand-ins at a time (default 1)")
    parser.add_argument(
        "--seed",
        type=int,
        help="seed of the hidden cases (default: drawn once and kept with the results)",
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=20,
        help="time limit for one question of one hand-in (default 20)",
    )
    parser.add_argument("--memory", type=int, default=4096, metavar="MB", help="address space (default 4096)")
    parser.add_argument(
        "--no-sandbox", action="store_true", help="go on where there is no sandbox: answers can then read your files"
    )
    parser.set_defaults(run=run_grade, goes_on=True)


def run_grade(args: argparse.Namespace) -> int:
    """Grade, show progress, and print the table."""
    from tqdm import tqdm

    from labkit.assignments import load
    from labkit.assignments.private import PRIVATE
    from labkit.grading.batch import grade_all
    from labkit.grading.sandbox import Limits, problem
    from labkit.grading.submission import find_students, passed_over, private_function

    check_limits(args)
    if args.submissions.suffix.lower() == ".ipynb" and not args.submissions.exists():
        raise ValueError(f"there is no file {args.submissions}")
    if args.submissions.is_file() and args.submissions.suffix.lower() == ".ipynb":
        return try_own(args)
    if not args.assignment:
        raise ValueError("--assignment is needed: which assignment do these hand-ins belong to?")
    public = load(args.assignment)
    assignment, seed_of = course_variant(public, args.key or args.submissions.parent / PRIVATE, args.key)
    called = {question.name: mine.name for question, mine in zip(public.questions, assignment.questions)}
    students = find_students(args.submissions)
    if others := passed_over(args.submissions):
        tell(others)
    if seed_of is None and (function := private_function(students, assignment)):
        raise ValueError(
            f"these hand-ins come from a private course (function {plain(function)}): give its key with --key FILE, or "
            f"put {PRIVATE} back into {args.submissions.resolve().parent}"
        )
    if not args.no_sandbox and (why := problem()):
        tell(f"this system offers no sandbox: {why}")
        tell(
            "answers would run with your rights. On a machine without valuable data, --no-sandbox grades all the same."
        )
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
            seed_of=seed_of,
            only=called.get(args.question, args.question),
            limits=Limits(seconds=args.seconds, memory_mb=args.memory),
            progress=progress,
        )
    print_marks(rows)
    waiting = f", {len(assignment.written)} written questions wait for you" if assignment.written else ""
    say(f"{len(rows)} hand-ins{waiting}; results are in {output}/: grades.csv, grades.json, students/*.html")
    return 0


def course_variant(
    assignment: Assignment, path: Path, wanted: Path | None
) -> tuple[Assignment, Callable[[str], int] | None]:
    """The questions of a private course and the seed of each student, if there is a key."""
    from labkit.assignments.private import PRIVATE, draw, read_key, twisted, twists

    if not path.is_file() and wanted is None:
        return assignment, None
    if not path.is_file():
        raise ValueError(f"--key: there is no {path}; the key is {PRIVATE} in the folder of the private course")
    key = read_key(path)
    say(f"with the variants of the private course in {path.parent}")
    name = assignment.name
    return twisted(assignment, twists(assignment, key)), lambda student: draw(key, name, "hidden", student)


def try_own(args: argparse.Namespace) -> int:
    """One notebook on the public cases: the same room and the same messages as in grading."""
    from labkit.grading.grade import grade
    from labkit.grading.preview import own_notebook, public_only
    from labkit.grading.sandbox import Limits, problem

    assignment, found = own_notebook(args.submissions, args.assignment or "")
    sandbox = not args.no_sandbox and not problem()
    if not sandbox:
        tell("this system offers no sandbox: your answers run as an ordinary process")
    limits = Limits(seconds=args.seconds, memory_mb=args.memory)
    row = grade(found, public_only(assignment), 0, limits, sandbox)
    for remark in row.remarks:
        say(f"note: {remark}")
    for mark in row.marks:
        right = mark.score == mark.points
        say(f"{'✓' if right else '✗'} {mark.question}: {'the public cases pass' if right else mark.hint}")
        for label, agrees, wanted, came in mark.rows:
            if not agrees:
                say(f"    {label}: expected {wanted}, yours {came}")
    for name, text in row.written.items():
        say(f"… {name}: {len(text.split())} words, read by a person")
    say("grading uses more cases than these")
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
