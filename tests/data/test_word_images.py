"""Rendered words: seeded, split by word and by font; real words: counts and what is said when they are not there."""

import csv

import numpy as np
import pytest
import torch

from labkit.data import files, scene_text
from labkit.data.files import DataError
from labkit.data.rendered_words import (
    FONTS,
    LONGEST,
    SPLITS,
    fonts_of,
    open_font,
    render,
    rendered_words,
    words_of,
)
from labkit.data.scene_text import PARTS
from labkit.data.word_images import ALNUM, DEGRADE, LETTERS, WordImages, fold

real = pytest.mark.skipif(files.find(scene_text.FILE) is None, reason=f"set LABKIT_DATA to have {scene_text.FILE.name}")


def test_words_and_fonts_are_split_and_nothing_is_in_two_splits():
    words, fonts = [set(words_of(split)) for split in SPLITS], [set(fonts_of(split)) for split in SPLITS]
    assert sum(map(len, words)) == len(set.union(*words)) == 7772
    assert [len(part) for part in fonts] == [18, 3, 6]
    assert len(set.union(*fonts)) == 27
    assert 700 < len(words[1]) < 850
    assert 700 < len(words[2]) < 850
    assert all(3 <= len(word) <= LONGEST and set(word) <= set(LETTERS) for word in set.union(*words))


def test_every_font_is_credited_opens_and_draws_every_letter():
    with files.locate(FONTS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        assert row["licence"] in ("OFL-1.1", "Apache-2.0")
        assert "opyright" in row["copyright"]
        shapes = {letter: bytes(open_font(row["font"]).getmask(letter)) for letter in [*LETTERS, "\uffff"]}
        capitals = {letter: bytes(open_font(row["font"]).getmask(letter)) for letter in [*LETTERS.upper(), "\uffff"]}
        for drawn in (shapes, capitals):
            assert all(any(shape) for letter, shape in drawn.items() if letter != "\uffff"), row["font"]
            assert len(set(drawn.values())) == 27, row["font"]  # no letter is drawn as a missing one, or as another


def test_a_picture_depends_on_its_number_alone():
    whole = rendered_words("train", 6, seed=3)
    part = rendered_words("train", 2, first=4, seed=3)
    assert whole.images.shape == (6, 1, 32, 100)
    assert torch.equal(whole.images[4:], part.images)
    assert (whole.words[4:], whole.ids[4:]) == (part.words, part.ids)
    assert not torch.equal(rendered_words("train", 6, seed=4).images, whole.images)
    assert rendered_words("test", 6, seed=3).words != whole.words
    assert set(rendered_words("validation", 20).words) <= set(words_of("validation"))


def test_the_word_can_be_seen_and_distortion_changes_it():
    for split in SPLITS:
        images = rendered_words(split, 40).images.float()
        assert bool((images.flatten(1).amax(1) - images.flatten(1).amin(1) >= 40).all())
    clean, bent = (rendered_words("test", 5, distortion=amount) for amount in (0.0, 1.0))
    assert clean.words == bent.words
    assert not torch.equal(clean.images, bent.images)


def test_the_empty_word_is_a_blank_picture():
    picture = render("", "roboto", np.random.default_rng(0), distortion=0.0)
    assert picture.shape == (32, 100)
    assert picture.min() == picture.max()


def test_bad_arguments_are_named():
    for change in ({"split": "all"}, {"count": 0}, {"first": -1}, {"distortion": -1.0}):
        with pytest.raises(ValueError, match=next(iter(change))):
            rendered_words(**{"split": "train", "count": 1} | change)
    with pytest.raises(ValueError, match="font"):
        open_font("arial")


def test_degraded_pictures_are_the_same_words_but_not_the_same_pixels():
    data = rendered_words("test", 4, distortion=0.0)
    for kind in DEGRADE:
        worse = data.degraded(kind)
        assert worse.words == data.words
        assert not torch.equal(worse.images, data.images)
        assert torch.equal(worse.images, data.degraded(kind).images)
    with pytest.raises(ValueError, match="kind"):
        data.degraded("fog")


def test_folding_and_taking():
    assert fold("Don't-42!", ALNUM) == "dont42"
    assert fold("&", ALNUM) == ""
    assert fold("Ünï", LETTERS) == "n"
    data = WordImages("two", torch.zeros(2, 1, 32, 100, dtype=torch.uint8), ("A-1", "b"), ("x", "y"))
    assert data.folded(ALNUM).words == ("a1", "b")
    assert data.take([1]).words == ("b",)
    assert data.take([1]).ids == ("y",)
    for images, words in ((torch.zeros(2, 1, 32, 99, dtype=torch.uint8), ("a", "b")), (data.images, ("a",))):
        with pytest.raises(ValueError, match="two"):
            WordImages("two", images, words, ("x", "y"))


@real
def test_real_words_are_as_many_as_published():
    for part, (_, count) in PARTS.items():
        data = scene_text.scene_text(part)
        assert len(data) == count
        assert data.images.dtype == torch.uint8
        folded = data.folded(ALNUM)
        assert all(set(word) <= set(ALNUM) for word in folded.words)
    assert scene_text.scene_text("IIIT5K").words[:3] == ("PRIVATE", "PARKING", "SALUTES")


def test_without_the_file_it_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match="set LABKIT_DATA"):
        scene_text.scene_text("SVT")
    (tmp_path / scene_text.FILE.name).write_bytes(b"something else")
    with pytest.raises(DataError, match="damaged or not the expected file"):
        scene_text.scene_text("SVT")
    with pytest.raises(ValueError, match="part"):
        scene_text.scene_text("CUTE")


def test_a_prepared_file_is_read(monkeypatch, tmp_path):
    images = np.arange(2 * 32 * 100, dtype=np.uint8).reshape(2, 32, 100)
    np.savez(tmp_path / scene_text.FILE.name, svt1_test=images, svt1_test_words=np.array(["Ab", "c!"]))
    small = files.File(scene_text.FILE.name, "scene-text", files.checksum(tmp_path / scene_text.FILE.name))
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    monkeypatch.setattr(scene_text, "FILE", small)
    with pytest.raises(DataError, match="should have 647 pictures, it has 2"):
        scene_text.scene_text("SVT")
    monkeypatch.setitem(PARTS, "SVT", ("svt1_test", 2))
    data = scene_text.scene_text("SVT")
    assert data.words == ("Ab", "c!")
    assert torch.equal(data.images[:, 0], torch.from_numpy(images))
