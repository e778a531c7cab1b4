"""Photographs: found where LABKIT_DATA points, proved by a checksum, and asked for in words where they are missing."""

import dataclasses

import numpy as np
import pytest
from PIL import Image

from labkit.data import photographs as module
from labkit.data.files import DataError
from labkit.data.photographs import PARTS, checksum_of, photographs


@pytest.fixture
def few(tmp_path, monkeypatch):
    """Two pictures as a part of their own."""
    rng = np.random.default_rng(0)
    images = tuple(rng.integers(0, 256, (4, 6, 3), dtype=np.uint8) for _ in range(2))
    folder = tmp_path / "few"
    folder.mkdir()
    for number, image in enumerate(images):
        Image.fromarray(image).save(folder / f"{number}.png")
    part = dataclasses.replace(PARTS["kodak"], folder="few", count=2, checksum=checksum_of(images))
    monkeypatch.setitem(module.PARTS, "few", part)
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path))
    photographs.cache_clear()
    yield folder, images
    photographs.cache_clear()


def test_they_are_read_in_the_order_of_their_names(few):
    found = photographs("few")
    assert found.ids == ("0", "1")
    assert all((a == b).all() for a, b in zip(found.images, few[1], strict=True))


def test_packed_anew_they_are_the_same(few):
    Image.fromarray(few[1][0]).save(few[0] / "0.png", compress_level=0)
    assert len(photographs("few")) == 2


def test_other_missing_and_damaged_ones_are_refused(few, monkeypatch):
    Image.fromarray(few[1][1]).save(few[0] / "0.png")
    with pytest.raises(DataError, match="are not those of Kodak"):
        photographs("few")
    (few[0] / "0.png").write_bytes(b"\x89PNG")
    with pytest.raises(DataError, match="0.png is not a whole picture"):
        photographs("few")
    (few[0] / "0.png").unlink()
    with pytest.raises(DataError, match="should hold 2 photographs"):
        photographs("few")
    monkeypatch.setenv("LABKIT_DATA", str(few[0] / "nowhere"))
    with pytest.raises(DataError, match="few was not found.*r0k.us.*LABKIT_DATA"):
        photographs("few")
    with pytest.raises(ValueError, match="name must be one of"):
        photographs("imagenet")
