"""Exercises that know their wrong answers: a mistake is named because it computes what that mistake computes.

An exercise holds a reference, cases to try, and a zoo of wrong answers with a hint each. A student's answer that fails
is compared with the zoo: if it agrees with a wrong answer on every case, that one's hint is given.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Answer = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """Arguments to try an answer with, and what to call them; edge: a case that shows care, not the idea."""

    label: str
    arguments: dict[str, Any]
    edge: bool = False


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that students really give, and what to tell them."""

    name: str
    hint: str
    answer: Answer


@dataclass(frozen=True)
class Exercise:
    """What is asked, the right answer, cases, and mistakes; gradient: argument(s) whose gradient counts too."""

    name: str
    task: str
    reference: Answer
    cases: Callable[[], Sequence[Case]]
    mistakes: tuple[Mistake, ...]
    tolerance: float = 1e-5
    gradient: str | tuple[str, ...] | None = None


@dataclass(frozen=True)
class Row:
    """One case: what was expected and what came."""

    label: str
    expected: Any
    found: Any
    agrees: bool


@dataclass(frozen=True)
class Result:
    """Whether an answer is right on every case; if not, a hint, and the name of the mistake if it is a known one."""

    exercise: Exercise
    passed: bool
    hint: str
    rows: tuple[Row, ...]
    mistake: str = ""

    def _ipython_display_(self) -> None:
        """Nothing: the check has shown the feedback already."""


def judge(exercise: Exercise, answer: Answer, cases: Sequence[Case] | None = None) -> Result:
    """Try an answer on every case (default: the public ones) and find the likeliest mistake."""
    if not callable(answer):
        return Result(exercise, False, f"Give the function itself, not what it returns: check.{exercise.name}(f).", ())
    cases = exercise.cases() if cases is None else cases
    rows: list[Row] = []
    for case in cases:
        expected = outcome(exercise, exercise.reference, case)
        before = copy.deepcopy(case.arguments)
        try:
            found = outcome(exercise, answer, case)
        except NotImplementedError:
            return Result(exercise, False, "Not written yet: replace the line that raises NotImplementedError.", ())
        except Exception as error:
            hint = f"It stops with {type(error).__name__}: {error} (case: {case.label})."
            return Result(exercise, False, hint, tuple(rows))
        if not same(before, case.arguments, 0.0):
            hint = f"It changes its arguments (case: {case.label}); compute into new tensors instead."
            return Result(exercise, False, hint, tuple(rows))
        rows.append(Row(case.label, expected, found, same(expected, found, exercise.tolerance)))
    return verdict(exercise, cases, rows)


def verdict(exercise: Exercise, cases: Sequence[Case], rows: Sequence[Row]) -> Result:
    """Right if every case agrees; else the hint of the mistake that computes the same, or what can be said at all."""
    if all(row.agrees for row in rows):
        return Result(exercise, True, "", tuple(rows))
    for mistake in exercise.mistakes:
        if computes_the_same(exercise, mistake.answer, cases, rows):
            return Result(exercise, False, mistake.hint, tuple(rows), mistake.name)
    return Result(exercise, False, general_hint(next(row for row in rows if not row.agrees)), tuple(rows))


def outcome(exercise: Exercise, answer: Answer, case: Case) -> Any:
    """What an answer returns, with the gradient of its sum if that counts."""
    arguments = dict(case.arguments)
    if exercise.gradient is None:
        return answer(**arguments)
    names = (exercise.gradient,) if isinstance(exercise.gradient, str) else exercise.gradient
    leaves = {name: arguments[name].detach().clone().requires_grad_() for name in names}
    value = answer(**(arguments | leaves))
    if not isinstance(value, Tensor):
        return value
    gradients: Sequence[Tensor | None] = [None] * len(leaves)
    if value.requires_grad:
        gradients = torch.autograd.grad(value.sum(), list(leaves.values()), allow_unused=True)
    # a value that does not depend on the argument has the gradient 0
    found = [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves.values(), gradients)]
    gradient = found[0] if len(found) == 1 else torch.cat([g.reshape(-1) for g in found])
    return {"value": value.detach(), "gradient": gradient}


def computes_the_same(exercise: Exercise, answer: Answer, cases: Sequence[Case], rows: Sequence[Row]) -> bool:
    """Whether a wrong answer gives what the student's gives, on every case."""
    for case, row in zip(cases, rows):
        try:
            found = outcome(exercise, answer, case)
        except Exception:
            return False
        if not same(found, row.found, exercise.tolerance):
            return False
    return True


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Equal structure and, up to the tolerance, equal numbers; NaN equals NaN."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b))
    if a is None or b is None or isinstance(a, str) or isinstance(b, str) or callable(a) or callable(b):
        return a is b or (type(a) is type(b) and a == b)
    try:
        x, y = torch.as_tensor(a, dtype=torch.float64), torch.as_tensor(b, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return False
    if x.shape != y.shape and not (x.numel() == y.numel() == 1):
        return False
    return bool(torch.allclose(x.reshape(-1), y.reshape(-1), rtol=tolerance, atol=tolerance, equal_nan=True))


def general_hint(row: Row) -> str:
    """What can be said about an unknown mistake."""
    expected, found = value_of(row.expected), value_of(row.found)
    if found is None:
        return f"It returns nothing that counts as a number (case: {row.label}). Is there a return?"
    if expected is not None and expected.shape != found.shape and expected.numel() * found.numel() != 1:
        return f"Its shape is {tuple(found.shape)}, expected {tuple(expected.shape)} (case: {row.label})."
    if bool(found.isnan().any()) and expected is not None and not bool(expected.isnan().any()):
        return f"It gives NaN (case: {row.label}). Is something divided by zero?"
    if isinstance(row.expected, dict) and isinstance(row.found, dict) and row.expected.keys() == row.found.keys():
        if not bool(torch.as_tensor(row.found["gradient"]).any()):
            return "The value carries no gradient: use torch operations only, no .item(), float() or detach()."
        if same(row.expected["value"], row.found["value"], 1e-5):
            return f"The value is right but its gradient is not (case: {row.label})."
    return f"Not yet: see the case “{row.label}”."


def value_of(found: Any) -> Tensor | None:
    """The number or tensor in an outcome."""
    if isinstance(found, dict):
        found = found.get("value")
    try:
        return torch.as_tensor(found, dtype=torch.float64) if found is not None else None
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return None


def short(found: Any) -> str:
    """An outcome in a few characters."""
    value = value_of(found)
    if value is None:
        return repr(found)[:60]
    if value.numel() == 1:
        number = float(value)
        return "NaN" if math.isnan(number) else f"{number:.5g}"
    shown = ", ".join(f"{x:.4g}" for x in value.reshape(-1)[:6].tolist())
    return f"[{shown}{', …' if value.numel() > 6 else ''}] {tuple(value.shape)}"
