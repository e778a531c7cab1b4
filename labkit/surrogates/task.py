"""What is measured: how a model's output becomes a prediction, how that is decoded, and the metric of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from labkit.base.tensors import has_values

Metric = Callable[[Any, Any], ArrayLike | Tensor]


def as_it_is(outputs: Tensor) -> Tensor:
    """The model's output is the prediction."""
    return outputs


@dataclass(frozen=True)
class Task:
    """A metric e(z, y) and the way to it from a model's output.

    metric: from N decoded predictions and N decoded targets to N numbers, 0 for a prediction that equals its target and
    more the worse it is: a surrogate is a distance. For a score, give its largest value minus the score.
    decode: from z or y (B, ...) to what the metric takes, such as a list of words. Nothing need be differentiable here.
    predict: from the model's output to z, differentiably, such as a softmax.
    """

    metric: Metric
    decode: Callable[[Tensor], Sequence[Any] | Tensor] = as_it_is
    predict: Callable[[Tensor], Tensor] = as_it_is

    def exact(self, z: Tensor, y: Tensor) -> Tensor:
        """e(z, y) of a batch, (B,), without gradient; a metric's answer that no distance can have is a ValueError."""
        check_pairs(z, y)
        if not has_values(z):  # on the meta device there is nothing to decode
            return torch.empty(len(z), device=z.device, dtype=z.dtype)
        predictions, targets = self.decode(z.detach()), self.decode(y.detach())
        answer = self.metric(predictions, targets)
        values = answer.detach() if isinstance(answer, Tensor) else torch.from_numpy(np.asarray(answer, np.float64))
        if values.shape != (len(z),):
            raise ValueError(f"metric must give {len(z)} numbers, one a pair; got shape {tuple(values.shape)}")
        wrong = ~values.isfinite() | (values < 0)
        if bool(wrong.any()):
            at = int(wrong.nonzero()[0])
            raise ValueError(
                f"metric must give finite numbers, 0 or above; it gave {float(values[at])} for the prediction "
                f"{predictions[at]!r} and the target {targets[at]!r}"
            )
        return values.to(z.device, z.dtype)

    def check(self, y: Tensor) -> None:
        """Refuse a metric that is not 0 where prediction and target are equal: no distance can learn it."""
        values = self.exact(y, y)
        if has_values(values) and float(values.max()) > 1e-4:
            raise ValueError(
                f"metric must be 0 for a target against itself, and gave {float(values.max()):g}: a surrogate is a "
                f"distance; for a score, give its largest value minus the score"
            )


def check_pairs(z: Tensor, y: Tensor) -> None:
    """Predictions and targets of one shape, at least one pair."""
    for name, value in (("z", z), ("y", y)):
        if not isinstance(value, Tensor) or not value.is_floating_point():
            raise ValueError(
                f"{name} must be a floating-point torch.Tensor, got {getattr(value, 'dtype', type(value))}"
            )
    if z.shape != y.shape or z.dim() < 2 or len(z) == 0:
        raise ValueError(
            f"z and y must be (B, ...) of one shape, at least one pair; got {tuple(z.shape)} and {tuple(y.shape)}"
        )
