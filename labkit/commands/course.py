"""python -m labkit course: assignments for students, and an nbgrader course to run them with."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from labkit.commands.processes import add_server_options, become
from labkit.commands.terminal import say, tell

HELP = "set up a course with nbgrader, or only write the assignments"


def register(parser: argparse.ArgumentParser) -> None:
    """Actions; nbgrader and the notebooks' libraries are imported when one runs."""
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    init = actions.add_parser("init", help="set up an nbgrader course in a folder")
    init.add_argument("folder", type=Path, metavar="DIR")
    add_only(init)
    init.add_argument("--course-id", default="labkit", help="nbgrader's name for the course (default labkit)")
    init.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="time limit for one cell (default 60)")
    text = "write sources and releases anew; submissions, marks and settings stay"
    init.add_argument("--update", action="store_true", help=text)
    text = "draw the course's own names, numbers and hidden cases from a key that stays in the folder (private.json)"
    init.add_argument("--private", action="store_true", help=text)
    init.set_defaults(run=init_course, goes_on=True)
    release = actions.add_parser("release", help="write the student's version, solution and instructor's notes")
    add_folder(release)
    add_only(release)
    release.set_defaults(run=release_versions, goes_on=True)
    collect = actions.add_parser(
        "collect", help="put hand-ins in submitted/ where nbgrader looks, whatever their names"
    )
    collect.add_argument("assignment", metavar="ASSIGNMENT")
    add_folder(collect)
    collect.set_defaults(run=collect_hand_ins)
    marks = actions.add_parser("marks", help="enter the marks of `python -m labkit grade` into the gradebook")
    marks.add_argument("results", type=Path, metavar="GRADES.json", help="what `python -m labkit grade` wrote")
    add_folder(marks)
    marks.set_defaults(run=enter)
    export = actions.add_parser("export", help="write all marks for Canvas, Moodle or a spreadsheet")
    export.add_argument("form", choices=("canvas", "moodle", "csv"))
    add_folder(export)
    export.add_argument(
        "--roster", type=Path, metavar="FILE", help="the table that Canvas or Moodle exported, to fill in"
    )
    export.add_argument("--assignment", help="only this one (Moodle's worksheets are for one)")
    export.add_argument("-o", "--output", type=Path, metavar="FILE", help="default marks-FORM.csv in the course")
    export.set_defaults(run=export_marks)
    summary = actions.add_parser(
        "summary", help="how the class did: distribution, hardest questions, commonest mistakes"
    )
    summary.add_argument("results", type=Path, metavar="GRADES.json", help="what `python -m labkit grade` wrote")
    summary.set_defaults(run=summarise)
    lab = actions.add_parser("open", help="open a course in JupyterLab, where nbgrader's formgrader is")
    add_folder(lab)
    add_server_options(lab, 8888)
    lab.set_defaults(run=open_course)


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Which course."""
    parser.add_argument("folder", type=Path, metavar="DIR", nargs="?", default=Path("course"), help="default course/")


def add_only(parser: argparse.ArgumentParser) -> None:
    """Which assignments."""
    text = "only this assignment, by name, number or topic; may be repeated (default: all)"
    parser.add_argument("--assignment", action="append", default=[], metavar="NAME", help=text)


def init_course(args: argparse.Namespace) -> int:
    """Set up an nbgrader course."""
    from labkit.classroom.folder import init

    if args.timeout < 1:
        raise ValueError(f"--timeout must be at least 1 second; got {args.timeout}")
    init(args.folder, args.assignment, args.course_id, args.timeout, args.update, say, args.private)
    folder = args.folder.resolve()
    say(f"the course is in {folder}. Next: give out the notebooks in {folder / 'release'};")
    say(f"{folder / 'README.md'} says how to collect, mark and give back. To look at it now:")
    say(f"python -m labkit course open {shlex.quote(str(args.folder))}")
    return 0


def release_versions(args: argparse.Namespace) -> int:
    """Write three versions of the assignments."""
    from labkit.classroom.folder import FOLDERS, write_versions

    for path in write_versions(args.folder, list(FOLDERS), args.assignment):
        say(str(path))
    return 0


def enter(args: argparse.Namespace) -> int:
    """Make the authoritative marks those of the gradebook."""
    from labkit.classroom.folder import check_course
    from labkit.classroom.gradebook import enter_marks

    check_course(args.folder)
    assignment, count = enter_marks(args.folder, args.results)
    say(
        f"{assignment}: marks of {count} students are in {args.folder / 'gradebook.db'}; `nbgrader export` has them now"
    )
    return 0


def collect_hand_ins(args: argparse.Namespace) -> int:
    """Put right what nbgrader would not find."""
    from labkit.assignments import load
    from labkit.assignments.private import twisted, twists
    from labkit.classroom.collect import UNREAD, collect
    from labkit.classroom.folder import check_course, course_key
    from labkit.grading.submission import passed_over

    check_course(args.folder)
    assignment = load(args.assignment)
    key = course_key(args.folder)
    count = unread = 0
    if others := passed_over(args.folder / "submitted"):
        tell(others)
    for student, done in collect(args.folder, twisted(assignment, twists(assignment, key)) if key else assignment):
        say(f"{student}: {done}")
        unread += done.startswith(UNREAD)
        count += 1
    say(f"{assignment.name}: {count - unread} hand-ins" + (f", and {unread} that {UNREAD}" if unread else ""))
    return 0


def export_marks(args: argparse.Namespace) -> int:
    """Marks for a learning platform."""
    from labkit.assignments import load
    from labkit.classroom.deadlines import read_deadlines
    from labkit.classroom.export import export

    target = args.output or args.folder / f"marks-{args.form}.csv"
    only = load(args.assignment).name if args.assignment else ""
    rules = read_deadlines(args.folder / "deadlines.toml")
    for remark in export(args.folder, args.form, rules, target, args.roster, only):
        tell(remark)
    say(f"marks are in {target}")
    return 0


def summarise(args: argparse.Namespace) -> int:
    """Figures for the instructor."""
    from labkit.classroom.summary import write_summary

    text, plot = write_summary(args.results)
    print(text.read_text(encoding="utf-8"))
    say(f"the same is in {text}, with a plot in {plot}")
    return 0


def open_course(args: argparse.Namespace) -> int:
    """JupyterLab on loopback, in the course, so that nbgrader finds its settings."""
    from labkit.classroom.folder import check_course
    from labkit.classroom.lab import lab_command, lab_environment

    check_course(args.folder)
    say("in JupyterLab: Nbgrader → Formgrader (stop it with Ctrl-C)")
    folder = args.folder.resolve()
    return become(lab_command(folder, args.port, args.headless), lab_environment("every"), folder)
