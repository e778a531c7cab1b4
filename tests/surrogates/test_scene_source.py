"""Real words as a source: parts clean and degraded, words that cannot be read, a reader that begins converged."""

import sys

import pytest
import torch

from labkit.__main__ import main
from labkit.data import ocr_features
from labkit.data.word_images import ALNUM, WordImages
from labkit.runs.read import read_run
from labkit.surrogates import word_source
from labkit.surrogates.word_config import load_word_config
from labkit.surrogates.word_run import start_words

WORDS = ("Ab1", "!?", "x" * 20, "Cd-e", "fg", "h", "ij")


@pytest.fixture
def few(monkeypatch):
    """Seven pictures a set, features from a stand-in for the network."""
    monkeypatch.setattr(word_source, "scene_text", lambda part: pictures(part))
    monkeypatch.setattr(word_source, "features", lambda data: torch.randn(len(data), 5, 8).half())
    last = ocr_features.Head(torch.randn(37, 7), torch.randn(37), torch.arange(37))
    monkeypatch.setattr(word_source, "head", lambda: last)
    word_source.seen.cache_clear()
    yield
    word_source.seen.cache_clear()


def pictures(part):
    images = torch.randint(0, 256, (len(WORDS), 1, 32, 100), dtype=torch.uint8)
    return WordImages(part, images, WORDS, tuple(f"{part}/{n}" for n in range(len(WORDS))))


SMALL = {"data.pool": 4, "data.validation": 3, "data.test": 7, "data.surrogate": "", "batch.size": 4}
SMALL |= {"train.steps": 2, "I_a": 1, "I_b": 2, "pairs": 4}


def test_every_part_has_its_words_clean_and_degraded_without_those_that_have_no_letters(few):
    config = load_word_config("scene-text", "ls-ed", SMALL)
    test = word_source.source_of(config).part(config, "test")
    assert len(test) == 4 * 2 * 6  # four sets, twice, without "!?"
    assert test.words[:6] == ("ab1", "x" * 20, "cde", "fg", "h", "ij")
    assert [word_id.rpartition("/")[2] for word_id in test.ids[6:12]] == [
        "blur",
        "blur",
        "small",
        "small",
        "jpeg",
        "jpeg",
    ]
    train = word_source.source_of(config).part(config, "train")
    assert set(train.words) == {"ab1", "x" * 20, "cde"}
    config = load_word_config("scene-text", "ls-ed", SMALL | {"data.test": 8})
    with pytest.raises(ValueError, match=r"data.test: IIIT5K has 7 words, 8 are asked for"):
        word_source.source_of(config).part(config, "test")


def test_a_run_on_real_words_is_like_every_other(few, tmp_path):
    config = load_word_config("scene-text", "ls-ed", SMALL)
    start_words(config, 0, tmp_path / "run", device="cpu")
    run = read_run(tmp_path / "run")
    assert (run.status, run.problems) == ("finished", ())
    assert {"Acc", "NED", "TED"} <= run.summary.test.keys()
    assert run.has("approximation.parquet")


def test_settings_that_do_not_fit_real_words_are_refused():
    for settings, why in (({"data.pool": 0}, "data.pool"), ({"model.name": "small-reader"}, "model.name")):
        with pytest.raises(ValueError, match=why):
            load_word_config("scene-text", None, settings)


def test_the_networks_symbols_are_found_and_folded():
    characters = ["", *"9876543210zyxwvutsrqponmlkjihgfedcbaABCDEFGHIJKLMNOPQRSTUVWXYZ!", " "]
    index, same = ocr_features.kept_symbols(characters)
    assert (index[0], same[0], len(index)) == (0, 0, 63)
    assert all(characters[i].lower() == ALNUM[letter - 1] for i, letter in zip(index[1:], same[1:]))


def test_without_the_package_the_command_says_what_to_install(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "rapidocr_onnxruntime", None)
    assert main(["train", "scene-text", "--runs", str(tmp_path), "--device", "cpu"]) == 1
    assert "ocr" in capsys.readouterr().err
