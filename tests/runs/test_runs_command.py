import csv
import errno
import os
import subprocess
import sys

import pytest
from run_folders import add_arrays, bytes_of, make_run, own_process

from labkit.base.paths import ROOT
from labkit.commands import main
from labkit.runs import find_runs
from labkit.runs.read import read_run


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Runs a command in tmp_path, without recorded runs; returns exit code, output and messages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labkit.runs.read.RECORDED", tmp_path / "recorded")

    def run(*arguments):
        code = main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def runs(tmp_path):
    """The user's own runs."""
    return tmp_path / "runs"


@pytest.mark.parametrize("arguments", [["runs"], ["runs", "list"]])
def test_no_runs_say_how_to_make_one(call, arguments):
    code, out, err = call(*arguments)
    assert (code, err) == (0, "")
    assert "python -m labkit train" in out


def test_the_list_shows_recorded_and_own_runs_in_columns(call, runs, tmp_path):
    make_run(runs, "mine-s4", value=0.5)
    make_run(tmp_path / "recorded" / "topic", "theirs-s0", value=0.25)
    code, out, err = call("runs")
    assert (code, err) == (0, "")
    header, first, second = out.splitlines()
    assert header.split("  ")[0] == "id"
    assert "test R@1 %" in header
    assert first.split() == ["theirs-s0", "finished", "0", "cpu", "25.00", "12.50", "61", "s"]
    assert second.split() == ["mine-s4", "finished", "4", "cpu", "50.00", "25.00", "61", "s"]
    assert "0.9" in call("runs", "--metric", "intra")[1]


def test_filters_work_before_and_after_the_action(call, runs):
    make_run(runs, "a-s0")
    make_run(runs, "b-s0", loss="triplet", preset="emoji", overrides={"flag": True})
    make_run(runs, "c-s0", status="failed", config={"optimizer": {"lr": 1}}, overrides={})

    def ids(*arguments):
        code, out, _ = call(*arguments)
        assert code == 0
        return [line.split()[0] for line in out.splitlines()[1:]]

    assert ids("runs", "--loss", "triplet") == ["b-s0"]
    assert ids("runs", "--loss", "triplet", "list") == ["b-s0"]
    assert ids("runs", "list", "--preset", "toy") == ["a-s0", "c-s0"]
    assert ids("runs", "list", "--status", "failed") == ["c-s0"]
    assert ids("runs", "--where", "optimizer.lr=0.003") == ["a-s0", "b-s0"]
    assert ids("runs", "--where", "flag=true") == ids("runs", "--where", "flag=True") == ["b-s0"]
    assert ids("runs", "--where", "seed=0", "--where", "status=failed") == ["c-s0"]
    assert call("runs", "--where", "nothing=None")[1].startswith("no runs here")


def test_runs_may_lie_elsewhere(call, tmp_path):
    make_run(tmp_path / "x", "a-s0")
    make_run(tmp_path / "y", "b-s0")
    out = call("runs", "--runs", tmp_path / "x", "--runs", tmp_path / "y")[1]
    assert [line.split()[0] for line in out.splitlines()] == ["id", "a-s0", "b-s0"]
    assert "a-s0: finished" in call("runs", "--runs", tmp_path / "x", "show", "a-s0")[1]


def test_problems_and_killed_runs_are_told_beside_the_list(call, runs):
    make_run(runs, "bad-s0").joinpath("run.json").write_text("{")
    make_run(runs, "killed-s0", status="running", ended=None, pid=2**22 + 1, pid_started=1.0)
    make_run(runs, "long-s0").joinpath("summary.json").write_text('{"schema": 1, "wall_seconds": 9000}')
    code, out, err = call("runs")
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()[1:]] == ["unreadable", "killed", "finished"]
    assert "2 h 30 min" in out
    assert "labkit: bad-s0: run.json is not whole JSON" in err
    assert "train --resume killed-s0" in err


