"""From a folder of hand-ins to tables and pages: six students, stopping and going on, one never touching another."""

import contextlib
import csv
import dataclasses
import inspect
import json
import runpy
import unicodedata

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.assignments import load
from labkit.grading import batch, sandbox, wire
from labkit.grading.batch import grade_all
from labkit.grading.grade import Graded, Mark, grade
from labkit.grading.report import file_name
from labkit.grading.sandbox import Limits
from labkit.grading.similar import near_public, public_code, rings, similar_pairs
from labkit.grading.submission import Submission
from labkit.lessons.exercise import Case
from tests.grading.tiny import DOUBLE, TINY, TRIPLE, answers

sealed = pytest.mark.usefixtures("sandboxed")


@pytest.fixture
def hand_ins(tmp_path):
    folder = tmp_path / "hand-ins"
    folder.mkdir()
    stub = "def {}(x):\n    raise NotImplementedError\n"
    for name, content in {
        "perfect": answers(),
        "partial": answers(triple="def triple(x):\n    return x * x\n"),
        "empty": answers(stub.format("double"), stub.format("triple")),
        "wrong": answers("def double(x):\n    return x + 1\n", "def triple(x):\n    return None\n"),
        "hostile <script>": answers("import os\nos._exit(0)\n"),
        "broken": b"{",
        "=2+5": answers(double="def double(x):\n    return 2 * x if len(x) else None\n"),
    }.items():
        (folder / f"{name.replace('/', '_')}.ipynb").write_bytes(content)
    return folder


@sealed
def test_six_students_get_what_they_deserve(hand_ins, tmp_path):
    seen = []
    output = tmp_path / "out"
    rows = grade_all(
        hand_ins,
        TINY,
        output,
        seed=3,
        limits=Limits(seconds=10),
        jobs=2,
        progress=lambda row, done, total: seen.append((row.student, done, total)),
    )
    scores = {row.student: [mark.score for mark in row.marks] for row in rows}
    assert scores == {
        "perfect": [10, 10],
        "partial": [10, 0],
        "empty": [0, 0],
        "wrong": [0, 0],
        "hostile <script>": [0, 10],
        "broken": [0, 0],
        "=2+5": [6, 10],
    }
    hints = {row.student: [mark.hint for mark in row.marks] for row in rows}
    assert hints["partial"][1] == "That is x squared."
    assert hints["empty"] == ["Not written yet."] * 2
    assert "no answer cell" in hints["broken"][0]
    assert sorted(done for _, done, _ in seen) == list(range(1, 8))

    with (output / "grades.csv").open(encoding="utf-8") as file:
        table = {row["student"]: row for row in csv.DictReader(file)}
    assert table["perfect"]["score"] == "20"
    assert "'=2+5" in table  # no formula for a spreadsheet
    assert "why (of 4, written)" in table["perfect"]
    content = json.loads((output / "grades.json").read_text(encoding="utf-8"))
    assert content["seed"] == 3
    assert content["sandbox"] is True
    pages = {path.name: path.read_text(encoding="utf-8") for path in (output / "students").glob("*.html")}
    assert len(pages) == 7
    assert all("<script" not in text for text in pages.values())
    assert "That is x squared." in pages["partial.html"]
    assert "Because." in pages["perfect.html"]
    assert "random 3" in pages["wrong.html"]
    assert "hint to read both" in (output / "similar.md").read_text(encoding="utf-8")

    # a second call has nothing to run; a changed hand-in is graded again, alone
    graded = []
    original = batch.grade
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "grade", lambda sub, *rest: graded.append(sub.student) or original(sub, *rest))
        again = grade_all(hand_ins, TINY, output, limits=Limits(seconds=10))  # the seed is remembered
        assert graded == []
        assert again == rows
        (hand_ins / "empty.ipynb").write_bytes(answers(triple=""))
        (output / "students" / "partial.json").write_text("{broken")
        third = grade_all(hand_ins, TINY, output, limits=Limits(seconds=10))
    assert graded == ["empty", "partial"]
    assert {row.student: row.score for row in third}["empty"] == 10


