"""Sprite sheets: every id finds its own picture again."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from labkit.data.dataset import Dataset
from labkit.data.files import DataError
from labkit.data.sprites import read_sprites, write_sprites
from labkit.data.toy import toy


def flat(colours, name="colours", channels=3):
    """A data set of one-coloured images."""
    shade = torch.tensor(colours, dtype=torch.uint8)
    inputs = shade[:, None, None, None].expand(-1, channels, 12, 12).clone()
    ids = tuple(f"id/{i}" for i in range(len(colours)))
    return Dataset(name, inputs, torch.zeros(len(colours), dtype=torch.long), ("all",), ids)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from([0, 60, 130, 190, 255]), min_size=1, max_size=40),
    st.integers(1, 9),
    st.sampled_from([8, 16]),
)
def test_every_id_finds_its_own_picture_again(tmp_path_factory, colours, columns, size):
    folder = tmp_path_factory.mktemp("sprites")
    data = flat(colours)
    assert write_sprites(data, folder, size, columns) == folder / "colours.webp"
    sprites = read_sprites(folder, "colours")
    assert (sprites.size, sprites.columns, sprites.ids) == (size, columns, data.ids)
    images = sprites.images()
    assert images.shape == (len(colours), 3, size, size)
    middle = images[:, :, size // 2, size // 2].float().mean(1)
    assert (middle - torch.tensor(colours)).abs().max() < 30  # WebP is lossy; the shades are 60 apart


def test_pictures_survive_the_sheet_nearly_unchanged(tmp_path):
    ramp = torch.arange(32.0)
    waves = [(127 + 120 * torch.sin(ramp[:, None] * k / 9 + ramp[None] / 7)).byte().expand(3, -1, -1) for k in range(5)]
    data = Dataset("waves", torch.stack(waves), torch.arange(5), tuple("abcde"), tuple("abcde"))
    write_sprites(data, tmp_path, size=32, columns=2)
    error = (read_sprites(tmp_path, "waves").images().float() - data.inputs.float()).abs().mean()
    assert error < 4


def test_omniglots_ink_is_dark_on_white_and_others_stay(tmp_path):
    for name, shade in (("omniglot", 255), ("fashion-mnist", 0)):
        write_sprites(flat([0], name, channels=1), tmp_path)
        assert (read_sprites(tmp_path, name).images().float() - shade).abs().max() < 5


def test_pictures_of_files_keep_their_proportions(tmp_path):
    path = tmp_path / "wide.png"
    Image.new("RGB", (40, 10), "black").save(path)
    data = Dataset("files", [path], torch.tensor([0]), ("all",), ("wide",))
    write_sprites(data, tmp_path, size=32, columns=1)
    image = read_sprites(tmp_path, "files").images()[0].float().mean(0)
    assert image[16].max() < 40
    assert image[:8].min() > 215
    assert image[24:].min() > 215


def test_an_unreadable_image_is_named(tmp_path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"no image")
    data = Dataset("files", [path], torch.tensor([0]), ("all",), ("broken",))
    with pytest.raises(DataError, match="broken.png is missing or not a readable image"):
        write_sprites(data, tmp_path)
    assert not (tmp_path / "files.webp").exists()


def test_toys_have_no_pictures(tmp_path):
    with pytest.raises(ValueError, match="dataset must hold images, which toy does not"):
        write_sprites(toy().train, tmp_path)


def test_a_sheet_too_long_for_webp_is_refused(tmp_path):
    with pytest.raises(ValueError, match="16383 pixels a side"):
        write_sprites(flat([0] * 20), tmp_path, size=1000, columns=1)


@pytest.mark.parametrize("options", [{"size": 0}, {"columns": 0}, {"size": 2.5}])
def test_bad_options_are_named(tmp_path, options):
    with pytest.raises(ValueError, match=f"{next(iter(options))} must be a whole number"):
        write_sprites(flat([0]), tmp_path, **options)


@pytest.mark.parametrize("name", ["../colours", "a/b", "", ".hidden", "..", "a\\b"])
def test_a_name_cannot_leave_the_folder(tmp_path, name):
    with pytest.raises(ValueError, match="name must be that of a data set"):
        read_sprites(tmp_path, name)


@pytest.mark.parametrize(
    "index",
    [None, "", "{", "[]", "{}", '{"size": 0, "columns": 1, "ids": ["a"]}', '{"size": 8, "columns": 1, "ids": []}', "7"],
)
def test_a_missing_or_damaged_index_is_named(tmp_path, index):
    if index is not None:
        (tmp_path / "colours.json").write_text(index)
    with pytest.raises(DataError, match="colours.json is (missing or )?damaged"):
        read_sprites(tmp_path, "colours")


def test_a_sheet_that_does_not_fit_its_index_is_named(tmp_path):
    path = write_sprites(flat([0, 255]), tmp_path)
    index = path.with_suffix(".json")
    index.write_text(json.dumps({**json.loads(index.read_text()), "size": 16}))
    with pytest.raises(DataError, match="colours.webp does not have the size"):
        read_sprites(tmp_path, "colours").images()
    path.write_bytes(b"no picture")
    with pytest.raises(DataError, match="colours.webp is missing or not a readable picture"):
        read_sprites(tmp_path, "colours").images()


def test_only_the_two_files_remain(tmp_path):
    write_sprites(flat(np.arange(10).tolist()), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["colours.json", "colours.webp"]
