"""The assignments as students meet them: masters run with their solutions, and the grader knows right from empty."""

import nbformat
import pytest

from labkit.__main__ import main
from labkit.assignments import NAMES, load
from labkit.book.notebooks import execute
from labkit.classroom.folder import MASTERS, write

sealed = pytest.mark.usefixtures("sandboxed")


@pytest.mark.parametrize("name", NAMES)
def test_the_master_runs_with_its_solutions_and_hidden_tests(name):
    notebook = execute(MASTERS / f"{name}.py", "notebook", fast=True)
    text = "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []) if output.get("text")
    )
    for question in load(name).questions:
        assert f"✓ {question.name}: right on all" in text


@sealed
@pytest.mark.parametrize("name", NAMES)
def test_the_solution_gets_all_points_and_the_released_version_none(name, tmp_path, capsys):
    hand_ins = tmp_path / "submitted"
    for student, kind in (("perfect", "solution"), ("empty", "student")):
        write(MASTERS / f"{name}.py", kind, hand_ins / student / name / f"{name}.ipynb")
    output = tmp_path / "grades"
    assert main(["grade", str(hand_ins), "--assignment", name, "-o", str(output), "--jobs", "2"]) == 0
    assignment = load(name)
    code = sum(question.points for question in assignment.questions)
    lines = (output / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("empty,0,")
    assert lines[2].startswith(f"perfect,{code},{code},")
    said = capsys.readouterr()
    assert "2 hand-ins" in said.out
    assert "labkit: 2 of 2: " in said.err  # progress, where there is no terminal for a bar


@sealed
def test_six_students_of_a_real_assignment(tmp_path, capsys):
    """Perfect, partial, empty, wrong, hostile, broken."""
    name = "1_metrics"
    first, second, third, fourth = load(name).questions
    write(MASTERS / f"{name}.py", "solution", tmp_path / "solution.ipynb")
    write(MASTERS / f"{name}.py", "student", tmp_path / "student.ipynb")
    solution = {cell.id: cell.source for cell in nbformat.read(tmp_path / "solution.ipynb", 4).cells}
    hostile = "import os\nos.kill(-1, 9)\nos._exit(0)\n"
    wrong = {question.name: f"def {question.name}(*a, **k):\n    return 0.5\n" for question in load(name).questions}
    hand_ins = tmp_path / "submitted"
    hand_ins.mkdir()
    for student, answers in {
        "perfect": solution,
        "partial": {question.name: solution[question.name] for question in (first, third)},
        "empty": {},
        "wrong": wrong,
        "hostile": solution | {first.name: hostile},
    }.items():
        notebook = nbformat.read(tmp_path / "student.ipynb", 4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        nbformat.write(notebook, hand_ins / f"{student}.ipynb")
    (hand_ins / "broken.ipynb").write_text('{"cells": [')
    command = ["grade", str(hand_ins), "--assignment", "metrics", "-o", str(tmp_path / "out"), "--jobs", "2"]
    assert main(command) == 0
    table = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines() if line}
    points = [question.points for question in (first, second, third, fourth)]
    assert [float(score) for score in table["perfect"]] == [sum(points), *points]
    assert [float(score) for score in table["partial"]] == [points[0] + points[2], points[0], 0, points[2], 0]
    assert float(table["hostile"][0]) == sum(points[1:])
    for student in ("empty", "wrong", "broken"):
        assert float(table[student][0]) == 0


def test_wrong_options_are_told(tmp_path, capsys):
    assert main(["grade", str(tmp_path), "--assignment", "9"]) == 2
    assert "there are 1_metrics" in capsys.readouterr().err
    assert main(["grade", str(tmp_path / "none"), "--assignment", "1"]) == 2
    assert "must be a folder" in capsys.readouterr().err
    assert main(["grade", str(tmp_path), "--assignment", "1", "--jobs", "0"]) == 2
    assert "--jobs" in capsys.readouterr().err