def test_names_cannot_steer_the_terminal(call, runs):
    make_run(runs, "a-s0", device="\x1b[2Jcpu\n", loss="\ud800").rename(runs / "evil\x1b[31m\udc80")
    for arguments in (["runs"], ["runs", "show", "evil"], ["runs", "compare"]):
        _, out, err = call(*arguments)
        assert "\x1b" not in out + err
        (out + err).encode()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["runs", "--runs", "nowhere"], "--runs nowhere: no such folder"),
        (["runs", "--where", "lr"], "must have the form KEY=VALUE"),
        (["runs", "compare"], "no finished run here has R@1 on test"),
        (["runs", "compare", "--split", "train"], "split must be one of"),
        (["runs", "show", "nothing"], "no run 'nothing'"),
        (["runs", "export", "nothing", "-o", "x.zip"], "no run 'nothing'"),
        (["runs", "import", "none.zip"], "none.zip: No such file"),
        (["runs", "import", "none.zip", "--runs", "a", "--runs", "b"], "give one folder"),
        (["runs", "delete", "nothing", "--yes"], "no run 'nothing' below runs"),
        (["runs", "mlflow", "nothing", "--uri", "http://host"], "no run 'nothing'"),
        (["project", "nothing"], "no run 'nothing'"),
    ],
)
def test_errors_are_one_line_and_exit_code_2(call, arguments, said):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("labkit: ")
    assert said in err
    assert err.count("\n") == 1


def test_a_missing_package_is_named(call, runs, monkeypatch):
    make_run(runs, "a-s0")
    monkeypatch.setitem(sys.modules, "pandas", None)
    code, _, err = call("runs", "compare")
    assert code == 1
    assert "this Python has no pandas; make the environment with `python -m labkit setup`" in err


def test_compare_shows_groups_differences_and_writes_files(call, runs, tmp_path):
    for seed, (low, high) in enumerate([(0.1, 0.2), (0.5, 0.61), (0.9, 0.99)]):
        make_run(runs, f"base-s{seed}", value=low)
        make_run(runs, f"better-s{seed}", value=high)
    make_run(runs, "lonely-s9", value=0.3)
    code, out, err = call("runs", "compare", "--baseline", "toy_base", "--csv", "t.csv", "--latex", "t.tex")
    assert code == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["better", "base", "lonely"]
    assert lines[1].split()[:3] == ["better", "3", "60.00"]
    assert "±" in lines[1]
    assert "±" not in lines[3]
    difference = next(line for line in lines if line.startswith("better") and "3:0" in line)
    assert difference.split()[1:5] == ["3", "+10.00", "±", "2.48"]
    assert "share no seed" in err
    rows = list(csv.DictReader((tmp_path / "t.csv").open()))
    assert [row["group"] for row in rows] == ["toy_better", "toy_base", "toy_lonely"]
    assert [row["title"] for row in rows] == ["better", "base", "lonely"]
    assert r"\pm" in (tmp_path / "t.tex").read_text()
    code, out, err = call("runs", "compare", "--baseline", "toy_bases")
    assert code != 0
    assert not out
    assert err.count("no finished runs of 'toy_bases' here; did you mean toy_base?") == 1
    assert call("runs", "compare", "--loss", "triplet")[0] == 2


def test_show_tells_everything_of_one_run(call, runs):
    make_run(runs, "toy-pnp-s0", value=0.5, error="disk <full>", status="finished", overrides={"lr": 0.003})
    code, out, err = call("runs", "show", "toy")
    assert (code, err) == (0, "")
    for expected in (
        "toy-pnp-s0: finished",
        "toy: toy-pnp, lr = 0.003, seed 0",
        '{"lr": 0.003}',
        "disk <full>",
        "best step   100 of 200",
    ):
        assert expected in out
    assert "run.json, metrics.jsonl, summary.json" in out
    assert ["R@1", "50.00", "40.00", "60.00"] in [line.split() for line in out.splitlines()]
    make_run(runs, "bad-s0").joinpath("run.json").write_text("[]")
    code, out, err = call("runs", "show", "bad-s0")
    assert code == 0
    assert "run.json must hold an object" in err


