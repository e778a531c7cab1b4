"""What marking takes: CPU time and memory of a hand-in of each assignment, and a class of 200, 20 of them hostile."""

import json
import os
import tempfile
import time
from pathlib import Path
from statistics import median

import torch

from benchmarks.hostile import ANSWERS, write_hostile
from labkit.assignments import NAMES, load
from labkit.classroom.folder import MASTERS
from labkit.classroom.folder import write as write_version
from labkit.grading.batch import grade_all
from labkit.grading.grade import Graded
from labkit.grading.sandbox import Limits, best, problem
from labkit.runs.provenance import host
from labkit.training.devices import device_name

CLASS, HOSTILE = 200, 20


def measure(quick: bool) -> dict:
    """Solutions as hand-ins; the class is of the first assignment, two at a time, with hostile hand-ins among them."""
    if why := problem():
        raise SystemExit(f"labkit: no sandbox here, so nothing to measure: {why}")
    rows = []
    for name in list(NAMES)[: 1 if quick else None]:
        graded = graded_copies(name, 2 if quick else 5, jobs=1)["rows"]
        assert all(row.score == sum(q.points for q in load(name).questions) for row in graded)
        cpu, memory = (median(getattr(row, what) for row in graded) for what in ("cpu_seconds", "memory_mb"))
        mistakes = [len(question.exercise.mistakes) for question in load(name).questions]
        rows.append(
            {
                "assignment": name,
                "questions": len(mistakes),
                "mistakes": sum(mistakes),
                "cpu_seconds": cpu,
                "mb": memory,
            }
        )
    whole = graded_copies("1_metrics", 4 if quick else CLASS - HOSTILE, jobs=2, hostile=True)
    check_class(whole.pop("rows"))
    machine = {"host": host(), "device_name": device_name(torch.device("cpu")), "cores": os.cpu_count()}
    return {"machine": machine, "wall": best()[0], "assignments": rows, "class": whole | {"jobs": 2}}


def graded_copies(name: str, count: int, jobs: int, hostile: bool = False) -> dict:
    """Grade copies of a solution, and again: marks, seconds on the clock, CPU seconds of the grader itself."""
    with tempfile.TemporaryDirectory() as folder:
        hand_ins, output = Path(folder, "hand-ins"), Path(folder, "grades")
        for number in range(count):
            write_version(MASTERS / f"{name}.py", "solution", hand_ins / f"student{number:03}.ipynb")
        bad = 0
        if hostile:
            bad = write_hostile(hand_ins, hand_ins / "student000.ipynb", load(name).questions[0].name)
        limits = Limits(seconds=5)
        started, cpu = time.monotonic(), time.process_time()
        rows = grade_all(hand_ins, load(name), output, seed=0, jobs=jobs, limits=limits)
        seconds, used, started = time.monotonic() - started, time.process_time() - cpu, time.monotonic()
        grade_all(hand_ins, load(name), output, seed=0, jobs=jobs, limits=limits)
        again = time.monotonic() - started
    whole = {"hand_ins": len(rows), "hostile": bad, "seconds": seconds, "parent_cpu_seconds": used}
    return whole | {"rows": rows, "again_seconds": again, "cpu_seconds": sum(row.cpu_seconds for row in rows)}


def check_class(rows: list[Graded]) -> None:
    """Honest hand-ins have all points; hostile answers cost their own question, hostile files everything."""
    questions = load("1_metrics").questions
    points = sum(question.points for question in questions)
    for row in rows:
        lost = 0 if row.student.startswith("student") else questions[0].points if row.student in ANSWERS else points
        if row.score != points - lost:
            raise SystemExit(f"labkit: {row.student} has {row.score:g} points and should have {points - lost}: {row}")


def table(found: dict) -> str:
    """The result as Markdown."""
    machine, whole = found["machine"], found["class"]
    lines = [
        "# Marking hand-ins",
        "",
        f"{machine['device_name']}, {machine['cores']} cores, no GPU. Solutions as hand-ins, each in a sealed room "
        f"({found['wall']}); median of five. Most of the time is importing torch.",
        "",
        "| assignment | coding questions | known mistakes | CPU s a hand-in | MB |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['assignment']} | {row['questions']} | {row['mistakes']} | {row['cpu_seconds']:.2f} | {row['mb']:.0f} |"
        for row in found["assignments"]
    ]
    lines += [
        "",
        f"{whole['hand_ins']} hand-ins in one call, {whole['hostile']} of them hostile (loops, bombs, crashes, damaged "
        f"archives), {whole['jobs']} at a time, 5 s a question: {whole['seconds']:.0f} s on the clock, "
        f"{whole['cpu_seconds']:.0f} CPU s in rooms and {whole['parent_cpu_seconds']:.0f} in the grader itself; all "
        f"others have all their points. The same call again: {whole['again_seconds']:.1f} s.",
    ]
    return "\n".join(lines)


def write(folder: Path, found: dict) -> None:
    """grading.md and grading.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grading.json").write_text(json.dumps(found, indent=1) + "\n")
    (folder / "grading.md").write_text(table(found) + "\n")
