"""Modules of the softmax family; their class vectors are parameters."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn

from labkit.base.checks import check_positive
from labkit.losses import softmax
from labkit.losses.modules.base import Loss, directions


class Classifier(Loss):
    """A vector for each class."""

    def __init__(self, num_classes: int, dim: int, *given: Any, **options: Any) -> None:
        """Class vectors (C, D); label smoothing must leave the own class the likeliest."""
        super().__init__(*given, **options)
        self.weight = directions(num_classes, dim)
        softmax.check_smoothing(self.options.get("label_smoothing", 0.0), num_classes)

    def extras(self) -> dict[str, Any]:
        """The class vectors."""
        return {"weight": self.weight}


class Softmax(Classifier):
    """Softmax cross-entropy without bias: see `functional.softmax`."""

    function = staticmethod(softmax.softmax)


class NormSoftmax(Classifier):
    """Softmax on scaled cosines, the scale fixed or learned (NormFace): see `functional.norm_softmax`."""

    function = staticmethod(softmax.norm_softmax)

    def __init__(self, num_classes: int, dim: int, *given: Any, learn_scale: bool = False, **options: Any) -> None:
        """Scale: factor on the cosines; scale=1, not learned, is the unscaled softmax that stalls."""
        super().__init__(num_classes, dim, *given, **options)
        self.scale = nn.Parameter(torch.tensor(float(self.options.pop("scale"))), requires_grad=learn_scale)

    def extras(self) -> dict[str, Any]:
        """The class vectors and the scale."""
        return {"weight": self.weight, "scale": self.scale}


class SGSLAlone(Classifier):
    """SGSL without the softmax; its class vectors never move: see `functional.sgsl`."""

    function = staticmethod(softmax.sgsl)

    def __init__(self, num_classes: int, dim: int, *given: Any, **options: Any) -> None:
        """No gradient reaches the class vectors."""
        super().__init__(num_classes, dim, *given, **options)
        self.weight.requires_grad_(False)


class SGSL(Classifier):
    """Softmax + β·SGSL behind a gate: see `functional.softmax_sgsl`. Evaluation (`.eval()`) does not open the gate."""

    function = staticmethod(softmax.softmax_sgsl)
    gate_open: Tensor

    def __init__(self, num_classes: int, dim: int, *given: Any, **options: Any) -> None:
        """Warns if the gate can never open."""
        super().__init__(num_classes, dim, *given, **options)
        self.register_buffer("gate_open", torch.zeros((), dtype=torch.bool))
        smoothing, gate = self.options["label_smoothing"], self.options["gate"]
        floor = softmax.smoothed_floor(smoothing, num_classes)
        if floor >= gate:
            warnings.warn(
                f"with {num_classes} classes and label_smoothing={smoothing} the softmax loss cannot fall below "
                f"{floor:.2f}, so gate={gate} never opens and SGSL never joins; lower label_smoothing or raise gate",
                stacklevel=2,
            )

    def extras(self) -> dict[str, Any]:
        """The class vectors and the state of the gate."""
        return {"weight": self.weight, "gate_open": self.gate_open if self.training else self.gate_open.clone()}


class CenterLoss(Loss):
    """Softmax + weight · Center loss, as it is used: see `functional.softmax_center`."""

    function = staticmethod(softmax.softmax_center)

    def __init__(self, num_classes: int, dim: int, *given: Any, **options: Any) -> None:
        """The centres learn by gradient."""
        super().__init__(*given, **options)
        self.classifier = directions(num_classes, dim)
        self.centers = directions(num_classes, dim)

    def extras(self) -> dict[str, Any]:
        """The class vectors of the softmax, and the centres."""
        return {"classifier": self.classifier, "centers": self.centers}


class RingLoss(Loss):
    """Softmax + weight · Ring loss with a learned radius: see `functional.softmax_ring`."""

    function = staticmethod(softmax.softmax_ring)

    def __init__(self, num_classes: int, dim: int, *given: Any, radius: float = 1.0, **options: Any) -> None:
        """Radius: where R starts."""
        super().__init__(*given, **options)
        check_positive("radius", radius)
        self.classifier = directions(num_classes, dim)
        self.radius = nn.Parameter(torch.tensor(float(radius)))

    def extras(self) -> dict[str, Any]:
        """The class vectors of the softmax, and the radius."""
        return {"classifier": self.classifier, "radius": self.radius}
