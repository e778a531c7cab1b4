"""A master's cells with a course's own names, factors and texts: what `course init --private` gives out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

from labkit.assignments.assignment import Assignment
from labkit.assignments.private import Twist, draw

TEXT = "**In this course:** "


def rewrite(cells: list[Any], assignment: Assignment, chosen: dict[str, Twist], key: bytes) -> None:
    """Change the cells of a master in place."""
    texts = {part.name: part.variants for part in assignment.written}
    seed = draw(key, assignment.name, "hidden")
    for number, cell in enumerate(cells):
        role, name = cell.metadata.role, cell.metadata.question
        source = renamed(cell.source, chosen)
        if role == "answer":
            cell.metadata.question, source = chosen[name].called, with_factor(source, chosen[name])
        elif role == "test":
            cell.metadata.question, source = chosen[name].called, checked(source, name, chosen[name], seed)
        elif role == "written" and (variants := texts[name]):
            task = next(before for before in reversed(cells[:number]) if before.metadata.role != "notes")
            task.source += f"\n\n{TEXT}{variants[draw(key, name, 'text') % len(variants)]}"
        cell.source = source


def renamed(source: str, chosen: dict[str, Twist]) -> str:
    """The course's names, except in labkit's own calls (check.NAME, "NAME")."""
    for name, twist in chosen.items():
        source = re.sub(rf"(?<![\w.\"']){name}(?![\w\"'])", twist.called, source)
    return source


def checked(source: str, name: str, twist: Twist, seed: int) -> str:
    """A test cell that tells check and hidden tests about the factor, and the hidden ones about the course's seed."""
    factor = f', factor="{twist.factor}"' if twist.factor else ""
    source = source.replace(f"check.{name}({twist.called})", f"check.{name}({twist.called}{factor})")
    return source.replace(f'require("{name}", {twist.called})', f'require("{name}", {twist.called}, {seed}{factor})')


def with_factor(source: str, twist: Twist) -> str:
    """A solution whose function takes the factor and returns its result times it."""
    if not twist.factor:
        return source
    function = next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))
    last = function.args.args[-1]
    edits = [(last.end_lineno, last.end_col_offset, f", {twist.factor}: float = 1.0")]
    for value in returned(function):
        edits.append((value.lineno, value.col_offset, f"{twist.factor} * ("))
        edits.append((value.end_lineno, value.end_col_offset, ")"))
    lines = [line.encode() for line in source.split("\n")]  # offsets count bytes
    for line, place, text in sorted(edits, reverse=True, key=lambda edit: edit[:2]):
        assert line is not None
        lines[line - 1] = lines[line - 1][:place] + text.encode() + lines[line - 1][place:]  # type: ignore[misc]
    told = f"# In this course: multiply your result by one more number, {twist.factor}."
    return f"{told}\n" + b"\n".join(lines).decode()


def returned(node: ast.AST) -> Iterator[ast.expr]:
    """What a function returns, without the functions inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return) and child.value is not None:
            yield child.value
        elif not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield from returned(child)
