"""The 2-D toy of PNP Fig. 6 with its small network, trained in under a second."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import torch
from torch import Tensor

from labkit.data import load
from labkit.data.dataset import Splits
from labkit.data.samplers import BalancedBatches, batches_from
from labkit.data.toy import CLASSES
from labkit.metrics.nearest import recall_at_1, unit_rows
from labkit.models import build

PER_CLASS = 16  # in a batch, as in the preset "toy"
STEPS, RATE = 150, 0.01  # a quarter of the preset's steps, at twice its learning rate


@dataclass(frozen=True)
class Trained:
    """Embeddings of the unseen test points before and after training, and their labels, as the network gave them."""

    before: Tensor
    after: Tensor
    labels: Tensor

    @property
    def recall(self) -> tuple[float, float]:
        """R@1 of the unseen classes before and after."""
        before, after = (unit_rows(found.double().numpy()) for found in (self.before, self.after))
        return recall_at_1(before, self.labels.numpy()), recall_at_1(after, self.labels.numpy())


def train(loss: Callable[[Tensor, Tensor], Tensor], seed: int = 0, layout: str = "ring", steps: int = STEPS) -> Trained:
    """Train the toy network with a loss; batches of 4 classes × 16, Adam, learning rate down to 0 along a cosine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for tensors this small, threads cost more than they give
    try:
        return train_in_one_thread(loss, seed, layout, steps)
    finally:
        torch.set_num_threads(threads)


def train_in_one_thread(loss: Callable[[Tensor, Tensor], Tensor], seed: int, layout: str, steps: int) -> Trained:
    """What `train` promises, in as many threads as torch has now."""
    splits = toy(layout, seed)
    data, test = splits.train, splits.test
    assert isinstance(data.inputs, Tensor)
    assert isinstance(test.inputs, Tensor)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build("toy-mlp", 2)
    with torch.no_grad():
        before = model(test.inputs)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    batches = batches_from(BalancedBatches(data.labels, CLASSES, PER_CLASS, seed), 0)
    for _, chosen in islice(batches, steps):
        optimizer.zero_grad()
        loss(model(data.inputs[chosen]), data.labels[chosen]).backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return Trained(before, model(test.inputs), test.labels)


@lru_cache(maxsize=32)
def toy(layout: str, seed: int) -> Splits:
    """The toy's splits, drawn once."""
    return load("toy", layout=layout, seed=seed)
