import io
import json
import os
import stat
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_folders import add_arrays, bytes_of, info_of, make_run, own_process

from labkit.runs import RunError, export_runs, find_runs, import_runs, transfer
from labkit.runs.project import project
from labkit.runs.read import read_run
from labkit.runs.schema import FILES


@pytest.fixture
def full(tmp_path):
    """A run with every file there is, umap's made from pca's."""
    folder = add_arrays(make_run(tmp_path / "source", "toy-pnp-s0"))
    project(read_run(folder), ["pca"])
    (folder / "projections" / "umap.parquet").write_bytes((folder / "projections" / "pca.parquet").read_bytes())
    (folder / "notes.json").write_text('{"tags": ["mine"], "note": "a note"}', encoding="utf-8")
    for name in ("approximation.parquet", "sprites.json", "sprites.webp"):
        (folder / name).write_bytes(b"{}")
    assert bytes_of(folder).keys() == set(FILES)
    return folder


def zip_of(path, members):
    """A zip with the given (name or ZipInfo, content)."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def run_json(run_id="a-s0", **changes):
    return json.dumps(info_of(run_id, status="failed", **changes))


def with_mode(name, mode):
    member = zipfile.ZipInfo(name)
    member.external_attr = mode << 16
    return member


def everything_below(root):
    return sorted(str(p.relative_to(root)) for p in Path(root).rglob("*"))


def test_a_run_comes_back_bit_by_bit(tmp_path, full):
    assert export_runs([read_run(full)], tmp_path / "out.zip") == []
    (run,) = import_runs(tmp_path / "out.zip", tmp_path / "target")
    assert bytes_of(run.path) == bytes_of(full)
    assert run.problems == ()
    assert everything_below(tmp_path / "target")[0] == "toy-pnp-s0"


def test_many_runs_come_back_from_topics_to_one_place(tmp_path):
    folders = [make_run(tmp_path / "source" / f"topic{i % 2}", f"a-s{i}") for i in range(5)]
    export_runs(find_runs(tmp_path / "source"), tmp_path / "out.zip")
    imported = import_runs(tmp_path / "out.zip", tmp_path / "target")
    assert {run.id: bytes_of(run.path) for run in imported} == {p.name: bytes_of(p) for p in folders}


def test_the_same_runs_make_the_same_zip(tmp_path, full):
    export_runs([read_run(full)], tmp_path / "1.zip")
    for path in full.rglob("*"):
        os.utime(path, (1, 1))
    export_runs([read_run(full)], tmp_path / "2.zip")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


def test_a_killed_run_with_half_a_line_travels_too(tmp_path):
    folder = make_run(tmp_path, "a-s0", status="running", ended=None, pid=2**22 + 1, pid_started=1.0)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 2')
    export_runs([read_run(folder)], tmp_path / "out.zip")
    (run,) = import_runs(tmp_path / "out.zip", tmp_path / "target")
    assert run.status == "killed"
    assert bytes_of(run.path) == bytes_of(folder)


def test_export_refuses_what_is_running_damaged_doubled_or_nothing(tmp_path):
    running = make_run(tmp_path, "a-s0", status="running", ended=None, **own_process())
    with pytest.raises(RunError, match="still running"):
        export_runs([read_run(running)], tmp_path / "out.zip")
    damaged = make_run(tmp_path, "b-s0")
    (damaged / "embeddings.safetensors").write_bytes(b"short")
    with pytest.raises(RunError, match="b-s0: embeddings.safetensors is damaged"):
        export_runs([read_run(damaged)], tmp_path / "out.zip")
    good = read_run(make_run(tmp_path, "c-s0"))
    with pytest.raises(RunError, match="the same id"):
        export_runs([good, good], tmp_path / "out.zip")
    with pytest.raises(RunError, match="none given"):
        export_runs([], tmp_path / "out.zip")
    assert not list(tmp_path.glob("*out*"))


def test_export_leaves_out_foreign_files_and_says_so(tmp_path):
    folder = make_run(tmp_path, "a-s0")
    (folder / "notes.txt").write_text("mine")
    (folder / "secret").symlink_to("/etc/hostname")
    assert export_runs([read_run(folder)], tmp_path / "out.zip") == ["a-s0/notes.txt", "a-s0/secret"]
    assert zipfile.ZipFile(tmp_path / "out.zip").namelist() == [
        "a-s0/run.json",
        "a-s0/metrics.jsonl",
        "a-s0/summary.json",
    ]


HARMFUL = {
    "absolute": [("/etc/passwd", b"")],
    "upwards": [("a-s0/run.json", run_json()), ("a-s0/../../evil", b"")],
    "upwards id": [("../run.json", run_json())],
    "dots as id": [("../a-s0/run.json", run_json())],
    "backslash": [("a-s0\\run.json", run_json())],
    "drive": [("C:/run.json", run_json())],
    "hidden id": [(".ssh/run.json", run_json())],
    "long id": [("x" * 200 + "/run.json", run_json())],
    "script id": [("<script>/run.json", run_json())],
    "unknown file": [("a-s0/run.json", run_json()), ("a-s0/evil.py", b"")],
    "pickle": [("a-s0/run.json", run_json()), ("a-s0/checkpoints/last.pt", b"")],
    "deep": [("a-s0/run.json", run_json()), ("a-s0/projections/x/pca.parquet", b"")],
    "top file": [("run.json", run_json())],
    "file as folder": [("a-s0/run.json/", b"")],
    "link": [(with_mode("a-s0/run.json", stat.S_IFLNK | 0o777), b"/etc/passwd")],
    "device": [(with_mode("a-s0/run.json", stat.S_IFCHR | 0o666), b"")],
    "pipe": [(with_mode("a-s0/run.json", stat.S_IFIFO | 0o666), b"")],
    "folder link": [("a-s0/run.json", run_json()), (with_mode("a-s0/projections/", stat.S_IFLNK | 0o777), b"..")],
    "twice": [("a-s0/run.json", run_json()), ("a-s0/run.json", run_json())],
    "twice but for case": [("a-s0/run.json", run_json()), ("A-s0/run.json", run_json("A-s0"))],
    "no run.json": [("a-s0/metrics.jsonl", b"")],
    "nothing": [],
    "folders only": [("a-s0/", b"")],
}
DAMAGED = {
    "half JSON": [("a-s0/run.json", b'{"schema": 1')],
    "other id": [("a-s0/run.json", run_json("b-s0"))],
    "mistyped": [("a-s0/run.json", run_json(seed="zero"))],
    "newer schema": [("a-s0/run.json", run_json(schema=99))],
    "summary": [("a-s0/run.json", run_json()), ("a-s0/summary.json", b'{"schema": 1, "test": {"R@1": "high"}}')],
    "metrics": [("a-s0/run.json", run_json()), ("a-s0/metrics.jsonl", b'{"step": 1}\nnonsense\n{"step": 2}\n')],
    "safetensors": [("a-s0/run.json", run_json()), ("a-s0/checkpoints/last.safetensors", b"\xff" * 64)],
    "parquet": [("a-s0/run.json", run_json()), ("a-s0/samples.parquet", b"PAR1 nothing PAR1")],
    "running": [("a-s0/run.json", json.dumps(info_of("a-s0", status="running", ended=None, **own_process())))],
}


@pytest.mark.parametrize("members", [*HARMFUL.values(), *DAMAGED.values()], ids=[*HARMFUL, *DAMAGED])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_harmful_or_damaged_zip_is_refused_and_leaves_nothing(tmp_path, members):
    path = zip_of(tmp_path / "in.zip", members)
    before = everything_below(tmp_path)
    with pytest.raises(RunError):
        import_runs(path, tmp_path / "target")
    assert everything_below(tmp_path) == before


def test_one_bad_run_keeps_the_good_ones_out_as_well(tmp_path):
    make_run(tmp_path / "target", "old-s0")
    before = everything_below(tmp_path / "target")
    members = [("a-s0/run.json", run_json("a-s0")), ("b-s0/run.json", b"{")]
    with pytest.raises(RunError, match="b-s0: run.json is not whole JSON"):
        import_runs(zip_of(tmp_path / "in.zip", members), tmp_path / "target")
    assert everything_below(tmp_path / "target") == before


def test_arrays_that_do_not_fit_together_are_refused(tmp_path, full):
    other = add_arrays(make_run(tmp_path / "other", "x-s0"), n=12)
    export_runs([read_run(full)], tmp_path / "good.zip")
    with zipfile.ZipFile(tmp_path / "good.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    fewer = members | {"toy-pnp-s0/embeddings.safetensors": (other / "embeddings.safetensors").read_bytes()}
    with pytest.raises(RunError, match="12 embeddings but 40 samples"):
        import_runs(zip_of(tmp_path / "1.zip", fewer.items()), tmp_path / "target")
    both = fewer | {"toy-pnp-s0/samples.parquet": (other / "samples.parquet").read_bytes()}
    with pytest.raises(RunError, match="points that are not among the samples"):
        import_runs(zip_of(tmp_path / "2.zip", both.items()), tmp_path / "target")


def test_limits_of_count_size_and_ratio_hold_before_anything_is_unpacked(tmp_path, monkeypatch):
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a-s0/run.json", run_json())
        archive.writestr("a-s0/metrics.jsonl", bytes(8 * 2**20))
    (tmp_path / "bomb.zip").write_bytes(bomb.getvalue())
    with pytest.raises(RunError, match="more than 100 times its size"):
        import_runs(tmp_path / "bomb.zip", tmp_path / "target")
    path = zip_of(tmp_path / "in.zip", [("a-s0/run.json", run_json())])
    monkeypatch.setattr(transfer, "MAX_BYTES", 100)
    with pytest.raises(RunError, match="over the limit"):
        import_runs(path, tmp_path / "target")
    monkeypatch.setattr(transfer, "MAX_MEMBERS", 0)
    with pytest.raises(RunError, match="more than 0 entries: split it"):
        import_runs(path, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_a_zip_that_lies_about_its_sizes_is_refused(tmp_path):
    path = zip_of(tmp_path / "in.zip", [("a-s0/run.json", run_json() + " " * 1000)])
    size = len(run_json() + " " * 1000)
    data = path.read_bytes()
    for lie in (size - 500, size + 500):
        path.write_bytes(data.replace(size.to_bytes(4, "little"), lie.to_bytes(4, "little")))
        with pytest.raises(RunError, match="damaged|not a whole zip"):
            import_runs(path, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_too_little_room_is_told_before_unpacking(tmp_path, monkeypatch):
    path = zip_of(tmp_path / "in.zip", [("a-s0/run.json", run_json())])
    monkeypatch.setattr(transfer.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(RunError, match="make room first"):
        import_runs(path, tmp_path / "target")
    assert not (tmp_path / "target").exists()


def test_encrypted_and_strangely_packed_entries_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "lzma.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a-s0/run.json", run_json())
    with pytest.raises(RunError, match="packed in a way"):
        import_runs(tmp_path / "lzma.zip", tmp_path / "target")


def test_a_run_that_is_there_is_kept_unless_told_otherwise(tmp_path):
    place = make_run(tmp_path / "target" / "topic", "a-s0", value=0.1)
    (place / "notes.txt").write_text("of the old run")
    new = make_run(tmp_path / "source", "a-s0", value=0.9)
    export_runs([read_run(new)], tmp_path / "in.zip")
    with pytest.raises(RunError, match="is there already .* give --overwrite"):
        import_runs(tmp_path / "in.zip", tmp_path / "target")
    assert read_run(place).value("R@1") == 0.1
    (run,) = import_runs(tmp_path / "in.zip", tmp_path / "target", overwrite=True)
    assert run.path == place
    assert bytes_of(place) == bytes_of(new)
    assert everything_below(tmp_path / "target")[:2] == ["topic", "topic/a-s0"]


def test_a_running_run_or_a_foreign_folder_is_never_replaced(tmp_path):
    make_run(tmp_path / "target", "a-s0", status="running", ended=None, **own_process())
    (tmp_path / "target" / "b-s0").mkdir()
    for run_id, said in (("a-s0", "is running"), ("b-s0", "is in the way and not a run")):
        path = zip_of(tmp_path / f"{run_id}.zip", [(f"{run_id}/run.json", run_json(run_id))])
        with pytest.raises(RunError, match=said):
            import_runs(path, tmp_path / "target", overwrite=True)


def test_a_failure_while_taking_places_puts_everything_back(tmp_path, monkeypatch):
    make_run(tmp_path / "target", "a-s0", value=0.1)
    make_run(tmp_path / "target", "b-s0", value=0.1)
    before = bytes_of(tmp_path / "target")
    for run_id in ("a-s0", "b-s0", "c-s0"):
        make_run(tmp_path / "source", run_id, value=0.9)
    export_runs(find_runs(tmp_path / "source"), tmp_path / "in.zip")
    rename, calls = os.rename, []

    def failing(source, target):
        calls.append(target)
        if len(calls) == 4:  # a-s0 is in its place, the old b-s0 has made room
            raise OSError("no more")
        rename(source, target)

    monkeypatch.setattr(transfer.os, "rename", failing)
    with pytest.raises(OSError, match="no more"):
        import_runs(tmp_path / "in.zip", tmp_path / "target", overwrite=True)
    assert bytes_of(tmp_path / "target") == before
    assert everything_below(tmp_path / "target")[:1] == ["a-s0"]


def test_what_is_no_zip_is_told_so(tmp_path):
    (tmp_path / "in.zip").write_bytes(b"hello")
    with pytest.raises(RunError, match="not a whole zip file"):
        import_runs(tmp_path / "in.zip", tmp_path / "target")
    with pytest.raises(FileNotFoundError):
        import_runs(tmp_path / "none.zip", tmp_path / "target")


SLOW = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def good_zip(tmp_path_factory):
    root = tmp_path_factory.mktemp("good")
    export_runs([read_run(make_run(root, "a-s0"))], root / "in.zip")
    return (root / "in.zip").read_bytes()


@SLOW
@given(data=st.data())
def test_a_zip_with_any_byte_changed_is_imported_whole_or_not_at_all(tmp_path_factory, good_zip, data):
    root = tmp_path_factory.mktemp("fuzz")
    content = bytearray(good_zip)
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    (root / "in.zip").write_bytes(bytes(content))
    try:
        imported = import_runs(root / "in.zip", root / "target")
    except RunError:
        assert everything_below(root) == ["in.zip"]
    else:
        assert [run.problems for run in imported] == [()]


@SLOW
@given(st.lists(st.text(alphabet="a0.-/\\:é~", min_size=1, max_size=12), min_size=1, max_size=4))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_no_name_of_an_entry_writes_outside_its_run(tmp_path_factory, names):
    root = tmp_path_factory.mktemp("names")
    path = zip_of(root / "in.zip", [("a-s0/run.json", run_json()), *((name, b"") for name in names)])
    try:
        import_runs(path, root / "target")
    except RunError:
        assert everything_below(root) == ["in.zip"]
    else:  # only entries of empty folders, such as "a/"
        assert everything_below(root) == ["in.zip", "target", "target/a-s0", "target/a-s0/run.json"]
