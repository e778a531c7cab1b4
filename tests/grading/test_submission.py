"""Hand-ins are found and read whatever students and file systems do to them; nothing is executed or unpacked."""

import io
import json
import os
import zipfile

import pytest

from labkit.grading.reader import MOST_BYTES
from labkit.grading.submission import find_students, read
from tests.grading.tiny import DOUBLE, TINY, TRIPLE, answers, cell, notebook


def read_bytes(folder, content, name="ada.ipynb"):
    path = folder / name
    path.write_bytes(content)
    return read("ada", path, TINY)


def test_answers_are_found_by_their_ids(tmp_path):
    found = read_bytes(tmp_path, answers())
    assert found.answers == {"double": DOUBLE, "triple": TRIPLE, "why": "Because."}
    assert found.remarks == ()


@pytest.mark.parametrize(
    "cells",
    [
        [cell("%matplotlib inline\n!ls"), cell(TRIPLE, "triple"), cell("1/0"), cell(DOUBLE, "double")],  # other order
        [cell(DOUBLE.splitlines(keepends=True), "double"), cell([TRIPLE], "triple"), cell("text", None, "raw")],
        [cell("%%time\n" + DOUBLE, "double"), cell(TRIPLE + "\n!pip list", "triple")],
        [
            cell("def double(x):\n    raise NotImplementedError", "double"),
            cell(DOUBLE, "double"),
            cell(TRIPLE, "triple"),
        ],
        [cell(DOUBLE), cell(TRIPLE)],  # ids lost
        [cell(DOUBLE, "double"), cell(TRIPLE, "triple"), "no cell", None, {"cell_type": 3}, {"metadata": []}],
    ],
)
def test_other_orders_added_cells_magics_and_lost_ids_do_no_harm(tmp_path, cells):
    found = read_bytes(tmp_path, notebook(*cells)).answers
    for name, factor in (("double", 2), ("triple", 3)):
        space = {}
        exec(found[name], space)
        assert space[name](5) == 5 * factor


def test_missing_cells_are_missing_only_themselves(tmp_path):
    assert read_bytes(tmp_path, notebook(cell(TRIPLE, "triple"))).answers == {"triple": TRIPLE}


@pytest.mark.parametrize(
    ("content", "remark"),
    [
        (b"", "JSON is broken"),
        (b"not json", "JSON is broken"),
        (answers()[:100], "JSON is broken"),
        (b"[" * 200_000, "JSON is broken"),
        (b"\xff\xfe\x00\x01", "JSON is broken"),
        (b"[]", "no list of cells"),
        (b'{"cells": 3}', "no list of cells"),
        (b'{"worksheets": []}', "no list of cells"),
        (b'{"cells": ' + b"9" * 10_000 + b"}", "JSON is broken"),
        (json.dumps({"cells": []}).encode(), "right assignment"),
        (b" " * (MOST_BYTES + 1), "larger than"),
    ],
)
def test_broken_notebooks_are_told(tmp_path, content, remark):
    found = read_bytes(tmp_path, content)
    assert not found.answers
    assert any(remark in text for text in found.remarks)


def zipped(**files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def test_archives_are_read_in_memory(tmp_path):
    files = {"../../../etc/evil.ipynb": answers(), "/abs.ipynb": b"{}", "__MACOSX/x.ipynb": b"x", "notes.txt": b"hello"}
    found = read_bytes(tmp_path, zipped(**files), "ada.zip")
    assert found.answers["double"] == DOUBLE
    assert [path.name for path in tmp_path.iterdir()] == ["ada.zip"]  # nothing was unpacked


def test_a_zip_bomb_is_not_blown_up(tmp_path):
    found = read_bytes(tmp_path, zipped(**{"bomb.ipynb": b"0" * (MOST_BYTES * 5)}), "ada.zip")
    assert any("is larger than" in text for text in found.remarks)
    assert not found.answers


@pytest.mark.parametrize("content", [b"PK\x03\x04 broken", b"", zipped(**{"a.ipynb": answers()})[:-30]])
def test_broken_archives_are_told(tmp_path, content):
    assert "no notebook could be read" in read_bytes(tmp_path, content, "ada.zip").remarks


def test_the_notebook_with_most_answers_counts(tmp_path):
    folder = tmp_path / "ada"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "a.ipynb").write_bytes(notebook(cell(DOUBLE, "double")))
    (folder / "deep" / "er" / "renamed copy (2).IPYNB").write_bytes(answers())
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "z.ipynb").write_bytes(answers(double="old"))
    found = read("ada", folder, TINY)
    assert found.file == "deep/er/renamed copy (2).IPYNB"
    assert found.answers["double"] == DOUBLE


