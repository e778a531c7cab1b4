"""Transforms of image files: against known pixels, and random numbers from the generator alone."""

import re

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.utils.data import DataLoader

from labkit.data import transforms
from labkit.data.files import DataError
from labkit.data.samplers import generator
from labkit.data.transforms import FileImages, load_image, random_crop, random_resized_crop, train_transform


def rng(seed=0):
    return torch.Generator().manual_seed(seed)


def coordinates(width, height):
    """An image whose red is the column and green the row, so that a crop tells where it comes from."""
    columns, lines = np.meshgrid(np.arange(width), np.arange(height))
    return Image.fromarray(np.stack([columns, lines, np.full_like(lines, 7)], axis=2).astype(np.uint8))


def noise(width, height, seed=0):
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def pixels(image):
    return torch.from_numpy(np.array(image)).permute(2, 0, 1)


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / f"{i}.png" for i in range(6)]
    for i, path in enumerate(paths):
        noise(40 + i, 36 + 2 * i, seed=i).save(path)
    return paths


def test_a_test_image_without_resizing_is_exactly_the_centre():
    image = coordinates(60, 40)
    result = transforms.test_transform(image, resize=40, crop=32)
    assert result.dtype == torch.uint8
    assert result.shape == (3, 32, 32)
    assert torch.equal(result, pixels(image)[:, 4:36, 14:46])


@pytest.mark.parametrize(("width", "height", "resized"), [(500, 375, (341, 256)), (375, 500, (256, 341))])
def test_the_shorter_side_becomes_256_and_the_centre_224_is_cut(width, height, resized):
    image = noise(width, height)
    left, top = round((resized[0] - 224) / 2), round((resized[1] - 224) / 2)
    expected = image.resize(resized, Image.Resampling.BILINEAR).crop((left, top, left + 224, top + 224))
    assert torch.equal(transforms.test_transform(image), pixels(expected))


def test_making_smaller_averages_over_the_pixels_that_become_one():
    """Halving weighs four pixels in a row 1:3:3:1, which no picking of single pixels gives."""
    row = np.zeros((8, 8, 3), dtype=np.uint8)
    row[:, 4] = 160
    result = transforms.test_transform(Image.fromarray(row), resize=4, crop=4)
    assert result[0, 1].tolist() == [0, 20, 60, 0]


def test_images_smaller_than_the_crop_are_made_larger():
    assert transforms.test_transform(noise(20, 30)).shape == (3, 224, 224)
    for how in transforms.HOW:
        assert train_transform(noise(20, 30), rng(), how=how).shape == (3, 224, 224)


def test_a_random_crop_is_a_piece_of_the_resized_image():
    image = noise(300, 200)
    resized = pixels(image.resize((384, 256), Image.Resampling.BILINEAR))
    crop = pixels(random_crop(image, rng(3)))
    windows = resized.unfold(1, 224, 1).unfold(2, 224, 1)[:, :, :, 0, 0]
    corners = (windows == crop[:, 0, 0, None, None]).all(0).nonzero().tolist()
    assert any(torch.equal(resized[:, top : top + 224, left : left + 224], crop) for top, left in corners)


def test_random_crops_reach_every_place():
    image = coordinates(12, 10)
    corners = set()
    for seed in range(400):
        crop = pixels(random_crop(image, rng(seed), resize=10, crop=8))
        corners.add((int(crop[0, 0, 0]), int(crop[1, 0, 0])))
    assert corners == {(left, top) for left in range(5) for top in range(3)}


@given(width=st.integers(1, 60), height=st.integers(1, 60), seed=st.integers(0, 2**31), scale=st.floats(0.01, 1))
@settings(deadline=None, max_examples=50)
def test_a_random_resized_crop_lies_in_the_image_and_has_the_size_asked_for(width, height, seed, scale):
    result = random_resized_crop(coordinates(width, height), rng(seed), crop=6, min_scale=scale)
    assert result.size == (6, 6)
    colours = pixels(result)
    assert int(colours[0].max()) < width
    assert int(colours[1].max()) < height
    assert (colours[2] == 7).all()  # a crop beyond the border would be filled with black


