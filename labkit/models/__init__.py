"""Networks that map inputs to raw embeddings (N, dim): built by name, for training and for baselines.

Embeddings are not L2-normalised: the losses and metrics do that where they need it, and softmax losses use the norm.
Image inputs are floats in 0 … 1 of shape (N, C, H, W).
"""

import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from labkit.base.checks import check_choice, check_count
from labkit.models.efficientnet import efficientnet_lite0
from labkit.models.resnet import resnet50, resnet101, small_resnet
from labkit.models.small import Pixels, SmallCNN, five_layer_cnn, toy_mlp
from labkit.models.vit import vit

_BUILDERS: dict[str, Callable[..., nn.Module]] = {
    "toy-mlp": toy_mlp,
    "small-cnn": SmallCNN,
    "five-layer-cnn": five_layer_cnn,
    "small-resnet": small_resnet,
    "resnet50": resnet50,
    "resnet101": resnet101,
    "vit": vit,
    "efficientnet-lite0": efficientnet_lite0,
    "pixels": Pixels,
}

NAMES = tuple(_BUILDERS)

__all__ = ["NAMES", "build", "options_of"]


def options_of(name: str) -> list[str]:
    """What can be chosen of a network besides the number of its outputs."""
    check_choice("name", name, NAMES)
    return [option for option in inspect.signature(_BUILDERS[name]).parameters if option != "dim"]


def build(name: str, dim: int, **options: Any) -> nn.Module:
    """The network called name with embeddings of dim numbers ("pixels" keeps every pixel and ignores dim)."""
    known = options_of(name)
    check_count("dim", dim)
    for option in options:
        if option not in known:
            raise ValueError(f"{name} has no option {option!r}; its options are: {', '.join(known) or 'none'}")
    return _BUILDERS[name](dim, **options)
