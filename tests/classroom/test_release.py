"""The four versions of an assignment: of a small made-up master, and of every real one."""

from pathlib import Path

import nbformat
import pytest
import torch

from labkit.assignments import NAMES, load
from labkit.assignments.assignment import Assignment, Question, Written
from labkit.classroom import folder
from labkit.classroom.release import CODE_STUB, KINDS, TEXT_STUB, version
from labkit.grading.reader import written_by_place
from labkit.lessons.exercise import Case, Exercise, Mistake

DOUBLE = Exercise(
    "double",
    "Twice x.",
    lambda x: 2 * x,
    lambda: [Case("ones", {"x": torch.ones(3)})],
    (Mistake("square", "That is x | squared.", lambda x: x * x),),
)
SMALL = Assignment(
    "1_small",
    "1. Small",
    (Question(DOUBLE, 8, lambda rng: [Case("random", {"x": torch.rand(3, generator=rng)})]),),
    (Written("why", 2, ((1, "says twice"), (1, "says why"))),),
)
MASTER = '''
# %% [markdown]
# # 1. Small

# %%
from labkit import check

# %% question="double" role="answer"
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    secret = 2
    return secret * x
    ### END SOLUTION


# %% question="double" role="test"
check.double(double)

### BEGIN HIDDEN TESTS
from labkit.classroom.autograde import require

require("double", double)
### END HIDDEN TESTS

# %% [markdown] role="notes"
# Watch out for squares.

# %% [markdown]
# Why?

# %% [markdown] question="why" role="written"
# Because of the **model answer**.
'''


@pytest.fixture
def master(tmp_path):
    path = tmp_path / "1_small.py"
    path.write_text(MASTER.lstrip())
    return path


def by_id(notebook):
    return {cell.id: cell for cell in notebook.cells}


def test_the_student_gets_stubs_and_public_checks(master):
    cells = by_id(version(master, SMALL, "student"))
    assert list(cells) == ["cell-0", "cell-1", "double", "double-test", "cell-5", "why", "hand-in"]
    assert cells["double"].source == f'def double(x):\n    """Twice x."""\n    {CODE_STUB}'
    assert cells["double-test"].source == "check.double(double)"
    assert cells["why"].source == TEXT_STUB


def test_the_solution_has_neither_markers_nor_hidden_tests_nor_notes(master):
    cells = by_id(version(master, SMALL, "solution"))
    assert cells["double"].source.endswith('"""Twice x."""\n    secret = 2\n    return secret * x')
    assert cells["double-test"].source == "check.double(double)"
    assert "model answer" in cells["why"].source
    assert not [cell for cell in cells.values() if "Watch out" in cell.source]


def test_the_source_keeps_markers_and_hidden_tests(master):
    cells = by_id(version(master, SMALL, "source"))
    assert "### BEGIN SOLUTION" in cells["double"].source
    assert 'require("double", double)' in cells["double-test"].source
    assert "model answer" in cells["why"].source
    assert not [cell for cell in cells.values() if "Watch out" in cell.source]


def test_notes_have_points_mistakes_with_hints_and_rubrics(master):
    notebook = version(master, SMALL, "notes")
    text = "\n\n".join(cell.source for cell in notebook.cells)
    assert {cell.cell_type for cell in notebook.cells} == {"markdown"}
    assert "| **in all** |  | 10 |" in text
    assert r"| square | That is x \| squared. |" in text
    assert "| 1 | says why |" in text
    assert text.index("`double`, 8 points") < text.index("Watch out") < text.index("`why`, 2 points")


@pytest.mark.parametrize("kind", ["student", "solution", "source"])
def test_answers_and_tests_carry_nbgraders_metadata(master, kind):
    cells = by_id(version(master, SMALL, kind))
    common = {"schema_version": 3, "task": False}
    assert cells["double"].metadata.nbgrader == common | {
        "grade_id": "double",
        "grade": False,
        "solution": True,
        "locked": False,
    }
    assert cells["double-test"].metadata.nbgrader == common | {
        "grade_id": "double-test",
        "grade": True,
        "solution": False,
        "locked": True,
        "points": 8,
    }
    assert cells["why"].metadata.nbgrader == common | {
        "grade_id": "why",
        "grade": True,
        "solution": True,
        "locked": False,
        "points": 2,
    }
    assert "nbgrader" not in cells["cell-1"].metadata
    assert version(master, SMALL, kind) == version(master, SMALL, kind)  # nothing random


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('question="why" role="written"', 'role="notes"', "written of why"),
        ('question="double" role="test"', 'question="treble" role="test"', "test of treble"),
        ('role="notes"', 'role="note"', "no role 'note'"),
        ("    ### END SOLUTION\n", "", "'### END SOLUTION' is missing"),
        ("### END HIDDEN TESTS\n", "### BEGIN HIDDEN TESTS\n", "must alternate"),
        ("check.double(double)\n", "", "needs a public check"),
        ("### BEGIN SOLUTION", "# here", "between '### BEGIN SOLUTION'"),
    ],
)
def test_a_master_that_does_not_fit_is_refused(master, before, after, message):
    master.write_text(MASTER.lstrip().replace(before, after))
    with pytest.raises(ValueError, match=message):
        version(master, SMALL, "student")


REAL = [name for name in NAMES if (folder.MASTERS / f"{name}.py").exists()]


@pytest.mark.parametrize("name", REAL)
def test_a_real_master_gives_all_four(name, tmp_path):
    assignment = load(name)
    for kind in KINDS:
        path = folder.write(folder.MASTERS / f"{name}.py", kind, tmp_path / kind / f"{name}.ipynb")
        text = path.read_text(encoding="utf-8")
        cells = nbformat.read(path, as_version=4).cells
        assert ("BEGIN SOLUTION" in text) == (kind == "source")
        assert ("require(" in text) == (kind == "source")
        marks = [cell.metadata.nbgrader for cell in cells if "nbgrader" in cell.metadata]
        assert sum(mark.get("points", 0) for mark in marks) == (0 if kind == "notes" else assignment.points)
    student = by_id(nbformat.read(tmp_path / "student" / f"{name}.ipynb", as_version=4))
    for question in assignment.questions:
        source = student[question.name].source
        assert source.rstrip().endswith(CODE_STUB)
        compile(source, question.name, "exec")
    assert all(student[written.name].source == TEXT_STUB for written in assignment.written)
    for kind in ("student", "solution"):  # texts that have lost their ids are found by their place
        cells = nbformat.read(tmp_path / kind / f"{name}.ipynb", as_version=4).cells
        placed = written_by_place(cells, [written.name for written in assignment.written])
        assert {part: cell.id for part, cell in placed.items()} == {part.name: part.name for part in assignment.written}


def test_unknown_and_missing_assignments_are_named(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="no '99'; there are 1_metrics"):
        folder.masters(["99"])
    monkeypatch.setattr(folder, "MASTERS", Path(tmp_path))
    with pytest.raises(ValueError, match="needs a clone"):
        folder.masters()