def cut(image, seed, **options):
    """Width and height of the rectangle that a random resized crop cuts out."""
    sizes = []

    class Spy:
        width, height = image.size

        def crop(self, box):
            sizes.append((box[2] - box[0], box[3] - box[1]))
            return image.crop(box)

    random_resized_crop(Spy(), rng(seed), **options)
    return sizes[0]


def test_random_resized_crops_have_the_areas_and_proportions_allowed():
    image = Image.new("RGB", (400, 400))
    sizes = [cut(image, seed, crop=2) for seed in range(600)]
    shares = torch.tensor([width * height / 160_000 for width, height in sizes])
    ratios = torch.tensor([width / height for width, height in sizes])
    assert 0.078 < shares.min() < 0.1
    assert 0.95 < shares.max() <= 1
    assert 0.74 < ratios.min() < 0.77
    assert 1.3 < ratios.max() < 1.35
    assert ratios.log().mean().abs() < 0.03  # wide as often as tall
    assert min(width * height / 160_000 for width, height in (cut(image, s, min_scale=0.5) for s in range(100))) > 0.49


@pytest.mark.parametrize(("size", "expected"), [((200, 10), (13, 10)), ((10, 200), (10, 13)), ((10, 11), (10, 11))])
def test_where_nothing_drawn_fits_the_largest_central_rectangle_is_taken(size, expected, monkeypatch):
    monkeypatch.setattr(transforms, "ATTEMPTS", 0)
    assert cut(Image.new("RGB", size), 0) == expected


def test_half_the_training_images_are_mirrored():
    image = coordinates(8, 8)
    results = [train_transform(image, rng(seed), resize=8, crop=8) for seed in range(400)]
    mirrored = [torch.equal(result, pixels(image).flip(2)) for result in results]
    plain = [torch.equal(result, pixels(image)) for result in results]
    assert sum(mirrored) + sum(plain) == 400
    assert 150 < sum(mirrored) < 250


@pytest.mark.parametrize("how", transforms.HOW)
def test_the_generator_decides_everything(how):
    image = noise(80, 60)
    torch.manual_seed(1)
    first = train_transform(image, rng(5), how=how, resize=50, crop=32)
    torch.manual_seed(2)
    before = torch.random.get_rng_state()
    again = train_transform(image, rng(5), how=how, resize=50, crop=32)
    assert torch.equal(first, again)
    assert torch.equal(before, torch.random.get_rng_state())  # the global generator is left alone
    assert first.dtype == torch.uint8
    assert first.shape == (3, 32, 32)
    assert first.is_contiguous()
    assert not torch.equal(first, train_transform(image, rng(6), how=how, resize=50, crop=32))


@pytest.mark.parametrize(
    ("mode", "colour", "expected"),
    [
        ("L", 90, (90, 90, 90)),
        ("RGBA", (1, 2, 3, 0), (1, 2, 3)),
        ("1", 1, (255, 255, 255)),
        ("RGB", (9, 8, 7), (9, 8, 7)),
    ],
)
def test_every_image_becomes_rgb(mode, colour, expected, tmp_path):
    Image.new(mode, (4, 3), colour).save(tmp_path / "a.png")
    image = load_image(tmp_path / "a.png")
    assert image.mode == "RGB"
    assert image.getpixel((0, 0)) == expected


