"""JSON into dataclasses: each field is of its kind, or a sentence names the field and says what is wrong with it.

Reading never raises, whatever the JSON holds: a wrong field gets its default and a sentence, the others are read.
Names that the dataclass does not have are passed over: a later version may have written them.
"""

from __future__ import annotations

import math
import types
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Needed = Annotated[T, "needed"]  # a sound file has this field, with a value; the default stands in for a wrong one
NeededOrNull = Annotated[T, "needed", "null"]  # a sound file has it, null where the value is not known
LARGEST = 2**63  # whole numbers that any file format can hold
DEEPEST = 20  # levels of a free object: deeper ones break whatever walks through them


class Unfit(Exception):
    """A value is not of the kind that its field has."""


@dataclass(frozen=True)
class Kind:
    """What a field may hold, in words, and how it is read; `read` raises Unfit, and tells of wrong parts inside.

    read_all: reads many values at once, None if it is not plain that all are right: thousands of runs have many.
    """

    words: str
    read: Callable[[Any, list[str]], Any]
    read_all: Callable[[Collection[Any]], Iterable[Any] | None] = lambda values: None

    @property
    def takes_text(self) -> bool:
        """Whether any text in ASCII is right as it is."""
        return self.read_all is plain_texts


def read_as(kind: type[T], content: object, where: str) -> tuple[T, list[str]]:
    """The content of a JSON file as a dataclass, and one sentence for each field that is missing or wrong."""
    if not isinstance(content, dict):
        return kind(), [f"{where} must hold an object"]
    wrong: list[str] = []
    return read_fields(kind, content, wrong), [f"{where}: {sentence}" for sentence in wrong]


def read_fields(kind: type[T], content: dict[str, Any], wrong: list[str]) -> T:
    """The fields of a dataclass; sentences begin with the name of the field, what it lies in is put before them."""
    found: dict[str, Any] = {}
    for name, inner, is_needed in kinds_of(kind):  # type: ignore[arg-type]  # a class is hashable
        if name in content:
            value = content[name]
            if type(value) is str and inner.takes_text and value.isascii():  # most fields of thousands of runs
                found[name] = value
            else:
                read_into(found, name, inner, value, name, wrong)
        elif is_needed:
            wrong.append(f"{name} is missing")
    return kind(**found)


def read_into(found: dict[str, Any], name: str, kind: Kind, value: Any, called: str, wrong: list[str]) -> None:
    """Put a value where it belongs, or tell why not; called: its name in what is told."""
    inside: list[str] = []
    try:
        found[name] = kind.read(value, inside)
    except Unfit as reason:
        wrong.append(f"{called} must be {kind.words}, got {reason}")
    if inside:
        wrong += [f"{called}: {sentence}" for sentence in inside]


@cache
def kinds_of(dataclass_type: Any) -> list[tuple[str, Kind, bool]]:
    """Name, kind, and whether it is required, of every field."""
    found = []
    for name, hint in get_type_hints(dataclass_type, include_extras=True).items():
        marks = getattr(hint, "__metadata__", ())
        hint = get_args(hint)[0] if marks else hint
        # None may stand in for a wrong value, but not in the file
        kind = kind_of(without_none(hint) if marks == ("needed",) else hint)
        found.append((name, kind, "needed" in marks))
    return found


def without_none(hint: Any) -> Any:
    """A type without its None."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    (rest,) = (part for part in get_args(hint) if part is not type(None))
    return rest


def kind_of(hint: Any) -> Kind:
    """The kind of a type; these are the types that records are made of."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = kind_of(without_none(hint))
        return Kind(
            f"{inner.words} or null",
            lambda v, wrong: None if v is None else inner.read(v, wrong),
            inner.read_all,
        )
    if is_dataclass(hint):
        return Kind("an object", lambda v, wrong: read_fields(hint, an_object(v), wrong))  # type: ignore[arg-type]
    if origin in (tuple, list):
        inner = kind_of(parts[0])
        return Kind("a list", lambda v, wrong: origin(read_list(inner, v, wrong)))
    if origin is dict and parts[1] is not Any:
        inner = kind_of(parts[1])
        return Kind("an object", lambda v, wrong: read_dict(inner, v, wrong))
    return PLAIN[origin or hint]


