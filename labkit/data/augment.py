"""Random changes to images that keep what they show. All randomness comes from the generator given."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn.functional import affine_grid, grid_sample


def augment(
    images: Tensor,
    rng: torch.Generator,
    *,
    degrees: float = 0.0,
    scale: float = 0.0,
    shift: float = 0.0,
    grey: float = 0.0,
    flip: float = 0.0,
) -> Tensor:
    """Images (N, C, H, W) in 0…1, each turned, scaled, shifted, mirrored and made grey at random.

    degrees, scale, shift: largest rotation, relative change of size, and displacement as a share of the width.
    grey, flip: share of the images to make grey, to mirror.
    """
    count, device = len(images), images.device
    if degrees or scale or shift or flip:
        draw = torch.rand(count, 5, generator=rng).to(device)  # drawn on the CPU: the same on every device
        uniform = draw * 2 - 1
        angle = uniform[:, 0] * math.radians(degrees)
        size = 1 / (1 + uniform[:, 1] * scale)
        mirror = torch.where(draw[:, 4] < flip, -1.0, 1.0)
        theta = images.new_empty(count, 2, 3)
        theta[:, 0, 0], theta[:, 0, 1] = size * angle.cos() * mirror, -size * angle.sin()
        theta[:, 1, 0], theta[:, 1, 1] = size * angle.sin() * mirror, size * angle.cos()
        theta[:, :, 2] = uniform[:, 2:4] * 2 * shift
        grid = affine_grid(theta, list(images.shape), align_corners=False)
        images = grid_sample(images, grid, mode="bilinear", padding_mode="border", align_corners=False)
    if grey:
        chosen = torch.rand(count, 1, 1, 1, generator=rng).to(device) < grey
        images = torch.where(chosen, images.mean(1, keepdim=True), images)
    return images
