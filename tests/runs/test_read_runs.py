import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from run_folders import add_arrays, info_of, make_run, own_process, summary_of
from safetensors.torch import save_file

from labkit.base.paths import ROOT
from labkit.base.typed import kinds_of
from labkit.runs import RunError, find_runs, open_run
from labkit.runs.contents import read_embeddings, read_frames, read_projection, read_samples
from labkit.runs.process import is_alive, process_start, this_node
from labkit.runs.read import read_run
from labkit.runs.record import RunRecord, read_record, read_summary
from labkit.runs.schema import is_run_id

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**400) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def test_no_runs_in_an_empty_or_missing_root(tmp_path):
    assert find_runs(tmp_path) == []
    assert find_runs(tmp_path / "nowhere") == []


def test_known_runs_are_read_again_only_when_they_have_changed(tmp_path):
    first, second = make_run(tmp_path, "toy-a-s0", value=0.5), make_run(tmp_path, "toy-b-s0", value=0.5)
    known = {}
    before = find_runs(tmp_path, known=known)
    assert before == find_runs(tmp_path)
    same = find_runs(tmp_path, known=known)
    assert all(a is b for a, b in zip(before, same))
    (second / "summary.json").unlink()
    kept, changed = find_runs(tmp_path, known=known)
    assert kept is before[0]
    assert changed.problems
    info = json.loads((first / "run.json").read_text())
    (first / "run.json").write_text(json.dumps(info | own_process() | {"status": "running"}))
    running = find_runs(tmp_path, known=known)[0]
    assert running.status == "running"
    assert find_runs(tmp_path, known=known)[0] is not running  # its process may have gone meanwhile


def test_a_good_run_has_its_facts_and_no_problem(tmp_path):
    make_run(tmp_path, "toy-pnp-s3", value=0.75)
    (run,) = find_runs(tmp_path)
    assert run.problems == ()
    assert (run.id, run.group, run.preset, run.loss, run.seed) == ("toy-pnp-s3", "toy_toy-pnp", "toy", "toy-pnp", 3)
    assert run.title == "toy-pnp, seed 3"
    assert (run.status, run.device, run.data_name, run.seconds) == ("finished", "cpu", "toy", 61.0)
    assert (run.value("R@1"), run.value("R@1", "validation"), run.value("none")) == (0.75, 0.85, None)


def test_runs_are_found_one_and_two_levels_down_but_not_three(tmp_path):
    make_run(tmp_path, "a-s0")
    make_run(tmp_path / "topic", "b-s0")
    make_run(tmp_path / "topic" / "deeper", "c-s0")
    assert [run.id for run in find_runs(tmp_path)] == ["a-s0", "b-s0"]


def test_many_runs_over_several_roots_come_once_each_in_order(tmp_path):
    for root in ("one", "two"):
        for seed in range(60):
            make_run(tmp_path / root, f"{root}-s{seed:02}")
    found = [run.id for run in find_runs(tmp_path / "two", tmp_path / "one", tmp_path / "two")]
    assert found == [f"{root}-s{seed:02}" for root in ("two", "one") for seed in range(60)]


def test_foreign_and_hidden_directories_and_files_are_ignored(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "readme.txt").write_text("hello")
    (tmp_path / "run.json").write_text("{}")
    make_run(tmp_path, ".hidden-s0")
    assert find_runs(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not whole JSON"),
        (b'{"schema": 1, "id": "x', "not whole JSON"),
        (b"[1, 2]", "must hold an object"),
        (b"\xff\xfe\x00", "not whole JSON"),
        (b'{"schema": 1, "seed": NaN}', "not whole JSON"),
        (b"[" * 100_000, "not whole JSON"),
        (b'{"schema": ' + b"9" * 5000 + b"}", "not whole JSON"),
        (b'{"schema": "one"}', "schema must be a whole number"),
        (b'{"schema": 1}', "id is missing"),
    ],
)
def test_a_corrupt_run_json_is_a_problem_that_hurts_no_other_run(tmp_path, content, said):
    make_run(tmp_path, "bad-s0").joinpath("run.json").write_bytes(content)
    make_run(tmp_path, "good-s0")
    bad, good = find_runs(tmp_path)
    assert good.problems == ()
    assert said in bad.problems[0]
    assert bad.status == "unreadable"
    assert (bad.group, bad.loss, bad.seed, bad.data_name) == ("bad-s0", "", None, "")


