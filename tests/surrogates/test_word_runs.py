"""Readers of words trained as runs: presets, every way of training, stopping and going on, the command line."""

import json

import pytest
import torch

from labkit.__main__ import main
from labkit.metrics import evaluate_words
from labkit.runs.contents import read_samples
from labkit.runs.presets import WORDS, preset_names
from labkit.runs.read import read_run
from labkit.surrogates import algorithm, random_word_pairs, word_run
from labkit.surrogates.word_config import ARMS, load_word_config
from labkit.surrogates.word_run import start_words
from labkit.surrogates.word_source import source_of
from labkit.surrogates.word_step import algorithm_settings, build_state, train_step

SMALL = {
    "batch.size": 4,
    "train.steps": 7,
    "train.evaluate_every": 4,
    "train.checkpoint_every": 2,
    "train.log_every": 2,
    "data.validation": 6,
    "data.test": 8,
    "data.pool": 0,
    "data.reader": "",
    "data.surrogate": "",
    "model.width": 16,
}
FEW = {"I_a": 2, "I_b": 3, "pairs": 4}


def small(loss="ls-ed", **settings):
    few = FEW if "I_a" in ARMS[loss] else {}
    return load_word_config("words-tune", loss, SMALL | few | settings)


def trained(folder, loss="ls-ed", **settings):
    start_words(small(loss, **settings), 0, folder, device="cpu")
    return read_run(folder)


def weights_of(folder):
    return (folder / "checkpoints" / "last.safetensors").read_bytes()


@pytest.mark.parametrize("preset", preset_names(WORDS))
def test_presets_load_with_every_loss(preset):
    for loss in ARMS:
        config = load_word_config(preset, loss)
        assert config.loss_options.keys() == ARMS[loss].keys()
        assert config.data["name"] == ("scene-text" if preset == "scene-text" else "rendered-words")


def test_settings_are_checked():
    config = load_word_config("words", "feds", {"epsilon": "2", "optimizer.lr": "1e-3", "data.test": "5"})
    assert (config.loss_options["epsilon"], config.optimizer.lr, config.data["test"]) == (2.0, 1e-3, 5)
    for key, value, why in (
        ("epsilom", "1", "did you mean epsilon"),
        ("epsilon", "wide", "epsilon must be like"),
        ("optimizer.lr", "fast", "optimizer.lr"),
        ("batch.micro", "2", "no setting 'batch.micro' for readers"),
        ("nowhere.x", "1", "no section 'nowhere'"),
        ("train.steps", "0", "train.steps"),
        ("train.metric", "R@1", "train.metric"),
        ("data.test", "0", "data.test"),
        ("data.name", "omniglot", "data.name"),
        ("data.distortion", "-1", "data.distortion"),
        ("I_a", "0", "I_a"),
        ("epsilon", "0", "epsilon"),
        ("lam", "-1", "lam"),
        ("filter", "soft", "filter"),
    ):
        with pytest.raises(ValueError, match=why):
            load_word_config("words", "feds", {key: value})
    with pytest.raises(ValueError, match="samples must be 2 or above"):
        load_word_config("words", "reinforce", {"samples": 1})
    with pytest.raises(ValueError, match="temperature"):
        load_word_config("words", "soft-edit-distance", {"temperature": 0.0})
    with pytest.raises(ValueError, match="loss must be one of"):
        load_word_config("words", "pnp-dq")
    with pytest.raises(ValueError, match="preset must be one of"):
        load_word_config("omniglot")


@pytest.mark.parametrize("loss", ARMS)
def test_every_loss_trains_and_leaves_a_run_that_can_be_read(tmp_path, loss):
    run = trained(tmp_path / "run", loss)
    assert (run.status, run.problems) == ("finished", ())
    rows = run.curves()
    trains = loss != "untrained"
    assert [row["step"] for row in rows if "loss" in row] == ([2, 4, 6, 7] if trains else [])
    assert [row["step"] for row in rows if row.get("split") == "validation"] == ([4, 7] if trains else [])
    learned = [row for row in rows if row.get("split") == "surrogate"]
    assert [row["step"] for row in learned] == ([1, 4, 7] if "I_a" in ARMS[loss] else [])
    samples = read_samples(run)
    assert list(samples["class_name"]) == list(source_of(small(loss)).part(small(loss), "test").words)
    assert evaluate_words(list(samples["read"]), list(samples["class_name"])) == run.summary.test


