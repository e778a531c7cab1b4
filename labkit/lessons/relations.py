"""What can be said of a wrong answer that is not in the zoo: how its numbers are related to the right ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from labkit.lessons.exercise import Case, Row, value_of

Named = tuple[str, str]  # a mistake's name and its hint; empty names say nothing
NOTHING = ("", "")
FEW = 3  # different right numbers that a relation must hold for: two can agree by chance

CHANGES: dict[str, tuple[str, Callable[[Tensor], Tensor]]] = {
    "sign": ("the negative of", lambda x: -x),
    "one minus": ("1 minus", lambda x: 1 - x),
    "reciprocal": ("1 divided by", lambda x: 1 / x),
    "square": ("the square of", lambda x: x**2),
    "root": ("the square root of", lambda x: x.clamp(min=0).sqrt()),
    "logarithm": ("the logarithm of", lambda x: x.clamp(min=0).log()),
    "exponential": ("the exponential of", lambda x: x.exp()),
}


def relation(cases: Sequence[Case], rows: Sequence[Row]) -> Named:
    """How the numbers found are made from the right ones, if one rule holds for all cases."""
    both = numbers(rows)
    if both is None:
        return NOTHING
    right, found = both
    if close(right, found):
        return NOTHING  # the gradient is wrong, not the value
    for name, (words, change) in CHANGES.items():
        if close(change(right), found):
            return name, f"In every case your number is {words} the right one."
    largest = int(right.abs().argmax())
    factor, offset = float(found[largest] / right[largest]), float(found[largest] - right[largest])
    if factor and close(factor * right, found):
        return "factor", f"In every case your number is {factor:.4g} times the right one."
    if close(right + offset, found):
        return "offset", f"In every case your number is the right one {'+' if offset > 0 else '−'} {abs(offset):.4g}."
    if (size := by_a_size(cases, rows)) is not None:
        return size
    if all(in_another_order(row) for row in rows):
        return "order", "The numbers are right but stand in another order: look at the axes and at the sorting."
    return outside(right, found)


def by_a_size(cases: Sequence[Case], rows: Sequence[Row]) -> Named | None:
    """A factor that is a number of items in every case, as where a sum is taken for a mean."""
    ratios: list[float | None] = []
    for row in rows:
        right, found = value_of(row.expected), value_of(row.found)
        if right is None or found is None or not bool(right.any()):
            ratios.append(None)  # nothing to tell from 0
            if found is not None and bool(found.any()):
                return None
            continue
        largest = int(right.abs().argmax())
        ratio = found.reshape(-1)[largest] / right.reshape(-1)[largest]
        if not close(ratio * right, found):
            return None
        ratios.append(float(ratio))
    known = [sizes(case) for case in cases]
    for name in known[0]:
        pairs = [(r, size[name]) for r, size in zip(ratios, known) if r is not None and name in size]
        if len({size for _, size in pairs}) < 2:
            continue
        if all(abs(r - size) < 1e-5 * size for r, size in pairs):
            return (
                "sum for mean",
                f"In every case it is too large by the factor {name}: a mean is asked for, not a sum.",
            )
        if all(abs(r * size - 1) < 1e-5 for r, size in pairs):
            return "divided too often", f"In every case it is too small by the factor {name}: nothing divides by it."
    return None


def sizes(case: Case) -> dict[str, int]:
    """Numbers of items that a case has, by what they are; none is 0."""
    found: dict[str, int] = {}
    for name, value in case.arguments.items():
        if isinstance(value, Tensor):
            found |= {f"{name}.shape[{axis}]": size for axis, size in enumerate(value.shape)}
            if value.dtype == torch.bool:
                found |= {f"{name}.sum()": int(value.sum()), f"(~{name}).sum()": int((~value).sum())}
        elif isinstance(value, list | tuple | dict):
            found[f"len({name})"] = len(value)
        elif isinstance(value, int):
            found[name] = value
    return {name: size for name, size in found.items() if size}


def numbers(rows: Sequence[Row]) -> tuple[Tensor, Tensor] | None:
    """All right and all found numbers; None where shapes differ or the right ones are too few to tell."""
    pairs = [(value_of(row.expected), value_of(row.found)) for row in rows]
    kept = [(a.reshape(-1), b.reshape(-1)) for a, b in pairs if a is not None and b is not None]
    if len(kept) < len(rows) or any(a.shape != b.shape for a, b in kept):
        return None
    right, found = torch.cat([a for a, _ in kept]), torch.cat([b for _, b in kept])
    told = right.unique().numel() >= FEW and bool(right.isfinite().all() and found.isfinite().all())
    return (right, found) if told else None


def close(a: Tensor, b: Tensor) -> bool:
    """The same numbers in the same order, up to rounding, whatever their shapes."""
    first, second = a.reshape(-1), b.reshape(-1)
    return len(first) == len(second) and torch.allclose(first, second, rtol=1e-5, atol=1e-7, equal_nan=True)


def in_another_order(row: Row) -> bool:
    """Whether a case has the right numbers, not in their places."""
    right, found = value_of(row.expected), value_of(row.found)
    if right is None or found is None:
        return False
    return close(right.reshape(-1).sort().values, found.reshape(-1).sort().values)


def outside(right: Tensor, found: Tensor) -> Named:
    """Numbers that cannot be: outside 0 … 1 where all right ones lie in it, or below 0 where none is."""
    low, high = float(found.min()), float(found.max())
    if float(right.min()) >= 0 and low < -1e-6:
        return "negative", f"It can be negative ({low:.4g}); the right answer never is."
    if float(right.min()) >= 0 and float(right.max()) <= 1 and high > 1 + 1e-6:
        return "above one", f"The right answer lies between 0 and 1, yours reaches {high:.4g}. A mean, not a sum?"
    return NOTHING
