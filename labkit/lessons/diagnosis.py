"""What is wrong with an answer: the mistake of the zoo that explains it, or what can be said of any wrong answer."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit.lessons.exercise import Answer, Case, Exercise, Result, Row, outcome, same, value_of
from labkit.lessons.probes import probed
from labkit.lessons.relations import relation
from labkit.lessons.slips import slips_of
from labkit.lessons.solutions import function_of, solutions

CLOSE = 0.01  # of the way from right to wrong: constants that are rounded, 1.96 for 1.959964, are the same mistake

PLAIN = {"sign", "one minus", "factor", "sum for mean", "divided too often"}  # rules that join a known mistake


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
            return Result(exercise, False, hint, tuple(rows), "stops")
        if not same(before, case.arguments, 0.0):
            hint = f"It changes its arguments (case: {case.label}); compute into new tensors instead."
            return Result(exercise, False, hint, tuple(rows), "changes its arguments")
        rows.append(Row(case.label, expected, found, same(expected, found, exercise.tolerance)))
    result = verdict(exercise, cases, rows)
    if result.passed or result.mistake:
        return result
    name, hint = probed(exercise, answer, cases)
    return Result(exercise, False, hint, result.rows, name) if name else result


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
    if (known := known_up_to_a_rule(exercise, cases, rows)) is not None:
        return known
    if (slip := slipped(exercise, cases, rows)) is not None:
        return Result(exercise, False, f"It computes what the solution would with a slip: {slip}.", tuple(rows), slip)
    failed = next(row for row in rows if not row.agrees)
    name, hint = general_mistake(exercise, failed)
    if not name and (found := relation(cases, rows))[0]:
        name, hint = found
    return Result(exercise, False, hint, tuple(rows), name)


def slipped(exercise: Exercise, cases: Sequence[Case], rows: Sequence[Row]) -> str | None:
    """The slip in the lesson's solution that explains what came out."""
    if exercise.name not in solutions():
        return None
    module, name = solutions()[exercise.name]
    best, most = None, (0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # slips divide by zero and take means of nothing
        for changed, words in slips_of(module):
            explained = how_many(exercise, function_of(changed, name), cases, rows)
            if explained > most:
                best, most = words, explained
    return best


def known_up_to_a_rule(exercise: Exercise, cases: Sequence[Case], rows: Sequence[Row]) -> Result | None:
    """A mistake of the zoo with a sign, a factor or a divisor of its own besides."""
    if all(same(value_of(row.expected), value_of(row.found), exercise.tolerance) for row in rows):
        return None  # a wrong gradient of right values
    for mistake in exercise.mistakes:
        for answer in (mistake.answer, *mistake.also):
            made = [attempt(exercise, answer, case) for case in cases]
            compared = [Row(row.label, wrong, row.found, False) for wrong, row in zip(made, rows)]
            name, hint = relation(cases, compared)
            if name in PLAIN:
                besides = hint.replace("the right one", "what this mistake gives").replace("too", "then too")
                return Result(exercise, False, f"{mistake.hint} Besides: {besides}", tuple(rows), mistake.name)
    return None


def how_many(exercise: Exercise, answer: Answer, cases: Sequence[Case], rows: Sequence[Row]) -> tuple[int, int]:
    """On how many cases a wrong answer gives what the student's gives, and on how many exactly; (0, 0) if it does not
    explain all that fail, or less than half of all: a single case can agree by chance."""
    count = exact = 0
    for case, row in zip(cases, rows):
        found = attempt(exercise, answer, case)
        if explains(found, row, exercise.tolerance):
            count += 1
            exact += same(found, row.found, exercise.tolerance)
        elif not row.agrees:
            return 0, 0
    return (count, exact) if 2 * count >= len(rows) else (0, 0)


def attempt(exercise: Exercise, answer: Answer, case: Case) -> Any:
    """What a wrong answer of the zoo gives; None where it stops."""
    try:
        return outcome(exercise, answer, case)
    except Exception:
        return None


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
        return "shape", shape_hint(found, expected, row.label)
    if not_finite(found, expected):
        return "overflow", (
            f"It gives {'NaN' if bool(found.isnan().any()) else 'infinity'} (case: {row.label}): an exponential "
            "overflows, e^1000 is more than a number can hold, or something is divided by zero. torch.softmax, "
            "logsumexp and softplus do not overflow."
        )
    return general_gradient(row)


def shape_hint(found: Tensor, expected: Tensor, label: str) -> str:
    """Which shape came, and what that says."""
    why = ""
    if expected.numel() == 1:
        why = " One number is asked for: is a sum or a mean missing?"
    elif found.numel() == 1:
        why = " Several numbers are asked for: is there a sum or a mean too many?"
    elif found.dim() < expected.dim():
        why = " An axis is lost: one was indexed or summed that should stay."
    return f"Its shape is {tuple(found.shape)}, expected {tuple(expected.shape)} (case: {label}).{why}"


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
        return "gradient", (
            f"The value is right but its gradient is not (case: {row.label}): a part of it is cut off, by detach(), "
            "item() or a comparison, or flows where it should be stopped."
        )
    return unknown


def not_finite(found: Tensor, expected: Tensor) -> bool:
    """Whether NaN or infinity came where a finite number belongs."""
    return bool((~found.isfinite() & expected.isfinite()).any())
