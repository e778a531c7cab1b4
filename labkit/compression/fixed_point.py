"""The decoder in whole numbers, so that every machine computes the same: no sum depends on its order, nothing rounds.

Numbers are whole multiples of 2^-FRACTION and weights of 2^-WEIGHT, held in float64 tensors, in which products and sums
of whole numbers are exact as long as they stay below 2^53: whatever the processor, the threads or the order of a matrix
product, the result is the same. `check_room` proves for the weights at hand that they stay below it.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.compression.network import Scaled

FRACTION, WEIGHT = 14, 14
ONE = 1 << FRACTION
TOP = 1 << 24  # numbers are clamped to ± this: ±1024 as reals
EXACT = 1 << 53
STRIP = 64  # rows at a time, to bound the memory of a convolution


def whole_weights(module: nn.Module) -> dict[str, Tensor]:
    """The weights of a part of the decoder in whole numbers, by the names that `run` looks for: 0.weight, 0.bias …"""
    found: dict[str, Tensor] = {}
    for number, layer in enumerate(layers_of(module)):
        if isinstance(layer, nn.Conv2d):
            assert layer.bias is not None
            weight, bias = layer.weight, layer.bias
        elif isinstance(layer, Scaled):
            weight, bias = layer.root_gamma.square()[:, :, None, None], layer.root_beta.square()
        else:
            continue
        found[f"{number}.weight"] = grid(weight, WEIGHT)
        found[f"{number}.bias"] = grid(bias, FRACTION)
    return found


def grid(values: Tensor, bits: int) -> Tensor:
    """Whole multiples of 2^-bits, nearest, as int16 where that is enough, else as int32."""
    scaled = (values.detach().double() * (1 << bits)).round()
    if not bool((scaled.abs() < 1 << 31).all()):
        raise ValueError("the network's weights are too large (or not finite) for whole numbers of 32 bits")
    return scaled.to(torch.int16 if bool((scaled.abs() < 1 << 15).all()) else torch.int32).cpu()


def layers_of(module: nn.Module) -> list[nn.Module]:
    """The layers of a sequence, in their order, whatever sequences it holds."""
    inner = list(module.children())
    return [layer for child in inner for layer in layers_of(child)] if inner else [module]


def check_room(weights: dict[str, Tensor]) -> None:
    """Refuse weights with which a sum could reach 2^53."""
    for name, weight in weights.items():
        if name.endswith(".weight"):
            bias = weights[f"{name.removesuffix('weight')}bias"].double().abs() * (1 << WEIGHT)
            largest = weight.double().abs().flatten(1).sum(1) * TOP + bias
            if bool((largest >= EXACT).any()):
                raise ValueError(f"{name}: sums could reach 2^53, above which they are not exact")


def shifted(x: Tensor, bits: int) -> Tensor:
    """Divide by 2^bits, round halves up, clamp: whole numbers of whole numbers. Powers of two divide exactly."""
    return torch.floor(x * 2.0**-bits + 0.5).clamp_(-TOP, TOP)


def convolved(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A convolution that keeps the borders, not yet divided by 2^WEIGHT; strip by strip."""
    border = weight.shape[-1] // 2
    wide = F.pad(x, (border,) * 4)
    offset = (bias.double() * (1 << WEIGHT))[:, None, None]
    rows = range(0, x.shape[2], STRIP)
    parts = [F.conv2d(wide[:, :, row : row + STRIP + 2 * border], weight.double()) for row in rows]
    return torch.cat(parts, 2).add_(offset)


def run(module: nn.Module, weights: dict[str, Tensor], x: Tensor) -> Tensor:
    """Apply a part of the decoder, whose shape the module gives, with whole weights to whole numbers (1, C, H, W)."""
    return shifted(run_exact(layers_of(module), weights, x), WEIGHT)


def run_exact(layers: Iterable[nn.Module], weights: dict[str, Tensor], x: Tensor) -> Tensor:
    """The last layer's sums are left at their full precision, 2^-(FRACTION + WEIGHT)."""
    fine = False  # whether x is still at the full precision
    for number, layer in enumerate(layers):
        if fine:
            x, fine = (x, True) if isinstance(layer, nn.PixelShuffle) else (shifted(x, WEIGHT), False)
        if isinstance(layer, nn.Conv2d):
            x, fine = convolved(x, weights[f"{number}.weight"], weights[f"{number}.bias"]), True
        elif isinstance(layer, Scaled):
            norm = shifted(convolved(x.abs(), weights[f"{number}.weight"], weights[f"{number}.bias"]), WEIGHT)
            x = shifted(x * norm, FRACTION)
        elif isinstance(layer, nn.ReLU):
            x = x.clamp(min=0)
        elif isinstance(layer, nn.PixelShuffle):
            x = F.pixel_shuffle(x, layer.upscale_factor)
        else:
            raise TypeError(f"no whole-number form of {type(layer).__name__}")
    return x if fine else x * (1 << WEIGHT)
