"""A check of what a network is given: cheap enough for every forward pass, no value is read."""

from torch import Tensor


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