@sealed
def test_answers_may_rest_on_each_other_but_not_on_other_cells():
    cells = {"double": DOUBLE, "triple": "def triple(x):\n    return double(x) + x\n"}
    assert grade(Submission("ada", answers=cells), TINY, 1).score == 20
    cells = {"double": "from math import inf\ndef double(x):\n    return helper(x)\n", "triple": TRIPLE}
    double, triple = grade(Submission("ada", answers=cells), TINY, 1).marks
    assert "Only answer cells are run" in double.hint
    assert triple.score == 10


@sealed
def test_helpers_of_other_cells_are_taken_along_or_named():
    cells = {
        "double": "@torch.compile\ndef double(x):\n    return helper(x)\n",
        "triple": "def triple(x):\n    return F * x\n",
    }
    helpers = {"helper": "def helper(x):\n    return factor * x", "factor": "factor = 2"}
    double, triple = grade(
        Submission("ada", answers=cells, helpers=helpers, left_out={"F": "F = int(input())"}), TINY, 1
    ).marks
    assert double.score == 10
    assert "“F = int(input())” of another cell" in triple.hint


def test_marks_are_given_anew_when_reference_cases_or_tolerance_change():
    known = Submission("ada", answers={"double": DOUBLE})
    first = TINY.questions[0]

    def digest(**changes):
        question = dataclasses.replace(first, exercise=dataclasses.replace(first.exercise, **changes))
        return batch.fingerprint(known, dataclasses.replace(TINY, questions=(question,)), 1, Limits(), True)

    digests = {
        digest(),
        digest(reference=lambda x: 3 * x),
        digest(tolerance=1e-3),
        digest(mistakes=()),
        digest(cases=lambda: [Case("ones", {"x": torch.ones(4, dtype=torch.float64)})]),
    }
    assert len(digests) == 5
    assert digest() == digest()


@sealed
def test_a_loop_in_one_cell_does_not_take_the_others_along():
    cells = {"double": "while True: pass\n", "triple": TRIPLE}
    double, triple = grade(Submission("ada", answers=cells), TINY, 1, Limits(seconds=2)).marks
    assert "time allowed" in double.hint
    assert triple.score == 10


def test_without_a_sandbox_it_still_grades():
    graded = grade(
        Submission("ada", answers={"double": DOUBLE, "triple": "def triple(x): return x"}), TINY, 1, sandbox=False
    )
    assert [mark.score for mark in graded.marks] == [10, 0]


def test_one_question_is_marked_anew_for_all(hand_ins, tmp_path, monkeypatch):
    scores, seeds = {"double": 1.0, "triple": 1.0}, set()

    def pretended(submission, assignment, seed, *_):
        seeds.add(seed)
        marks = tuple(Mark(question.name, 10, scores[question.name]) for question in assignment.questions)
        return Graded(submission.student, submission.file, marks, {}, ())

    monkeypatch.setattr(batch, "grade", pretended)
    settings = {"seed_of": lambda student: len(student)}  # cases of a student's own

    def marks(**more):
        return {
            tuple(mark.score for mark in row.marks) for row in grade_all(hand_ins, TINY, tmp_path, **settings, **more)
        }

    assert marks() == {(1.0, 1.0)}
    assert seeds == {len(path.stem) for path in hand_ins.iterdir()}
    scores.update(double=2.0, triple=2.0)
    assert marks() == {(1.0, 1.0)}  # nothing has changed that grading knows of
    assert marks(only="triple") == {(1.0, 2.0)}
    assert marks() == {(2.0, 2.0)}  # marks of two gradings do not stay
    with pytest.raises(ValueError, match="no 'treble' in tiny; there are double, triple"):
        marks(only="treble")


def test_the_seed_is_drawn_once_and_kept(tmp_path):
    first = batch.settled_seed(tmp_path / "seed.json", None)
    assert batch.settled_seed(tmp_path / "seed.json", None) == first
    assert batch.settled_seed(tmp_path / "seed.json", 5) == 5
    assert batch.settled_seed(tmp_path / "seed.json", None) == 5


def test_file_names_are_safe_and_different():
    names = ["ada", "../ada", "a/b", "", ".", "..", "CON<>", "x" * 300, "näme", "name", "n me", "n_me"]
    found = [file_name(name) for name in names]
    assert len(set(found)) == len(names)
    assert all("/" not in name and not name.startswith(".") and len(name) < 80 for name in found)
    assert found[0] == "ada"
    # names that a student could choose to write over another's results, also where case does not count
    names = ["Jörg", "J_rg-8e63741c", unicodedata.normalize("NFD", "Jörg"), "Ada", "ada", "ADA", file_name("Jörg")]
    assert len({file_name(name).casefold() for name in names}) == len(names)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def alike(a, b):
    return repr(a) == repr(b)


