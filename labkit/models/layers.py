"""The parts round a stack of convolutions: pixels normalised before it; pooling, linear head and neck after it."""

import math
from collections import OrderedDict
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from labkit.base.checks import check_choice, check_positive

POOLS = ("gem", "avg", "avg+max")
NECKS = ("none", "prebn", "bn", "ln")


class Normalise(nn.Module):
    """Subtract a mean and divide by a standard deviation, channel by channel: what pretrained weights expect."""

    mean: Tensor
    std: Tensor

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        """One number a channel, for pixels in 0 … 1."""
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(1, -1, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(std).view(1, -1, 1, 1), persistent=False)

    def forward(self, images: Tensor) -> Tensor:
        """Images of the same shape."""
        return (images - self.mean) / self.std


class GeM(nn.Module):
    """Generalised mean over each channel's positions, (mean xᵖ)^(1/p): p = 1 is the mean, p → ∞ the maximum.

    Values below eps count as eps, so negative responses are lost here even where no ReLU comes before.
    """

    def __init__(self, p: float = 3.0, eps: float = 1e-6) -> None:
        """p is where the learnable power starts."""
        super().__init__()
        check_positive("p", p)
        check_positive("eps", eps)
        self.p = nn.Parameter(torch.full((1,), float(p)))
        self.eps = eps

    def forward(self, features: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C), in float32 or better."""
        # In logarithms, since a large power of a feature overflows.
        logs = features.to(torch.promote_types(features.dtype, torch.float32)).clamp(min=self.eps).log()
        count = features.shape[2] * features.shape[3]
        powers = (logs * self.p).flatten(2).logsumexp(2) - math.log(count)
        return (powers / self.p).exp()


class AvgMaxPool(nn.Module):
    """The mean plus the maximum over each channel's positions."""

    def forward(self, features: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C)."""
        return features.mean((2, 3)) + features.amax((2, 3))


def pooling(name: str) -> nn.Module:
    """The pooling called name, from (N, C, H, W) to (N, C)."""
    check_choice("pool", name, POOLS)
    if name == "gem":
        return GeM()
    return AvgMaxPool() if name == "avg+max" else nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())


def embedding(channels: int, dim: int, *, neck: str, head: bool, extra: bool = False) -> nn.Sequential:
    """What follows the pooling, from (N, channels) to (N, dim).

    head: a linear layer; without it the pooled features are the embedding, and dim must equal channels.
    neck: "prebn" batch-normalises the features before the head, whose weights take the place of scale and shift: rows
    that a ReLU made all-positive are centred, without which losses with class vectors pull every embedding into one
    direction; "ln" layer-normalises there instead; "bn" batch-normalises the embedding, without scale and shift (SGSL,
    Figure 2).
    extra: one more BN-ReLU on the pooled features (SGSL, Figure 4).
    """
    check_choice("neck", neck, NECKS)
    if not head and dim != channels:
        raise ValueError(f"dim must be {channels}, the number of pooled features, when there is no head; got {dim}")
    layers: OrderedDict[str, nn.Module] = OrderedDict()
    if extra:
        layers["extra"] = nn.Sequential(nn.BatchNorm1d(channels), nn.ReLU())
    if neck == "prebn":
        layers["neck"] = nn.BatchNorm1d(channels, affine=False)
    if neck == "ln":
        layers["neck"] = nn.LayerNorm(channels, elementwise_affine=False)
    if head:
        layers["head"] = nn.Linear(channels, dim, bias=neck != "bn")  # the batch mean would cancel a bias
    if neck == "bn":
        layers["neck"] = nn.BatchNorm1d(dim, affine=False)
    return nn.Sequential(layers)