def test_export_and_import_move_runs(call, runs, tmp_path):
    folder = make_run(runs, "a-s0")
    make_run(runs, "b-s0")
    (folder / "notes.txt").write_text("mine")
    code, out, err = call("runs", "export", "a-s0", "b-s0", "-o", "out.zip")
    assert code == 0
    assert "2 runs" in out
    assert "left out, not a file of labkit: a-s0/notes.txt" in err
    code, out, _ = call("runs", "import", "out.zip", "--runs", "other")
    assert code == 0
    assert out.count("imported: ") == 2
    assert bytes_of(tmp_path / "other" / "b-s0") == bytes_of(runs / "b-s0")
    assert call("runs", "import", "out.zip")[0] == 2
    assert call("runs", "import", "out.zip", "--overwrite")[0] == 0
    assert not (folder / "notes.txt").exists()


def test_delete_asks_on_a_terminal_and_needs_yes_elsewhere(call, runs, monkeypatch):
    make_run(runs, "a-s0")
    assert "give --yes" in call("runs", "delete", "a-s0")[2]
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())
    for answer, code, left in (("", 1, ["a-s0"]), ("n", 1, ["a-s0"]), ("Y", 0, [])):
        monkeypatch.setattr("builtins.input", lambda prompt, answer=answer: answer)
        assert call("runs", "delete", "a-s0")[0] == code
        assert [run.id for run in find_runs(runs)] == left
    assert os.listdir(runs) == []


def test_delete_takes_whole_ids_of_own_runs_only(call, runs, tmp_path):
    recorded = make_run(tmp_path / "recorded", "old-s0")
    outside = make_run(tmp_path / "outside", "far-s0")
    make_run(runs, "a-s0")
    foreign = runs / "notes"
    foreign.mkdir()
    (runs / "link-s0").symlink_to(outside)
    for name in ("a-s", "old-s0", outside, recorded, foreign, "notes", "link-s0", runs, "..", "../outside/far-s0", ""):
        code, _, err = call("runs", "delete", name, "--yes")
        assert (code, "no run" in err) == (2, True), name
    assert "written in full: a-s0" in call("runs", "delete", "a-s", "--yes")[2]
    # one wrong name keeps the others
    assert call("runs", "delete", "a-s0", "nothing", "--yes")[0] == 2
    assert recorded.exists()
    assert outside.exists()
    assert foreign.exists()
    assert call("runs", "delete", runs / "a-s0", "--yes")[0] == 0
    assert call("runs", "delete", "old-s0", "--yes", "--runs", tmp_path / "recorded")[0] == 0
    assert not recorded.exists()


def test_delete_leaves_what_links_point_to_and_runs_that_run(call, runs, tmp_path):
    make_run(runs, "running-s0", status="running", ended=None, **own_process())
    assert "is running" in call("runs", "delete", "running-s0", "--yes")[2]
    folder = make_run(runs, "a-s0")
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (folder / "projections").symlink_to(tmp_path / "precious")
    assert call("runs", "delete", "a-s0", "a-s0", "--yes")[0] == 0
    assert (tmp_path / "precious" / "file").exists()
    assert [run.id for run in find_runs(runs)] == ["running-s0"]
    make_run(runs, "broken-s0").joinpath("run.json").write_text("{")
    assert call("runs", "delete", "broken-s0", "--yes")[0] == 0


def test_project_writes_what_is_asked_for(call, runs):
    folder = add_arrays(make_run(runs, "a-s0"), n=20, d=3)
    code, out, err = call("project", "a-s0")
    assert code == 0
    assert out == f"written: {folder / 'projections' / 'pca.parquet'}\n"
    assert "no UMAP of 3 dimensions" in err
    assert call("project", folder, "--methods", "pca")[0] == 0
    assert read_run(folder).has("projections/pca.parquet")


