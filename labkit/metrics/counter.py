"""Count, for every query, how many negatives outrank each of its positives, one tile of similarities at a time.

A query's positives are kept as thresholds sorted upwards. A negative with similarity v passes all thresholds below v:
one binary search finds how many, and a histogram remembers it. The ranks are sums of that histogram.
Two engines give the same integers: compiled loops (numba, CPU) and plain torch (any device).
"""

from dataclasses import dataclass
from importlib.util import find_spec

import torch
from torch import Tensor


@dataclass(frozen=True)
class Tally:
    """Thresholds and counts of M queries, ragged: query q owns entries start[q] … start[q+1]−1.

    start: (M+1,); threshold: similarities of the positives, ascending, equal ones by descending index; owner: gallery
    index of each positive; passed: (pairs + M,) histogram, entry start[q]+q+t counts the negatives that pass exactly
    the first t thresholds; level: (pairs,) negatives with the same similarity that the tie rule puts in front.
    """

    start: Tensor
    threshold: Tensor
    owner: Tensor
    passed: Tensor
    level: Tensor

    @classmethod
    def empty(cls, positives: Tensor, dtype: torch.dtype) -> "Tally":
        """For queries with the given numbers of positives."""
        start = torch.cat([positives.new_zeros(1), positives.cumsum(0)])
        pairs, queries = int(start[-1]), len(positives)

        def zeros(length: int, kind: torch.dtype) -> Tensor:
            return torch.zeros(length, dtype=kind, device=positives.device)

        whole = torch.int32
        return cls(
            start,
            threshold=zeros(pairs, dtype),
            owner=zeros(pairs, torch.int64),
            passed=zeros(pairs + queries, whole),
            level=zeros(pairs, whole),
        )

    def set_thresholds(self, q: int, similarity: Tensor, owner: Tensor) -> None:
        """Positives of queries q … q+Q−1, all with P of them: similarity, owner (Q, P) in ascending order of owner."""
        # descending index first, then a stable sort by value: equal thresholds end up in descending order of index
        value, order = similarity.flip(1).sort(dim=1, stable=True)
        rows, count = similarity.shape
        first = int(self.start[q])
        self.threshold[first : first + rows * count] = value.flatten()
        self.owner[first : first + rows * count] = owner.flip(1).gather(1, order).flatten()

    def ranks(self, q: int, rows: int, count: int) -> Tensor:
        """Ranks, ascending (rows, count), of the positives of queries q … q+rows−1, all with `count` of them."""
        first = int(self.start[q])
        passed = self.passed[first + q :][: rows * (count + 1)].view(rows, count + 1)
        level = self.level[first:][: rows * count].view(rows, count)
        above = passed.flip(1).cumsum(1)[:, :-1] + level.flip(1)  # best positive first
        return above + torch.arange(1, count + 1, device=above.device)


def count_rows(tally: Tally, tile: Tensor, q: int, index: Tensor, pessimistic: bool, engine: str) -> None:
    """Add a tile of negatives: rows are queries q, q+1, …, columns gallery items `index`; −inf does not count."""
    (count_rows_numba if engine == "numba" else count_rows_torch)(tally, tile, q, index, pessimistic)


def count_rows_numba(tally: Tally, tile: Tensor, q: int, index: Tensor, pessimistic: bool) -> None:
    """The compiled engine, imported and compiled at first use: importing labkit stays fast."""
    from labkit.metrics.counter_numba import count

    start, threshold, owner = tally.start.numpy(), tally.threshold.numpy(), tally.owner.numpy()
    count(
        tile.numpy(), q, index.numpy(), start, threshold, owner, tally.passed.numpy(), tally.level.numpy(), pessimistic
    )


def count_rows_torch(tally: Tally, tile: Tensor, q: int, index: Tensor, pessimistic: bool) -> None:
    """The torch engine. Where few entries reach the lowest threshold of their query, only those are searched."""
    rows, width = tile.shape
    start = tally.start[q : q + rows + 1]
    count = start[1:] - start[:-1]
    widest = int(count.max()) if rows else 0
    if widest == 0:
        return
    slot = torch.arange(widest, device=tile.device)
    inside = slot < count[:, None]
    entry = torch.where(inside, start[:-1, None] + slot, torch.zeros_like(start[:-1, None]))
    # +inf fills the shorter rows: nothing passes it
    threshold = torch.where(inside, tally.threshold[entry], torch.full_like(tally.threshold[:1], torch.inf))
    r, c = torch.nonzero(tile >= threshold[:, :1], as_tuple=True)
    if len(r) * widest > rows * width:  # many: search every entry, row by row, rather than copy thresholds for each
        below = torch.searchsorted(threshold, tile)[r, c]
    else:
        below = torch.searchsorted(threshold[r], tile[r, c][:, None]).squeeze(1)
    first = start[:-1][r]
    tally.passed.add_(torch.bincount(first + q + r + below, minlength=len(tally.passed)))
    # equal similarities are rare: settle them one threshold further at a time
    value = tile[r, c]
    while len(r):
        equal = (below < count[r]) & (threshold[r, below.clamp_max(widest - 1)] == value)
        r, c, value, below = r[equal], c[equal], value[equal], below[equal]
        at = start[:-1][r] + below
        in_front = torch.ones_like(at, dtype=torch.bool) if pessimistic else index[c] < tally.owner[at]
        tally.level.add_(torch.bincount(at[in_front], minlength=len(tally.level)))
        below = below + 1


def choose_engine(engine: str, device: torch.device) -> str:
    """ "auto" takes numba on the CPU where it is installed, torch elsewhere."""
    if engine != "auto":
        return engine
    return "numba" if device.type == "cpu" and find_spec("numba") is not None else "torch"
