"""The instructor's notes of an assignment: points, common mistakes, rubrics, and what the master says for notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from labkit.assignments.assignment import Assignment, Question, Written
from labkit.classroom.variants import TEXT


def notes_cells(master: Sequence[Any], assignment: Assignment) -> list[Any]:
    """One Markdown cell for the points, then one for each question and note, in the order of the master."""
    import nbformat

    questions = {question.name: question for question in assignment.questions}
    written = {question.name: question for question in assignment.written}
    texts = {"points": points_table(assignment)}
    task = ""
    for cell in master:
        name = cell.metadata.question
        if cell.metadata.role == "answer":
            texts[name] = mistakes_of(questions[name])
        elif cell.metadata.role == "written":
            texts[name] = rubric_of(written[name], cell.source, task.partition(TEXT)[2])
        elif cell.metadata.role == "notes":
            texts[cell.id] = cell.source
        task = task if cell.metadata.role == "notes" else cell.source
    return [nbformat.v4.new_markdown_cell(text, id=name) for name, text in texts.items()]


def points_table(assignment: Assignment) -> str:
    """The title and what everything is worth."""
    rows = [(f"`{question.name}`", question.exercise.task, question.points) for question in assignment.questions]
    rows += [(f"`{question.name}`", "in words; marked by you", question.points) for question in assignment.written]
    head = f"# {assignment.title}: instructor's notes\n\nOnly for those who teach: these pages hold the answers.\n\n"
    return head + table(("question", "what is asked", "points"), [*rows, ("**in all**", "", assignment.points)])


def mistakes_of(question: Question) -> str:
    """What students get wrong, and what they are told then."""
    rows = [(mistake.name, mistake.hint) for mistake in question.exercise.mistakes]
    head = f"## `{question.name}`, {question.points} points\n\n{question.exercise.task}\n\nCommon mistakes, each of "
    return (
        f"{head}which the check recognises by its numbers:\n\n{table(('mistake', 'hint that the check gives'), rows)}"
    )


def rubric_of(question: Written, model_answer: str, text: str = "") -> str:
    """What earns points, and an answer that earns all; text: what a private course asks, where it has drawn one."""
    rows = [(points, what) for points, what in question.rubric]
    rubric = table(("points", "for"), rows)
    others = "".join(f"\n- {text}" for text in question.variants)
    drawn = f"\n\nA private course draws one of these, and the answer changes with it:\n{others}" if others else ""
    head = f"## `{question.name}`, {question.points} points\n\n{rubric}{drawn}"
    if text:
        head += f"\n\n**This course has drawn:** {text}\n\nThe answer below is for the public text, without this one."
    return f"{head}\n\nAn answer that earns all:\n\n{model_answer}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(plain(str(entry)) for entry in line) + " |" for line in lines)


def plain(entry: str) -> str:
    """Text that stays within its cell of a table."""
    return " ".join(entry.split()).replace("|", "\\|")
