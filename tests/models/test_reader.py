import pytest
import torch

from labkit.data.rendered_words import rendered_words
from labkit.data.word_images import LETTERS
from labkit.models.small_reader import SmallReader, first_guess
from labkit.surrogates import cross_entropy, decode_words, encode_words, objective_step


@pytest.fixture
def reader():
    torch.manual_seed(0)
    return SmallReader(10, 27, width=32)


def test_shape_size_and_that_no_picture_sees_another(reader):
    images = rendered_words("train", 4).images / 255
    together = reader(images)
    assert together.shape == (4, 10, 27)
    torch.testing.assert_close(together[:1], reader(images[:1]), rtol=1e-4, atol=1e-5)
    assert sum(p.numel() for p in SmallReader(10, 27).parameters()) * 4 < 2_000_000  # bytes of a checkpoint


def test_brightness_and_contrast_do_not_matter(reader):
    images = rendered_words("train", 2, distortion=0.0).images / 255
    torch.testing.assert_close(reader(images * 0.5 + 0.2), reader(images), rtol=0, atol=0.05)


def test_blank_pictures_have_finite_outputs_and_gradients(reader):
    for level in (0.0, 0.5, 1.0):
        reader(torch.full((2, 1, 32, 100), level)).sum().backward()
    assert all(bool(p.grad.isfinite().all()) for p in reader.parameters())


def test_slots_begin_by_looking_from_left_to_right():
    where = first_guess(10).argmax(-1)
    assert where.shape == (10,)
    assert bool((where.diff() >= 0).all())
    assert int(where[0]) < 3
    assert int(where[6]) > 20


def test_it_can_learn_a_few_pictures_by_heart(reader):
    data = rendered_words("train", 12, distortion=0.5)
    images, y = data.images / 255, encode_words(data.words, LETTERS, 10)
    optimizer = torch.optim.Adam(reader.parameters(), 5e-3)
    for _ in range(150):
        objective_step(reader, optimizer, cross_entropy, images, y, clip=5.0)
    assert tuple(decode_words(reader(images), LETTERS)) == data.words


def test_a_step_on_the_meta_device():
    with torch.device("meta"):
        reader = SmallReader(10, 27)
        images, y = torch.empty(3, 1, 32, 100), torch.empty(3, 10, 27)
    optimizer = torch.optim.SGD(reader.parameters(), 0.1)
    assert objective_step(reader, optimizer, cross_entropy, images, y).device.type == "meta"


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="images must be floats"):
        SmallReader(10, 27)(torch.zeros(1, 1, 32, 99))
    with pytest.raises(ValueError, match="images must be floats"):
        SmallReader(10, 27)(torch.zeros(1, 1, 32, 100, dtype=torch.uint8))
    with pytest.raises(ValueError, match="width"):
        SmallReader(10, 27, width=20)
    with pytest.raises(ValueError, match="slots"):
        SmallReader(0, 27)
