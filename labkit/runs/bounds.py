"""What numbers a run can be started with: one place for the command line, the Train page, presets and resumed runs.

Readers take any number; what starts a training refuses one that could only fail later, or never end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from labkit.runs.record import SECTIONS, RunSettings

SEEDS = (0, 2**32 - 1)  # what every generator of random numbers takes
THREADS = (1, 1024)
JOBS = (1, 1000)
MICRO = (1, 10_000_000)
DIM = (1, 65_536)
# of each setting that is a number, the least and the largest; a negative or endless one has no meaning
BOUNDS: dict[str, tuple[float, float]] = {
    "batch.classes": (1, 100_000),
    "batch.per_class": (1, 100_000),
    "batch.size": (1, 10_000_000),
    "batch.micro": (0, MICRO[1]),
    "optimizer.lr": (0, math.inf),
    "optimizer.proxy_lr": (0, math.inf),
    "optimizer.weight_decay": (0, math.inf),
    "optimizer.warmup": (0, 10_000_000),
    "optimizer.decay": (0, 1),
    "optimizer.clip": (0, math.inf),
    "train.steps": (1, 10_000_000),
    "train.epochs": (0, 100_000),
    "train.evaluate_every": (1, 10_000_000),
    "train.checkpoint_every": (1, 10_000_000),
    "train.log_every": (1, 10_000_000),
    "train.patience": (0, 10_000_000),
    "record.points": (0, 10_000_000),
    "record.train_points": (0, 10_000_000),
    "record.frames": (0, 10_000),
}


def in_words(low: float, high: float) -> str:
    """Bounds as they are said."""
    return f"{low:,} or above" if math.isinf(high) else f"from {low:,} to {high:,}"


def check_number(name: str, value: float, bounds: tuple[float, float]) -> None:
    """A ValueError that names the argument and its bounds."""
    if not bounds[0] <= value <= bounds[1]:
        raise ValueError(f"{name} must be {in_words(*bounds)}; got {value:.6g}")


def check_bounds(settings: RunSettings) -> None:
    """Every number of the settings, within its bounds."""
    for section in SECTIONS:
        for name, value in vars(getattr(settings, section)).items():
            if (key := f"{section}.{name}") in BOUNDS:
                check_number(key, value, BOUNDS[key])
    for milestone in settings.optimizer.milestones:
        check_number("optimizer.milestones: each", milestone, (0, 1))
    dim = settings.model.get("dim", 1)
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ValueError(f"model.dim must be a whole number; got {dim!r}")
    check_number("model.dim", dim, DIM)


def check_seeds(name: str, seeds: Iterable[int]) -> tuple[int, ...]:
    """The seeds, each of them once."""
    found = tuple(dict.fromkeys(seeds))
    if not found:
        raise ValueError(f"{name}: give at least one whole number {in_words(*SEEDS)}")
    for seed in found:
        check_number(name, seed, SEEDS)
    return found
