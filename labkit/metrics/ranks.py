"""Exact ranks of all positives, in bounded memory: every ranking metric at every k follows from them.

Two ways round the same tally. Where every item is a query (`triangle`): items sorted by class, tiles cut on class
borders, so that all positives lie in diagonal tiles; only the upper triangle is computed and each tile serves its
rows and its columns. Where queries and gallery differ, or classes are large (`blocks`): one block of query rows at a
time against the whole gallery. There, queries with many positives are ranked by sorting their row: nothing is left to
save by counting.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from labkit.base.tensors import unit_rows
from labkit.metrics.counter import Tally, count_rows

TILE = 1024  # items compared at a time, in rows and in columns
# Bytes that are held at a time, measured (benchmarks/evaluation_memory.py); similarities are float32
PAIR = 40  # for a (query, positive) pair: thresholds, owners and counts
RANK = 220  # for a rank while metrics are made of it: float64 columns
ENTRY = {"numba": 10, "torch": 120}  # for a similarity: the engine's own copies; torch's indices are int64
SORTED = 60  # for a similarity in a row that is sorted
MANY = {"numba": 1 / 2, "torch": 1 / 8}  # of the gallery positives: from there on sorting is as fast as counting
T = TypeVar("T")


@dataclass(frozen=True)
class RankBlock:
    """Queries with equally many positives: query (Q,) indices, ranks (Q, P) from 1, ascending."""

    query: Tensor
    ranks: Tensor


@dataclass(frozen=True)
class Retrieval:
    """What to rank and how. Rows are as given: they are normalised where they are copied anyway, to hold one copy."""

    queries: Tensor
    labels: Tensor
    gallery: Tensor
    gallery_labels: Tensor
    same: bool
    pessimistic: bool
    engine: str
    memory: int
    sharded: bool
    progress: bool
    tile: int = TILE


def positive_ranks(job: Retrieval) -> Iterator[RankBlock]:
    """Ranks of every query that has a positive, by cosine similarity."""
    classes, gallery_class = job.gallery_labels.unique(return_inverse=True)
    members = torch.bincount(gallery_class, minlength=len(classes))
    found = torch.searchsorted(classes, job.labels).clamp_max(len(classes) - 1)
    known = classes[found] == job.labels
    positives = torch.where(known, members[found] - int(job.same), torch.zeros_like(found))
    order = torch.argsort(positives * (len(classes) + 1) + found, stable=True)
    skipped = int((positives == 0).sum())
    width = min(job.tile, isqrt(job.memory // 2 // entry_bytes(job)))
    if job.same and int(members.max()) <= width and int(positives.sum()) * PAIR <= job.memory // 2:
        return triangle(job, order, positives[order], found[order], width)
    return blocks(job, order[skipped:], positives, gallery_class, found)


def entry_bytes(job: Retrieval) -> int:
    """What a similarity takes while it is counted."""
    return ENTRY[job.engine] * job.gallery.element_size() // 4


def triangle(job: Retrieval, order: Tensor, positives: Tensor, class_of: Tensor, width: int) -> Iterator[RankBlock]:
    """Self-retrieval over the upper triangle of tiles of at most `width` rows."""

    def mine(step: int) -> bool:
        return not job.sharded or step % dist.get_world_size() == dist.get_rank()

    e = job.queries[order]
    normalize_(e)
    tally = Tally.empty(positives, e.dtype)
    tiles = list(pairwise(class_tiles(class_of, width)))
    widest = max(b - a for a, b in tiles)
    # reused throughout: fresh pages would cost as much as the work on them
    buffer, flipped = e.new_empty(widest, widest), e.new_empty(widest, widest)

    def similarities(a: int, b: int, c: int, d: int) -> Tensor:
        return torch.mm(e[a:b], e[c:d].T, out=buffer.view(-1)[: (b - a) * (d - c)].view(b - a, d - c))

    for i, (a, b) in enumerate(tiles):
        tile = similarities(a, b, a, b)
        for lo, hi, size in runs(positives + 1, a, b):
            if size > 1:
                row = torch.arange(lo, hi, device=e.device)[:, None]
                inside = lo + (row - lo) // size * size + torch.arange(size, device=e.device)
                others = inside[inside != row].view(hi - lo, size - 1)
                owner, by_index = order[others].sort(1)
                tally.set_thresholds(lo, tile[lo - a : hi - a].gather(1, others - a).gather(1, by_index), owner)
        if mine(i):
            tile.masked_fill_(class_of[a:b, None] == class_of[None, a:b], -torch.inf)
            count_rows(tally, tile, a, order[a:b], job.pessimistic, job.engine)
    pairs = [(i, j) for i in range(len(tiles)) for j in range(i + 1, len(tiles))]
    for i, j in watched([pair for n, pair in enumerate(pairs) if mine(n)], job.progress):
        (a, b), (c, d) = tiles[i], tiles[j]
        tile = similarities(a, b, c, d)
        count_rows(tally, tile, a, order[c:d], job.pessimistic, job.engine)
        turned = flipped.view(-1)[: tile.numel()].view(d - c, b - a).copy_(tile.T)
        count_rows(tally, turned, c, order[a:b], job.pessimistic, job.engine)
    if job.sharded:
        dist.all_reduce(tally.passed)
        dist.all_reduce(tally.level)
    for lo, hi, count in runs(positives, 0, len(order)):
        step = max(1, job.memory // 2 // (RANK * max(count, 1)))
        for a in range(lo, hi, step) if count > 0 else ():
            b = min(a + step, hi)
            yield RankBlock(order[a:b], tally.ranks(a, b - a, count))


def blocks(
    job: Retrieval, order: Tensor, positives: Tensor, gallery_class: Tensor, class_of: Tensor
) -> Iterator[RankBlock]:
    """One block of query rows against the whole gallery at a time."""
    by_class = torch.argsort(gallery_class, stable=True)
    class_start = torch.cat([gallery_class.new_zeros(1), torch.bincount(gallery_class).cumsum(0)])
    everyone = torch.arange(len(job.gallery), device=order.device)
    gallery = unit_rows(job.gallery)
    steps = []
    for lo, hi, count in runs(positives[order], 0, len(order)):
        entry = SORTED if by_sorting(job, count) else entry_bytes(job)
        row_bytes = entry * len(job.gallery) + (PAIR + RANK) * count
        step = max(1, min(job.tile, job.memory // row_bytes))
        steps += [(a, min(a + step, hi), count) for a in range(lo, hi, step)]

    def ranks(lo: int, hi: int, count: int) -> Tensor:
        query = order[lo:hi]
        rows = unit_rows(job.queries[query]) @ gallery.T
        size = count + int(job.same)
        inside = by_class[class_start[class_of[query]][:, None] + torch.arange(size, device=order.device)]
        if by_sorting(job, count):
            return ranks_by_sorting(rows, inside, query if job.same else None)
        others = inside[inside != query[:, None]].view(hi - lo, count) if job.same else inside
        tally = Tally.empty(torch.full_like(query, count), rows.dtype)
        tally.set_thresholds(0, rows.gather(1, others), others)
        rows.scatter_(1, inside, -torch.inf)
        count_rows(tally, rows, 0, everyone, job.pessimistic, job.engine)
        return tally.ranks(0, hi - lo, count)

    processes, own = (dist.get_world_size(), dist.get_rank()) if job.sharded else (1, 0)
    for turn in watched(list(range(0, len(steps), processes)), job.progress):
        together = steps[turn : turn + processes]
        done = ranks(*together[own]) if own < len(together) else None
        for process, (lo, hi, count) in enumerate(together):
            block = done if process == own and done is not None else torch.zeros(hi - lo, count, dtype=torch.int64)
            if job.sharded:
                block = block.to(order.device)
                dist.broadcast(block, src=process)
            yield RankBlock(order[lo:hi], block)


def by_sorting(job: Retrieval, count: int) -> bool:
    """Whether queries with so many positives are ranked by sorting: counting, each entry would be searched anyway."""
    return not job.pessimistic and count >= MANY[job.engine] * len(job.gallery)


def ranks_by_sorting(rows: Tensor, inside: Tensor, query: Tensor | None) -> Tensor:
    """Ranks, ascending (Q, P), from similarities (Q, N) and the columns of each row's class, the query's own included.

    A stable sort keeps equal similarities in their order, as the counters do.
    """
    own = torch.zeros_like(rows, dtype=torch.bool).scatter_(1, inside, True)
    if query is not None:
        rows.scatter_(1, query[:, None], -torch.inf)  # last: it changes no other rank
        own.scatter_(1, query[:, None], False)
    order = rows.argsort(dim=1, descending=True, stable=True)
    return torch.nonzero(own.gather(1, order))[:, 1].view(len(rows), -1) + 1


def normalize_(x: Tensor) -> None:
    """`unit_rows` in place."""
    for rows in x.split(TILE):
        rows.copy_(unit_rows(rows))


def class_tiles(class_of: Tensor, width: int) -> list[int]:
    """Cut points 0 … N of tiles at most `width` wide, never through a class (classes are contiguous)."""
    length = len(class_of)
    borders = [*(torch.nonzero(class_of[1:] != class_of[:-1]).squeeze(1) + 1).tolist(), length]
    cuts, last = [0], 0
    for border in borders:
        if border - cuts[-1] > width and last > cuts[-1]:
            cuts.append(last)
        last = border
    return [*cuts, length]


def runs(values: Tensor, lo: int, hi: int) -> list[tuple[int, int, int]]:
    """Stretches of equal values in [lo, hi): (start, stop, value)."""
    value, length = torch.unique_consecutive(values[lo:hi], return_counts=True)
    stops = lo + length.cumsum(0)
    return list(zip((stops - length).tolist(), stops.tolist(), value.tolist(), strict=True))


def watched(steps: list[T], progress: bool) -> Iterator[T]:
    """A progress bar for work that takes longer than two seconds."""
    from tqdm.auto import tqdm

    yield from tqdm(steps, desc="ranking", unit="tile", delay=2, disable=not progress, leave=False)
