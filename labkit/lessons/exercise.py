"""Exercises that know their wrong answers: a mistake is named because it computes what that mistake computes.

An exercise holds a reference, cases to try, and a zoo of wrong answers with a hint each. A student's answer that fails
is compared with the zoo (`diagnosis.py`): the wrong answer that explains what came out gives its hint.
"""

from __future__ import annotations

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
    """A wrong answer that students really give, and what to tell them; also: other ways to write the same."""

    name: str
    hint: str
    answer: Answer
    also: tuple[Answer, ...] = ()


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


def outcome(exercise: Exercise, answer: Answer, case: Case) -> Any:
    """What an answer returns, with the gradient of a weighted sum of it if that counts."""
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
        gradients = torch.autograd.grad(weighted_sum(value), list(leaves.values()), allow_unused=True)
    # a value that does not depend on the argument has the gradient 0
    found = [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves.values(), gradients)]
    gradient = found[0] if len(found) == 1 else torch.cat([g.reshape(-1) for g in found])
    return {"value": value.detach(), "gradient": gradient}


def weighted_sum(value: Tensor) -> Tensor:
    """A sum whose gradient tells the entries apart: soft ranks, say, always add up to the same. grading/child.py has
    it, too."""
    weights = torch.rand(value.numel(), generator=torch.Generator().manual_seed(value.numel()), dtype=torch.float64)
    return (value.reshape(-1) * weights).sum() if value.numel() > 1 else value.sum()


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
