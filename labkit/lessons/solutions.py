"""The solutions that stand in the lessons, as text: the source from which slips are made (`slips.py`)."""

from __future__ import annotations

import ast
import math
import re
from functools import cache
from typing import Any

from labkit.base.paths import ROOT

CHECK = re.compile(r"^labkit\.check\.(\w+)\((\w+)\)$", re.MULTILINE)
FENCE = re.compile(r"^# ```python\n((?:#.*\n)+?)# ```$", re.MULTILINE)


@cache
def solutions() -> dict[str, tuple[ast.Module, str]]:
    """By exercise: the functions of its lesson up to its solution, and that function's name.

    Nothing where labkit runs without its lessons.
    """
    found = {}
    for path in sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.py")):
        text = path.read_text(encoding="utf-8")
        exercise_of = {function: exercise for exercise, function in CHECK.findall(text)}
        known: dict[str, ast.FunctionDef] = {}
        for block in FENCE.findall(text):
            for node in ast.parse(re.sub(r"^# ?", "", block, flags=re.MULTILINE)).body:
                if isinstance(node, ast.FunctionDef) and node.name in exercise_of:
                    known[node.name] = node
                    used = needed(node.name, known)
                    module = ast.Module([known[name] for name in known if name in used], [])
                    found[exercise_of[node.name]] = (module, node.name)
    return found


def needed(name: str, known: dict[str, ast.FunctionDef]) -> set[str]:
    """A function and those of its lesson that it calls."""
    called = {node.id for node in ast.walk(known[name]) if isinstance(node, ast.Name)} & known.keys() - {name}
    return {name}.union(*(needed(other, known) for other in called))


def function_of(module: ast.Module, name: str) -> Any:
    """The function, made from its text with what the lessons import."""
    import numpy as np
    import torch
    from scipy import stats
    from torch.nn.functional import normalize, softplus

    space: dict[str, Any] = {"torch": torch, "math": math, "np": np, "t": stats.t}
    space |= {"normalize": normalize, "softplus": softplus}
    exec(compile(ast.fix_missing_locations(module), "<solution>", "exec"), space)  # noqa: S102, the project's own text
    return space[name]
