"""A pack holds many runs in one file, and nobody who reads runs can tell."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from run_folders import add_arrays, bytes_of, make_run

from labkit.runs import find_runs, open_run
from labkit.runs.delete import delete_run
from labkit.runs.pack import pack_runs, read_pack, schema
from labkit.runs.read import is_run, read_run
from labkit.runs.schema import PACK, RunError
from labkit.runs.transfer import export_runs, import_runs


@pytest.fixture
def topic(tmp_path):
    """Three runs with results only and one that keeps arrays, in a topic's folder."""
    for seed in range(3):
        make_run(tmp_path / "topic", f"pnp-s{seed}", 0.5 + seed / 10)
    add_arrays(make_run(tmp_path / "topic", "pnp-s3"))
    return tmp_path / "topic"


def told(run):
    return run.path, run.id, run.record, run.summary, run.curves(), run.problems, run.status, run.log_problem()


def test_packed_runs_are_read_like_folders(topic):
    before = [told(run) for run in find_runs(topic.parent)]
    taken = pack_runs(topic, find_runs(topic))
    assert [run.id for run in taken] == ["pnp-s0", "pnp-s1", "pnp-s2"]
    assert sorted(path.name for path in topic.iterdir()) == ["pnp-s3", PACK]
    assert [told(run) for run in find_runs(topic.parent)] == before
    assert told(read_run(topic / "pnp-s1")) == before[1] == told(open_run("pnp-s1", topic))
    assert is_run(topic / "pnp-s1")
    assert is_run(topic / "pnp-s3")
    assert not is_run(topic / "pnp-s4")


def test_a_pack_takes_in_more_and_a_folder_beside_it_counts(topic):
    pack_runs(topic, find_runs(topic))
    known = {}
    assert len(find_runs(topic, known=known)) == 4
    make_run(topic, "pnp-s4", 0.9)
    make_run(topic, "pnp-s0", 0.1)  # as after a kill between writing the pack and removing the folder
    found = find_runs(topic, known=known)
    assert [run.value("R@1") for run in found if run.id in ("pnp-s0", "pnp-s4")] == [0.1, 0.9]
    assert [run.id for run in pack_runs(topic, found)] == ["pnp-s0", "pnp-s4"]
    again = find_runs(topic, known=known)
    assert [run.id for run in again] == [f"pnp-s{seed}" for seed in range(5)]
    assert again[0].value("R@1") == 0.1


def test_runs_that_are_not_finished_stay_folders(topic):
    make_run(topic, "pnp-s5", status="interrupted")
    make_run(topic, "pnp-s6", loss=3)
    assert {"pnp-s5", "pnp-s6"}.isdisjoint(run.id for run in pack_runs(topic, find_runs(topic)))
    assert (topic / "pnp-s5" / "run.json").is_file()
    assert (topic / "pnp-s6" / "run.json").is_file()


def test_an_export_of_packed_runs_is_the_export_of_their_folders(topic, tmp_path):
    folders = bytes_of(topic / "pnp-s0")
    export_runs(find_runs(topic), tmp_path / "before.zip")
    pack_runs(topic, find_runs(topic))
    export_runs(find_runs(topic), tmp_path / "after.zip")
    assert (tmp_path / "before.zip").read_bytes() == (tmp_path / "after.zip").read_bytes()
    import_runs(tmp_path / "after.zip", tmp_path / "other")
    assert bytes_of(tmp_path / "other" / "pnp-s0") == folders


def test_what_is_in_a_pack_is_not_deleted(topic):
    pack_runs(topic, find_runs(topic))
    with pytest.raises(RunError, match="one of many"):
        delete_run(read_run(topic / "pnp-s0"))
    stamps = {read_run(topic / f"pnp-s{seed}").stamp() for seed in range(4)}
    assert len(stamps) == 4


ROW = {"id": "a-s0", "run.json": b"{}", "summary.json": None, "metrics.jsonl": b""}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PAR1 not really", "damaged"),
        (pa.table({"other": [1]}), "damaged"),
        (pa.Table.from_pylist([ROW | {"id": "../a"}], schema()), "not a run's name"),
        (pa.Table.from_pylist([ROW | {"id": None}], schema()), "not a run's name"),
        (pa.Table.from_pylist([ROW, ROW], schema()), "twice"),
    ],
)
def test_a_damaged_pack_is_one_line_and_the_rest_works(topic, content, said):
    if isinstance(content, bytes):
        (topic / PACK).write_bytes(content)
    else:
        pq.write_table(content, topic / PACK)
    with pytest.raises(RunError, match=said):
        read_pack(topic)
    found = find_runs(topic.parent)
    assert len(found) == 5
    assert said in next(run for run in found if run.id == PACK).broken
    assert not is_run(topic / "nothing")


def test_a_damaged_run_in_a_pack_is_one_line(topic):
    pq.write_table(pa.Table.from_pylist([ROW, ROW | {"id": "b-s0", "run.json": None}], schema()), topic / PACK)
    found = {run.id: run.broken for run in find_runs(topic)}
    assert "run.json" in found["a-s0"]
    assert "run.json" in found["b-s0"]
    assert not found["pnp-s0"]


def test_a_small_file_that_unpacks_to_much_is_refused(topic, monkeypatch):
    """A dictionary holds a value once, however many rows name it."""
    monkeypatch.setattr("labkit.runs.pack.MAX_BYTES", 2**20)
    rows = [ROW | {"id": f"a-s{seed}", "metrics.jsonl": b"x" * 2**16} for seed in range(100)]
    pq.write_table(pa.Table.from_pylist(rows, schema()), topic / PACK)
    assert (topic / PACK).stat().st_size < 2**17
    with pytest.raises(RunError, match="holds more than 1 MB"):
        read_pack(topic)


def test_folders_stay_where_their_pack_could_not_be_read_again(topic, monkeypatch):
    monkeypatch.setattr("labkit.runs.pack.MAX_BYTES", 1000)
    before = bytes_of(topic)
    with pytest.raises(RunError, match="holds more than"):
        pack_runs(topic, find_runs(topic))
    assert bytes_of(topic) == before


def test_a_pack_itself_is_not_deleted_and_what_is_read_cannot_be_changed(topic):
    pack_runs(topic, find_runs(topic))
    read_pack(topic).clear()
    assert len(read_pack(topic)) == 3
    (topic / PACK).write_bytes(b"damaged")
    with pytest.raises(RunError, match="is a pack of runs"):
        delete_run(next(run for run in find_runs(topic) if run.id == PACK))
    assert (topic / PACK).is_file()


def test_a_packed_run_is_found_by_its_path_and_an_empty_folder_hides_nothing(topic, tmp_path):
    pack_runs(topic, find_runs(topic))
    (topic / "pnp-s1").mkdir()
    assert open_run(str(topic / "pnp-s1"), tmp_path / "elsewhere").value("R@1") == 0.6
    export_runs([read_run(topic / "pnp-s1")], tmp_path / "one.zip")
