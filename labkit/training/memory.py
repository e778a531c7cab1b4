"""How much a step keeps for its backward pass: what decides how large a batch can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

MEGABYTE = 2**20


class Ledger:
    """What autograd keeps for the backward pass, in bytes, now and after each change so far."""

    def __init__(self, ignore: Iterable[Tensor]) -> None:
        """ignore: tensors that are in memory anyway, as weights and images are."""
        self.ignored = {tensor.untyped_storage().data_ptr() for tensor in ignore}
        self.holders: Counter[int] = Counter()
        self.now = 0
        self.history = [0]  # after each change

    def add(self, size: int) -> None:
        """So many bytes more, or less."""
        self.now += size
        self.history.append(self.now)

    def keep(self, tensor: Tensor) -> Kept:
        """A tensor is put aside; two views of one storage count once."""
        return Kept(self, tensor)


class Kept:
    """A tensor that waits for the backward pass: entered into the ledger, and struck out when it is let go."""

    def __init__(self, ledger: Ledger, tensor: Tensor) -> None:
        """Enter it."""
        storage = tensor.untyped_storage()
        self.ledger, self.tensor, self.place, self.size = ledger, tensor, storage.data_ptr(), storage.nbytes()
        if self.place not in ledger.ignored:
            ledger.holders[self.place] += 1
            if ledger.holders[self.place] == 1:
                ledger.add(self.size)

    def __del__(self) -> None:
        """Strike it out."""
        if self.place not in self.ledger.ignored:
            self.ledger.holders[self.place] -= 1
            if not self.ledger.holders[self.place]:
                self.ledger.add(-self.size)


def kept_over_time(step: Callable[..., object], *arguments: object, ignore: Iterable[Tensor] = ()) -> list[float]:
    """What autograd keeps during step(*arguments), in MB (2²⁰ bytes), after each tensor that is put aside or let go."""
    ledger = Ledger(ignore)
    with torch.autograd.graph.saved_tensors_hooks(ledger.keep, lambda kept: kept.tensor):
        step(*arguments)
    return [kept / MEGABYTE for kept in ledger.history]


def kept_megabytes(step: Callable[..., object], *arguments: object, ignore: Iterable[Tensor] = ()) -> float:
    """The most that autograd keeps at any moment of step(*arguments), in MB (2²⁰ bytes)."""
    return max(kept_over_time(step, *arguments, ignore=ignore))
