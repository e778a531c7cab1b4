"""Which samples make a batch. An epoch depends on (seed, number) alone, so a resumed run goes on as it would have."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from labkit.base.tensors import check_labels


class Batches(Protocol):
    """What a training loop needs of a sampler."""

    def epoch(self, number: int) -> list[Tensor]:
        """The batches of one epoch, as indices."""


@dataclass(frozen=True)
class BalancedBatches:
    """Batches of `classes` classes × `per_class` samples, the form that ranking and pair losses need.

    In an epoch no sample comes twice. A class's samples are cut into groups of per_class (a smaller class is one group
    of all it has; what is left over takes its turn in another epoch), and all groups are dealt out in one random order,
    so that large classes are spread over the whole epoch; a batch holds each class once. An epoch ends when fewer than
    `classes` classes have a group left; its last batch may be smaller.
    """

    labels: Tensor
    classes: int
    per_class: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be filled."""
        check_labels("labels", self.labels, len(self.labels))
        available = len(self.labels.unique())
        if not 2 <= self.classes <= available:
            raise ValueError(f"classes must lie between 2 and the {available} classes there are; got {self.classes}")
        if self.per_class < 1:
            raise ValueError(f"per_class must be 1 or above; got {self.per_class}")

    def epoch(self, number: int) -> list[Tensor]:
        """The batches of one epoch, as indices."""
        rng = generator(self.seed, number)
        queue = deque(self.groups(rng))
        batches: list[dict[int, Tensor]] = []
        while queue:
            batch = take_distinct(queue, self.classes)
            if len(batch) >= 2:
                batches.append(batch)
            elif batches and not batch.keys() & batches[-1].keys():
                batches[-1] |= batch  # a class alone has no negatives
            if len(batch) < self.classes:
                break
        return [torch.cat(list(batch.values())) for batch in batches]

    def groups(self, rng: torch.Generator) -> list[tuple[int, Tensor]]:
        """(class, indices) of every group, in random order."""
        order = torch.randperm(len(self.labels), generator=rng)
        by_class = order[self.labels[order].argsort(stable=True)]
        members = by_class.split(torch.unique(self.labels, return_counts=True)[1].tolist())
        cut = [m.split(self.per_class)[: max(1, len(m) // self.per_class)] for m in members]
        groups = [(c, group) for c, own in enumerate(cut) for group in own]
        return [groups[i] for i in torch.randperm(len(groups), generator=rng).tolist()]


def take_distinct(queue: deque[tuple[int, Tensor]], count: int) -> dict[int, Tensor]:
    """Take the first groups of `count` different classes from the queue; a class's second group keeps its place."""
    batch: dict[int, Tensor] = {}
    passed_over = []
    while queue and len(batch) < count:
        c, group = queue.popleft()
        if c in batch:
            passed_over.append((c, group))
        else:
            batch[c] = group
    queue.extendleft(reversed(passed_over))
    return batch


@dataclass(frozen=True)
class RandomBatches:
    """Batches of `size` samples in random order; what does not fill a batch takes its turn in another epoch."""

    labels: Tensor
    size: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be filled."""
        if not 1 <= self.size <= len(self.labels):
            raise ValueError(f"size must lie between 1 and the {len(self.labels)} samples there are; got {self.size}")

    def epoch(self, number: int) -> list[Tensor]:
        """The batches of one epoch, as indices."""
        order = torch.randperm(len(self.labels), generator=generator(self.seed, number))
        return list(order[: len(order) // self.size * self.size].split(self.size))


def batches_from(sampler: Batches, step: int) -> Iterator[tuple[int, Tensor]]:
    """(epoch, indices) of every batch from the given step on, without end."""
    number = 0
    while True:
        batches = sampler.epoch(number)
        if step >= len(batches):
            step -= len(batches)  # epochs may differ by a batch when class sizes are uneven, so they are counted
        else:
            for indices in batches[step:]:
                yield number, indices
            step = 0
        number += 1


def generator(*parts: int) -> torch.Generator:
    """Random numbers that depend on the parts alone: the same on any device and at any time."""
    return torch.Generator().manual_seed(key(*parts))


def key(*parts: int) -> int:
    """A seed made of several numbers, such as (seed, step), so that neighbours have nothing in common."""
    value = 0
    for part in parts:
        # the multiplier of Knuth's 64-bit generator spreads neighbours; the shift mixes high bits into low ones
        value = (value * 6364136223846793005 + part + 1442695040888963407) % 2**64
        value ^= value >> 29
    return value % 2**63
