"""Omniglot: the official counts, whole alphabets held out, merged labels, and zips that give the prepared images."""

import dataclasses
import io
import zipfile
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from labkit.data import files, omniglot
from labkit.data.dataset import Dataset
from labkit.data.files import DataError, File, checksum
from labkit.data.omniglot import HALVES, Half, alphabet, merged, read, read_npz, read_zip

real = pytest.mark.skipif(
    not all(files.find(half.prepared) for half in HALVES.values()),
    reason="set LABKIT_DATA to the folder with omniglot_background_28.npz and omniglot_evaluation_28.npz",
)
LETTERS = {"Aleph_(old)": 2, "Beth": 3}


@pytest.fixture(scope="module")
def splits():
    return omniglot.omniglot()


@real
def test_counts_are_the_official_ones(splits):
    assert splits.train.num_classes + splits.validation.num_classes == 964
    assert len(splits.train) + len(splits.validation) == 19_280
    assert (splits.test.num_classes, len(splits.test)) == (659, 13_180)
    for data in (splits.train, splits.validation, splits.test):
        assert data.inputs.shape == (len(data), 1, 28, 28)
        assert data.inputs.dtype == torch.uint8
        assert torch.bincount(data.labels).tolist() == [20] * data.num_classes


@real
def test_no_alphabet_character_or_id_is_in_two_splits(splits):
    parts = (splits.train, splits.validation, splits.test)
    for of in (lambda d: d.columns["alphabet"], lambda d: d.class_names, lambda d: d.ids):
        sets = [set(of(data)) for data in parts]
        assert sum(map(len, sets)) == len(set.union(*sets))
    assert sum(len(data.ids) for data in parts) == len({name for data in parts for name in data.ids})


@real
def test_five_alphabets_with_about_15_percent_are_held_out_always_the_same(splits):
    assert set(splits.validation.columns["alphabet"]) == {
        "Korean",
        "Syriac_(Estrangelo)",
        "Malay_(Jawi_-_Arabic)",
        "Alphabet_of_the_Magi",
        "Ojibwe_(Canadian_Aboriginal_Syllabics)",
    }
    assert splits.validation.num_classes == 137
    assert omniglot.omniglot().train.fingerprint() == splits.train.fingerprint()
    larger = set(omniglot.omniglot(validation_alphabets=7).validation.columns["alphabet"])
    assert larger > set(splits.validation.columns["alphabet"])
    assert len(larger) == 7


@real
def test_columns_and_ids_say_who_drew_what(splits):
    where = splits.test.ids.index("Tibetan/character05/13")
    assert {name: values[where] for name, values in splits.test.columns.items()} == {
        "alphabet": "Tibetan",
        "drawer": "13",
        "character": "Tibetan/character05",
    }
    assert splits.test.class_names[splits.test.labels[where]] == "Tibetan/character05"


@real
def test_merging_changes_training_labels_only(splits):
    three = omniglot.omniglot(merge=3)
    assert torch.equal(three.train.inputs, splits.train.inputs)
    assert three.train.ids == splits.train.ids
    assert three.validation.fingerprint() == splits.validation.fingerprint()
    assert three.test.fingerprint() == splits.test.fingerprint()
    assert three.train.num_classes == 285


@real
def test_real_drawings_made_small_are_the_prepared_images():
    path = files.find(File("omniglot_background_105.npz", "omniglot", ""))
    if path is None:
        pytest.skip("omniglot_background_105.npz, the drawings in full size, is not in LABKIT_DATA")
    with np.load(path, allow_pickle=False) as arrays:
        bits = arrays["bits"][::97]
    large = np.unpackbits(bits, axis=1)[:, : 105 * 105].reshape(-1, 105, 105).astype(bool)
    small = np.stack([omniglot.shrink(png(ink), "drawing") for ink in large])
    assert np.array_equal(small, read("background").images[::97])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(1, 5))