def test_a_newer_schema_is_a_problem_and_the_rest_stays_readable(tmp_path):
    make_run(tmp_path, "new-s0", schema=2)
    (run,) = find_runs(tmp_path)
    assert run.problems == ("run.json has schema 2, this labkit knows 1: update labkit to read it in full",)
    assert (run.loss, run.status) == ("new", "finished")


def test_a_finished_run_without_or_with_half_a_summary_has_a_problem(tmp_path):
    make_run(tmp_path, "a-s0").joinpath("summary.json").unlink()
    make_run(tmp_path, "b-s0").joinpath("summary.json").write_text('{"schema": 1, "test": {"R@1"')
    make_run(tmp_path, "c-s0").joinpath("summary.json").write_text(json.dumps(summary_of() | {"test": [1]}))
    missing, half, wrong = find_runs(tmp_path)
    assert "summary.json is missing" in missing.problems[0]
    assert "summary.json is not whole JSON" in half.problems[0]
    assert wrong.problems == ("summary.json: test must be an object or null, got list",)
    assert [run.value("R@1") for run in (missing, half, wrong)] == [None, None, None]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "x" * 200, "with blank", "nul\x1b[2J"])
def test_a_strange_directory_name_is_listed_with_a_problem(tmp_path, name):
    name = name.replace("/", "∕")
    good = make_run(tmp_path, "good-s0")
    good.rename(tmp_path / name)
    (run,) = find_runs(tmp_path)
    assert run.id == name
    assert "directory's name" in run.problems[0]


def test_a_renamed_directory_has_a_problem(tmp_path):
    make_run(tmp_path, "a-s0").rename(tmp_path / "b-s0")
    assert "belongs to run 'a-s0'" in find_runs(tmp_path)[0].problems[0]


def test_links_are_not_followed(tmp_path):
    outside = make_run(tmp_path / "outside", "secret-s0")
    root = tmp_path / "root"
    inside = make_run(root, "linked-file-s0")
    (root / "linked-s0").symlink_to(outside)
    (inside / "run.json").unlink()
    (inside / "run.json").symlink_to(outside / "run.json")
    (run,) = find_runs(root)
    assert run.id == "linked-file-s0"
    assert run.record == RunRecord()
    assert "run.json is not an ordinary file" in run.problems[0]


def test_files_behind_links_are_not_read(tmp_path):
    folder = add_arrays(make_run(tmp_path, "a-s0"))
    (folder / "embeddings.safetensors").rename(tmp_path / "elsewhere")
    (folder / "embeddings.safetensors").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "pca.parquet").write_bytes(b"")
    (folder / "projections").symlink_to(tmp_path / "p")
    with pytest.raises(RunError, match="not an ordinary file"):
        read_embeddings(read_run(folder))
    assert not read_run(folder).has("projections/pca.parquet")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_place_of_a_file_does_not_hang(tmp_path):
    folder = make_run(tmp_path, "a-s0")
    (folder / "run.json").unlink()
    os.mkfifo(folder / "run.json")
    assert "not an ordinary file" in find_runs(tmp_path)[0].problems[0]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs rights that can be lost")
def test_an_unreadable_directory_hurts_no_other(tmp_path):
    locked = make_run(tmp_path, "locked-s0")
    make_run(tmp_path, "open-s0")
    locked.chmod(0)
    try:
        assert [run.id for run in find_runs(tmp_path) if not run.problems] == ["open-s0"]
    finally:
        locked.chmod(0o700)


