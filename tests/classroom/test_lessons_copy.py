"""The working copy of the lessons: answers outlive updates, nothing is lost, predictions are not spoiled."""

import json

import pytest

from labkit.classroom.lessons import start_afresh, working_copy
from labkit.classroom.saving import VIEW, without_widgets

STUB = "def f(x):\n    raise NotImplementedError\n\n\nlabkit.check.double(f)"
ANSWER = STUB.replace("raise NotImplementedError", "return 2 * x")


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs), "metadata": {}, "execution_count": 1}


def words(source):
    return {"cell_type": "markdown", "source": source, "metadata": {}}


PRINTED = {"output_type": "stream", "name": "stdout", "text": "60"}
LESSON = [
    code("1", PRINTED),
    code('labkit.predict("2.1")', PRINTED),
    code("2", PRINTED),
    words("## Next"),
    code("3", PRINTED),
]


@pytest.fixture
def place(tmp_path):
    source, folder = tmp_path / "notebooks", tmp_path / "mine"
    source.mkdir()

    def deliver(*cells):
        (source / "02_a.ipynb").write_text(json.dumps({"cells": [*LESSON, *cells], "metadata": {}}))
        said = []
        working_copy(source, folder, said.append)
        return said

    def change(act):
        path = folder / "02_a.ipynb"
        notebook = json.loads(path.read_text())
        act(notebook["cells"])
        path.write_text(json.dumps(notebook))

    return source, folder, deliver, change


def cells(folder):
    return json.loads((folder / "02_a.ipynb").read_text())["cells"]


def test_what_follows_a_prediction_is_not_shown_before_it_is_run(place):
    _, folder, deliver, _ = place
    deliver(code(STUB))
    assert [bool(cell.get("outputs")) for cell in cells(folder)] == [True, False, False, False, True, False]


def test_answers_stay_and_an_update_keeps_them(place):
    _, folder, deliver, change = place
    deliver(code(STUB))
    change(lambda found: found[-1].update(source=ANSWER.splitlines(keepends=True)))
    assert deliver(code(STUB)) == []
    assert "".join(cells(folder)[-1]["source"]) == ANSWER
    said = deliver(words("## New"), code(STUB))
    assert any("updated" in line for line in said)
    assert "".join(cells(folder)[-1]["source"]) == ANSWER
    assert len(list(folder.glob("*.ipynb"))) == 1


def test_own_notes_are_kept_aside_by_an_update(place):
    _, folder, deliver, change = place
    deliver(code(STUB))
    change(lambda found: found.append(code("my_note = 1")))
    said = deliver(code(STUB), words("More."))
    aside = [path for path in folder.glob("*.ipynb") if "before" in path.name]
    assert len(aside) == 1
    assert "my_note" in aside[0].read_text()
    assert any("what you had" in line for line in said)


def test_a_lesson_begins_afresh_and_what_was_written_is_kept(place):
    source, folder, deliver, change = place
    deliver(code(STUB))
    change(lambda found: found[-1].update(source=ANSWER))
    start_afresh(source, folder, "02", lambda line: None)
    assert cells(folder)[-1]["source"] == STUB
    assert ANSWER in [cell["source"] for p in folder.glob("*before*") for cell in json.loads(p.read_text())["cells"]]
    with pytest.raises(ValueError, match="beginning of one lesson"):
        start_afresh(source, folder, "99", lambda line: None)


def test_a_saved_file_has_the_still_picture_and_no_widget():
    view = {
        "output_type": "display_data",
        "data": {VIEW: {"model_id": "1"}, "text/plain": "VBox()", "text/html": "<img>"},
    }
    plain = {"output_type": "display_data", "data": {"text/html": "<b>"}}
    content = {"cells": [code("x", view, plain)], "metadata": {"widgets": {"state": {}}}}
    without_widgets(model={"type": "notebook", "content": content})
    first, second = content["cells"][0]["outputs"]
    assert first["data"]["text/html"].startswith("<img>")
    assert "Run this cell to make it live" in first["data"]["text/html"]
    assert VIEW not in first["data"]
    assert second["data"] == {"text/html": "<b>"}
    assert "widgets" not in content["metadata"]
    without_widgets(model={"type": "file", "content": "text"})
