"""How much a step keeps for its backward pass: what decides how large a batch can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

MEGABYTE = 2**20


class Ledger:
    """What autograd keeps for the backward pass, in bytes, and the most of it at any moment."""

    def __init__(self, ignore: Iterable[Tensor]) -> None:
        """ignore: tensors that are in memory anyway, as weights and images are."""
        self.ignored = {tensor.untyped_storage().data_ptr() for tensor in ignore}
        self.holders: Counter[int] = Counter()
        self.now = self.most = 0

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
            ledger.now += self.size if ledger.holders[self.place] == 1 else 0
            ledger.most = max(ledger.most, ledger.now)

    def __del__(self) -> None:
        """Strike it out."""
        if self.place not in self.ledger.ignored:
            self.ledger.holders[self.place] -= 1
            self.ledger.now -= 0 if self.ledger.holders[self.place] else self.size


def kept_megabytes(step: Callable[..., object], *arguments: object, ignore: Iterable[Tensor] = ()) -> float:
    """The most that autograd keeps at any moment of step(*arguments), in MB (2²⁰ bytes)."""
    ledger = Ledger(ignore)
    with torch.autograd.graph.saved_tensors_hooks(ledger.keep, lambda kept: kept.tensor):
        step(*arguments)
    return ledger.most / MEGABYTE
