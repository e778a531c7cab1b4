"""Two-dimensional toys after PNP Fig. 6: classes of several clusters, and unseen classes that lie between them."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray

from labkit.base.checks import check_choice, check_not_negative
from labkit.data.dataset import Dataset, Splits
from labkit.data.files import File

LICENCE = "MIT, part of labkit"
LAYOUTS = ("ring", "grid", "random")
CLASSES = 4
RADIUS = 2.0
SEPARATION = 0.6  # of random clusters: five standard deviations of the default noise
STREAMS = {"train": 0, "validation": 1, "test": 2}

Points = NDArray[np.float64]


def toy(layout: str = "ring", seed: int = 0, samples: int = 150, noise: float = 0.12) -> Splits:
    """Four training and four unseen classes of `samples` points; clusters are round with standard deviation `noise`.

    ring: 16 clusters on a circle of radius 2, class = k mod 4; the unseen classes lie halfway between two clusters.
    grid: 16 clusters on a 4 × 4 grid, all eight neighbours of another class; unseen classes in the middle of four.
    random: 12 training clusters and 4 unseen blobs anywhere, the control without a built-in trap.
    Validation holds the test classes drawn anew: other samples of the same blobs.
    """
    check_choice("layout", layout, LAYOUTS)
    check_not_negative("noise", noise)
    if not isinstance(samples, int) or isinstance(samples, bool) or samples < 1:
        raise ValueError(f"samples must be a whole number, 1 or above; got {samples!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ValueError(f"seed must be a whole number, 0 or above; got {seed!r}")
    if layout == "ring":
        train, unseen = ring()
    elif layout == "grid":
        train, unseen = grid()
    else:
        train, unseen = scattered(seed)
    return Splits(
        train=draw("train", train, seed, samples, noise),
        validation=draw("validation", unseen, seed, samples, noise),
        test=draw("test", unseen, seed, samples, noise),
    )


def files() -> list[File]:
    """None: toys are drawn, not read."""
    return []


def ring() -> tuple[Points, Points]:
    """Centres of 16 clusters on a circle (cluster k has class k mod 4) and of the unseen classes between them."""

    def at(position: NDArray[np.float64]) -> Points:
        angle = 2 * np.pi * position / 16
        return RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)

    return at(np.arange(16.0)), at(np.array([0.5, 4.5, 8.5, 12.5]))


def grid() -> tuple[Points, Points]:
    """Centres on a 4 × 4 grid in the order of their class (k mod 4), and of four of its cells."""
    side = np.linspace(-RADIUS, RADIUS, 4)
    # class = column + 2 row (mod 4) differs from all eight neighbours'; every cell has all four classes at its corners
    order = [(row, (k - 2 * row) % 4) for row in range(4) for k in range(CLASSES)]
    centres = np.array([(side[column], side[row]) for row, column in order])
    middle = RADIUS * 2 / 3
    return centres, middle * np.array([(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)])


def scattered(seed: int) -> tuple[Points, Points]:
    """Twelve training and four unseen centres in the square round the ring, none closer than `SEPARATION`."""
    generator = np.random.default_rng([seed, len(STREAMS)])
    centres: list[Points] = []
    while len(centres) < 4 * CLASSES:
        point = generator.uniform(-RADIUS, RADIUS, 2)
        if all(np.linalg.norm(point - other) >= SEPARATION for other in centres):
            centres.append(point)
    return np.stack(centres[: 3 * CLASSES]), np.stack(centres[3 * CLASSES :])


def draw(split: str, centres: Points, seed: int, samples: int, noise: float) -> Dataset:
    """`samples` points a class, spread over its clusters (every fourth centre) as evenly as possible."""
    generator = np.random.default_rng([seed, STREAMS[split]])
    number, clusters = np.arange(samples), len(centres) // CLASSES
    cluster = np.stack([label + CLASSES * (number % clusters) for label in range(CLASSES)])
    points = centres[cluster] + noise * generator.standard_normal((CLASSES, samples, 2))
    kind = "class" if split == "train" else "unseen"
    return Dataset(
        name="toy",
        inputs=torch.from_numpy(points.reshape(-1, 2).astype(np.float32)),
        labels=torch.arange(CLASSES).repeat_interleave(samples),
        class_names=tuple(f"{kind} {label}" for label in range(CLASSES)),
        ids=tuple(f"{split}-{label}-{i:03d}" for label in range(CLASSES) for i in range(samples)),
        columns={"cluster": tuple(str(c) for c in cluster.flatten())},
    )
