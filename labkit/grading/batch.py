"""Grade a folder of hand-ins, several at a time; what is done stays done when it is stopped and started again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from labkit.assignments.assignment import Assignment
from labkit.base.files import write_bytes, write_json
from labkit.grading.grade import Graded, Mark, expected, grade, identity, not_graded
from labkit.grading.report import as_json, file_name, page, similarity_text, write_table
from labkit.grading.sandbox import Limits
from labkit.grading.similar import near_public, public_code, similar_pairs
from labkit.grading.submission import Submission, find_students, read


def grade_all(
    folder: Path,
    assignment: Assignment,
    output: Path,
    *,
    seed: int | None = None,
    limits: Limits | None = None,
    sandbox: bool = True,
    jobs: int = 1,
    seed_of: Callable[[str], int] | None = None,
    only: str = "",
    progress: Callable[[Graded, int, int], None] = lambda row, done, total: None,
) -> list[Graded]:
    """Marks of every student in the folder, in the order of names; all files are written to `output`.

    seed_of: a seed for each student, in place of one for all; only: a question to mark anew, the others stay.
    """
    limits = limits or Limits()
    students = find_students(folder)
    output.mkdir(parents=True, exist_ok=True)
    seed = settled_seed(output / "seed.json", seed)
    if only:
        restricted(assignment, only)  # its name is checked before anything runs
    for question in assignment.questions:
        expected(question, seed)  # once, before several threads ask for it
    done: dict[str, Graded] = {}

    def one(student: str, path: Path) -> Graded:
        kept = output / "students" / f"{file_name(student)}.json"
        try:
            submission = read(student, path, assignment)
            mine = seed_of(student) if seed_of else seed
            digest = fingerprint(submission, assignment, mine, limits, sandbox)
            row = recall(kept, digest if not only else None)
            if row is None or only:
                anew = grade(submission, restricted(assignment, only) if row else assignment, mine, limits, sandbox)
                digest = "" if row else digest  # marks of two gradings: the next whole one gives all anew
                row = merged(row, anew)
                write_json(kept, {"digest": digest, **as_json(row)})
            row = replace(row, handed_in=submission.handed_in)
            text = page(assignment, row, sandbox)
        except Exception as error:  # whatever one hand-in does, the others are graded
            row = not_graded(student, assignment, error)
            text = page(assignment, row, sandbox)
        write_bytes(kept.with_suffix(".html"), text.encode("utf-8", "replace"))
        return row

    (output / "students").mkdir(exist_ok=True)
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        waiting: dict[Future[Graded], str] = {}
        left = list(students.items())
        try:
            while left or waiting:
                while left and len(waiting) < jobs:  # few at a time, so that Ctrl-C has little to wait for
                    student, path = left.pop(0)
                    waiting[pool.submit(one, student, path)] = student
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    student = waiting.pop(future)
                    done[student] = future.result()
                    progress(done[student], len(done), len(students))
        finally:
            pool.shutdown(cancel_futures=True)
    rows = [done[student] for student in students]
    write_table(output / "grades.csv", assignment, rows)
    write_json(
        output / "grades.json",
        {
            "assignment": assignment.name,
            "seed": seed,
            "sandbox": sandbox,
            "limits": asdict(limits),
            "students": [as_json(row) for row in rows],
        },
    )
    try:
        public, answers = public_code(assignment), {row.student: row.answers for row in rows}
        text = similarity_text(similar_pairs(answers, public), near_public(answers, public))
    except Exception as error:  # what an answer's text may do to the comparison, it does not do to the marks
        text = f"The hand-ins could not be compared: {error!r}\n"
    write_bytes(output / "similar.md", text.encode("utf-8", "replace"))
    return rows


def settled_seed(path: Path, seed: int | None) -> int:
    """The seed of the hidden cases: the one given, else the one used before, else a new one that nobody can know."""
    if seed is None and path.exists():
        return int(json.loads(path.read_text(encoding="utf-8"))["seed"])
    seed = secrets.randbelow(2**31) if seed is None else seed
    write_json(path, {"seed": seed})
    return seed


def fingerprint(submission: Submission, assignment: Assignment, seed: int, limits: Limits, sandbox: bool) -> str:
    """Changes whenever grading again could change a mark."""
    questions = [identity(question, seed) for question in assignment.questions]
    handed_in = asdict(replace(submission, handed_in=""))  # a copy of the file has another date
    facts = [handed_in, assignment.name, questions, seed, asdict(limits), sandbox]
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def restricted(assignment: Assignment, only: str) -> Assignment:
    """The assignment with one question."""
    questions = tuple(question for question in assignment.questions if question.name == only)
    if not questions:
        names = ", ".join(question.name for question in assignment.questions)
        raise ValueError(f"--question: no {only!r} in {assignment.name}; there are {names}")
    return replace(assignment, questions=questions)


def merged(old: Graded | None, new: Graded) -> Graded:
    """The new marks where there are some, the old ones elsewhere."""
    if old is None:
        return new
    found = {mark.question: mark for mark in new.marks}
    marks = tuple(found.get(mark.question, mark) for mark in old.marks)
    return replace(new, marks=marks, answers=old.answers | new.answers)


def recall(path: Path, digest: str | None) -> Graded | None:
    """Marks given before to the same hand-in (None: to whatever was handed in), if they can be read."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        known = content.pop("digest")
        if digest is not None and known != digest:
            return None
        content.pop("score")
        marks = tuple(
            Mark(**{**mark, "rows": tuple(tuple(row) for row in mark["rows"])}) for mark in content.pop("marks")
        )
        return Graded(marks=marks, **{**content, "remarks": tuple(content["remarks"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
