"""Whatever one hand-in is or does, the others are graded and the tables are written."""

import csv
import io
import json
import random
import time
import zipfile

import pytest
import torch

from labkit.base.errors import LabkitError
from labkit.base.files import write_json
from labkit.grading import batch, reader, sandbox, submission, wire
from labkit.grading.batch import grade_all
from labkit.grading.grade import expected, mark
from labkit.grading.reader import MOST_BYTES, MOST_BYTES_IN_ALL, MOST_CHARACTERS, collect
from labkit.grading.sandbox import Limits
from labkit.grading.similar import similar_pairs
from labkit.lessons.diagnosis import judge
from labkit.lessons.exercise import Exercise
from tests.grading.attacks.table import ATTACKS
from tests.grading.tiny import DOUBLE, TINY, answers, cell, notebook

sealed = pytest.mark.usefixtures("sandboxed")
METHODS = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


def zipped(method, **files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def damaged(method):
    """An archive whose notebook is damaged in the middle of its compressed bytes."""
    content = bytearray(zipped(METHODS[method], **{"a.ipynb": answers() * 20}))
    content[len(content) // 3 : len(content) // 3 + 20] = bytes(range(200, 220))
    return bytes(content)


def many_lists(count, size):
    """Small on disk; its JSON is many small lists."""
    return zipped(zipfile.ZIP_DEFLATED, **{f"{n}.ipynb": b"[" + b"[]," * (size // 3) + b"[]]" for n in range(count)})


FORGED = {
    "an integer of 400 digits": "9" * 400,
    "an integer of 5,000 digits": "9" * 5000,
    "an empty tensor of a huge shape": json.dumps(
        {"kind": "tensor", "dtype": "float64", "shape": [0, *[10**6] * 7], "data": ""}
    ),
    "half a character": '{"kind": "other", "type": "\\\\ud800"}',
    "half a character as text": '"\\\\ud800"',
    "half a character as a key": '{"kind": "dict", "items": {"\\\\ud800": 1}}',
    "a dictionary with a value": json.dumps({"kind": "dict", "items": {"value": 3}}),
    "a dictionary of strings": json.dumps({"kind": "dict", "items": {"value": "a", "gradient": "b"}}),
    "a ragged list": json.dumps({"kind": "list", "items": [1, {"kind": "list", "items": [1, 2]}]}),
    "nested too deeply": '{"kind": "list", "items": [' * 50 + "1" + "]}" * 50,
    "too many items": '{"kind": "list", "items": [' + "1," * 200_000 + "1]}",
    "the largest float": "1e308",
    "a float beyond": "1e999",
    "not a number": "NaN",
}
RETURNED = (
    "value and gradient where none is asked",
    "half a character in a type's name",
    "a forged integer of 400 digits",
)


@pytest.mark.parametrize("name", FORGED)
def test_whatever_a_child_sends_gets_a_mark_and_can_be_written(name, tmp_path):
    question = TINY.questions[0]
    try:
        entry = json.loads(FORGED[name].replace("\\\\", "\\"))
    except ValueError:
        assert "5,000 digits" in name  # Python itself refuses it
        return
    found = mark(question, {"cases": [{"value": entry}] * len(expected(question, 1))}, True, 1)
    assert found.score == 0
    write_json(tmp_path / "mark.json", [found.hint, found.rows])


@sealed
def test_a_class_with_hostile_hand_ins_is_graded_to_the_end(tmp_path):
    folder, output = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for name in RETURNED:
        (folder / f"{name}.ipynb").write_bytes(answers(double=ATTACKS[name].cell))
    for method in METHODS:
        (folder / f"damaged {method}.zip").write_bytes(damaged(method))
    (folder / "many lists.zip").write_bytes(many_lists(40, MOST_BYTES - 500_000))
    (folder / "zoe.ipynb").write_bytes(answers())  # honest, and last
    rows = {row.student: row for row in grade_all(folder, TINY, output, seed=3, limits=Limits(seconds=5))}
    assert rows["zoe"].score == 20
    for name in RETURNED:
        assert [m.score for m in rows[name].marks] == [0, 10], rows[name]
        assert "could not be graded" not in rows[name].marks[0].hint
    assert all(rows[f"damaged {method}"].score == 0 for method in METHODS)
    assert rows["many lists"].score == 0
    with (output / "grades.csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(rows)
    assert len(json.loads((output / "grades.json").read_text(encoding="utf-8"))["students"]) == len(rows)
    assert len(list((output / "students").glob("*.html"))) == len(rows)


def test_what_nobody_thought_of_costs_one_hand_in_its_marks_and_no_other(tmp_path, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("ada", "bob"):
        (folder / f"{name}.ipynb").write_bytes(answers())

    def grade(sub, *rest):
        if sub.student == "ada":
            raise ZeroDivisionError("half \ud800")
        return original(sub, *rest)

    original = batch.grade
    monkeypatch.setattr(batch, "grade", grade)
    ada, bob = grade_all(folder, TINY, tmp_path / "out", seed=1, sandbox=False)
    assert ada.score == 0
    assert ada.marks[0].hint.startswith("could not be graded: half")
    assert bob.score == 20
    monkeypatch.setattr(batch, "grade", original)  # it is not remembered as graded
    assert grade_all(folder, TINY, tmp_path / "out", seed=1, sandbox=False)[0].score == 20


def test_a_reader_that_takes_too_long_is_ended(tmp_path):
    path = tmp_path / "ada.ipynb"
    path.write_bytes(answers())
    with pytest.raises(LabkitError, match="too much time"):
        submission.read("ada", path, TINY, seconds=0.001)


def test_a_notebook_that_needs_too_much_memory_is_told(tmp_path):
    path = tmp_path / "ada.ipynb"
    path.write_bytes(b'{"cells": [' + b'{"": {}},' * ((MOST_BYTES - 100) // 9) + b"{}]}")
    try:
        remarks = submission.read("ada", path, TINY).remarks
    except LabkitError as error:
        remarks = (str(error),)
    assert any("memory" in remark or "cells" in remark for remark in remarks)


def test_all_notebooks_of_one_student_have_a_limit_together(tmp_path):
    folder = tmp_path / "ada"
    folder.mkdir()
    for n in range(4):
        (folder / f"{n}.ipynb").write_bytes(answers() + b" " * (MOST_BYTES_IN_ALL // 4))
    found = submission.read("ada", folder, TINY)
    assert found.answers["double"] == DOUBLE
    assert any("MB of notebooks" in remark for remark in found.remarks)


def test_an_answer_of_a_million_characters_is_told(tmp_path):
    path = tmp_path / "ada.ipynb"
    path.write_bytes(answers(double=DOUBLE + "#" * MOST_CHARACTERS))
    found = submission.read("ada", path, TINY)
    assert "double" not in found.answers
    assert "triple" in found.answers
    assert any("characters" in remark for remark in found.remarks)


@pytest.mark.parametrize(
    "text", ['"' + '\\"' * 25_000, '"""' + '\\"' * 24_000 + "\\", "'''" * 16_000, "'\\'" * 16_000, "(" * 50_000]
)
def test_similarity_takes_no_longer_for_strings_that_never_end(text):
    started = time.monotonic()
    similar_pairs({"ada": {"f": text}, "bob": {"f": text}})
    assert time.monotonic() - started < 5


def test_only_so_many_lines_of_a_child_are_looked_at():
    assert sandbox.read_lines(b'{"a": 1}\n' * 5000) == [{"a": 1}] * sandbox.MOST_LINES
    assert sandbox.read_lines(b"[\n{}\nx\n" + b"[" * 10_000) == [{}]


def test_a_check_in_a_notebook_survives_a_dictionary():
    exercise = Exercise("double", "Twice x.", lambda x: 2 * x, TINY.questions[0].exercise.cases, ())
    for answer in (lambda x: {"value": x}, lambda x: {"value": x, "gradient": x}, lambda x: 10**400):
        assert not judge(exercise, answer).passed


def test_lists_that_are_too_long_are_named_only():
    assert "items" in repr(wire.unpack(wire.pack([0] * (wire.MOST_ITEMS + 1))))
    assert torch.equal(wire.unpack(wire.pack(torch.zeros(0, 10**5))), torch.zeros(0, 10**5))


# fuzz: mutated notebooks and archives


def mutated(content, rng):
    """A few random changes: bits, cuts, copies, and values that JSON allows and nobody expects."""
    content = bytearray(content)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(5):
            case 0 if at < len(content):
                content[at] ^= 1 << rng.randrange(8)
            case 1:
                del content[at : at + rng.randint(1, 40)]
            case 2:
                content[at:at] = content[at - 50 : at]
            case 3:
                content[at:at] = rng.choice(ODD)
            case _:
                content[at : at + 8] = rng.randbytes(8)
        content = content or bytearray(b"x")
    return bytes(content)


ODD = (b"null", b"[]", b"{}", b'"\\ud800"', b"1e999", b"9" * 400, b"[" * 2000, b'"', b"\xff", b"\0", b"\n" * 9, b"true")


@pytest.mark.parametrize("kind", ["ipynb", *METHODS])
def test_a_thousand_mutated_hand_ins_of_each_kind_are_read_or_refused(kind, tmp_path):
    rng = random.Random(kind)
    original = notebook(
        cell("import labkit"), cell(DOUBLE, "double"), cell([DOUBLE, "x"]), cell("w", "why", "markdown")
    )
    if kind != "ipynb":
        original = zipped(METHODS[kind], **{"a.ipynb": original, "folder/b.ipynb": original, "c.txt": b"c"})
    path = tmp_path / ("ada.ipynb" if kind == "ipynb" else "ada.zip")
    read = 0
    for _ in range(1000):
        path.write_bytes(mutated(original, rng))
        found = collect(path, "tiny", ["1_metrics"], ["double", "triple"], ["why"])
        json.dumps(found, ensure_ascii=False).encode()
        assert found["remarks"] or found["answers"]
        read += bool(found.get("answers"))
    assert 0 < read < 1000  # some survive, some do not: the changes are neither too small nor too large
    assert len(found["remarks"]) - 1 <= reader.MOST_REMARKS
