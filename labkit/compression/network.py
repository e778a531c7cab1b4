"""The learned codec's network: a mean-scale hyper-prior whose latents are coded slice by slice, for all rates at once.

An analysis makes latents y at 1/16 of the resolution, a hyper-analysis side information z at 1/64. From z, and from the
slices of y that are known already, comes the mean and the scale of every element of the next slice (the slides'
hierarchical auto-regressive model, in small; Minnen and Singh 2020 call it channel-wise). Gains that depend on the rate
set the step of quantisation of every channel (Cui et al. 2021), so that one network covers all rates. All of the
decoder can be computed in whole numbers (fixed_point.py): convolutions, ReLU, and x (β + γ|x|) instead of a root
(Johnston et al. 2019).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LAMBDAS = (0.0018, 0.0035, 0.0067, 0.0130, 0.0250, 0.0483)  # weight of 255² MSE against bits per pixel
SCALES, SMALLEST, LARGEST = 64, 0.11, 256.0  # of the Gaussians; an index names one, in equal steps of the logarithm
STEP = math.log(LARGEST / SMALLEST) / (SCALES - 1)
DOWN = 64  # sides are multiples of it: those of z are this much smaller


@dataclass(frozen=True)
class Sizes:
    """Channels of the transforms, of y, of z, and into how many slices y is cut."""

    width: int = 64
    latent: int = 96
    hyper: int = 48
    slices: int = 4

    def __post_init__(self) -> None:
        """Refuse slices of unequal size."""
        if min(self.width, self.latent, self.hyper, self.slices) < 1 or self.latent % self.slices:
            raise ValueError(f"latent must be a multiple of slices, and all of them 1 or above; got {self}")


class Scaled(nn.Module):
    """x / (β + Σ γ|x|), or its counterpart x (β + Σ γ|x|) in the decoder; β and γ are squares, so not negative."""

    def __init__(self, channels: int, inverse: bool) -> None:
        """Begins near the identity."""
        super().__init__()
        self.inverse = inverse
        self.root_beta = nn.Parameter(torch.ones(channels))
        self.root_gamma = nn.Parameter(torch.full((channels, channels), 0.03) + 0.25 * torch.eye(channels))

    def forward(self, x: Tensor) -> Tensor:
        """The same shape."""
        norm = F.conv2d(x.abs(), self.root_gamma.square()[:, :, None, None], self.root_beta.square())
        return x * norm if self.inverse else x / (norm + 1e-6)


def conv(channels: int, after: int, size: int = 3, stride: int = 1) -> nn.Conv2d:
    """A convolution that keeps the borders."""
    return nn.Conv2d(channels, after, size, stride, padding=size // 2)


def up(channels: int, after: int, times: int = 2) -> nn.Sequential:
    """A convolution whose channels become pixels: larger by `times`."""
    return nn.Sequential(conv(channels, after * times**2), nn.PixelShuffle(times))


class Network(nn.Module):
    """All transforms; `forward` is what training needs, the codec itself works on the parts."""

    def __init__(self, sizes: Sizes | None = None) -> None:
        """Random weights."""
        super().__init__()
        self.sizes = sizes = sizes or Sizes()
        width, latent, hyper, part = sizes.width, sizes.latent, sizes.hyper, sizes.latent // sizes.slices
        self.analysis = nn.Sequential(
            nn.PixelUnshuffle(4),
            conv(48, width),
            Scaled(width, False),
            conv(width, width, 5, 2),
            Scaled(width, False),
            conv(width, width),
            Scaled(width, False),
            conv(width, latent, 5, 2),
        )
        self.hyper_analysis = nn.Sequential(
            conv(latent, width), nn.ReLU(), conv(width, width, 5, 2), nn.ReLU(), conv(width, hyper, 5, 2)
        )
        self.hyper_synthesis = nn.Sequential(up(hyper, width), nn.ReLU(), up(width, width), nn.ReLU())
        self.slices = nn.ModuleList(
            nn.Sequential(conv(width + number * part, width), nn.ReLU(), conv(width, 2 * part))
            for number in range(sizes.slices)
        )
        self.synthesis = nn.Sequential(
            up(latent, width),
            Scaled(width, True),
            conv(width, width),
            Scaled(width, True),
            up(width, width),
            Scaled(width, True),
            up(width, 3, 4),
        )
        levels = torch.tensor(LAMBDAS).div(LAMBDAS[2]).log()[:, None] / 2  # the step falls with the root of λ
        self.log_gain = nn.Parameter(levels.repeat(1, latent) + math.log(4.0))
        self.hyper_log_gain = nn.Parameter(levels.repeat(1, hyper) / 2 + math.log(2.0))
        self.hyper_index = nn.Parameter(torch.full((len(LAMBDAS), hyper), math.log(1 / SMALLEST) / STEP))

    def forward(self, images: Tensor, level: Tensor, noise: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Decoded images and bits of each image; level (B,) runs from 0 to the number of LAMBDAS less 1.

        The rate is that of uniform noise (−½ … ½, for y and z) in place of rounding, the images are those of rounding.
        """
        y = self.analysis(images - 0.5)
        gain, hyper_gain, hyper_index = (
            between(table, level)[:, :, None, None] for table in (self.log_gain, self.hyper_log_gain, self.hyper_index)
        )
        z = self.hyper_analysis(y) * hyper_gain.exp()
        bits = gaussian_bits(z + noise[1], hyper_index.expand_as(z))
        features = self.hyper_synthesis(rounded(z) / hyper_gain.exp())
        known: list[Tensor] = []
        part = self.sizes.latent // self.sizes.slices
        for number, model in enumerate(self.slices):
            chosen = slice(number * part, (number + 1) * part)
            mean, index = model(torch.cat((features, *known), 1)).chunk(2, 1)
            steps = (y[:, chosen] - mean) * gain[:, chosen].exp()
            # scales are predicted of y itself; the gain enlarges them
            bits = bits + gaussian_bits(steps + noise[0][:, chosen], index * 8 + 16 + gain[:, chosen] / STEP)
            known.append(mean + rounded(steps) / gain[:, chosen].exp())
        return self.synthesis(torch.cat(known, 1)) + 0.5, bits