def test_merged_classes_are_runs_of_one_alphabet(sizes, merge):
    names = tuple(f"A{a}/character{c + 1:02d}" for a, size in enumerate(sizes) for c in range(size))
    labels = torch.arange(len(names)).repeat_interleave(2)
    data = Dataset("omniglot", labels[:, None], labels, names, tuple(f"{i}" for i in range(len(labels))))
    new = merged(data, merge)
    assert new.num_classes == sum(-(-size // merge) for size in sizes)
    groups = [
        [name for name, label in zip(names, new.labels[::2].tolist()) if label == g] for g in range(new.num_classes)
    ]
    assert [name for group in groups for name in group] == list(names)
    for group, after in zip(groups, groups[1:] + [None]):
        assert len({alphabet(name) for name in group}) == 1
        last_of_alphabet = after is None or alphabet(after[0]) != alphabet(group[0])
        assert len(group) == merge or (last_of_alphabet and len(group) < merge)
    assert len(set(new.class_names)) == new.num_classes


def test_a_merged_class_is_named_after_its_first_and_last():
    names = tuple(f"Greek/character{c:02d}" for c in range(1, 5))
    data = Dataset("omniglot", torch.arange(4), torch.arange(4), names, tuple("abcd"))
    assert merged(data, 3).class_names == ("Greek/character01…03", "Greek/character04")


def png(ink):
    """A drawing as the official zips hold it: one bit a pixel, ink black."""
    file = io.BytesIO()
    Image.fromarray(~ink).save(file, "PNG")
    return file.getvalue()


@cache
def strokes(*seed):
    """Thick random lines, 105 × 105."""
    ink = np.zeros((105, 105), bool)
    points = np.random.default_rng(seed).integers(8, 97, (4, 2))
    for (x0, y0), (x1, y1) in pairwise(points):
        for t in np.linspace(0, 1, 60):
            x, y = round(x0 + t * (x1 - x0)), round(y0 + t * (y1 - y0))
            ink[y - 1 : y + 2, x - 1 : x + 2] = True
    return ink


@pytest.fixture
def miniature(tmp_path, monkeypatch):
    """An official zip of five characters in an otherwise empty world; returns the drawings by name."""
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("labkit.base.paths.SYSTEM", tmp_path / "system")
    drawings = {}
    path = tmp_path / "images_background.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images_background/", "")
        archive.writestr("__MACOSX/images_background/._x.png", "not an image")
        number = 0
        for name, size in reversed(LETTERS.items()):  # the order in the zip must not matter
            for character in range(size, 0, -1):
                number += 1
                for drawer in range(1, 21):
                    ink = strokes(number, drawer)
                    drawings[f"{name}/character{character:02d}/{drawer:02d}"] = ink
                    member = f"images_background/{name}/character{character:02d}/{number:04d}_{drawer:02d}.png"
                    archive.writestr(member, png(ink))
    zipped = File(path.name, "omniglot", checksum(path))
    half = Half(File("omniglot_background_28.npz", "omniglot", "0" * 64), zipped, 5)
    monkeypatch.setitem(omniglot.HALVES, "background", half)
    return tmp_path, drawings


def test_a_zip_gives_the_prepared_format(miniature):
    _, drawings = miniature
    found = read("background")
    assert found.characters == (
        *("Aleph_(old)/character01", "Aleph_(old)/character02"),
        *("Beth/character01", "Beth/character02", "Beth/character03"),
    )
    assert found.label.tolist() == np.repeat(range(5), 20).tolist()
    assert found.drawer.tolist() == [*range(1, 21)] * 5
    assert (found.images.dtype, found.label.dtype, found.drawer.dtype) == (np.uint8, np.int16, np.int8)
    data = omniglot.dataset(found)
    # each of 28 fields averages the three or four pixels whose centres lie in it, across and down
    centre, field = np.arange(105) + 0.5, (np.arange(28) * 3.75)[:, None]
    inside = (centre > field) & (centre <= field + 3.75)
    average = inside / inside.sum(1, keepdims=True)
    for image, name in zip(data.inputs[:, 0].numpy(), data.ids):
        exact = 255 * average @ drawings[name] @ average.T
        assert np.abs(image - exact).max() <= 1  # Pillow rounds twice, across and down


def test_a_converted_zip_is_kept_and_reads_the_same(miniature, monkeypatch):
    first = read("background")
    monkeypatch.setattr(omniglot, "read_zip", lambda path: pytest.fail("converted twice"))
    again = read("background")
    for field in dataclasses.fields(first):
        assert np.array_equal(getattr(first, field.name), getattr(again, field.name))


@pytest.mark.parametrize("damage", [b"", b"PK\3\4 half a file", b"\x93NUMPY"])
def test_a_damaged_conversion_is_made_anew(miniature, damage):
    folder, _ = miniature
    first = read("background")
    kept = folder / "cache/labkit/omniglot/converted_omniglot_background_28.npz"
    kept.write_bytes(damage)
    assert np.array_equal(read("background").images, first.images)
    assert np.array_equal(read_npz(kept).images, first.images)


def test_a_prepared_file_comes_first_and_must_be_the_published_one(miniature):
    folder, _ = miniature
    prepared = folder / "omniglot_background_28.npz"
    omniglot.write_npz(prepared, read("background"))
    with pytest.raises(DataError) as error:
        read("background")
    for part in (str(prepared), "0" * 64, checksum(prepared), "python -m labkit data get omniglot"):
        assert part in str(error.value)


def test_a_truncated_zip_is_refused_with_both_checksums(miniature):
    folder, _ = miniature
    path = folder / "images_background.zip"
    expected = checksum(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(DataError) as error:
        read("background")
    for part in (str(path), expected, checksum(path), "python -m labkit data get omniglot"):
        assert part in str(error.value)


def test_a_zip_with_too_few_drawings_is_refused_and_not_kept(miniature, monkeypatch):
    folder, _ = miniature
    half = dataclasses.replace(HALVES["background"], characters=6)
    monkeypatch.setitem(omniglot.HALVES, "background", half)
    with pytest.raises(DataError, match="100 drawings of 5 characters, expected 120 of 6"):
        read("background")
    assert not (folder / "cache").exists()


def test_an_unreadable_drawing_is_named(tmp_path):
    path = tmp_path / "images.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images_background/Beth/character01/0001_01.png", "not an image")
    with pytest.raises(DataError, match=r"character01/0001_01.png is not a readable image"):
        read_zip(path)


def test_missing_files_are_named_with_checksum_and_command(miniature):
    with pytest.raises(DataError) as error:
        read("evaluation")
    for part in ("images_evaluation.zip", "1f61a8f3366785b0", "python -m labkit data get omniglot"):
        assert part in str(error.value)


@real
@pytest.mark.parametrize(
    "options", [{"merge": 0}, {"merge": 1.5}, {"validation_alphabets": 30}, {"validation_alphabets": 0}]
)
def test_bad_options_are_named(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must"):
        omniglot.omniglot(**options)