def test_nbgraders_place_comes_first_and_rivals_are_told(tmp_path):
    folder = tmp_path / "ada"
    (folder / "tiny").mkdir(parents=True)
    (folder / "tiny" / "tiny.ipynb").write_bytes(notebook(cell(DOUBLE, "double")))
    (folder / "tiny" / "draft.ipynb").write_bytes(answers())
    found = read("ada", folder, TINY)
    assert found.file == "tiny/tiny.ipynb"
    assert found.remarks == ("2 notebooks have answers: tiny/tiny.ipynb counts, not tiny/draft.ipynb",)


def test_another_assignments_folder_does_not_count(tmp_path):
    for folder in ("1_metrics", "2_Ranks/deeper"):
        (tmp_path / "ada" / folder).mkdir(parents=True)
        (tmp_path / "ada" / folder / "tiny.ipynb").write_bytes(answers())
    found = read("ada", tmp_path / "ada", TINY)
    assert not found.answers
    assert sum("folder of another assignment" in remark for remark in found.remarks) == 2


def test_an_empty_notebook_does_not_beat_a_written_one(tmp_path):
    (tmp_path / "ada").mkdir()
    stub = "def double(x):\n    raise NotImplementedError"
    (tmp_path / "ada" / "z.ipynb").write_bytes(answers(stub, stub.replace("double", "triple")))
    (tmp_path / "ada" / "a.ipynb").write_bytes(notebook(cell(DOUBLE, "double")))
    assert read("ada", tmp_path / "ada", TINY).file == "z.ipynb"  # its text is written
    (tmp_path / "ada" / "z.ipynb").write_bytes(notebook(cell(stub, "double")))
    assert read("ada", tmp_path / "ada", TINY).file == "a.ipynb"


def test_a_continuation_that_begins_with_a_percent_sign_is_code(tmp_path):
    source = "%time\ndef double(x):\n    y = (2 * x\n    % 1000)\n    z = 5 \\\n    % 7\n"
    source += "    s = '''\n% not a magic '''\n    %who\n    return y\n"
    found = read_bytes(tmp_path, notebook(cell(source, "double"))).answers["double"]
    assert found == source.replace("%time", "").replace("    %who", "")


def test_texts_without_ids_are_found_by_their_place(tmp_path):
    cells = [cell("# Title", None, "markdown"), cell(DOUBLE), cell(TRIPLE), cell("## Why?", None, "markdown")]
    found = read_bytes(tmp_path, b"\xef\xbb\xbf" + notebook(*cells, cell("Because.", None, "markdown")))
    assert found.answers == {"double": DOUBLE, "triple": TRIPLE, "why": "Because."}
    assert "why: the text's cell has lost its id and was found by its place" in found.remarks


def test_other_cells_give_what_is_safe(tmp_path):
    other = "import scipy\nfrom math import inf as far\nEPS = -1e-3\nF = torch.nn.functional\n"
    other += "big = compute()\ndef help(x):\n    return x"
    found = read_bytes(tmp_path, notebook(cell(other), cell(DOUBLE, "double"), cell("def double(x): return 0")))
    assert set(found.helpers) == {"scipy", "far", "EPS", "F", "help"}
    assert found.left_out == {"big": "big = compute()"}


def test_links_and_pipes_are_not_followed(tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_bytes(answers())
    hand_ins = tmp_path / "in"
    (hand_ins / "bob").mkdir(parents=True)
    (hand_ins / "ada.ipynb").symlink_to(secret)
    (hand_ins / "bob" / "x.ipynb").symlink_to(secret)
    (hand_ins / "eve").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(hand_ins / "fifo.ipynb")
    students = find_students(hand_ins)
    assert set(students) == {"ada", "bob", "eve", "fifo"}
    for student, path in students.items():
        assert not read(student, path, TINY).answers


def test_equal_names_stay_apart_and_odd_names_are_kept(tmp_path):
    (tmp_path / "ada").mkdir()
    for name in ("ada.ipynb", "ada.zip", "=cmd|' '!A0.ipynb", "<b>x.ipynb", "..ipynb", "näme 😀.ipynb", "-rf.ipynb"):
        (tmp_path / name).write_bytes(answers())
    (tmp_path / os.fsdecode(b"\xff\xfe.ipynb")).write_bytes(answers())
    students = find_students(tmp_path)
    assert len(students) == 8  # hidden files are left out
    for name in students:
        name.encode()


def test_a_file_in_place_of_the_folder_is_told(tmp_path):
    with pytest.raises(ValueError, match="must be a folder"):
        find_students(tmp_path / "none")


def test_halves_of_characters_are_replaced(tmp_path):
    content = answers(double=DOUBLE + "# MARK").replace(b"MARK", b"\\ud800")
    read_bytes(tmp_path, content).answers["double"].encode()
