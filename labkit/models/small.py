"""Networks that train in seconds on a CPU, and the pixels themselves as the baseline."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from labkit.base.checks import check_choice, check_count, check_counts
from labkit.models.checks import check_images
from labkit.models.layers import embedding


def toy_mlp(dim: int) -> nn.Module:
    """Two layers of 30 ReLU units on points in the plane."""
    return nn.Sequential(nn.Linear(2, 30), nn.ReLU(), nn.Linear(30, 30), nn.ReLU(), nn.Linear(30, dim))


class SmallCNN(nn.Module):
    """A stride-2 convolution, then one convolution and one pooling a channel count, then a linear layer.

    The defaults suit 28-pixel characters; channels=(8, 16, 32, 64), in_channels=3, size=48 suit small colour images.
    """

    def __init__(
        self,
        dim: int,
        *,
        channels: Sequence[int] = (16, 32, 32),
        in_channels: int = 1,
        size: int = 28,
        norm: str = "batch",
        neck: str = "none",
    ) -> None:
        """norm: "batch", or "group" for a network in which no image sees the others of its batch; neck: see layers."""
        super().__init__()
        check_choice("norm", norm, ("batch", "group"))
        check_counts("channels", channels)
        check_count("in_channels", in_channels)
        check_count("size", size)
        side = (size + 1) // 2 >> len(channels) - 1
        if side == 0:
            least = 2 ** len(channels) - 1  # halved, rounded up, then halved by each channel after the first
            raise ValueError(f"size must be at least {least} for {len(channels)} channels; got {size}")
        self.in_channels, self.size = in_channels, size
        layers: list[nn.Module] = [nn.Conv2d(in_channels, channels[0], 3, stride=2, padding=1, bias=False)]
        layers += [_normalise(norm, channels[0]), nn.ReLU(inplace=True)]
        for before, after in pairwise(channels):
            # The maximum of ReLUs is the ReLU of the maximum: pooling first leaves a quarter of the ReLUs.
            layers += [nn.Conv2d(before, after, 3, padding=1, bias=False), _normalise(norm, after)]
            layers += [nn.MaxPool2d(2), nn.ReLU(inplace=True)]
        self.features = nn.Sequential(*layers)
        self.embed = embedding(channels[-1] * side * side, dim, neck=neck, head=True)

    def forward(self, images: Tensor) -> Tensor:
        """Embeddings (N, dim) of images (N, in_channels, size, size)."""
        check_images(images, self.in_channels, self.size)
        first, *rest = self.features
        # In this layout a training step takes a quarter to a third less time on a CPU. Only the features change to
        # it: weights in it would meet the optimiser's state, read back from a checkpoint, in the other.
        x: Tensor = first(images).contiguous(memory_format=torch.channels_last)
        for layer in rest:
            x = layer(x)
        embeddings: Tensor = self.embed(x.flatten(1))
        return embeddings


def _normalise(norm: str, channels: int) -> nn.Module:
    """Batch normalisation, or group normalisation with groups of eight channels where they divide."""
    if norm == "batch":
        return nn.BatchNorm2d(channels)
    return nn.GroupNorm(channels // 8 if channels % 8 == 0 else 1, channels)


def five_layer_cnn(dim: int, *, in_channels: int = 1, size: int = 28) -> nn.Module:
    """Three convolutions and two linear layers: a network for SGSL's Figure 3, where dim is 3.

    The paper says no more than "five-layer CNN"; widths, batch norm and pooling are this project's choice. The
    classifier is not among the five layers: it belongs to the loss.
    """
    trunk = SmallCNN(128, channels=(16, 32, 64), in_channels=in_channels, size=size)
    return nn.Sequential(trunk, nn.ReLU(inplace=True), nn.Linear(128, dim))


class Pixels(nn.Module):
    """The image itself as a flat vector: no parameters, and dim is ignored; the baseline every network must beat.

    Measured from the colour of the image's first corner, the background of a drawing: from black, the cosine of two
    drawings on white paper would mostly compare the paper (icons, R@1: 48 % instead of 52 %).
    """

    def __init__(self, dim: int) -> None:
        """dim is taken so that every network is built alike."""
        super().__init__()

    def forward(self, images: Tensor) -> Tensor:
        """Every number of an image, in one row."""
        return (images - images[:, :, :1, :1]).flatten(1)
