"""Inputs for cases of exercises and assignments: numbers in float64, drawn from a generator that the caller seeds."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import normalize


def seeded(seed: int) -> torch.Generator:
    """The same numbers whenever the seed is the same."""
    return torch.Generator().manual_seed(seed)


def whole(rng: torch.Generator, low: int, high: int) -> int:
    """A whole number from low to high, both included."""
    return int(torch.randint(low, high + 1, (), generator=rng))


def number(rng: torch.Generator, low: float, high: float) -> float:
    """A number between low and high."""
    return low + (high - low) * float(uniform(rng))


def uniform(rng: torch.Generator, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Numbers between low and high."""
    return low + (high - low) * torch.rand(shape, generator=rng, dtype=torch.float64)


def normal(rng: torch.Generator, *shape: int) -> Tensor:
    """Numbers with mean 0 and deviation 1."""
    return torch.randn(shape, generator=rng, dtype=torch.float64)


def unit(rng: torch.Generator, *shape: int) -> Tensor:
    """Vectors of length 1 along the last axis."""
    return normalize(normal(rng, *shape), dim=-1)


def cosines(rng: torch.Generator, items: int, dim: int) -> Tensor:
    """Cosines (n, n) of random vectors."""
    vectors = unit(rng, items, dim)
    return vectors @ vectors.T


def shuffled(rng: torch.Generator, values: Sequence[float]) -> Tensor:
    """The values in another order."""
    return torch.tensor(values)[torch.randperm(len(values), generator=rng)]


def numbers(*values: float) -> Tensor:
    """What is not drawn but written down."""
    return torch.tensor(values, dtype=torch.float64)
