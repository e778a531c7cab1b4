"""Runs in the sealed room: defines a student's functions, calls them on the cases, and sends what they return.

Nothing here is secret and nothing here is trusted: whatever the student's code does to this process, only values leave
it, and the parent compares them. The job comes on standard input, one line a question goes to standard output.
"""

from __future__ import annotations

import ast
import builtins
import json
import os
import sys
import traceback
from typing import Any

sys.path[:0] = json.loads(os.environ.pop("LABKIT_PATH"))  # the parent's choice of packages, and this folder

import math  # noqa: E402

import numpy as np  # noqa: E402
import torch  # noqa: E402
import wire  # type: ignore[import-not-found]  # noqa: E402
from torch import Tensor  # noqa: E402


def main() -> None:
    """Answer every question of the job."""
    job = json.loads(sys.stdin.buffer.readline())
    results = os.fdopen(os.dup(1), "wb", buffering=0)
    nowhere = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)  # what a student prints goes nowhere
    torch.set_num_threads(1)
    torch.compile = uncompiled  # type: ignore[assignment]
    results.write(wire.line({"ready": True}))
    for question in job["questions"]:
        results.write(wire.line({"question": question["name"], **answer(question, job["cells"])}))
    results.write(wire.line({"done": True}))
    os._exit(0)  # threads that a student left behind do not hold it up


def uncompiled(model: Any = None, **_: Any) -> Any:
    """In place of torch.compile: there is no compiler in the room, and eager code computes the same."""
    return (lambda function: function) if model is None else model


def answer(question: dict[str, Any], cells: dict[str, str]) -> dict[str, Any]:
    """What the question's function returns for every case, or why there is none."""
    name = question["name"]
    space: dict[str, Any] = {
        "__name__": "__main__",
        "__builtins__": builtins,
        "math": math,
        "np": np,
        "numpy": np,
        "torch": torch,
        "Tensor": Tensor,
    }
    for cell in needed(name, cells):
        try:
            exec(compile(cells[cell], f"<{cell}>", "exec"), space)  # noqa: S102 (what the sealed room is for)
        except BaseException as error:
            if cell == name:
                return {"error": explain(error)}
    function = space.get(name)
    if not callable(function):
        return {"error": f"there is no function {name}: was its name changed?"}
    found: list[Any] = []
    for packed in question["cases"]:
        arguments = {key: wire.unpack(value) for key, value in packed.items()}
        try:
            value, after = outcome(function, arguments, question["gradient"])
            found.append({"value": wire.pack(value), "arguments": after})
        except NotImplementedError:
            return {"error": "not written yet", "empty": True}
        except BaseException as error:
            found.append({"error": explain(error)})
    return {"cases": found}


def needed(name: str, cells: dict[str, str]) -> list[str]:
    """The answer cells that a question rests on, in the notebook's order: its own, and those whose names it uses."""
    used: dict[str, set[str]] = {}
    defined: dict[str, str] = {}
    for cell, source in cells.items():
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            used[cell] = set()
            continue
        used[cell] = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        for node in tree.body:
            for found in top_level_names(node):
                defined.setdefault(found, cell)
    chosen, waiting = {name} & cells.keys(), [name] if name in cells else []
    while waiting:
        for other in used[waiting.pop()] & defined.keys():
            if defined[other] not in chosen:
                chosen.add(defined[other])
                waiting.append(defined[other])
    return [cell for cell in cells if cell in chosen]


def top_level_names(node: ast.stmt) -> set[str]:
    """What a statement defines."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    return {found.id for found in ast.walk(node) if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store)}


def outcome(function: Any, arguments: dict[str, Any], gradient: list[str]) -> tuple[Any, dict[str, Any]]:
    """What a call returns, with the gradient of a weighted sum of it if that counts; and the arguments after it."""
    leaves = {name: arguments[name].detach().clone().requires_grad_() for name in gradient}
    given = arguments | leaves
    value = function(**given)
    after = {key: wire.pack(item) for key, item in given.items()}
    if not gradient or not isinstance(value, Tensor):
        return value, after
    found: Any = [None] * len(leaves)
    if value.requires_grad:
        found = torch.autograd.grad(weighted_sum(value), list(leaves.values()), allow_unused=True)
    slopes = [torch.zeros_like(leaf) if slope is None else slope for leaf, slope in zip(leaves.values(), found)]
    flat = slopes[0] if len(slopes) == 1 else torch.cat([slope.reshape(-1) for slope in slopes])
    return {"value": value.detach(), "gradient": flat}, after


def weighted_sum(value: Tensor) -> Tensor:
    """As in labkit/lessons/exercise.py, which cannot be imported here."""
    weights = torch.rand(value.numel(), generator=torch.Generator().manual_seed(value.numel()), dtype=torch.float64)
    return (value.reshape(-1) * weights).sum() if value.numel() > 1 else value.sum()


def explain(error: BaseException) -> str:
    """Kind, message and line of an error."""
    places = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<")]
    where = f" (line {places[-1]} of the cell)" if places else ""
    return f"{type(error).__name__}: {error}"[:300] + where


if __name__ == "__main__":
    main()