def between(table: Tensor, level: Tensor) -> Tensor:
    """Rows of a table (levels, C) at places between them: (B, C)."""
    low = level.floor().clamp(max=len(table) - 2).long()
    share = (level - low)[:, None]
    return table[low] * (1 - share) + table[low + 1] * share


def rounded(x: Tensor) -> Tensor:
    """Round; the gradient goes through."""
    return x + (x.detach().round() - x.detach())


class Bounded(torch.autograd.Function):
    """Clamp to 0 … SCALES − 1; outside, the gradient may only lead back."""

    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:  # noqa: D102
        ctx.save_for_backward(x)  # type: ignore[attr-defined]
        return x.clamp(0, SCALES - 1)

    @staticmethod
    def backward(ctx: object, *grads: Tensor) -> Tensor:  # noqa: D102
        (x,) = ctx.saved_tensors  # type: ignore[attr-defined]
        stuck = ((x < 0) & (grads[0] > 0)) | ((x > SCALES - 1) & (grads[0] < 0))
        return grads[0].masked_fill(stuck, 0)


def scale_of(index: Tensor) -> Tensor:
    """The standard deviation that an index stands for."""
    return SMALLEST * torch.exp(Bounded.apply(index) * STEP)


def gaussian_bits(x: Tensor, index: Tensor) -> Tensor:
    """−log2 of the mass of a centred Gaussian in x ± ½, summed over all but the first dimension."""
    scale, far = scale_of(index), x.abs()
    mass = torch.special.ndtr((0.5 - far) / scale) - torch.special.ndtr((-0.5 - far) / scale)
    return -torch.log2(mass.clamp(min=1e-9)).flatten(1).sum(1)
