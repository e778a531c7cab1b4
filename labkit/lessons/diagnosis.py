"""What is wrong with an answer: the mistake of the zoo that explains it, or what can be said of any wrong answer."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit.lessons.exercise import Answer, Case, Exercise, Result, Row, outcome, same, value_of

CLOSE = 0.01  # of the way from right to wrong: constants that are rounded, 1.96 for 1.959964, are the same mistake


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
    """Right if every case agrees; else the hint of the mistake that explains the cases that fail, and of several that
    do the one that computes the same on most of the others; or what can be said at all."""
    if all(row.agrees for row in rows):
        return Result(exercise, True, "", tuple(rows))
    best, most = None, (0, 0)
    for mistake in exercise.mistakes:
        for answer in (mistake.answer, *mistake.also):
            explained = how_many(exercise, answer, cases, rows)
            if explained > most:
                best, most = mistake, explained
    if best is not None:
        return Result(exercise, False, best.hint, tuple(rows), best.name)
    failed = next(row for row in rows if not row.agrees)
    name, hint = general_mistake(exercise, failed)
    return Result(exercise, False, hint, tuple(rows), name)


def how_many(exercise: Exercise, answer: Answer, cases: Sequence[Case], rows: Sequence[Row]) -> tuple[int, int]:
    """On how many cases a wrong answer gives what the student's gives, and on how many exactly; (0, 0) if it does not
    explain all that fail, or less than half of all: a single case can agree by chance."""
    count = exact = 0
    for case, row in zip(cases, rows):
        try:
            found = outcome(exercise, answer, case)
        except Exception:
            found = None
        if explains(found, row, exercise.tolerance):
            count += 1
            exact += same(found, row.found, exercise.tolerance)
        elif not row.agrees:
            return 0, 0
    return (count, exact) if 2 * count >= len(rows) else (0, 0)


def explains(mistaken: Any, row: Row, tolerance: float) -> bool:
    """Whether a wrong answer gives what the student's gives, up to the hundredth part of what it does wrong."""
    if same(mistaken, row.found, tolerance):
        return True
    wrong, found, right = (flat(x) for x in (mistaken, row.found, row.expected))
    if wrong is None or found is None or right is None or not wrong.shape == found.shape == right.shape:
        return False
    far = float((wrong - right).norm())
    return 0 < far < torch.inf and float((wrong - found).norm()) <= CLOSE * far


def flat(found: Any) -> Tensor | None:
    """All numbers of an outcome, value and gradient, one after the other."""
    parts = [value_of(part) for part in (found.values() if isinstance(found, dict) else [found])]
    numbers = [part.reshape(-1) for part in parts if part is not None]
    return torch.cat(numbers) if numbers and len(numbers) == len(parts) else None


def general_mistake(exercise: Exercise, row: Row) -> tuple[str, str]:
    """Name and hint of what any answer can do wrong; the name is empty where nothing can be said of the cause."""
    expected, found = value_of(row.expected), value_of(row.found)
    if found is None:
        return "nothing", f"It returns nothing that counts as a number (case: {row.label}). Is there a return?"
    if exercise.gradient is not None and not isinstance(row.found, dict):
        kind = "a NumPy array" if isinstance(row.found, np.ndarray) else "plain Python numbers"
        return "no tensor", (
            f"It returns {kind}; a torch tensor is needed, through which a gradient can flow: stay with torch, without "
            ".numpy(), .item(), float() or .tolist()."
        )
    if expected is None:
        return "", f"Not yet: see the case “{row.label}”."
    if expected.shape != found.shape and expected.numel() * found.numel() != 1:
        if found.dim() == 2 and found.mT.shape == expected.shape:
            return "transposed", f"Rows and columns have changed places: {tuple(found.shape)} (case: {row.label})."
        return "", f"Its shape is {tuple(found.shape)}, expected {tuple(expected.shape)} (case: {row.label})."
    if not_finite(found, expected):
        return "overflow", (
            f"It gives {'NaN' if bool(found.isnan().any()) else 'infinity'} (case: {row.label}): an exponential "
            "overflows, e^1000 is more than a number can hold, or something is divided by zero. torch.softmax, "
            "logsumexp and softplus do not overflow."
        )
    return general_gradient(row)


def general_gradient(row: Row) -> tuple[str, str]:
    """What can be said of value and gradient."""
    unknown = ("", f"Not yet: see the case “{row.label}”.")
    if not (isinstance(row.expected, dict) and isinstance(row.found, dict)) or row.expected.keys() != row.found.keys():
        return unknown
    slope, right = torch.as_tensor(row.found["gradient"]), torch.as_tensor(row.expected["gradient"])
    if slope.shape == right.shape and not_finite(slope, right):
        return "gradient overflows", (
            f"Its gradient is NaN or infinite (case: {row.label}): a root or a norm has an infinite slope at 0, and an "
            "exponential overflows; torch.where on the result comes too late, keep such numbers out before."
        )
    if not bool(slope.any()) and bool(right.any()):
        hint = "The value carries no gradient: use torch operations only, no .item(), float() or detach()."
        return "no gradient", hint
    if same(row.expected["value"], row.found["value"], 1e-5):
        return "", f"The value is right but its gradient is not (case: {row.label})."
    return unknown


def not_finite(found: Tensor, expected: Tensor) -> bool:
    """Whether NaN or infinity came where a finite number belongs."""
    return bool((~found.isfinite() & expected.isfinite()).any())
