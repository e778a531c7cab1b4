"""train, sweep and evaluate, as typed on the command line."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from run_folders import make_run

from labkit import metrics
from labkit.__main__ import main
from labkit.commands.sweep import why_failed
from labkit.commands.train import measured_weights
from labkit.runs.presets import preset_names
from labkit.runs.process import is_alive
from labkit.runs.record import RunRecord, Summary

ROOT = Path(__file__).parents[2]


def folders(root):
    return sorted(path for path in root.iterdir() if path.is_dir())


def test_train_without_a_preset_lists_them(capsys):
    assert main(["train"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in preset_names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["omniglt"], "did you mean omniglot"),
        (["toy", "--loss", "nope"], "no loss 'nope'"),
        (["toy", "--set", "tau"], "KEY=VALUE"),
        (["toy", "--set", "data.layout=star"], "star"),
        (["toy", "--device", "warp"], "device must be"),
        (["--resume", "no-such-run"], "holds no run"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(arguments, message, tmp_path, capsys):
    assert main(["train", *arguments, "--runs", str(tmp_path)]) == 2
    text = capsys.readouterr().err
    assert message in text
    assert "Traceback" not in text


def test_a_sweep_skips_what_is_finished_and_goes_on_after_a_failure(small_arguments, tmp_path, capfd):
    short = small_arguments(steps=2, evaluate_every=2, frames=0)
    command = ["sweep", "fashion-mnist", "--seeds", "0", "--runs", str(tmp_path), "--keep", "metrics", "--threads", "1"]
    assert main([*command, "--losses", "triplet", *short]) == 0
    (first,) = folders(tmp_path)
    before = (first / "run.json").stat().st_mtime_ns
    assert main([*command, "--losses", "triplet", "untrained", *short, "--jobs", "2"]) == 0
    assert "1 of 2 runs are finished already" in capfd.readouterr().out
    assert (first / "run.json").stat().st_mtime_ns == before
    assert len(folders(tmp_path)) == 2
    assert main([*command, "--losses", "softmax", *short, "lr=1e30"]) == 1
    assert "these runs failed" in capfd.readouterr().err
    (failed,) = [f for f in folders(tmp_path) if "softmax" in f.name]
    assert json.loads((failed / "run.json").read_text())["status"] == "failed"


def test_a_failed_run_is_told_with_the_files_that_are_there(tmp_path):
    assert why_failed(tmp_path / "none") == "did not start, and left no message"
    (tmp_path / "log.txt").write_text("no such data")
    assert why_failed(tmp_path) == "did not start; see log.txt there"
    failed = make_run(tmp_path, "a-s0", status="failed")
    assert why_failed(failed) == "failed; see run.json there"


def test_evaluate_gives_the_runs_own_numbers(small_arguments, tmp_path, capsys):
    short = small_arguments(steps=4, evaluate_every=2, frames=0)
    assert main(["train", "fashion-mnist", "--loss", "triplet", "--runs", str(tmp_path), *short]) == 0
    (folder,) = tmp_path.iterdir()
    result = tmp_path / "result.json"
    assert main(["evaluate", folder.name, "--runs", str(tmp_path), "--json", str(result)]) == 0
    expected = json.loads((folder / "summary.json").read_text())["test"]
    found = json.loads(result.read_text())
    assert found["R@1"] == expected["R@1"]
    assert found["MAP@R"] == pytest.approx(expected["MAP@R"], abs=1e-12)
    assert main(["evaluate", str(folder), "--split", "validation", "--weights", "last"]) == 0
    assert "nDCG@10" in capsys.readouterr().out


def test_evaluate_knows_recorded_runs_and_says_that_they_kept_no_weights(tmp_path, capsys):
    assert main(["evaluate", "toy_pnp-dq_layout=ring_s0"]) == 2
    assert "has no checkpoint last.safetensors" in capsys.readouterr().err
    assert main(["evaluate", "no-such-run"]) == 2
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{}", encoding="utf-8")
    assert main(["evaluate", str(tmp_path / "broken")]) == 2
    assert "no-such-run" in capsys.readouterr().err


def test_evaluate_takes_names_for_labels(tmp_path):
    x, y = torch.randn(40, 5).numpy(), np.arange(40) % 8
    z, c = torch.randn(30, 5).numpy(), np.arange(30) % 9  # one class more, so that its names are not the queries'
    found = []
    for name, kind in (("numbers", np.int64), ("names", "<U5")):
        labels = {"labels": y.astype(kind), "gallery_labels": c.astype(kind)}
        np.savez(tmp_path / f"{name}.npz", embeddings=x, gallery=z, **labels)
        assert main(["evaluate", str(tmp_path / f"{name}.npz"), "--json", str(tmp_path / f"{name}.json")]) == 0
        found.append(json.loads((tmp_path / f"{name}.json").read_text()))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("tested", "best", "select", "words"),
    [
        ({"R@1": 1}, 60, "last", "the last step, 600"),
        ({"R@1": 1}, 600, "best", "the last step, 600"),
        ({"R@1": 1}, 60, "best", "step 60 of 600, the best on validation classes"),
        (None, 60, "last", "step 60 of 600, the best on validation classes"),
    ],
)
def test_the_last_line_says_which_weights_were_measured(tested, best, select, words):
    assert measured_weights(Summary(test=tested, best_step=best, steps=600), select) == words


@pytest.mark.parametrize("with_gallery", [False, True])
def test_evaluate_measures_embeddings_of_ones_own(tmp_path, capsys, with_gallery):
    x, y = torch.randn(40, 5), torch.arange(40) % 8
    arrays = {"embeddings": x, "labels": y}
    if with_gallery:
        arrays |= {"gallery": torch.randn(30, 5), "gallery_labels": torch.arange(30) % 8}
    np.savez(tmp_path / "mine.npz", **{k: v.numpy() for k, v in arrays.items()})
    result = tmp_path / "result.json"
    assert main(["evaluate", str(tmp_path / "mine.npz"), "--ks", "1", "5", "--json", str(result)]) == 0
    sides = {k: v for k, v in arrays.items() if "gallery" in k}
    expected = metrics.evaluate(x, y, ks=(1, 5), **sides)
    assert json.loads(result.read_text())["nDCG@5"] == pytest.approx(expected["nDCG@5"])
    capsys.readouterr()
    np.savez(tmp_path / "other.npz", x=x.numpy())
    assert main(["evaluate", str(tmp_path / "other.npz")]) == 2
    assert "must hold embeddings and labels; it holds x" in capsys.readouterr().err
    assert main(["evaluate", str(tmp_path / "missing.npz")]) == 2


def test_a_second_run_of_the_same_choice_gets_a_folder_of_its_own(small_arguments, tmp_path):
    short = small_arguments(steps=1, evaluate_every=1, frames=0)
    for _ in range(2):
        main(["train", "fashion-mnist", "--loss", "untrained", "--runs", str(tmp_path), "--keep", "metrics", *short])
    names = sorted(f.name for f in tmp_path.iterdir())
    assert names[1] == names[0] + "-2"


def test_ctrl_c_ends_all_seeds_and_a_failure_only_its_own(small_arguments, tmp_path, monkeypatch, capsys):
    from labkit.training import loop

    outcomes = iter([ValueError("seed 0 is unlucky"), RunRecord(status="interrupted"), RunRecord(status="interrupted")])
    tried = []

    def start(config, seed, folder, **rest):
        tried.append(seed)
        found = next(outcomes)
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(loop, "start", start)
    assert main(["train", "toy", "--seed", "0", "1", "2", "--runs", str(tmp_path)]) == 130
    assert tried == [0, 1]
    assert "seed 0 is unlucky" in capsys.readouterr().err


def test_resume_takes_nothing_that_it_would_ignore(tmp_path, capsys):
    assert main(["train", "--resume", "x", "--loss", "mpa"]) == 2
    assert "--resume goes on with the run as it is" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGTERM")
def test_a_stopped_sweep_stops_its_runs_and_goes_on_later(small_arguments, tmp_path):
    command = [sys.executable, "-m", "labkit", "sweep", "fashion-mnist", "--losses", "triplet", "--seeds", "0"]
    command += ["--runs", str(tmp_path), "--threads", "1"]
    sweep = subprocess.Popen(
        [*command, *small_arguments(steps=100000, frames=0)], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 100
    while not list(tmp_path.glob("*/metrics.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.1)
    sweep.terminate()
    _, text = sweep.communicate(timeout=60)
    assert sweep.returncode == 130
    assert "goes on where it stopped" in text
    assert "0/1" in text  # the bar: what was cut short is not done
    assert "1/1" not in text
    (folder,) = folders(tmp_path)
    assert not (tmp_path / "queue.json").exists()
    info = json.loads((folder / "run.json").read_text())
    assert info["status"] == "interrupted"
    assert not is_alive(info["pid"], info["pid_started"])