def test_a_run_that_was_cut_off_goes_on_to_the_same_weights(tmp_path, monkeypatch):
    trained(tmp_path / "whole", "feds")
    calls = 0

    def cut_off(*arguments):
        nonlocal calls
        calls += 1
        if calls == 6:
            raise RuntimeError("the power failed")
        return train_step(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(word_run, "train_step", cut_off)
        with pytest.raises(RuntimeError, match="the power failed"):
            trained(tmp_path / "cut", "feds")
    assert read_run(tmp_path / "cut").status == "failed"
    word_run.resume_words(tmp_path / "cut", device="cpu")
    whole, cut = read_run(tmp_path / "whole"), read_run(tmp_path / "cut")
    assert cut.status == "finished"
    assert cut.record.resumed[0].step == 4
    assert cut.summary.test == whole.summary.test
    header = 8 + int.from_bytes(weights_of(tmp_path / "cut")[:8], "little")  # times are in the header
    other = 8 + int.from_bytes(weights_of(tmp_path / "whole")[:8], "little")
    assert weights_of(tmp_path / "cut")[header:] == weights_of(tmp_path / "whole")[other:]
    with pytest.raises(ValueError, match="is finished"):
        word_run.resume_words(tmp_path / "cut", device="cpu")


def test_steps_of_a_run_are_those_of_algorithm_1():
    config = small("ls-ed", **{"train.steps": 6, "optimizer.clip": 1.0})
    state = build_state(config, 3, torch.device("cpu"))
    for step in range(6):
        state.progress.step = step
        train_step(state, config, 3)
    other = build_state(config, 3, torch.device("cpu"))
    both = algorithm.AlgorithmState(other.model, other.loss, other.optimizer, other.optimizer)
    source = source_of(config)
    pairs = random_word_pairs(source.words(config), source.alphabet, source.slots, 4, seed=3)
    settings = algorithm_settings(config, 3)
    epochs = list(
        algorithm.train_with_surrogate(both, source.task, lambda step: source.batch(config, 3, step), pairs, settings)
    )
    assert len(epochs) == 2
    for mine, theirs in ((state.model, other.model), (state.loss, other.loss)):
        assert all(torch.equal(a, b) for a, b in zip(mine.parameters(), theirs.parameters()))


def test_a_trained_reader_is_tuned_further(tmp_path):
    run = trained(tmp_path / "base", "cross-entropy")
    config = small("ls-ed", **{"data.reader": str(run.path)})
    state = build_state(config, 1, torch.device("cpu"))
    again, read = word_run.measure(config, state, "test")
    assert again == run.summary.test
    assert read == list(read_samples(run)["read"])
    with pytest.raises(ValueError, match="data.reader"):
        build_state(small("ls-ed", **{"data.reader": str(tmp_path / "nothing")}), 1, torch.device("cpu"))


@pytest.mark.parametrize("loss", ARMS)
def test_a_step_on_the_meta_device(loss):
    config = small(loss)
    with torch.device("meta"):
        state = build_state(config, 0, torch.device("meta"))
    found = train_step(state, config, 0)
    assert {value.device.type for value in found.values()} == {"meta"}


def test_the_command_line(tmp_path, capsys):
    assert main(["train"]) == 0
    listed = capsys.readouterr().out
    assert all(preset in listed for preset in preset_names(WORDS))
    settings = [f"{key}={value}" for key, value in SMALL.items()]
    command = ["train", "words", "--runs", str(tmp_path), "--device", "cpu", "--seed", "0", "1", "--set", *settings]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert shown.count("NED") == 2
    assert "TED" in shown
    folders = sorted(path for path in tmp_path.iterdir() if path.is_dir())
    assert len(folders) == 2
    content = json.loads((folders[0] / "run.json").read_text())
    assert (content["preset"], content["loss"], content["status"]) == ("words", "cross-entropy", "finished")
    assert main(["train", "--resume", str(folders[0])]) == 2
    assert "finished" in capsys.readouterr().err
    assert main(["train", "words", "--loss", "pnp-dq"]) == 2
    assert "loss must be one of" in capsys.readouterr().err


def test_weights_kept_on_the_way_are_readers_to_begin_from(tmp_path):
    run = trained(tmp_path / "run", "cross-entropy", **{"record.frames": 3})
    kept = sorted(int(path.stem) for path in (run.path / "checkpoints").glob("[0-9]*.safetensors"))
    assert kept == [3, 5, 7]
    path = run.path / "checkpoints" / "7.safetensors"
    last = build_state(small(**{"data.reader": str(path)}), 1, torch.device("cpu"))
    whole = build_state(small(**{"data.reader": str(run.path)}), 1, torch.device("cpu"))
    for half, full in zip(last.model.parameters(), whole.model.parameters()):
        torch.testing.assert_close(half, full, rtol=1e-3, atol=1e-6)
