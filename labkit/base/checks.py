"""Checks of arguments that are numbers and words: a ValueError names the argument and says what was wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """One of the named choices."""
    choices = tuple(choices)
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_positive(name: str, value: float) -> None:
    """A finite number above zero."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")


def check_not_negative(name: str, value: float) -> None:
    """A finite number, zero or above."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a finite number, 0 or above, got {value!r}")


def check_count(name: str, value: int) -> None:
    """A whole number, 1 or above."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number, 1 or above; got {value!r}")


def check_counts(name: str, values: Sequence[int]) -> None:
    """At least one whole number, each 1 or above."""
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise ValueError(f"{name} must be a sequence of whole numbers such as (1, 2), got {values!r}")
    for value in values:
        check_count(name, value)


def check_ks(name: str, ks: Iterable[int]) -> tuple[int, ...]:
    """A non-empty sequence of whole numbers, 1 or above."""
    try:
        values = tuple(ks)
        wrong = any(isinstance(k, bool) or int(k) != k or k < 1 for k in values)
    except (TypeError, ValueError, OverflowError):  # not a sequence; text, None, NaN or infinity in it
        raise ValueError(f"{name} must be a sequence of whole numbers, got {ks!r}") from None
    if not values or wrong:
        raise ValueError(f"{name} must hold at least one whole number, each 1 or above; got {values!r}")
    return tuple(int(k) for k in values)
