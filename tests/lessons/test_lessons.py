"""Every lesson has all parts of a lesson, is in step with its notebook, links to what exists, and runs."""

import ast
import re
import runpy
from pathlib import Path

import jupytext
import pytest

from labkit.base.paths import ROOT
from labkit.book import notebooks
from labkit.lessons.exercises import LESSONS
from labkit.lessons.overview import table_of_lessons, verdict_counts

SOURCES = sorted((ROOT / "notebooks").glob("*.py"))
RIGHT_ANSWERS = Path(__file__).parent / "right_answers"
NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)  # 11 keeps its place
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
each_lesson = pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)


def texts(source: Path, kind: str) -> str:
    return "\n".join(cell.source for cell in jupytext.read(source).cells if cell.cell_type == kind)


def test_lessons_are_numbered_in_reading_order():
    assert tuple(int(path.stem[:2]) for path in SOURCES) == NUMBERS
    for path in SOURCES:
        assert re.match(rf"# {int(path.stem[:2])}\. ", texts(path, "markdown")), f"{path.name}: title with its number"


@each_lesson
def test_a_lesson_and_its_notebook_are_in_step(source):
    assert notebooks.problems(source) == []


@each_lesson
def test_a_lesson_has_all_its_parts(source):
    text, code = texts(source, "markdown"), texts(source, "code")
    for part in (
        r"About \d+ minutes",
        "You need:",
        "## What you will be able to do",
        "## First, the real thing",
        "## An experiment",
        r"## The paper('s|s')",
        "## What the released code does differently",
        "## Exercises",
        "## Break it",
        "## Can you answer these",
        "## Summary",
        "## Reading",
    ):
        assert re.search(part, text), f"{source.name} lacks {part!r}"
    assert "labkit.start(" in code.split("\n\n\n")[0]
    assert "labkit.predict(" in code
    assert "RETRAIN = False" in code
    questions = re.search(r"## Can you answer these.*?## Summary", text, re.DOTALL)
    assert 6 <= len(re.findall(r"^\d+\. ", questions[0], re.MULTILINE)) <= 10
    assert 2 <= len(set(re.findall(r"labkit\.check\.(\w+)\(", code))) <= 4
    assert text.count("<details>") == text.count("</details>")
    assert text.count("<summary>Solution</summary>") >= 2


@each_lesson
def test_links_lead_somewhere(source):
    for target in LINK.findall(texts(source, "markdown")):
        if not target.startswith(("http:", "https:")):
            assert (source.parent / target).exists(), f"{source.name}: {target}"


@each_lesson
def test_what_an_explorer_draws_does_not_change_in_later_cells(source):
    """A lambda looks its names up when a control is moved: after all cells have run."""
    tree = ast.parse(texts(source, "code"))
    local = (ast.FunctionDef, ast.ListComp, ast.DictComp, ast.GeneratorExp)
    inside = {id(node) for block in ast.walk(tree) if isinstance(block, local) for node in ast.walk(block)}
    stored = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    explored = [node.args[0] for node in ast.walk(tree) if isinstance(node, ast.Call) and is_explore(node.func)]
    for drawing in (node for node in explored if isinstance(node, ast.Lambda)):
        used = {node.id for node in ast.walk(drawing) if isinstance(node, ast.Name)}
        used -= {argument.arg for argument in drawing.args.args}
        later = {n.id for n in stored if id(n) not in inside and n.lineno > drawing.lineno}
        assert not used & later, f"{source.name}: set again after an explorer that uses it: {used & later}"


def is_explore(function):
    return isinstance(function, ast.Attribute) and function.attr == "explore"


@each_lesson
def test_hidden_answers_stay_hidden(source):
    for cell in jupytext.read(source).cells:
        if cell.cell_type == "code" and "labkit.predict(" in cell.source:
            assert cell.metadata.get("jupyter", {}).get("source_hidden"), f"{source.name}: the answer is seen"


def test_the_exercises_of_a_lesson_and_their_right_answers_carry_its_name():
    for path, module in zip(SOURCES, LESSONS, strict=True):
        name = path.stem[3:]
        assert module.__name__ == f"labkit.lessons.exercises.{name}"
        asked = set(re.findall(r"labkit\.check\.(\w+)\(", texts(path, "code")))
        assert asked == {exercise.name for exercise in module.EXERCISES}
        assert asked == runpy.run_path(str(RIGHT_ANSWERS / f"{name}.py"))["RIGHT"].keys()


def test_the_table_of_lessons_is_up_to_date():
    text = (ROOT / "notebooks" / "README.md").read_text(encoding="utf-8")
    assert table_of_lessons(ROOT / "notebooks") in text, "run `make notebooks`"


def test_verdicts_are_counted_where_a_name_holds_a_bracket():
    verdicts = [("pnp", "Fig. 8 (a)", "held"), ("pnp", "Table 1", "not resolved"), ("mpa", "Table 1", "held")]
    assert verdict_counts('labkit.claims("pnp", "Fig. 8 (a)", "Table 1")', verdicts) == "1 held, 1 not resolved"
    assert verdict_counts("labkit.claims(paper)", verdicts) == "2 held, 1 not resolved"


@each_lesson
def test_a_lesson_runs_without_the_network(source, monkeypatch):
    monkeypatch.delenv("LABKIT_DATA", raising=False)  # what a clone has must do
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
    notebook = notebooks.execute(source, "notebook", fast=True)
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert shown
    assert not [output for output in shown if output.get("name") == "stderr"]