def read_list(inner: Kind, value: Any, wrong: list[str]) -> Iterable[Any]:
    """A list of one kind; wrong entries are left out."""
    if not isinstance(value, list | tuple):
        raise Unfit(type_name(value))
    found: dict[str, Any] = {}
    for number, entry in enumerate(value):
        read_into(found, str(number), inner, entry, str(number), wrong)
    return found.values()


def read_dict(inner: Kind, value: Any, wrong: list[str]) -> dict[str, Any]:
    """An object whose values are of one kind; wrong ones are left out."""
    plain = inner.read_all(an_object(value).values())
    if plain is not None and "".join(value).isascii():
        return dict(zip(value, plain))
    found: dict[str, Any] = {}
    for name, entry in value.items():
        name = whole(name)
        read_into(found, name, inner, entry, name[:40], wrong)
    return found


def an_object(value: Any) -> dict[str, Any]:
    """An object of JSON, as it is."""
    if not isinstance(value, dict):
        raise Unfit(type_name(value))
    return value


def free_object(value: Any) -> dict[str, Any]:
    """An object of anything, within reasonable depth and size of numbers."""
    found: dict[str, Any] = cleaned(an_object(value), DEEPEST)
    return found


def cleaned(value: Any, depth: int) -> Any:
    """A value that can be shown, compared and written again."""
    if not depth:
        raise Unfit(f"one that is more than {DEEPEST} levels deep")
    if isinstance(value, dict):
        return {whole(name): cleaned(entry, depth - 1) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(entry, depth - 1) for entry in value]
    if isinstance(value, str):
        return whole(value)
    if value is None or isinstance(value, bool):
        return value
    try:
        return a_number(value)
    except Unfit as reason:
        raise Unfit(f"one that holds {reason}") from None


def a_text(value: Any) -> str:
    """Text whose signs can all be written again."""
    if not isinstance(value, str):
        raise Unfit(type_name(value))
    return whole(value)


def a_whole_number(value: Any) -> int:
    """A whole number; Python counts True as one, JSON does not."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unfit(type_name(value))
    if not -LARGEST <= value < LARGEST:
        raise Unfit("a number beyond ±2^63")
    return value


def a_number(value: Any) -> int | float:
    """A finite number; 1 with 400 zeros behind it is a whole number of JSON, but no float."""
    if not isinstance(value, float):
        return a_whole_number(value)
    if not math.isfinite(value):
        raise Unfit("a number that is not finite")
    return value


def finite(value: Any) -> float | None:
    """The value as a float if it is a finite number, else None."""
    try:
        return float(a_number(value))
    except Unfit:
        return None


def true_or_false(value: Any) -> bool:
    """True or false; 0 and 1 are numbers."""
    if not isinstance(value, bool):
        raise Unfit(type_name(value))
    return value


def type_name(value: Any) -> str:
    """What stands there instead."""
    return "null" if value is None else type(value).__name__


def whole(text: str) -> str:
    """Text that can be written as UTF-8: JSON and file names may hold halves of characters, which tables refuse."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def plain_texts(values: Collection[Any]) -> Collection[str] | None:
    """Nothing but texts in ASCII."""
    return values if set(map(type, values)) <= {str} and "".join(values).isascii() else None


def plain_numbers(values: Collection[Any]) -> Iterable[float] | None:
    """Nothing but numbers of a usual size; a sum with NaN is NaN."""
    if not set(map(type, values)) <= {int, float} or max(map(abs, values), default=0) >= LARGEST:
        return None
    return map(float, values) if math.isfinite(sum(values)) else None


PLAIN = {
    str: Kind("text", lambda value, _: a_text(value), plain_texts),
    int: Kind("a whole number", lambda value, _: a_whole_number(value)),
    float: Kind("a number", lambda value, _: float(a_number(value)), plain_numbers),
    bool: Kind("true or false", lambda value, _: true_or_false(value)),
    dict: Kind("an object", lambda value, _: free_object(value)),
}
