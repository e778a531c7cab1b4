"""What can be said of a wrong answer by trying it again: arguments that it does not use, and changes of an argument
that must not matter, or must."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor

from labkit.lessons.exercise import Answer, Case, Exercise, same
from labkit.lessons.relations import NOTHING, Named

Change = Callable[[Any], Any]


def probed(exercise: Exercise, answer: Answer, cases: Sequence[Case]) -> Named:
    """An argument without effect, or a change of one after which the right answer and this one part."""
    names = list(cases[0].arguments)
    for name in names:
        if parts_company(exercise, answer, cases, name, another) == "stays":
            return f"{name} unused", f"Whatever {name} is, your answer stays the same; the right one depends on it."
    for words, change in CHANGES.items():
        for name in names:
            match parts_company(exercise, answer, cases, name, change):
                case "stays":
                    hint = f"When {name} is {words}, the right answer changes; yours stays the same."
                    return f"{name} {words}", hint
                case "changes":
                    hint = f"When {name} is {words}, the right answer stays the same; yours changes."
                    return f"{name} {words}", hint
    return NOTHING


def parts_company(exercise: Exercise, answer: Answer, cases: Sequence[Case], name: str, change: Change) -> str:
    """What the answer does after the change where the right one does the other in all of at least two cases."""
    done = []
    for arguments, changed in pairs(cases, name, change):
        with suppress(Exception):  # the changed argument may be outside of what is asked
            kept = same(exercise.reference(**arguments), exercise.reference(**changed), 1e-6)
            done.append((kept, same(answer(**arguments), answer(**changed), 1e-6)))
    if len(done) < 2:
        return ""
    if all(kept and not mine for kept, mine in done):
        return "changes"
    moved = [mine for kept, mine in done if not kept]
    return "stays" if len(moved) >= 2 and all(moved) and all(mine for _, mine in done) else ""


def pairs(cases: Sequence[Case], name: str, change: Change) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each case's arguments, and the same with one changed."""
    for case in cases:
        found = change(case.arguments[name])
        if found is not None:
            yield copied(case.arguments), copied(case.arguments) | {name: found}


def copied(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments that an answer may spoil."""
    return {key: value.clone() if isinstance(value, Tensor) else value for key, value in arguments.items()}


def another(value: Any) -> Any:
    """A different value of the same kind; None where there is none."""
    match value:
        case Tensor() if value.numel() > 1:
            rolled = turned(value)
            return rolled * 0.7 if value.is_floating_point() else rolled
        case bool():
            return not value
        case int():
            return value + 1
        case float():
            return value * 1.7
        case list() | tuple() if len(value) > 1:
            moved = any(isinstance(entry, float) for entry in value)
            changed = [x * (0.7 + 0.1 * place) for place, x in enumerate(value)] if moved else turned(list(value))
            return type(value)(changed)
        case dict() if len(value) > 1:
            return {key: 0.5 * number for key, number in value.items()}
    return None


def turned(value: Any) -> Any:
    """The last entry or row first, the others behind it."""
    if isinstance(value, Tensor):
        return value.roll(1, 0) if value.dim() > 0 else None
    return [value[-1], *value[:-1]] if isinstance(value, list) else None


def of_reals(change: Callable[[Tensor], Tensor]) -> Change:
    """A change of tensors of real numbers; None for other values."""

    def changed(value: Any) -> Any:
        real = isinstance(value, Tensor) and value.is_floating_point() and value.dim() > 0
        return change(value) if real else None

    return changed


def of_lists(change: Callable[[list[Any]], list[Any]]) -> Change:
    """A change of lists of numbers; None for other values."""
    return lambda value: change(value) if isinstance(value, list) and len(value) > 1 else None


def other_lengths(value: Tensor) -> Tensor:
    """Rows that point the same way and are longer or shorter."""
    return value * torch.linspace(0.5, 2.0, len(value), dtype=value.dtype).reshape(-1, *[1] * (value.dim() - 1))


CHANGES: dict[str, Change] = {
    "given rows of other lengths": of_reals(lambda x: other_lengths(x) if x.dim() > 1 else x),
    "multiplied by 2": of_reals(lambda x: 2 * x),
    "increased by 0.1 throughout": of_reals(lambda x: x + 0.1),
    "put into another order": turned,
    "increased by 1 throughout": of_lists(lambda x: [entry + 1 for entry in x]),
}