def test_a_running_process_is_running_and_a_dead_one_killed(tmp_path):
    make_run(tmp_path, "alive-s0", status="running", ended=None, **own_process())
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    make_run(tmp_path, "dead-s0", status="running", ended=None, pid=dead.pid, pid_started=1.0)
    alive, killed = find_runs(tmp_path)
    assert (alive.status, alive.advice, alive.problems) == ("running", "", ())
    assert (killed.status, killed.problems) == ("killed", ())
    assert "python -m labkit train --resume dead-s0" in killed.advice


def test_a_pid_used_again_is_not_the_run(tmp_path):
    make_run(tmp_path, "a-s0", status="running", ended=None, pid=os.getpid(), pid_started=1.0)
    assert find_runs(tmp_path)[0].status == "killed"


@pytest.mark.skipif(os.name == "nt", reason="needs waitid")
def test_a_process_that_ended_but_was_not_waited_for_is_dead():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert is_alive(child.pid, None) is True
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # ended, still in the table
    assert is_alive(child.pid, None) is False
    child.communicate()


def test_a_process_of_another_machine_is_neither_alive_nor_dead(tmp_path):
    assert is_alive(os.getpid(), process_start(os.getpid()), this_node()) is True
    assert is_alive(os.getpid(), 1.0, "another machine") is None
    make_run(tmp_path, "a-s0", status="running", ended=None, pid=os.getpid(), pid_started=1.0, node="another machine")
    assert find_runs(tmp_path)[0].status == "running"


@pytest.mark.parametrize("pid", [0, -1, 2**31, 10**30])
def test_no_process_has_an_impossible_pid(pid):
    assert is_alive(pid, None) is False


def test_interrupted_and_failed_runs_can_be_resumed_and_finished_ones_need_not(tmp_path):
    for status in ("interrupted", "failed", "finished"):
        make_run(tmp_path, f"{status}-s0", status=status)
    failed, finished, interrupted = find_runs(tmp_path)
    assert "--resume failed-s0" in failed.advice
    assert "--resume interrupted-s0" in interrupted.advice
    assert finished.advice == ""


NEEDED = [name for name, _, is_needed in kinds_of(RunRecord) if is_needed]


def test_records_declare_what_a_good_run_has():
    assert sorted(NEEDED) == sorted(info_of("a-s0"))
    assert read_record(info_of("a-s0"))[1] == read_summary(summary_of())[1] == []


@pytest.mark.parametrize("key", NEEDED)
def test_every_missing_or_mistyped_field_is_named(key):
    good = info_of("a-s0")
    assert key in " ".join(read_record({name: value for name, value in good.items() if name != key})[1])
    assert key in " ".join(read_record(good | {key: ["wrong"]})[1])


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../up"},
        {"group": ""},
        {"status": "done"},
        {"started": "yesterday"},
        {"seed": True},
        {"seed": 1.5},
        {"data": {"name": "toy"}},
        {"pid_started": float("nan")},
        {"schema": 0},
        {"schema": True},
        {"seed": 10**400},
        {"pid_started": 10**400},
        {"config": {"train": {"steps": "many"}}},
        {"config": {"optimizer": {"lr": 10**400}}},
        {"overrides": {"lr": 10**400}},
        {"resumed": [{"step": None}]},
        {"loss_file": {"file": 1}},
    ],
)
def test_wrong_values_are_refused(change):
    (name,) = change
    assert name in " ".join(read_record(info_of("a-s0") | change)[1])


@given(JSON)
def test_checks_take_any_json_without_raising(content):
    assert read_record(content)[1]
    assert isinstance(read_summary(content)[1], list)


