"""FEDS: trust the surrogate only on pairs where it is right."""

from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.base.checks import check_choice, check_positive


@dataclass(frozen=True)
class Filter:
    """How much each pair counts, by how far the surrogate is off on it, u = |ê − e|.

    ramp: max(0, 1 − u / ε),   hard: 1 if u ≤ ε, else 0

    Slides, "FEDS -- Filtered Edit Distance Surrogate" (Patel and Matas, ICDAR 2021): pairs on which the surrogate is
    wrong are filtered out, in learning it and in tuning on it. The paper's ramp and its ε could not be found: this
    ramp, its ε, and that weights are constants to the gradient are ours. So is the control: shuffled deals the same
    weights out to the pairs of the batch at random, so that as much is kept, but not what the surrogate is right about.
    """

    kind: str
    epsilon: float
    shuffled: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no filter."""
        check_choice("kind", self.kind, ("ramp", "hard"))
        check_positive("epsilon", self.epsilon)

    def weights(self, estimate: Tensor, exact: Tensor, rng: torch.Generator | None = None) -> Tensor:
        """The weights (B,) in 0…1 of pairs with ê and e; the shuffled filter needs rng."""
        off = (estimate.detach() - exact).abs()
        ramp = self.kind == "ramp"
        weights = (1 - off / self.epsilon).clamp(min=0) if ramp else (off <= self.epsilon).to(off.dtype)
        if not self.shuffled:
            return weights
        if rng is None:
            raise ValueError("rng must be given to a shuffled filter")
        order = torch.randperm(len(weights), generator=rng)  # drawn on the CPU: the same on every device
        return weights[order.to(weights.device)]
