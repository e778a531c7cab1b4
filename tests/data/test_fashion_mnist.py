"""Fashion-MNIST: official files where they are, the subset where not, and what is not an idx file."""

import gzip

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from labkit.data import files
from labkit.data.fashion_mnist import (
    CLASSES,
    COARSE,
    FILES,
    fashion_mnist,
    position_in_class,
    read_idx,
    read_official,
    read_subset,
)
from labkit.data.files import DataError

official = pytest.mark.skipif(
    not all(map(files.find, FILES.values())),
    reason="the official files are not here: python -m labkit data get fashion-mnist",
)


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """No folder has the official files."""
    monkeypatch.setattr("labkit.base.paths.SYSTEM", tmp_path / "system")
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def idx(array):
    """The bytes of an idx file."""
    return bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()


@official
def test_the_official_files_have_54_6_and_10_thousand_images():
    splits = fashion_mnist("full")
    assert splits.train.inputs.shape == (54_000, 1, 28, 28)
    assert splits.train.inputs.dtype == torch.uint8
    for data, size in ((splits.train, 5400), (splits.validation, 600), (splits.test, 1000)):
        assert torch.bincount(data.labels).tolist() == [size] * 10
        assert data.class_names == CLASSES
    ids = [*splits.train.ids, *splits.validation.ids, *splits.test.ids]
    assert len(set(ids)) == 70_000


@official
def test_the_subset_is_the_first_images_of_each_class_of_the_official_files():
    for whole, subset, size in zip(read_official(), read_subset(), (200, 100)):
        first = whole.take((position_in_class(whole.labels) < size).nonzero().flatten())
        assert sorted(first.ids) == sorted(subset.ids)
        place = {name: i for i, name in enumerate(whole.ids)}
        same = whole.take(torch.tensor([place[name] for name in subset.ids]))
        assert torch.equal(same.inputs, subset.inputs)
        assert torch.equal(same.labels, subset.labels)


def test_the_subset_needs_no_other_file_and_auto_falls_back_on_it(nothing):
    splits = fashion_mnist()
    assert splits.train.inputs.shape == (1800, 1, 28, 28)
    assert [len(splits.validation), len(splits.test)] == [200, 1000]
    assert torch.bincount(splits.validation.labels).tolist() == [20] * 10
    assert fashion_mnist("embedded").train.fingerprint() == splits.train.fingerprint()


def test_validation_is_the_last_tenth_of_each_class():
    splits = fashion_mnist("embedded")
    for label in range(10):
        last = max(name for name, own in zip(splits.train.ids, splits.train.labels.tolist()) if own == label)
        held_out = [name for name, own in zip(splits.validation.ids, splits.validation.labels.tolist()) if own == label]
        assert min(held_out) > last


def test_per_class_takes_the_first_of_each_class_and_touches_training_only():
    whole, few = fashion_mnist("embedded"), fashion_mnist("embedded", per_class=7)
    assert torch.bincount(few.train.labels).tolist() == [7] * 10
    for label in range(10):
        ids = [name for name, own in zip(whole.train.ids, whole.train.labels.tolist()) if own == label]
        assert ids[:7] == [name for name, own in zip(few.train.ids, few.train.labels.tolist()) if own == label]
    assert few.test.ids == whole.test.ids


def test_merged_labels_are_coarse_in_training_and_fine_elsewhere():
    fine, merged = fashion_mnist("embedded"), fashion_mnist("embedded", merged=True)
    assert merged.train.class_names == COARSE
    groups = {
        "tops": {"T-shirt/top", "Pullover", "Coat", "Shirt", "Dress"},
        "trousers": {"Trouser"},
        "shoes": {"Sandal", "Sneaker", "Ankle boot"},
        "bag": {"Bag"},
    }
    for before, after in set(zip(fine.train.labels.tolist(), merged.train.labels.tolist())):
        assert CLASSES[before] in groups[COARSE[after]]
    assert merged.validation.class_names == merged.test.class_names == CLASSES
    assert torch.equal(merged.test.labels, fine.test.labels)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=50))
def test_position_in_class_counts_earlier_members(labels):
    assert position_in_class(torch.tensor(labels)).tolist() == [labels[:i].count(c) for i, c in enumerate(labels)]


@settings(max_examples=50, deadline=None)
@given(array=arrays(np.uint8, array_shapes(max_dims=4, max_side=5)), data=st.data())
def test_idx_round_trip_and_no_truncation_passes(array, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("idx") / "file.gz"
    content = idx(array)
    path.write_bytes(gzip.compress(content, 1))
    assert np.array_equal(read_idx(path), array)
    cut = data.draw(st.integers(0, len(content) - 1))
    path.write_bytes(gzip.compress(content[:cut], 1))
    with pytest.raises(DataError, match=f"{path.name}.*data get fashion-mnist"):
        read_idx(path)


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b"not gzip", lambda b: b[:20] + b"\xff" * 9 + b[29:]])
def test_a_damaged_gzip_is_named(tmp_path, damage):
    path = tmp_path / "images.gz"
    path.write_bytes(damage(gzip.compress(idx(np.arange(200, dtype=np.uint8)))))
    with pytest.raises(DataError, match=r"images.gz is not a whole gzip file .*data get fashion-mnist"):
        read_idx(path)


def test_other_numbers_than_bytes_are_refused(tmp_path):
    path = tmp_path / "floats.gz"
    path.write_bytes(gzip.compress(b"\0\0\x0d\x01" + b"\0\0\0\1" + b"\0\0\0\0"))
    with pytest.raises(DataError, match="not an idx file of bytes: it starts with 00 00 0d 01"):
        read_idx(path)


def test_a_wrong_official_file_is_refused_not_replaced_by_the_subset(nothing):
    for file in FILES.values():
        (nothing / file.name).write_bytes(b"something else")
    with pytest.raises(DataError) as error:
        fashion_mnist("auto")
    for part in ("train-images-idx3-ubyte.gz", FILES["train-images"].checksum, "data get fashion-mnist"):
        assert part in str(error.value)


def test_missing_official_files_are_named_with_the_command(nothing):
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte.gz \(checksum 3aede38.*data get fashion-mnist"):
        fashion_mnist("full")


@pytest.mark.parametrize("options", [{"subset": "half"}, {"per_class": 0}, {"per_class": True}])
def test_bad_options_are_named(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be"):
        fashion_mnist(**options)
