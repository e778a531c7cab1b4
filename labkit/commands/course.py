"""python -m labkit course: assignments for students, and an nbgrader course to run them with."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Action = Callable[[argparse.Namespace], int]


def register(commands: Any) -> None:
    """Add `course` to the command line; nbgrader and the notebooks' libraries are imported when an action runs."""
    course = commands.add_parser("course", help="set up a course with nbgrader, or only write the assignments")
    actions = course.add_subparsers(metavar="ACTION", required=True)
    init = actions.add_parser("init", help="set up an nbgrader course in a folder")
    init.add_argument("folder", type=Path, metavar="DIR")
    add_only(init)
    init.add_argument("--course-id", default="labkit", help="nbgrader's name for the course (default labkit)")
    init.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="for one cell (default 60)")
    text = "write sources and releases anew; submissions, marks and settings stay"
    init.add_argument("--update", action="store_true", help=text)
    init.set_defaults(run=told(init_course))
    release = actions.add_parser("release", help="write the student's version, solution and instructor's notes")
    release.add_argument("folder", type=Path, metavar="DIR", nargs="?", default=Path("course"), help="default course/")
    add_only(release)
    release.set_defaults(run=told(release_versions))
    marks = actions.add_parser("marks", help="enter the marks of `python -m labkit grade` into the gradebook")
    marks.add_argument("results", type=Path, metavar="GRADES.json", help="what `python -m labkit grade` wrote")
    marks.add_argument("folder", type=Path, metavar="DIR", nargs="?", default=Path("course"), help="default course/")
    marks.set_defaults(run=told(enter))
    lab = actions.add_parser("open", help="open a course in JupyterLab, where nbgrader's formgrader is")
    lab.add_argument("folder", type=Path, metavar="DIR", nargs="?", default=Path("course"), help="default course/")
    lab.add_argument("--port", type=int, default=8888, help="port on 127.0.0.1 (default 8888)")
    lab.add_argument("--headless", action="store_true", help="do not open a browser")
    lab.set_defaults(run=told(open_course))


def add_only(parser: argparse.ArgumentParser) -> None:
    """Which assignments."""
    text = "only this assignment, by name, number or topic; may be repeated (default: all)"
    parser.add_argument("--assignment", action="append", default=[], metavar="NAME", help=text)


def told(action: Action) -> Action:
    """The action, with what the user can put right told in one line instead of a traceback."""

    def run(args: argparse.Namespace) -> int:
        try:
            return action(args)
        except ValueError as error:
            message = str(error)
        except OSError as error:
            message = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        except KeyboardInterrupt:
            print("labkit: interrupted; the same command goes on", file=sys.stderr)
            return 130
        print(f"labkit: {message}", file=sys.stderr)
        return 2

    return run


def init_course(args: argparse.Namespace) -> int:
    """Set up an nbgrader course."""
    from labkit.classroom.folder import init

    if args.timeout < 1:
        raise ValueError(f"--timeout must be at least 1 second; got {args.timeout}")
    init(args.folder, args.assignment, args.course_id, args.timeout, args.update, say)
    say(f"the course is in {args.folder}. Next: give out the notebooks in {args.folder / 'release'};")
    say(f"{args.folder / 'README.md'} says how to collect, mark and give back. To look at it now:")
    say(f"python -m labkit course open {args.folder}")
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


def open_course(args: argparse.Namespace) -> int:
    """JupyterLab on loopback, in the course, so that nbgrader finds its settings."""
    from labkit.classroom.folder import check_course
    from labkit.classroom.lab import lab_command, lab_environment

    check_course(args.folder)
    say("in JupyterLab: Nbgrader → Formgrader (stop it with Ctrl-C)")
    folder = args.folder.resolve()
    command = lab_command(folder, args.port, args.headless)
    try:
        return subprocess.run(command, cwd=folder, env=lab_environment("every")).returncode
    except KeyboardInterrupt:  # that is how it is stopped
        return 0


def say(text: str) -> None:
    """One line, at once."""
    print(f"labkit: {text}", flush=True)