def test_mlflow_is_told_to_be_missing(call, runs, monkeypatch):
    make_run(runs, "a-s0")
    monkeypatch.setitem(sys.modules, "mlflow", None)
    assert "labkit[mlflow]" in call("runs", "mlflow", "a-s0", "--uri", "http://host")[2]


def test_a_reader_that_goes_away_is_no_error(runs):
    for seed in range(30):
        make_run(runs, f"{'a' * 100}-s{seed}")
    code = "import time; from labkit.commands import main; time.sleep(0.5); "
    code += f"exit(main(['runs', '--runs', {str(runs)!r}]))"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": os.environ | {"PYTHONUNBUFFERED": "1"}}
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, text=True, **pipes)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(60) == 0


def test_values_are_searched_by_what_they_mean(call, runs):
    config = {"data": {"b": [1, 2], "c": [1, {"d": None}]}, "loss_options": {"tau": 0.05}}
    make_run(runs, "a-s0", config=config, overrides={"lr": "0.001"})
    for right in ("lr=1e-3", "optimizer.lr=0.001", "data.b=(1, 2)", "tau=5e-2", "loss_options.tau=0.05", "seed=0"):
        assert "a-s0" in call("runs", "--where", right)[1]
    for wrong in ("lr=0.003", "data.c.d=1", "data.c=x", "tau=0.5", "nothing=1"):
        assert "no runs" in call("runs", "--where", wrong)[1]


def test_a_damaged_log_is_told_by_the_list_and_by_show(call, runs):
    log = make_run(runs, "a-s0") / "metrics.jsonl"
    lines = log.read_text().splitlines()
    log.write_text("\n".join([*lines[:2], '{"step": 1' + "0" * 400 + "}", "half a li", *lines[2:]]) + "\n")
    for arguments in (["runs"], ["runs", "show", "a-s0"]):
        code, _, err = call(*arguments)
        assert code == 0
        assert "metrics.jsonl: line 3 (and 1 more) is damaged" in err
    half = make_run(runs, "b-s0", status="interrupted") / "metrics.jsonl"
    half.write_text(half.read_text() + '{"step"')  # what a kill leaves behind
    assert "b-s0: metrics" not in call("runs")[2]
    log.unlink()
    os.mkfifo(log)
    assert "metrics.jsonl is not an ordinary file" in call("runs")[2]


def test_compare_names_damaged_runs_that_a_filter_cannot_tell(call, runs):
    make_run(runs, "a-s0")
    make_run(runs, "a-s1").joinpath("run.json").write_text("{")
    make_run(runs, "b-s0", preset="emoji", overrides=[])
    code, out, err = call("runs", "compare", "--preset", "toy", "--where", "seed=0")
    assert code == 0
    assert out.splitlines()[1].split()[:2] == ["a", "1"]
    assert "a-s1 is left out: run.json is not whole JSON" in err
    assert "b-s0" not in err  # of another preset, that much is known
    assert "b-s0 is left out: run.json: overrides must be an object" in call("runs", "compare")[2]


@pytest.mark.parametrize("option", ["--csv", "--latex"])
def test_a_table_on_a_full_disk_leaves_no_file(call, runs, tmp_path, monkeypatch, option):
    make_run(runs, "a-s0")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.write_bytes", full)
        code, _, err = call("runs", "compare", option, tmp_path / "out")
    assert (code, "No space left" in err) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert call("runs", "compare", option, tmp_path / "out")[0] == 0
    assert (tmp_path / "out").stat().st_size > 50


def full(path, data):
    """Writing to a full disk: some bytes, then none."""
    with path.open("wb") as file:
        file.write(data[:10])
    raise OSError(errno.ENOSPC, "No space left on device", str(path))