@settings(max_examples=60, deadline=None)
@given(content=st.dictionaries(st.sampled_from(NEEDED), JSON, max_size=8), bonus=JSON)
def test_any_json_can_be_read_and_asked_for_everything(tmp_path_factory, content, bonus):
    folder = tmp_path_factory.mktemp("runs") / "any-s0"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(content))
    (folder / "summary.json").write_text(json.dumps(bonus))
    (run,) = find_runs(folder.parent)
    assert run.problems
    for name in ("group", "title", "preset", "loss", "seed", "status", "advice", "device", "data_name", "seconds"):
        getattr(run, name)
    assert run.value("R@1") is None


@given(st.text(alphabet="a0._=+,-/\\\\:\n\0é", max_size=8) | st.text(alphabet="a", min_size=115, max_size=125))
def test_ids_can_never_leave_a_folder(name):
    safe = name == Path(name).name and name[:1] not in ("", ".") and len(name) <= 120
    assert is_run_id(name) == (safe and not set(name) & set("/\\:\n\0é"))


def test_a_run_opens_by_id_by_prefix_and_by_path(tmp_path):
    folder = make_run(tmp_path / "topic", "toy-pnp-s0")
    make_run(tmp_path, "toy-pnp-s01")
    make_run(tmp_path, "toy-triplet-s0")
    assert open_run("toy-pnp-s0", tmp_path).path == folder  # an id, though another one begins with it
    assert open_run("toy-t", tmp_path).id == "toy-triplet-s0"
    assert open_run(folder, tmp_path / "elsewhere").path == folder
    assert open_run(str(folder), tmp_path / "elsewhere").path == folder


def test_an_unknown_or_ambiguous_reference_names_what_is_close(tmp_path):
    for seed in range(3):
        make_run(tmp_path, f"toy-pnp-s{seed}")
    with pytest.raises(RunError, match="3 runs begin with 'toy': toy-pnp-s0, toy-pnp-s1, toy-pnp-s2; give more"):
        open_run("toy", tmp_path)
    with pytest.raises(RunError, match="no run 'toy-pmp-s1'; close to it: .*toy-pnp-s1"):
        open_run("toy-pmp-s1", tmp_path)
    with pytest.raises(RunError, match="no run ''"):
        open_run("", tmp_path)
    with pytest.raises(RunError, match="there are no runs yet"):
        open_run("toy", tmp_path / "empty")
    make_run(tmp_path / "topic", "toy-pnp-s0")
    with pytest.raises(RunError, match="is there twice"):
        open_run("toy-pnp-s0", tmp_path)


def test_metrics_skip_the_half_written_last_line_and_keep_the_later_of_two_rows(tmp_path):
    folder = make_run(tmp_path, "a-s0")
    lines = [
        '{"step": 20, "loss": 1.0}',
        '{"step": 40, "loss": 2.0}',
        '{"step": 40, "split": "validation", "R@1": 0.5}',
        '{"step": 40, "lo{"step": 20, "loss": 3.0}',
        '{"step": 20, "loss": 4.0}',
        "[1]",
        '{"step": 1%s, "loss": 1.0}' % ("0" * 400),
        '{"step": true, "loss": 1.0}',
        '{"loss": 1.0}',
        '{"step": 60, "lo',
    ]
    (folder / "metrics.jsonl").write_text("\n".join(lines))
    assert read_run(folder).curves() == [
        {"step": 20, "loss": 4.0},
        {"step": 40, "loss": 2.0},
        {"step": 40, "split": "validation", "R@1": 0.5},
    ]
    (folder / "metrics.jsonl").unlink()
    assert read_run(folder).curves() == []


@settings(max_examples=40, deadline=None)
@given(cut=st.integers(0, 900))
def test_metrics_cut_off_anywhere_give_a_beginning_of_the_rows(tmp_path_factory, cut):
    folder = make_run(tmp_path_factory.mktemp("runs"), "a-s0")
    path = folder / "metrics.jsonl"
    whole = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_bytes(path.read_bytes()[:cut])
    rows = read_run(folder).curves()
    assert sorted(map(str, rows)) == sorted(map(str, whole[: len(rows)]))


