"""Weights that come with labkit: whole, of the size they are said to have, and fit to read and to begin from."""

import pytest
import torch

from labkit.surrogates.shipped import shipped_files, weights_file, weights_of
from labkit.surrogates.word_config import load_word_config
from labkit.surrogates.word_run import measure
from labkit.surrogates.word_step import build_state

CPU = torch.device("cpu")
FEW = {"data.pool": 0, "data.validation": 1, "data.test": 60}


def test_they_are_small_and_of_the_checksums_in_the_table():
    names = [*shipped_files()]
    assert {"base", "base-15", "base-30", "base-60", "surrogate"} <= {*names}
    assert sum(weights_file(name).stat().st_size for name in names) < 2 * 2**20
    with pytest.raises(ValueError, match=r"holds no trained weights .* with labkit come: base-15"):
        weights_file("no-such-reader")
    with pytest.raises(ValueError, match="holds no weights of a surrogate"):
        weights_of("base", "loss")


def test_the_longer_a_reader_was_trained_the_better_it_reads():
    found = []
    for reader in ("base-15", "base-60", "base"):
        config = load_word_config("words-tune", "untrained", FEW | {"data.reader": reader})
        found.append(measure(config, build_state(config, 0, CPU), "test")[0]["NED"])
    assert found == sorted(found)
    assert found[-1] > 0.85


def test_blank_pictures_are_read_as_something_and_never_as_nan():
    config = load_word_config("words-tune", "ls-ed", FEW)
    state = build_state(config, 0, CPU)
    for grey in (0.0, 0.5, 1.0):
        z = state.model(torch.full((2, 1, 32, 100), grey)).softmax(-1)
        assert bool(z.isfinite().all())
        assert bool(state.loss(z, z.roll(1, 1)).isfinite().all())
