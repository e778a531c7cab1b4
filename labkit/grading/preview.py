"""What a notebook will hand in, told to the student who wrote it; and its marks on the public cases."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from labkit.assignments import load
from labkit.assignments.assignment import Assignment
from labkit.assignments.private import Twist, twisted
from labkit.grading.submission import Submission, read

UNTOUCHED = "*Write your answer here.*"  # what stands in a text's cell at first


def preview(file: str | Path) -> None:
    """Print what grading will find in a saved notebook."""
    path = Path(file)
    if not path.is_file():
        print(f"There is no {path.name} in this folder. Save the notebook under this name, then run the cell again.")
        return
    assignment, found = own_notebook(path)
    print(f"{path.name}, as it was saved {found.handed_in.replace('T', ' ')[:16]} UTC. This is handed in:\n")
    for name, state in states(assignment, found).items():
        print(f"  {name:32} {state}")
    for remark in found.remarks:
        print(f"\nNote: {remark}")
    print(f"\nTry it on the public cases, as grading will run it: python -m labkit grade {path.name}")


def states(assignment: Assignment, found: Submission) -> dict[str, str]:
    """Every question, and what there is of an answer."""
    told = {}
    for question in assignment.questions:
        source = found.answers.get(question.name)
        lines = len([line for line in (source or "").split("\n") if line.strip()])
        done = "not written yet" if "raise NotImplementedError" in (source or "") else f"code, {lines} lines"
        told[question.name] = "MISSING: its cell is not there" if source is None else done
    for part in assignment.written:
        text = found.answers.get(part.name)
        words = len((text or "").split())
        done = "not written yet" if (text or "").strip() in ("", UNTOUCHED) else f"text, {words} words"
        told[part.name] = "MISSING: its cell is not there" if text is None else done
    return told


def own_notebook(path: Path, name: str = "") -> tuple[Assignment, Submission]:
    """A notebook and its assignment, by the name given, else by what the notebook says, else by its file name."""
    first = read(path.stem, path, load(name or "1"))
    about = first.about.get("assignment")
    assignment = load(name or (about if isinstance(about, str) else path.stem))
    assignment = as_given_out(assignment, first.about.get("twists"))
    return assignment, read(path.stem, path, assignment)


def as_given_out(assignment: Assignment, said: object) -> Assignment:
    """With the names and factors of a private course, which its notebooks state."""
    if not isinstance(said, dict):
        return assignment
    chosen = {}
    for question in assignment.questions:
        match said.get(question.name):
            case [str(called), str(factor)] if called.isidentifier():
                chosen[question.name] = Twist(called, factor)
            case _:
                raise ValueError("the notebook's metadata are damaged: take a fresh copy and put your answers into it")
    return twisted(assignment, chosen)


def public_only(assignment: Assignment) -> Assignment:
    """Without the hidden cases."""
    return replace(
        assignment, questions=tuple(replace(question, hidden=lambda rng: []) for question in assignment.questions)
    )
