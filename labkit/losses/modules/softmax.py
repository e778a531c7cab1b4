"""Modules of the softmax family; their class vectors are parameters."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from labkit.base.checks import check_not_negative, check_positive
from labkit.losses import softmax
from labkit.losses.modules.base import Loss, directions


class Softmax(Loss):
    """Softmax cross-entropy without bias: see `functional.softmax`."""

    def __init__(self, num_classes: int, dim: int, label_smoothing: float = 0.0, *, reduction: str = "mean") -> None:
        """label_smoothing: ε, spread over the other classes."""
        super().__init__(label_smoothing=label_smoothing, reduction=reduction)
        self.weight = directions(num_classes, dim)
        softmax.check_smoothing(label_smoothing, num_classes)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return softmax.softmax(embeddings, labels, self.weight, return_parts=return_parts, **self.options)


class NormSoftmax(Loss):
    """Softmax on scaled cosines, the scale fixed or learned (NormFace): see `functional.norm_softmax`."""

    def __init__(
        self,
        num_classes: int,
        dim: int,
        scale: float = 16.0,
        learn_scale: bool = False,
        label_smoothing: float = 0.0,
        *,
        reduction: str = "mean",
    ) -> None:
        """Scale: factor on the cosines; scale=1, not learned, is the unscaled softmax that stalls."""
        check_positive("scale", scale)
        super().__init__(label_smoothing=label_smoothing, reduction=reduction)
        self.weight = directions(num_classes, dim)
        softmax.check_smoothing(label_smoothing, num_classes)
        self.scale = nn.Parameter(torch.tensor(float(scale)), requires_grad=learn_scale)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return softmax.norm_softmax(
            embeddings, labels, self.weight, scale=self.scale, return_parts=return_parts, **self.options
        )


class SGSLAlone(Loss):
    """SGSL without the softmax; its class vectors never move: see `functional.sgsl`."""

    def __init__(self, num_classes: int, dim: int, gamma: float = 30.0, *, reduction: str = "mean") -> None:
        """Gamma: hardness of the soft maximum."""
        check_positive("gamma", gamma)
        super().__init__(gamma=gamma, reduction=reduction)
        self.weight = nn.Parameter(directions(num_classes, dim).detach(), requires_grad=False)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return softmax.sgsl(embeddings, labels, self.weight, return_parts=return_parts, **self.options)


class SGSL(Loss):
    """Softmax + β·SGSL behind a gate: see `functional.softmax_sgsl`."""

    gate_open: Tensor

    def __init__(
        self,
        num_classes: int,
        dim: int,
        gamma: float = 30.0,
        beta: float = 1.0,
        gate: float = 3.0,
        label_smoothing: float = 0.1,
        *,
        convention: str = "paper",
        reduction: str = "mean",
    ) -> None:
        """Gate: SGSL joins when the softmax loss is below; label_smoothing: on the softmax only."""
        check_positive("gamma", gamma)
        check_not_negative("beta", beta)
        softmax.check_gate(gate)
        super().__init__(
            gamma=gamma, beta=beta, gate=gate, label_smoothing=label_smoothing,
            convention=convention, reduction=reduction,
        )  # fmt: skip
        self.weight = directions(num_classes, dim)
        softmax.check_smoothing(label_smoothing, num_classes)
        self.register_buffer("gate_open", torch.zeros((), dtype=torch.bool))
        floor = softmax.smoothed_floor(label_smoothing, num_classes)
        if floor >= gate:
            warnings.warn(
                f"with {num_classes} classes and label_smoothing={label_smoothing} the softmax loss cannot fall below "
                f"{floor:.2f}, so gate={gate} never opens and SGSL never joins; lower label_smoothing or raise gate",
                stacklevel=2,
            )

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts. Evaluation (`.eval()`) does not open the gate."""
        gate_open = self.gate_open if self.training else self.gate_open.clone()
        return softmax.softmax_sgsl(
            embeddings, labels, self.weight, gate_open=gate_open, return_parts=return_parts, **self.options
        )


class CenterLoss(Loss):
    """Softmax + weight · Center loss, as it is used: see `functional.softmax` and `functional.center`."""

    def __init__(self, num_classes: int, dim: int, weight: float = 0.003, *, reduction: str = "mean") -> None:
        """Weight: λ of Wen et al. 2016; the centres learn by gradient."""
        check_not_negative("weight", weight)
        super().__init__(weight=weight, reduction=reduction)
        self.classifier = directions(num_classes, dim)
        self.centers = directions(num_classes, dim)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with the parts of its softmax."""
        how = self.options["reduction"]
        extra = self.options["weight"] * softmax.center(embeddings, labels, self.centers, reduction=how)
        return softmax_plus(extra, embeddings, labels, self.classifier, how, return_parts)


class RingLoss(Loss):
    """Softmax + weight · Ring loss with a learned radius: see `functional.softmax` and `functional.ring`."""

    def __init__(
        self, num_classes: int, dim: int, weight: float = 0.01, radius: float = 1.0, *, reduction: str = "mean"
    ) -> None:
        """Weight: λ; radius: where R starts."""
        check_not_negative("weight", weight)
        check_positive("radius", radius)
        super().__init__(weight=weight, reduction=reduction)
        self.classifier = directions(num_classes, dim)
        self.radius = nn.Parameter(torch.tensor(float(radius)))

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with the parts of its softmax."""
        how = self.options["reduction"]
        extra = self.options["weight"] * softmax.ring(embeddings, self.radius, reduction=how)
        return softmax_plus(extra, embeddings, labels, self.classifier, how, return_parts)


def softmax_plus(
    extra: Tensor, embeddings: Tensor, labels: Tensor, classifier: Tensor, reduction: str, return_parts: bool
) -> Any:
    """Softmax loss with a second term beside it."""
    result = softmax.softmax(embeddings, labels, classifier, reduction=reduction, return_parts=return_parts)
    return (result[0] + extra, result[1]) if isinstance(result, tuple) else result + extra