def test_the_orientation_in_exif_data_is_ignored(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90° to show
    Image.new("RGB", (8, 4)).save(tmp_path / "a.jpg", exif=exif)
    assert load_image(tmp_path / "a.jpg").size == (8, 4)


def damaged(kind, tmp_path):
    path = tmp_path / f"bird.{kind[-3:]}"
    noise(64, 64).save(path)
    content = path.read_bytes()
    if kind.startswith("cut"):
        path.write_bytes(content[: len(content) // 2])
    elif kind.startswith("text"):
        path.write_text("<html>not found</html>")
    elif kind.startswith("empty"):
        path.write_bytes(b"")
    elif kind.startswith("missing"):
        path.unlink()
    return path


@pytest.mark.parametrize("kind", ["cut jpg", "cut png", "text jpg", "empty jpg", "missing jpg"])
def test_a_damaged_image_is_named(kind, tmp_path):
    path = damaged(kind, tmp_path)
    with pytest.raises(DataError, match=re.escape(str(path))):
        load_image(path)


def test_a_damaged_image_is_named_in_a_worker_too(files):
    files[4].write_bytes(b"nonsense")
    images = FileImages(files, train=False, resize=24, crop=16)
    loader = DataLoader(images, batch_sampler=[[(0, 0), (0, 4)]], num_workers=1)
    with pytest.raises(DataError, match=re.escape(str(files[4]))):
        list(loader)


@pytest.mark.parametrize("how", transforms.HOW)
def test_file_images_in_training_are_random_crops_by_the_key(how, files):
    images = FileImages(files, train=True, resize=30, crop=24, how=how)
    assert len(images) == 6
    expected = train_transform(load_image(files[2]), generator(9, 2), how=how, resize=30, crop=24)
    assert torch.equal(images[9, 2], expected)


def test_file_images_in_tests_are_centre_crops_whatever_the_step(files):
    images = FileImages(files, train=False, resize=30, crop=24)
    assert torch.equal(images[0, 2], transforms.test_transform(load_image(files[2]), resize=30, crop=24))
    assert torch.equal(images[0, 2], images[1, 2])


@pytest.mark.parametrize("how", transforms.HOW)
def test_random_numbers_of_file_images_depend_on_the_key_alone(how, files):
    same = [files[0]] * 3
    images = FileImages(same, train=True, resize=30, crop=16, how=how)
    first = images[7, 0]
    images[8, 1]
    assert torch.equal(images[7, 0], first)
    assert not torch.equal(images[7, 1], first) or not torch.equal(images[7, 2], first)
    assert len({tuple(images[step, 0].flatten().tolist()) for step in range(6)}) > 1


@pytest.mark.parametrize("train", [True, False])
def test_workers_give_the_same_as_the_process_itself(train, files):
    images = FileImages(files, train, resize=30, crop=16, how="random_resized_crop")
    batches = [[(step, index) for index in ((step + 2 * i) % 6 for i in range(3))] for step in range(4)]
    alone = list(DataLoader(images, batch_sampler=batches))
    helped = list(DataLoader(images, batch_sampler=batches, num_workers=2))
    assert [batch.shape for batch in alone] == [(3, 3, 16, 16)] * 4
    assert all(torch.equal(a, b) for a, b in zip(alone, helped))
    resumed = list(DataLoader(images, batch_sampler=batches[2:], num_workers=2))
    assert all(torch.equal(a, b) for a, b in zip(alone[2:], resumed))


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"resize": 200}, r"crop must be at most resize \(200 pixels\); got 224"),
        ({"crop": 0}, "crop must be a whole number of pixels, 1 or above; got 0"),
        ({"crop": 20.5}, "crop must be a whole number"),
        ({"resize": True}, "resize must be a whole number"),
        ({"how": "centre"}, "how must be one of 'random_crop', 'random_resized_crop'; got 'centre'"),
    ],
)
def test_bad_sizes_and_ways_are_refused(options, complaint, files):
    with pytest.raises(ValueError, match=complaint):
        train_transform(noise(9, 9), rng(), **options)
    with pytest.raises(ValueError, match=complaint):
        FileImages(files, train=True, **options)
    if "how" not in options:
        with pytest.raises(ValueError, match=complaint):
            transforms.test_transform(noise(9, 9), **options)


@pytest.mark.parametrize("min_scale", [0, -1, 1.5, float("nan")])
def test_a_bad_least_area_is_refused(min_scale):
    with pytest.raises(ValueError, match="min_scale must be a share"):
        train_transform(noise(9, 9), rng(), how="random_resized_crop", min_scale=min_scale)
