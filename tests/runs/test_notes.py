"""Tags and notes are kept beside a run, of recorded ones elsewhere; deleting takes the whole folder."""

import json

import pytest
from run_folders import make_run

from labkit.base.paths import RECORDED
from labkit.runs import RunError, find_runs, read_run
from labkit.runs.delete import delete_run
from labkit.runs.notes import LONGEST_NOTE, MOST_TAGS, Notes, read_notes, write_notes
from labkit.runs.select import made_with, setting


@pytest.fixture
def run(tmp_path):
    return read_run(make_run(tmp_path, "pnp-dq-s0"))


def test_notes_of_an_own_run_stand_in_its_folder(run, tmp_path):
    assert read_notes(run, tmp_path) == Notes()
    path = write_notes(run, tmp_path, Notes((" good ", "good", "", "<b>"), "  why "))
    assert path == run.path / "notes.json"
    assert json.loads(path.read_text()) == {"tags": ["good", "<b>"], "note": "why"}
    assert read_notes(run, tmp_path) == Notes(("good", "<b>"), "why")


def test_recorded_runs_are_not_written_into(tmp_path):
    run = next(run for run in find_runs(RECORDED / "toy-ring"))
    path = write_notes(run, tmp_path, Notes(("seen",)))
    assert path == tmp_path / "notes" / "toy-ring" / f"{run.id}.json"
    assert read_notes(run, tmp_path).tags == ("seen",)
    assert not (run.path / "notes.json").exists()
    assert not find_runs(tmp_path)


@pytest.mark.parametrize("content", ["{", "[]", '{"tags": 3, "note": ["x"]}', '{"tags": ["a", 3]}'])
def test_damaged_notes_are_none(run, tmp_path, content):
    (run.path / "notes.json").write_text(content)
    assert read_notes(run, tmp_path).note == ""


@pytest.mark.parametrize(
    ("notes", "argument"),
    [
        (Notes(tuple(map(str, range(MOST_TAGS + 1)))), "tags"),
        (Notes(("x" * 41,)), "tags"),
        (Notes((), "x" * (LONGEST_NOTE + 1)), "note"),
    ],
)
def test_too_much_is_refused(run, tmp_path, notes, argument):
    with pytest.raises(RunError, match=argument):
        write_notes(run, tmp_path, notes)
    assert not (run.path / "notes.json").exists()


def test_deleting_takes_all_and_spares_what_runs(run, tmp_path):
    going = make_run(tmp_path, "pnp-dq-s1")
    info = json.loads((going / "run.json").read_text())
    (going / "run.json").write_text(json.dumps(info | {"status": "running", "node": "elsewhere"}))
    with pytest.raises(RunError, match="stop it first"):
        delete_run(read_run(going))
    delete_run(run)
    assert [path.name for path in tmp_path.iterdir()] == [going.name]


def test_settings_are_found_wherever_they_stand():
    runs = find_runs(RECORDED / "toy-ring")
    assert made_with(runs, ["data.layout=ring"]) == runs
    assert {run.loss for run in made_with(runs, ["loss=pnp-dq", "device=cpu"])} == {"pnp-dq"}
    assert setting(runs[0], "optimizer.lr") == runs[0].record.config.optimizer.lr
    assert setting(runs[0], "no.such.thing") is None
