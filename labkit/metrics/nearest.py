"""Retrieval in numpy, for all that must do without torch: who is nearest, at which ranks the positives are, R@1, CSC.

The definitions are those of `evaluate`, and a test holds them together. All takes unit rows (n, d) and labels (n,); the
points are few enough to be compared with each other. `evaluate` is for all others: large sets, GPUs, exact ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]
Whole = NDArray[np.integer]

ROWS_AT_ONCE = 256  # queries whose similarities are in memory at a time
DIGITS = 13  # of a float64 similarity: what differs by rounding alone is a tie, which the order of the rows decides


def unit_rows(rows: Floats) -> Floats:
    """Rows of length 1; a zero row stays zero."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def similarities(unit: Floats, queries: Whole, first: int = 0) -> Floats:
    """Cosines (Q, n) of some rows to all; −inf where a row is no candidate: the query itself, rows before first."""
    found = unit[queries] @ unit.T
    if found.dtype == np.float64:
        found = found.round(DIGITS)
    found[np.arange(len(queries)), queries] = -np.inf
    found[:, :first] = -np.inf
    return found


def ranking(unit: Floats, queries: Whole, first: int = 0) -> tuple[Whole, Floats]:
    """For each query (Q,) its candidates by falling similarity (Q, c), of equals the earlier row, and the similarities.

    first: 0 if every row is a candidate for every other; else the rows from there on are the gallery.
    """
    found = similarities(unit, queries, first)
    candidates = len(unit) - (first or 1)
    order = np.argsort(-found, axis=1, kind="stable")[:, :candidates]
    return order, np.take_along_axis(found, order, axis=1)


def nearest(unit: Floats, queries: Whole, k: int = 1) -> tuple[Whole, Floats]:
    """Rows and cosines (Q, k) of the k nearest other rows, fewer where there are fewer; of equals the earlier row."""
    k = min(k, len(unit) - 1)
    rows, cosines = np.empty((len(queries), k), np.int64), np.empty((len(queries), k), unit.dtype)
    for part in parts(len(queries)):
        if k == 1:  # a maximum is much cheaper than an order
            found = similarities(unit, queries[part])
            rows[part] = found.argmax(axis=1)[:, None]
            cosines[part] = np.take_along_axis(found, rows[part], axis=1)
        else:
            order, found = ranking(unit, queries[part])
            rows[part], cosines[part] = order[:, :k], found[:, :k]
    return rows, cosines


def parts(count: int) -> Iterator[slice]:
    """All rows, so many at a time that their similarities fit into memory."""
    for start in range(0, count, ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, count))


def recall_at_1(unit: Floats, labels: Whole) -> float:
    """R@1: the share of points whose nearest other point has their label, of those that have a positive at all."""
    _, number, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    queries = np.flatnonzero(sizes[number] > 1)
    if not len(queries):
        return float("nan")
    rows, _ = nearest(unit, queries)
    return float((labels[rows[:, 0]] == labels[queries]).mean())


def positive_ranks(unit: Floats, labels: Whole, first: int = 0) -> Iterator[tuple[Whole, Whole]]:
    """Queries (Q,) with equally many positives and the ranks (Q, P) of these, ascending from 1; none without positives.

    first: as in `ranking`; the rows before it are the queries, or all rows if it is 0.
    """
    asked = first or len(unit)
    hits = []
    for part in parts(asked):
        queries = np.arange(part.start, part.stop)
        hits.append(labels[ranking(unit, queries, first)[0]] == labels[queries, None])
    counts = np.concatenate([hit.sum(axis=1) for hit in hits])
    ranks = np.concatenate([hit.nonzero()[1] + 1 for hit in hits])
    for count in np.unique(counts[counts > 0]):
        own = counts == count
        yield np.flatnonzero(own), ranks[np.repeat(own, counts)].reshape(-1, count)


def metrics_of_ranks(ranks: Whole, ks: Sequence[int]) -> dict[str, NDArray[Any]]:
    """R@k, nDCG@k and AP of the whole ranking (Q,) from ascending ranks of positives (Q, P)."""
    total = ranks.shape[1]
    nth = np.arange(1, total + 1)
    best = np.cumsum(1 / np.log2(nth + 1))
    found = {"AP": (nth / ranks).mean(axis=1)}
    for k in ks:
        top = ranks <= k
        found[f"R@{k}"] = top.any(axis=1).astype(np.float64)
        found[f"nDCG@{k}"] = (top / np.log2(ranks + 1)).sum(axis=1) / best[min(k, total) - 1]
    return found


def csc(rows: Floats, labels: Whole) -> float:
    """Class separability criterion tr(S_b)/tr(S_w), SGSL Eq. 9, of the rows as they are; inf if every class is a point.

    In float64, relative to a member of each class, so that equal rows deviate by exactly 0.
    """
    points = rows.astype(np.float64)
    _, member, number, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    apart = points - points[member][number]
    offset = np.stack([np.bincount(number, axis) for axis in apart.T], axis=1) / sizes[:, None]
    within = float(((apart - offset[number]) ** 2).sum())
    centers = points[member] + offset
    middle = (sizes[:, None] * centers).sum(axis=0) / len(points)
    between = float((sizes * ((centers - middle) ** 2).sum(axis=1)).sum())
    return between / within if within > 0 else float("inf")


def circular_variance(unit: Floats) -> float:
    """1 − ‖mean of unit rows‖: 0 where all point the same way, 1 where they cancel."""
    return 1 - float(np.linalg.norm(unit.astype(np.float64).mean(axis=0)))
