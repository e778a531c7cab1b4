"""Augmentation: nothing asked, nothing done; known turns and shifts; random numbers from the generator only."""

import torch

from labkit.data.augment import augment
from labkit.data.samplers import generator


def pictures(count=6, channels=3, size=16) -> torch.Tensor:
    return torch.rand(count, channels, size, size, generator=generator(1))


def test_without_options_images_stay_what_they_are():
    images = pictures()
    assert torch.equal(augment(images, generator(0)), images)


def test_the_same_generator_gives_the_same_images_and_another_does_not():
    images = pictures()
    options = {"degrees": 10.0, "scale": 0.1, "shift": 0.1, "grey": 0.5, "flip": 0.5}
    torch.manual_seed(1)
    first = augment(images, generator(0, 5), **options)
    torch.manual_seed(2)
    assert torch.equal(first, augment(images, generator(0, 5), **options))
    assert not torch.equal(first, augment(images, generator(0, 6), **options))


def test_flip_of_all_mirrors_left_and_right():
    images = pictures()
    torch.testing.assert_close(augment(images, generator(0), flip=1.0), images.flip(-1), rtol=0, atol=1e-5)


def test_grey_of_all_has_equal_channels_and_keeps_brightness():
    images = pictures()
    grey = augment(images, generator(0), grey=1.0)
    assert torch.equal(grey[:, 0], grey[:, 2])
    torch.testing.assert_close(grey.mean(1), images.mean(1))


def test_a_shift_moves_at_most_its_share_of_the_width():
    images = torch.zeros(200, 1, 21, 21)
    images[:, :, 10, 10] = 1
    moved = augment(images, generator(0), shift=0.1)
    mass = moved.sum((1, 2, 3))
    torch.testing.assert_close(mass, torch.ones(200), rtol=0, atol=1e-4)
    x = (moved.sum((1, 2)) * torch.arange(21)).sum(1) / mass - 10
    assert 1.8 < x.abs().max() <= 2.1001
    assert abs(float(x.mean())) < 0.3


def test_a_turn_keeps_the_middle_and_turns_by_at_most_the_angle():
    images = torch.zeros(200, 1, 41, 41)
    images[:, :, 20, 40 - 5] = 1  # 15 to the right of the middle
    turned = augment(images, generator(0), degrees=30.0)
    mass = turned.sum((1, 2, 3))
    place = torch.arange(41) - 20.0
    x, y = ((turned.sum((1, d)) * place).sum(1) / mass for d in (2, 3))
    angle = torch.rad2deg(torch.atan2(y, x))
    torch.testing.assert_close(torch.hypot(x, y), torch.full((200,), 15.0), rtol=0, atol=0.3)
    assert 27 < angle.abs().max() <= 30.5


def test_values_stay_within_the_image_and_gradients_pass():
    images = pictures().requires_grad_()
    changed = augment(images, generator(0), degrees=20.0, scale=0.3, shift=0.2)
    assert changed.min() >= 0
    assert changed.max() <= 1
    changed.sum().backward()
    assert images.grad is not None
