"""Residual networks: ResNet-50 with the public weights' names, and a small one; with or without the last BN-ReLU.

A block ends conv - BN - (+ shortcut) - ReLU, so the "BN-ReLU-BN" that SGSL speaks of has an addition, and the
pooling, between its parts (erratum E-SG-9). The option last says how the last block ends:

- "bn-relu": as every other block.
- "rbr": the last BN-ReLU removed, as SGSL's text has it: that block's last BN and the ReLU after the addition.
- "rbr-released": as in SGSL's released code, where the ReLUs of a block are one shared object, so that removing it
  removes every ReLU of the last block.
- "extra-bn-relu": one more BN-ReLU, on the pooled features (SGSL, Figure 4).

GeM pooling cuts negative features off again; "avg" keeps what removing the ReLU let through.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from labkit.base.checks import check_choice, check_count, check_counts
from labkit.models.embedder import Embedder
from labkit.models.layers import Normalise
from labkit.models.weights import load_weights

LASTS = ("bn-relu", "rbr", "rbr-released", "extra-bn-relu")


class BasicBlock(nn.Module):
    """Two 3×3 convolutions and a shortcut."""

    expansion = 1
    last_norm = "bn2"

    def __init__(self, channels: int, width: int, stride: int) -> None:
        """From channels to width channels, at 1/stride of the resolution."""
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _shortcut(channels, width, stride)
        self.relu: nn.Module = nn.ReLU(inplace=True)
        self.last_relu: nn.Module = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        """Features of the same or half the resolution."""
        out = self.relu(self.bn1(self.conv1(x)))
        result: Tensor = self.last_relu(self.bn2(self.conv2(out)) + self.downsample(x))
        return result


class Bottleneck(nn.Module):
    """Convolutions 1×1, 3×3 and 1×1 to four times the width, and a shortcut; the 3×3 has the stride."""

    expansion = 4
    last_norm = "bn3"

    def __init__(self, channels: int, width: int, stride: int) -> None:
        """From channels to 4·width channels, at 1/stride of the resolution."""
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, 4 * width, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * width)
        self.downsample = _shortcut(channels, 4 * width, stride)
        self.relu: nn.Module = nn.ReLU(inplace=True)
        self.last_relu: nn.Module = nn.ReLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        """Features of the same or half the resolution."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        result: Tensor = self.last_relu(self.bn3(self.conv3(out)) + self.downsample(x))
        return result


def _shortcut(channels: int, after: int, stride: int) -> nn.Module:
    """The input itself where it fits, else a 1×1 convolution of it."""
    if stride == 1 and channels == after:
        return nn.Identity()
    return nn.Sequential(nn.Conv2d(channels, after, 1, stride, bias=False), nn.BatchNorm2d(after))


class ResNet(Embedder):
    """A stem, then stages of blocks, each after the first at half the resolution and twice the width."""

    def __init__(
        self,
        block: type[BasicBlock] | type[Bottleneck],
        blocks: Sequence[int],
        width: int,
        in_channels: int,
        large: bool,
    ) -> None:
        """blocks: how many a stage; large: a stem that quarters the resolution, for images of about 224 pixels."""
        super().__init__(in_channels)
        size, stride = (7, 2) if large else (3, 1)
        self.conv1 = nn.Conv2d(in_channels, width, size, stride, padding=size // 2, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1) if large else nn.Identity()
        self.relu = nn.ReLU(inplace=True)
        self.stages = [f"layer{stage}" for stage in range(1, len(blocks) + 1)]
        self.channels = width
        for stage, count in enumerate(blocks):
            layers = []
            for position in range(count):
                halve = stage > 0 and position == 0
                layers.append(block(self.channels, width << stage, stride=2 if halve else 1))
                self.channels = block.expansion * width << stage
            self.add_module(self.stages[stage], nn.Sequential(*layers))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def features(self, images: Tensor) -> Tensor:
        """The last block's output."""
        # The layout in which a CPU is faster; the stem may have but one channel, so its output decides.
        x: Tensor = self.conv1(images).contiguous(memory_format=torch.channels_last)
        x = self.relu(self.maxpool(self.bn1(x)))
        for stage in self.stages:
            x = self.get_submodule(stage)(x)
        return x

    def end(self, last: str) -> None:
        """Make the last block end as last says."""
        if last in ("rbr", "rbr-released"):
            block = self.get_submodule(self.stages[-1])[-1]  # type: ignore[index]
            setattr(block, block.last_norm, nn.Identity())
            block.last_relu = nn.Identity()
            if last == "rbr-released":
                block.relu = nn.Identity()


def small_resnet(
    dim: int,
    *,
    width: int = 16,
    blocks: Sequence[int] = (1, 1, 1),
    in_channels: int = 1,
    pool: str = "gem",
    neck: str = "none",
    last: str = "bn-relu",
    head: bool = True,
) -> nn.Module:
    """A ResNet of basic blocks for images of 28 to 64 pixels, as for CIFAR.

    blocks: how many a stage, each stage at half the resolution and twice the width of the one before.
    head: without it the width of the last stage is the embedding's dim, as in SGSL's Figure 2.
    """
    check_choice("last", last, LASTS)
    check_count("width", width)
    check_counts("blocks", blocks)
    check_count("in_channels", in_channels)
    network = ResNet(BasicBlock, blocks, width, in_channels, large=False)
    network.end(last)
    network.finish(dim, pool=pool, neck=neck, head=head, extra=last == "extra-bn-relu")
    return network


def resnet50(
    dim: int,
    *,
    weights: str | Path | None = None,
    pool: str = "gem",
    neck: str = "none",
    last: str = "bn-relu",
    freeze_bn: bool = False,
) -> nn.Module:
    """ResNet-50 (He et al. 2016, the stride in the 3×3 convolution); the embedding has no head when dim is 2048.

    weights: a file with the public ImageNet weights, .pth or .safetensors; its classifier is left out.
    freeze_bn: keep every batch norm before the pooling as it is in training too.
    """
    return large_resnet((3, 4, 6, 3), dim, weights, pool, neck, last, freeze_bn)


def resnet101(
    dim: int,
    *,
    weights: str | Path | None = None,
    pool: str = "gem",
    neck: str = "none",
    last: str = "bn-relu",
    freeze_bn: bool = False,
) -> nn.Module:
    """ResNet-101, with the options of ResNet-50."""
    return large_resnet((3, 4, 23, 3), dim, weights, pool, neck, last, freeze_bn)


def large_resnet(
    blocks: Sequence[int], dim: int, weights: str | Path | None, pool: str, neck: str, last: str, freeze_bn: bool
) -> nn.Module:
    """A ResNet of bottlenecks for colour images of about 224 pixels."""
    check_choice("last", last, LASTS)
    network = ResNet(Bottleneck, blocks, 64, 3, large=True)
    network.normalise = Normalise((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    if weights is not None:  # before anything is removed or added, so that the names must fit exactly
        load_weights(network, Path(weights), ignore="fc.")
    network.end(last)
    network.finish(dim, pool=pool, neck=neck, head=dim != 2048, freeze_bn=freeze_bn, extra=last == "extra-bn-relu")
    return network
