"""What the Modules share: options that show in the repr, and parameters of random direction."""

from numbers import Integral
from typing import Any

import torch
from torch import nn

from labkit.base.checks import check_choice
from labkit.losses._common import CONVENTIONS, check_reduction
from labkit.losses.ranking import METHODS


class Loss(nn.Module):
    """Keeps the options of a functional loss and shows them in its repr."""

    def __init__(self, **options: Any) -> None:
        """Options are checked where they are used; the ones all losses share are checked here."""
        super().__init__()
        if "reduction" in options:
            check_reduction(options["reduction"])
        if "convention" in options:
            check_choice("convention", options["convention"], CONVENTIONS)
        if "method" in options:
            check_choice("method", options["method"], METHODS)
        self.options = options

    def extra_repr(self) -> str:
        """The options, as written in a call."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())


def directions(*shape: int) -> nn.Parameter:
    """Random rows of expected norm 1."""
    for name, size in zip(("num_classes", "centers", "dim") if len(shape) == 3 else ("num_classes", "dim"), shape):
        if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} must be a whole number, 1 or above; got {size!r}")
    return nn.Parameter(torch.randn(*shape) * shape[-1] ** -0.5)
