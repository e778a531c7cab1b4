"""A run from start to end, killed, interrupted, resumed, on a full disk: nothing is lost and nothing changes."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from same_run import killed_and_resumed, results, rows

from labkit.losses import CATALOG
from labkit.runs.process import process_start
from labkit.runs.tracker import WriteError
from labkit.training import loop, state
from labkit.training.loop import resume, start

ROOT = Path(__file__).parents[2]


@pytest.fixture
def whole(small, tmp_path):
    """An uninterrupted run."""
    start(small(), 3, tmp_path / "whole", device="cpu")
    return tmp_path / "whole"


def test_a_run_directory_holds_everything(whole):
    info = json.loads((whole / "run.json").read_text())
    assert info["status"] == "finished"
    assert info["device"] == "cpu"
    assert info["device_name"]
    assert info["seed"] == 3
    assert len(info["data"]["sha256"]) == 64
    assert info["data"]["train_classes"] == 10
    assert info["versions"]["torch"].partition("+")[0] == torch.__version__.partition("+")[0]
    assert info["config"]["loss"] == "recall-at-k-simix"
    summary = json.loads((whole / "summary.json").read_text())
    assert 0 < summary["test"]["R@1"] <= 1
    assert summary["cpu_seconds"] > 0
    assert summary["peak_memory_mb"] > 50
    found = rows(whole)
    assert [r["step"] for r in found if "loss" in r] == list(range(3, 25, 3))
    assert [r["step"] for r in found if r.get("split") == "validation"] == [8, 16, 24]
    best = max((r for r in found if "split" in r), key=lambda r: r["R@1"])
    assert summary["best_step"] == best["step"]
    frames = load_file(whole / "frames.safetensors")
    assert frames["frames"].shape == (5, 60, 8)
    assert frames["steps"][0] == 0
    assert frames["steps"][-1] == 24
    assert {p.name for p in (whole / "checkpoints").iterdir()} == {"last.safetensors", "best.safetensors"}


def test_the_same_seed_gives_the_same_run_and_another_does_not(small, whole, tmp_path):
    for seed in (3, 4):
        start(small(), seed, tmp_path / str(seed), device="cpu")
    assert results(tmp_path / "3") == results(whole)
    assert results(tmp_path / "4") != results(whole)


@pytest.mark.parametrize("loss", ["recall-at-k-simix", "mpa", "sgsl"])
@pytest.mark.parametrize("last_step", [2, 7, 13, 23])
def test_a_run_that_stops_at_any_step_and_is_resumed_is_the_same_run(small, tmp_path, loss, last_step):
    start(small(loss), 0, tmp_path / "whole", device="cpu")
    killed = killed_and_resumed(small(loss), 0, tmp_path / "killed", last_step)
    assert results(killed) == results(tmp_path / "whole")


@pytest.mark.parametrize("last_step", [9, 15])
def test_a_resumed_run_stops_early_where_an_uninterrupted_one_does(small, tmp_path, monkeypatch, last_step):
    scores = {4: 0.5, 8: 0.6, 12: 0.6, 16: 0.1, 20: 0.7}
    real = loop.measure_validation
    monkeypatch.setattr(
        loop, "measure_validation", lambda state, *rest: real(state, *rest) | {"R@1": scores[state.progress.step]}
    )
    config = small("pnp-dq", patience="2", steps="40", evaluate_every="4")
    start(config, 0, tmp_path / "whole", device="cpu")
    killed = killed_and_resumed(config, 0, tmp_path / "killed", last_step)
    assert results(killed) == results(tmp_path / "whole")
    assert results(killed)["steps"] == 16


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_shows_a_live_bar_with_loss_recall_and_time_left(small_arguments, tmp_path):
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 200))
    command = [sys.executable, "-m", "labkit", "train", "fashion-mnist", "--runs", str(tmp_path), "--threads", "1"]
    child = subprocess.Popen(
        [*command, *small_arguments(steps=200)], cwd=ROOT, stderr=theirs, stdout=theirs, stdin=theirs
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux says so when the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert child.wait(60) == 0
    text = shown.decode()
    assert re.search(r"200/200 \[\d\d:\d\d<\d\d:\d\d.*loss [\d.e-]+, validation R@1 [\d.]+ %", text)
    assert "step 8/200" not in text  # the lines for files and pipes


KILL_WHILE_WRITING = """
import os, signal, sys
from labkit.base import files
real, count = os.replace, 0
def replace(source, target):
    global count
    count += str(target).endswith(".safetensors")
    if count == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)   # the new file is written, but not yet in its place
    real(source, target)
