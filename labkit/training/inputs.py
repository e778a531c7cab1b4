"""From a data set to batches on the device, the same for a given seed and step however often training is resumed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from labkit.data import load
from labkit.data.augment import augment
from labkit.data.dataset import Dataset, Splits
from labkit.data.samplers import BalancedBatches, Batches, RandomBatches, batches_from, generator
from labkit.runs.record import BatchConfig
from labkit.training.config import Config
from labkit.training.distributed import own_share


@dataclass(frozen=True)
class Batch:
    """This process's share of one step's batch."""

    epoch: int
    inputs: Tensor
    labels: Tensor


def load_data(config: Config) -> Splits:
    """The data of a configuration; options of the wrong kind, from `--set` or from a run.json, are a ValueError."""
    try:
        return load(**config.data)
    except (TypeError, OverflowError) as error:
        options = ", ".join(f"data.{name}={value!r}" for name, value in config.data.items())
        raise ValueError(f"data: cannot be loaded with {options[:300] or 'no data.name'}: {error}") from error


def sampler(labels: Tensor, config: BatchConfig, seed: int) -> Batches:
    """The sampler that a configuration asks for."""
    if config.sampler == "balanced":
        return BalancedBatches(labels, config.classes, config.per_class, seed)
    return RandomBatches(labels, config.size, seed)


def training_batches(data: Dataset, config: Config, seed: int, step: int, device: torch.device) -> Iterator[Batch]:
    """Batches from the given step on, without end."""
    order = sampler(data.labels, config.batch, seed)
    if isinstance(data.inputs, Tensor):
        return memory_batches(data.inputs.to(device), data.labels.to(device), order, config.augment, seed, step)
    return file_batches(data, order, config.images, seed, step, device)


def memory_batches(
    inputs: Tensor, labels: Tensor, order: Batches, changes: dict[str, Any], seed: int, step: int
) -> Iterator[Batch]:
    """Small images live on the device as bytes, and are augmented there."""
    for number, (epoch, index) in enumerate(batches_from(order, step), step):
        here = index.to(inputs.device)
        rows = as_float(inputs[here])
        if changes:
            # the whole batch is augmented, then shared out: each process sees what one process would have
            rows = augment(rows, generator(seed, number, 1), **changes)
        share = own_share(len(index))
        yield Batch(epoch, rows[share], labels[here][share])


def file_batches(
    data: Dataset, order: Batches, options: dict[str, Any], seed: int, step: int, device: torch.device
) -> Iterator[Batch]:
    """Large images are read, cropped and flipped by worker processes, ahead of time."""
    from labkit.data.transforms import FileImages

    assert not isinstance(data.inputs, Tensor)
    plan = batches_from(order, step)
    planned: list[tuple[int, Tensor]] = []

    def keys() -> Iterator[list[tuple[int, int]]]:
        for number, (epoch, index) in enumerate(plan, step):
            mine = index[own_share(len(index))]
            planned.append((epoch, mine))
            yield [(seed * 1_000_003 + number, i) for i in mine.tolist()]

    settings = {"workers": 4} | options
    workers = settings.pop("workers")
    images = FileImages(data.inputs, train=True, **settings)
    loader = DataLoader(images, batch_sampler=keys(), num_workers=workers, pin_memory=device.type == "cuda")  # type: ignore[arg-type]
    for rows in loader:
        epoch, index = planned.pop(0)
        moved = rows.to(device, non_blocking=True)
        yield Batch(epoch, as_float(moved), data.labels[index].to(device, non_blocking=True))


def evaluation_batches(data: Dataset, options: dict[str, Any], size: int, device: torch.device) -> Iterator[Tensor]:
    """This process's share of a data set's inputs, in order."""
    share = own_share(len(data))
    if isinstance(data.inputs, Tensor):
        for rows in data.inputs[share].split(size):
            yield as_float(rows.to(device))
        return
    from labkit.data.transforms import FileImages

    settings = {"workers": 4} | options
    workers = settings.pop("workers")
    images = FileImages(data.inputs[share], train=False, **settings)
    keys = [(0, i) for i in range(len(images))]
    cut = [keys[i : i + size] for i in range(0, len(keys), size)]
    for rows in DataLoader(images, batch_sampler=cut, num_workers=workers, pin_memory=device.type == "cuda"):  # type: ignore[arg-type]
        yield as_float(rows.to(device, non_blocking=True))


def as_float(rows: Tensor) -> Tensor:
    """Bytes become 0…1; floats stay what they are."""
    return rows.to(torch.get_default_dtype()).div_(255) if rows.dtype == torch.uint8 else rows
