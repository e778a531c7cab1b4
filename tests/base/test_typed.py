"""JSON into dataclasses: any JSON is read, and what is wrong is named."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.base.typed import DEEPEST, Needed, NeededOrNull, finite, read_as

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@dataclass(frozen=True)
class Part:
    count: int = 3
    share: float = 0.5


@dataclass(frozen=True)
class Whole:
    name: Needed[str] = ""
    seed: Needed[int | None] = None
    error: NeededOrNull[str | None] = None
    right: bool = True
    part: Part = field(default_factory=Part)
    free: dict[str, Any] = field(default_factory=dict)
    values: dict[str, float | None] = field(default_factory=dict)
    several: tuple[int, ...] = ()


GOOD = {"name": "a", "seed": 1, "error": None}


def nested(depth):
    return {"in": nested(depth - 1)} if depth else 1


def test_a_sound_object_is_read_with_its_defaults():
    content = GOOD | {"part": {"count": 4}, "values": {"x": 1, "y": None}, "several": [1, 2], "unknown": 7}
    found, wrong = read_as(Whole, content, "file.json")
    assert wrong == []
    assert found == Whole("a", 1, None, True, Part(4, 0.5), {}, {"x": 1.0, "y": None}, (1, 2))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 3}, "file.json: name must be text, got int"),
        ({"seed": None}, "file.json: seed must be a whole number, got null"),
        ({"seed": True}, "file.json: seed must be a whole number, got bool"),
        ({"seed": 10**400}, "file.json: seed must be a whole number, got a number beyond ±2^63"),
        ({"error": 1}, "file.json: error must be text or null, got int"),
        ({"right": 1}, "file.json: right must be true or false, got int"),
        ({"part": {"share": 10**400}}, "file.json: part: share must be a number, got a number beyond ±2^63"),
        ({"part": {"share": float("inf")}}, "file.json: part: share must be a number, got a number that is not finite"),
        ({"part": []}, "file.json: part must be an object, got list"),
        ({"free": {"x": [10**400]}}, "file.json: free must be an object, got one that holds a number beyond ±2^63"),
        ({"free": nested(DEEPEST)}, "file.json: free must be an object, got one that is more than 20 levels deep"),
        ({"values": {"x": "1"}}, "file.json: values: x must be a number or null, got str"),
        ({"several": [1, 2.5]}, "file.json: several: 1 must be a whole number, got float"),
    ],
)
def test_a_wrong_field_is_named_and_the_others_are_read(change, said):
    found, wrong = read_as(Whole, GOOD | change, "file.json")
    assert wrong == [said]
    (name,) = change
    for other in {"name", "seed", "error"} - {name}:
        assert getattr(found, other) == GOOD[other]


def test_what_is_missing_is_named_where_it_is_needed():
    assert read_as(Whole, {}, "f")[1] == ["f: name is missing", "f: seed is missing", "f: error is missing"]
    assert read_as(Whole, [1], "f") == (Whole(), ["f must hold an object"])


@given(st.dictionaries(st.sampled_from([*Whole.__dataclass_fields__]), JSON) | JSON)
def test_any_json_is_read_and_the_result_can_be_written_again(content):
    found, wrong = read_as(Whole, content, "f")
    assert isinstance(found, Whole)
    if not wrong:
        again = json.loads(json.dumps(found.__dict__ | {"part": found.part.__dict__}))
        assert read_as(Whole, again, "f") == (found, [])


def test_halves_of_characters_become_question_marks():
    found, wrong = read_as(Whole, GOOD | {"name": "a\ud800", "free": {"\ud800": ["\ud800"]}}, "f")
    assert (found.name, found.free, wrong) == ("a?", {"?": ["?"]}, [])


@pytest.mark.parametrize(("value", "number"), [(1, 1.0), (0.5, 0.5), (10**400, None), ("1", None), (True, None)])
def test_only_finite_numbers_are_numbers(value, number):
    assert finite(value) == number
    assert finite(float("nan")) is None


@pytest.mark.parametrize("wrong", [10**400, -(2**63) - 1, 1e999, float("nan"), True, "1", []])
def test_a_wrong_number_among_many_is_left_out_and_named_and_the_others_are_floats(wrong):
    values = {"count": 13, "share": 0.5, "negative": -2}
    assert read_as(Whole, GOOD | {"values": values}, "f") == (Whole("a", 1, values=values), [])
    found, sentences = read_as(Whole, GOOD | {"values": values | {"bad": wrong}}, "f")
    assert found.values == values
    assert all(type(value) is float for value in found.values.values())
    assert len(sentences) == 1
    assert sentences[0].startswith("f: values: bad must be a number or null, got ")