@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_values_cross_unchanged(value):
    packed = json.loads(wire.line(wire.pack(value)))
    assert alike(wire.unpack(packed), value)


@pytest.mark.parametrize("dtype", wire.DTYPES.values(), ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3)])
def test_tensors_cross_unchanged(dtype, shape):
    tensor = (torch.rand(shape) * 2).to(dtype)
    found = wire.unpack(json.loads(wire.line(wire.pack(tensor.t() if tensor.dim() == 2 else tensor))))
    assert found.dtype is dtype
    assert torch.equal(found, tensor.t() if tensor.dim() == 2 else tensor)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["kind", "items", "dtype", "shape", "data", "text", "type"]), inner, max_size=7
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, "tensor", "list", "tuple", "dict", "float", "other"]))
@settings(max_examples=300, deadline=None)
def test_whatever_a_child_sends_is_read_or_refused(content, kind):
    if isinstance(content, dict) and kind:
        content["kind"] = kind
    with contextlib.suppress(ValueError):
        wire.unpack(content)


def test_objects_that_are_no_values_are_named_only():
    assert repr(wire.unpack(wire.pack(object()))) == "<object>"
    assert repr(wire.unpack(wire.pack(torch.zeros(2, dtype=torch.complex64)))) == "<a tensor of complex64>"
    assert "numbers" in repr(wire.unpack(wire.pack(torch.zeros(wire.MOST_NUMBERS + 1))))
    assert "deeply" in repr(wire.unpack(wire.pack([[[[[[[[[[[1]]]]]]]]]]])))


def test_copies_with_other_names_are_seen_and_the_usual_is_not():
    mine = "\n".join(f"def part{i}(x):\n    return sorted(x)[{i}:] + [max(x) - {i}] * len(x) ** {i}" for i in range(6))
    copy = mine.replace("x", "values").replace("part", "piece") + "  # all my own work"
    other = "def g(a, b):\n    y = torch.cdist(a, b)\n    while y.sum() > 3:\n        y = y / 2\n    return y.min(1)"
    pairs = similar_pairs({"ada": {"f": mine}, "bob": {"f": copy}, "eve": {"f": other}})
    assert [(p.first, p.second) for p in pairs] == [("ada", "bob")]
    assert pairs[0].share > 0.9
    assert similar_pairs({"ada": {"f": mine}, "bob": {"f": copy}}, [mine]) == []  # both have the public solution
    assert [pair.first for pair in near_public({"ada": {"f": copy}, "eve": {"f": other}}, [mine])] == ["ada"]
    assert similar_pairs({"a": {}, "b": {"f": ""}}) == []


def test_a_ring_of_six_is_at_the_top_and_public_solutions_are_known():
    assignment = load("3")
    public = public_code(assignment)
    styles = runpy.run_path("tests/assignments/right_answers/derivatives.py")["RIGHT"]
    own = {name: inspect.getsource(answers[0]) for name, answers in styles.items()}
    others = {name: inspect.getsource(answers[1]) for name, answers in styles.items()}
    names = [question.name for question in assignment.questions]
    solution = dict(zip(names, public[-len(names) :]))
    ring = {f"ring {n}": {name: code.replace("R", f"R{n}") for name, code in own.items()} for n in range(6)}
    pairs = similar_pairs(ring | {"eve": others, "mallory": solution}, public)
    assert rings(pairs) == [sorted(ring)]
    assert {pair.first for pair in pairs[:15]} | {pair.second for pair in pairs[:15]} == ring.keys()
    assert [pair.first for pair in near_public(ring | {"eve": others, "mallory": solution}, public)] == ["mallory"]


def test_where_there_is_no_sandbox_grading_refuses(monkeypatch, hand_ins, capsys):
    from labkit.__main__ import main

    monkeypatch.setattr(sandbox, "problem", lambda: "no namespaces here")
    assert main(["grade", str(hand_ins), "--assignment", "1"]) == 3
    assert "--no-sandbox" in capsys.readouterr().err
