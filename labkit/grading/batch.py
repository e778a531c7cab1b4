"""Grade a folder of hand-ins, several at a time; what is done stays done when it is stopped and started again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from labkit.assignments.assignment import Assignment
from labkit.base.files import write_bytes, write_json
from labkit.grading.grade import Graded, Mark, expected, grade, not_graded
from labkit.grading.report import as_json, file_name, page, similarity_text, write_table
from labkit.grading.sandbox import Limits
from labkit.grading.similar import similar_pairs
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
    progress: Callable[[Graded, int, int], None] = lambda row, done, total: None,
) -> list[Graded]:
    """Marks of every student in the folder, in the order of names; all files are written to `output`."""
    limits = limits or Limits()
    students = find_students(folder)
    output.mkdir(parents=True, exist_ok=True)
    seed = settled_seed(output / "seed.json", seed)
    for question in assignment.questions:
        expected(question, seed)  # once, before several threads ask for it
    done: dict[str, Graded] = {}

    def one(student: str, path: Path) -> Graded:
        kept = output / "students" / f"{file_name(student)}.json"
        try:
            submission = read(student, path, assignment)
            digest = fingerprint(submission, assignment, seed, limits, sandbox)
            row = recall(kept, digest)
            if row is None:
                row = grade(submission, assignment, seed, limits, sandbox)
                write_json(kept, {"digest": digest, **as_json(row)})
        except Exception as error:  # whatever one hand-in does, the others are graded
            row = not_graded(student, assignment, error)
        write_bytes(kept.with_suffix(".html"), page(assignment, row, sandbox).encode("utf-8", "replace"))
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
    pairs = similar_pairs({row.student: row.answers for row in rows})
    write_bytes(output / "similar.md", similarity_text(pairs).encode("utf-8", "replace"))
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
    questions = [
        (question.name, question.points, [case.label for case in question.cases(seed)])
        for question in assignment.questions
    ]
    facts = [asdict(submission), assignment.name, questions, seed, asdict(limits), sandbox]
    return sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def recall(path: Path, digest: str) -> Graded | None:
    """Marks given before to the same hand-in, if they can be read."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("digest") != digest:
            return None
        content.pop("score")
        marks = tuple(
            Mark(**{**mark, "rows": tuple(tuple(row) for row in mark["rows"])}) for mark in content.pop("marks")
        )
        return Graded(marks=marks, **{**content, "remarks": tuple(content["remarks"])})
    except (OSError, ValueError, KeyError, TypeError):
        return None
