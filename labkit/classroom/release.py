"""One master, four notebooks: the student's, the solution, the instructor's notes, and nbgrader's source.

A master is a py:percent file whose cells say what they are: `question="NAME" role="answer"` (a function with its
solution between markers), `role="test"` (its public check, and hidden tests between markers), `role="written"` (a model
answer in words) and `role="notes"` (for the instructor). Cells without a role are in every version but the notes.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from labkit.assignments.assignment import Assignment
from labkit.assignments.private import twisted, twists
from labkit.classroom.instructor_notes import notes_cells
from labkit.classroom.variants import rewrite

KINDS = ("student", "solution", "notes", "source")
CODE_STUB = "raise NotImplementedError"
TEXT_STUB = "*Write your answer here.*"
SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
LAST = """# What will be handed in: save the notebook (Ctrl+S), then run this cell.
from labkit.grading.preview import preview

preview("{name}.ipynb")"""
ROLES = ("answer", "test", "written", "notes", "")


def version(master: Path, assignment: Assignment, kind: str, key: bytes = b"") -> Any:
    """A notebook of one kind, not executed, with a private course's variants if there is a key.

    ValueError where master and assignment do not fit.
    """
    import nbformat

    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")
    cells = read(master, assignment)
    about: dict[str, Any] = {"assignment": assignment.name}
    if key:
        chosen = twists(assignment, key)
        rewrite(cells, assignment, chosen, key)
        for cell in cells:
            cell["id"] = grade_id(cell) if cell.metadata.question else cell.id
        about["twists"] = {name: [twist.called, twist.factor] for name, twist in chosen.items()}
        assignment = twisted(assignment, chosen)
    if kind == "notes":
        made = notes_cells(cells, assignment)
    else:
        made = [released(cell, assignment, kind) for cell in cells if cell.metadata.role != "notes"]
        made.append(nbformat.v4.new_code_cell(LAST.format(name=assignment.name), id="hand-in"))
    notebook = nbformat.v4.new_notebook(cells=made)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata["labkit"] = about  # which assignment it is, for `python -m labkit grade MY.ipynb`
    nbformat.validate(notebook)
    return notebook


def read(master: Path, assignment: Assignment) -> list[Any]:
    """The cells of a master, each with `role` and `question` ("" where it has none) and an id that stays."""
    import jupytext

    cells: list[Any] = jupytext.read(master).cells
    for number, cell in enumerate(cells):
        role, question = cell.metadata.get("role", ""), cell.metadata.get("question", "")
        if role not in ROLES:
            raise ValueError(f"{master.name}: no role {role!r}; there are {', '.join(filter(None, ROLES))}")
        cell.metadata.update(role=role, question=question)
        cell["id"] = grade_id(cell) if question else f"cell-{number}"
    found = Counter((cell.metadata.role, cell.metadata.question) for cell in cells if cell.metadata.question)
    wanted = Counter((role, question.name) for question in assignment.questions for role in ("answer", "test"))
    wanted.update(("written", written.name) for written in assignment.written)
    if found != wanted:
        wrong = [f"{role} of {name}" for role, name in sorted((wanted - found) | (found - wanted))]
        raise ValueError(
            f"{master.name}: every question of {assignment.name} needs an answer cell and a test cell, every written "
            f"one a written cell, once each; see: {', '.join(wrong)}"
        )
    return cells


def grade_id(cell: Any) -> str:
    """By which nbgrader and `python -m labkit grade` know a cell."""
    return test_id(cell.metadata.question) if cell.metadata.role == "test" else str(cell.metadata.question)


def test_id(question: str) -> str:
    """The id of a question's test cell, which carries its points."""
    return f"{question}-test"


def released(cell: Any, assignment: Assignment, kind: str) -> Any:
    """One cell as a version holds it."""
    import nbformat

    make = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
    source = cell.source if kind == "source" else text(cell, kind)
    return make(source, id=cell.id, metadata=graded(cell, assignment) if cell.metadata.question else {})


def text(cell: Any, kind: str) -> str:
    """A cell's text without hidden tests, and with or without the solution."""
    role, source = cell.metadata.role, str(cell.source)
    if role == "written":
        return TEXT_STUB if kind == "student" else source
    if role == "test":
        public = without(source, HIDDEN, "").rstrip()
        if not public:
            raise ValueError(f"{cell.id}: a test cell needs a public check above {HIDDEN[0]!r}")
        return public
    if role == "answer":
        if SOLUTION[0] not in source:
            raise ValueError(f"{cell.id}: an answer needs its solution between {SOLUTION[0]!r} and {SOLUTION[1]!r}")
        if kind == "student":
            return without(source, SOLUTION, CODE_STUB)
        return "\n".join(line for line in source.split("\n") if line.strip() not in SOLUTION)
    return source


def without(source: str, markers: tuple[str, str], stub: str) -> str:
    """Replace what is between two markers by a line, indented like the first marker; "" leaves no line."""
    begin, end = markers
    lines: list[str] = []
    inside = False
    for line in source.split("\n"):
        if line.strip() in markers:
            if (line.strip() == begin) == inside:
                raise ValueError(f"{begin!r} and {end!r} must alternate in the cell\n{source}")
            inside = not inside
            if inside and stub:
                lines.append(line[: len(line) - len(line.lstrip())] + stub)
        elif not inside:
            lines.append(line)
    if inside:
        raise ValueError(f"{end!r} is missing in the cell\n{source}")
    return "\n".join(lines)


def graded(cell: Any, assignment: Assignment) -> dict[str, Any]:
    """Metadata of an answer or a test, as nbgrader's releases have them (schema 3)."""
    role = cell.metadata.role
    points = {question.name: question.points for question in assignment.questions}
    points.update((written.name, written.points) for written in assignment.written)
    about = {
        "schema_version": 3,
        "grade_id": grade_id(cell),
        "grade": role != "answer",
        "solution": role != "test",
        "locked": role == "test",
        "task": False,
    }
    if about["grade"]:
        about["points"] = points[cell.metadata.question]
    locks = {"deletable": False, "editable": False} if role == "test" else {"deletable": False}
    return {"nbgrader": about, **locks}
