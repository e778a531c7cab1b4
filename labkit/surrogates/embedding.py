"""The learned surrogate ê(z, y) = ‖h(z) − h(y)‖, and the networks h. Their layers are ours: the slides name none."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from labkit.base.checks import check_count
from labkit.surrogates.task import as_it_is, check_pairs
from labkit.surrogates.words import check_slots

TINY = 1e-12  # below the square of any distance that matters; keeps the first and second derivative at 0 finite


def smooth_norm(x: Tensor) -> Tensor:
    """‖x‖ of every item of a batch, with derivative 0, not NaN, at 0; also differentiated twice."""
    return (x.flatten(1).square().sum(1) + TINY).sqrt()


class Surrogate(nn.Module):
    """A metric as a Euclidean distance in a learned space.

    ê_Φ(z, y) = ‖h_Φ(z) − h_Φ(y)‖₂

    Slides, "Learning Surrogates via Deep Embedding" (Patel, Hodan, Matas, ECCV 2020); Equation 3 in Algorithm 1. z and
    y have one shape (B, ...) that h takes; the result is (B,). It is symmetric, and 1e-6 for z = y, whatever was
    learned.
    """

    def __init__(self, h: nn.Module) -> None:
        """h: any network from (B, ...) to vectors (B, D), such as `SequenceEmbedding`."""
        super().__init__()
        self.h = h

    def forward(self, z: Tensor, y: Tensor) -> Tensor:
        """ê(z, y)."""
        check_pairs(z, y)
        first, second = self.h(torch.cat((z, y))).chunk(2)  # one pass; h has no part in which items see each other
        return smooth_norm(first - second)


class SequenceEmbedding(nn.Module):
    """h for words: slots of distributions (B, slots, symbols) to vectors (B, dim), by convolutions along the slots."""

    def __init__(self, slots: int, symbols: int, *, width: int = 64, layers: int = 3, dim: int = 128) -> None:
        """width: channels of each of the convolutions; all see three slots, so `layers` of them see 2 layers + 1."""
        super().__init__()
        for name, value in (("slots", slots), ("symbols", symbols), ("width", width), ("layers", layers), ("dim", dim)):
            check_count(name, value)
        self.slots, self.symbols = slots, symbols
        parts: list[nn.Module] = []
        for before in (symbols, *[width] * (layers - 1)):
            parts += [nn.Conv1d(before, width, 3, padding=1), nn.LeakyReLU()]
        self.along = nn.Sequential(*parts)
        self.whole = nn.Sequential(nn.Linear(width * slots, dim), nn.LeakyReLU(), nn.Linear(dim, dim))

    def forward(self, z: Tensor) -> Tensor:
        """The vectors of words."""
        check_slots("z", z)
        if z.shape[1:] != (self.slots, self.symbols):
            raise ValueError(f"z must be (B, {self.slots}, {self.symbols}), got shape {tuple(z.shape)}")
        vectors: Tensor = self.whole(self.along(z.transpose(1, 2)).flatten(1))
        return vectors


class VectorEmbedding(nn.Module):
    """h for vectors (B, inputs), such as boxes, to vectors (B, dim), by linear layers."""

    def __init__(
        self,
        inputs: int,
        *,
        width: int = 128,
        layers: int = 3,
        dim: int = 64,
        features: Callable[[Tensor], Tensor] = as_it_is,
    ) -> None:
        """features: what the layers see instead of the vectors, differentiable; it must give `inputs` numbers."""
        super().__init__()
        for name, value in (("inputs", inputs), ("width", width), ("layers", layers), ("dim", dim)):
            check_count(name, value)
        self.inputs, self.features = inputs, features
        parts: list[nn.Module] = []
        for before in (inputs, *[width] * (layers - 1)):
            parts += [nn.Linear(before, width), nn.LeakyReLU()]
        self.layers = nn.Sequential(*parts, nn.Linear(width, dim))

    def forward(self, z: Tensor) -> Tensor:
        """The embeddings of vectors."""
        seen = self.features(z)
        if seen.dim() != 2 or seen.shape[1] != self.inputs:
            raise ValueError(f"z must give {self.inputs} numbers an item, got shape {tuple(seen.shape)}")
        vectors: Tensor = self.layers(seen)
        return vectors
