"""Checks of what a network is built with and given: cheap enough for every forward pass, no value is read."""

from collections.abc import Sequence
from numbers import Integral

from torch import Tensor


def check_count(name: str, value: int) -> None:
    """A whole number, 1 or above."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be a whole number, 1 or above; got {value!r}")


def check_counts(name: str, values: Sequence[int]) -> None:
    """At least one whole number, each 1 or above."""
    if not isinstance(values, Sequence) or isinstance(values, str) or not values:
        raise ValueError(f"{name} must be a sequence of whole numbers such as (1, 2), got {values!r}")
    for value in values:
        check_count(name, value)


def check_images(images: Tensor, channels: int, size: int | None = None) -> None:
    """Floating-point images (N, channels, H, W); size x size pixels, if given."""
    if not images.is_floating_point():
        raise ValueError(f"images must be floats in 0 … 1, got {images.dtype}: divide bytes by 255 first")
    if images.dim() != 4 or images.shape[1] != channels or (size is not None and images.shape[2:] != (size, size)):
        side = "H, W" if size is None else f"{size}, {size}"
        raise ValueError(
            f"images must have shape (N, {channels}, {side}), got {tuple(images.shape)}: "
            "reshape them, or build the network for their channels and size"
        )
