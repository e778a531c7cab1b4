"""Distance of two pictures in the features of EfficientNet-Lite0, in the form of LPIPS.

At the stem and the ends of the first six stages, features are scaled to unit length at every place; the squared
difference of each channel is averaged over places (Zhang et al. 2018, eq. 1, before the weights w_l): 496 numbers whose
weighted sum is the distance.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.compression.likeness import batch_of
from labkit.models.efficientnet import STAGES, efficientnet_lite0

CHANNELS = (32, *(stage[-1] for stage in STAGES[:-1]))
ENDS = tuple(int(end) for end in np.cumsum([stage[0] for stage in STAGES[:-1]]) - 1)
TINY = 1e-10


@cache
def trunk() -> nn.Module:
    """The network with its ImageNet weights (extra "pretrained")."""
    return efficientnet_lite0(1280).eval()


def feature_maps(network: Any, images: Tensor) -> list[Tensor]:
    """Features of images (N, 3, H, W) in 0 … 1 at the stem and at the ends of six stages."""
    x = F.relu6(network._bn0(network._conv_stem(network.normalise(images))))
    found = [x]
    for number, block in enumerate(network._blocks[: ENDS[-1] + 1]):
        x = block(x)
        if number in ENDS:
            found.append(x)
    return found


def channel_distances(x: Tensor, y: Tensor, network: nn.Module | None = None) -> Tensor:
    """Mean squared difference of every unit-scaled channel, (N, 496), of images (N, 3, H, W) in 0 … 1."""
    network = trunk() if network is None else network
    parts = []
    for a, b in zip(feature_maps(network, x), feature_maps(network, y)):
        scaled = [f / (f.norm(dim=1, keepdim=True) + TINY) for f in (a, b)]
        parts.append((scaled[0] - scaled[1]).square().mean((2, 3)))
    return torch.cat(parts, 1)


@torch.no_grad()
def picture_distances(reference: np.ndarray, image: np.ndarray) -> np.ndarray:
    """The 496 channel distances of two pictures, uint8 H × W × 3."""
    return np.asarray(channel_distances(batch_of(reference).float(), batch_of(image).float())[0].double())