def test_arrays_come_back_as_float32_with_their_samples(tmp_path):
    run = read_run(add_arrays(make_run(tmp_path, "a-s0"), n=40, d=8))
    embeddings, (frames, steps), samples = read_embeddings(run), read_frames(run), read_samples(run)
    assert embeddings.shape == (40, 8)
    assert embeddings.dtype == frames.dtype == torch.float32
    assert torch.equal(frames[1], embeddings)
    assert steps.tolist() == [0, 100]
    assert samples["id"].tolist()[:2] == ["sample-000", "sample-001"]
    assert samples["vendor"].tolist() == ["a"] * 40


def test_missing_or_damaged_arrays_are_errors_that_name_run_and_file(tmp_path):
    folder = make_run(tmp_path, "a-s0")
    run = read_run(folder)
    for read, name in ((read_embeddings, "embeddings"), (read_frames, "frames"), (read_samples, "samples")):
        with pytest.raises(RunError, match=rf"a-s0.*{name}.*is missing"):
            read(run)
    add_arrays(folder)
    for name in ("embeddings.safetensors", "samples.parquet"):
        (folder / name).write_bytes((folder / name).read_bytes()[:-30])
    with pytest.raises(RunError, match=r"a-s0: embeddings.safetensors is damaged"):
        read_embeddings(run)
    with pytest.raises(RunError, match=r"a-s0: samples.parquet is damaged"):
        read_samples(run)
    save_file({"embeddings": torch.zeros(3)}, folder / "embeddings.safetensors")
    with pytest.raises(RunError, match="must have 2 axes"):
        read_embeddings(run)
    save_file({"frames": torch.zeros(3, 2, 2), "steps": torch.zeros(2)}, folder / "frames.safetensors")
    with pytest.raises(RunError, match="3 frames but 2 steps"):
        read_frames(run)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"id": ["a", "b"]}, "lacks the columns label"),
        ({"id": ["a", "a"], "label": [0, 1]}, "an id occurs twice"),
        ({"id": ["a", None], "label": [0, 1]}, "id in samples.parquet must hold a text"),
        ({"id": [1, 2], "label": [0, 1]}, "id in samples.parquet must hold a text"),
        ({"id": ["a", "b"], "label": [0, None]}, "label in samples.parquet must hold a whole number"),
        ({"id": ["a", "b"], "label": ["x", "y"]}, "label in samples.parquet must hold a whole number"),
        ({"id": ["a", "b"], "label": [0, 1], "deep": [[1], [2]]}, "plain columns"),
    ],
)
def test_samples_of_another_form_are_refused(tmp_path, columns, said):
    folder = make_run(tmp_path, "a-s0")
    pq.write_table(pa.table(columns), folder / "samples.parquet")
    with pytest.raises(RunError, match=f"a-s0: .*{said}"):
        read_samples(read_run(folder))


def test_a_parquet_file_that_claims_too_many_rows_is_not_read(tmp_path, monkeypatch):
    run = read_run(add_arrays(make_run(tmp_path, "a-s0"), n=12))
    monkeypatch.setattr("labkit.runs.contents.MAX_ROWS", 11)
    with pytest.raises(RunError, match="claims 12 rows, over 11"):
        read_samples(run)


def test_a_projection_that_is_not_there_says_how_to_make_it(tmp_path):
    run = read_run(make_run(tmp_path, "a-s0"))
    with pytest.raises(RunError, match="python -m labkit project a-s0"):
        read_projection(run, "pca")
    with pytest.raises(ValueError, match="name must be one of 'pca', 'umap'"):
        read_projection(run, "../../etc/passwd")


def test_reading_needs_no_torch_and_no_pandas(tmp_path):
    make_run(tmp_path, "a-s0")
    code = f"import sys; from labkit.runs import find_runs; assert find_runs({str(tmp_path)!r})[0].problems == ()\n"
    code += "print({'torch', 'pandas', 'numpy', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.stdout.strip() == "set()", done.stderr