os.replace = replace
from labkit.__main__ import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
@pytest.mark.parametrize("write", [1, 4])
def test_kill_9_in_the_middle_of_a_checkpoint_then_resume_ends_with_the_same_metrics(
    small_arguments, whole, tmp_path, write
):
    command = ["train", "fashion-mnist", "--loss", "recall-at-k-simix", "--seed", "3", "--threads", "1"]
    command += ["--runs", str(tmp_path / "runs"), *small_arguments()]
    killed = subprocess.run([sys.executable, "-c", KILL_WHILE_WRITING, str(write), *command], cwd=ROOT, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    (folder,) = (tmp_path / "runs").iterdir()
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 7, "lo')  # as if it had been killed while writing a line, too
    assert list(folder.rglob("*.part"))
    subprocess.run(
        [sys.executable, "-m", "labkit", "train", "--resume", str(folder)], cwd=ROOT, timeout=120, check=True
    )
    assert results(folder) == results(whole)
    assert not list(folder.rglob("*.part"))
    info = json.loads((folder / "run.json").read_text())
    assert info["threads"] == 1  # the run's own, not torch's choice
    assert [part["step"] for part in info["resumed"]] == [0 if write == 1 else 12]


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_finishes_cleanly_and_says_how_to_go_on(small_arguments, tmp_path, number):
    command = [sys.executable, "-m", "labkit", "train", "fashion-mnist", "--runs", str(tmp_path), "--threads", "1"]
    command += [*small_arguments(steps=100000, frames=0)]
    child = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 100
    while not list(tmp_path.glob("*/metrics.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.1)
    child.send_signal(number)
    _, text = child.communicate(timeout=60)
    assert child.returncode == 130
    (folder,) = tmp_path.iterdir()
    info = json.loads((folder / "run.json").read_text())
    assert info["status"] == "interrupted"
    assert info["ended"]
    assert f"train --resume {folder}" in text
    assert "Traceback" not in text
    assert (folder / "checkpoints" / "last.safetensors").exists()


def test_a_full_disk_is_said_plainly_and_the_run_stays_readable(small, tmp_path, monkeypatch):
    real, calls = state.write_safetensors, []

    def write(path, tensors, metadata=None):
        calls.append(path)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, tensors, metadata)

    monkeypatch.setattr(state, "write_safetensors", write)
    with pytest.raises(WriteError, match=r"the disk is full.*--resume"):
        start(small(), 0, tmp_path / "run", device="cpu")
    info = json.loads((tmp_path / "run" / "run.json").read_text())
    assert info["status"] == "failed"
    assert "the disk is full" in info["error"]
    assert rows(tmp_path / "run")
    monkeypatch.setattr(state, "write_safetensors", real)
    assert resume(tmp_path / "run", device="cpu").status == "finished"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs resource limits")
def test_a_real_write_limit_leaves_whole_files_only(small_arguments, tmp_path):
    """Files may not grow beyond 20 kB: the checkpoint cannot be written."""
    limited = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "import torch, labkit.training.loop; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000));"
        "from labkit.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    command = ["train", "fashion-mnist", "--runs", str(tmp_path), "--threads", "1", *small_arguments()]
    done = subprocess.run([sys.executable, "-c", limited, *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "cannot write to" in done.stderr
    assert "Traceback" not in done.stderr
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == "failed"
    assert not list((folder / "checkpoints").glob("*")), "no half checkpoint"


def test_early_stopping_looks_at_validation_only(small, tmp_path, monkeypatch):
    scores = iter([0.5, 0.6, 0.6, 0.1, 0.7])
    real = loop.measure_validation
    monkeypatch.setattr(loop, "measure_validation", lambda *a: real(*a) | {"R@1": next(scores)})
    config = small("pnp-dq", patience="2", steps="40", evaluate_every="4")
    start(config, 0, tmp_path / "run", device="cpu")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["steps"] == 16  # 0.6 at the second evaluation, then two without a better one
    assert summary["best_step"] == 8
    header = state.read_checkpoint((tmp_path / "run" / "checkpoints" / "last.safetensors").read_bytes(), tmp_path)[1]
    assert json.loads(header["progress"])["step"] == 16


@pytest.fixture
def best_at_8(monkeypatch):
    """Validation that likes the first evaluation, at step 8, best."""
    real, scores = loop.measure_validation, iter([0.9, 0.5, 0.6])
    monkeypatch.setattr(loop, "measure_validation", lambda *a: real(*a) | {"R@1": next(scores)})


def test_the_test_score_is_that_of_the_best_weights(small, tmp_path, best_at_8):
    start(small("pnp-dq"), 0, tmp_path / "run", device="cpu")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["best_step"] == 8
    assert summary["test"]["MAP@R"] != summary["test_last"]["MAP@R"]


def test_the_test_classes_are_left_alone_where_asked(small, tmp_path):
    config = small("pnp-dq", test="false")
    start(config, 0, tmp_path / "run", device="cpu", keep="metrics")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["test"] is None
    assert summary["validation"]["R@1"] > 0
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_the_last_weights_are_tested_where_asked(small, tmp_path, best_at_8):
    start(small("pnp-dq", select="last"), 0, tmp_path / "run", device="cpu")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["best_step"] == 24
    assert summary["test"]["MAP@R"] == summary["test_last"]["MAP@R"]


@pytest.mark.parametrize("keep", ["embeddings", "metrics"])
def test_only_what_is_asked_for_is_kept(small, tmp_path, keep):
    start(small("pnp-dq"), 0, tmp_path / "run", device="cpu", keep=keep)
    names = {p.name for p in (tmp_path / "run").iterdir()}
    expected = {"run.json", "metrics.jsonl", "summary.json"}
    assert names == expected | (
        {"embeddings.safetensors", "samples.parquet", "frames.safetensors", "projections"}
        if keep == "embeddings"
        else set()
    )


@pytest.mark.parametrize("loss", [*CATALOG, "untrained", "pixels"])
def test_every_loss_of_the_catalogue_trains(small, tmp_path, loss):
    config = small(loss, steps="3", evaluate_every="3", frames="0")
    assert start(config, 0, tmp_path / "run", device="cpu").status == "finished"
    test = json.loads((tmp_path / "run" / "summary.json").read_text())["test"]
    assert test["R@1"] > 0.2


def test_proxies_learn_with_their_own_rate(small):
    built = state.build_state(small("mpa", lr="0.001", proxy_lr="0.5"), 10, 0, torch.device("cpu"))
    rates = {id(p): g["lr"] for g in built.optimizer.param_groups for p in g["params"]}
    assert {rates[id(p)] for p in built.module.parameters()} == {0.001}
    assert {rates[id(p)] for p in built.loss.parameters()} == {0.5}


def test_micro_batches_change_nothing_but_memory(small, tmp_path):
    options = {"steps": "6", "evaluate_every": "6", "model__norm": "group", "frames": "0"}
    for name, micro in (("one", "0"), ("two", "8")):
        start(small("pnp-dq", micro=micro, **options), 0, tmp_path / name, device="cpu")
    one, two = (json.loads((tmp_path / n / "summary.json").read_text()) for n in ("one", "two"))
    assert one["loss"] == pytest.approx(two["loss"], abs=1e-5)


def test_micro_batches_with_batch_norm_are_refused_with_advice(small, tmp_path):
    with pytest.raises(ValueError, match="BatchNorm"):
        start(small("pnp-dq", micro="8"), 0, tmp_path / "run", device="cpu")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["status"] == "failed"


def test_a_finished_run_and_a_missing_one_cannot_be_resumed(whole, tmp_path):
    with pytest.raises(ValueError, match="finished"):
        resume(whole)
    with pytest.raises(ValueError, match="holds no run"):
        resume(tmp_path / "nowhere")


def test_a_corrupt_checkpoint_is_named(whole):
    info = json.loads((whole / "run.json").read_text())
    (whole / "run.json").write_text(json.dumps(info | {"status": "interrupted"}))
    path = whole / "checkpoints" / "last.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match="a checkpoint is not whole"):
        resume(whole)


@pytest.mark.parametrize(
    ("settings", "shares"),
    [
        ({"schedule": "cosine"}, {0: 1.0, 12: 0.5, 24: 0.0}),
        ({"schedule": "constant", "warmup": "4"}, {0: 0.25, 3: 1.0, 20: 1.0}),
        ({"schedule": "step", "milestones": "[0.5, 0.75]", "decay": "0.5"}, {0: 1.0, 11: 1.0, 12: 0.5, 18: 0.25}),
    ],
)
def test_learning_rates_follow_their_schedule(small, settings, shares):
    config = small("pnp-dq", **settings).optimizer
    for step, share in shares.items():
        assert state.learning_rate_share(config, step, 24) == pytest.approx(share)


def unfinished(folder: Path, **changes) -> None:
    """Make a finished run look as if it had been stopped."""
    info = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(info | {"status": "interrupted"} | changes))


def test_a_run_that_another_process_writes_is_left_alone(whole):
    waiting = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        unfinished(whole, status="running", pid=waiting.pid, pid_started=process_start(waiting.pid))
        with pytest.raises(ValueError, match=f"is running, in process {waiting.pid}"):
            resume(whole)
    finally:
        waiting.communicate(b"\n")


def test_other_data_or_another_number_of_processes_are_refused(whole):
    info = json.loads((whole / "run.json").read_text())
    unfinished(whole, processes=2)
    with pytest.raises(ValueError, match="made by 2 processes"):
        resume(whole)
    unfinished(whole, processes=1, data=info["data"] | {"sha256": "0" * 64})
    with pytest.raises(ValueError, match="the data are not those"):
        resume(whole)


def test_resume_uses_the_runs_own_threads(whole, monkeypatch):
    used = []
    monkeypatch.setattr(torch, "set_num_threads", used.append)
    unfinished(whole, threads=3)
    resume(whole)
    assert used == [3]


def test_weights_of_another_step_are_not_taken_for_the_best(whole):
    path = whole / "checkpoints" / "best.safetensors"
    _, header = state.read_checkpoint(path.read_bytes(), whole)
    step = json.loads(header["progress"])["step"]
    config = json.loads((whole / "run.json").read_text())["config"]
    built = state.build_state(loop.from_dict(config), 10, 0, torch.device("cpu"))
    before = [p.clone() for p in built.module.parameters()]
    assert not state.load_weights_of(path.read_bytes(), built, whole, step + 1)
    assert all(torch.equal(a, b) for a, b in zip(before, built.module.parameters()))
    assert state.load_weights_of(path.read_bytes(), built, whole, step)
    assert not all(torch.equal(a, b) for a, b in zip(before, built.module.parameters()))
