"""The compiled counter: one comparison for most entries of a tile, a branch-free binary search for the rest."""

import numba
import numpy as np

BLOCK = 32  # entries looked at together


@numba.njit(cache=True, nogil=True)
def count(tile, first, index, start, threshold, owner, passed, level, pessimistic):  # type: ignore[no-untyped-def]
    """Add a tile of negatives whose rows are the queries first, first+1, …; index: gallery index of each column."""
    position = np.zeros(BLOCK, np.int32)
    for r in range(tile.shape[0]):
        q = first + r
        a, b = start[q], start[q + 1]
        if b == a:
            continue
        size = 2
        while size <= b - a:
            size *= 2
        padded = np.full(size, np.inf, tile.dtype)  # a power of two above P: every search takes equally many steps
        padded[: b - a] = threshold[a:b]
        histogram = np.zeros(size, np.int32)
        for c0 in range(0, tile.shape[1], BLOCK):
            row = tile[r, c0 : c0 + BLOCK]
            reached = False
            for i in range(len(row)):
                reached |= row[i] >= padded[0]
            if not reached:
                continue
            position[:] = 0
            half = size >> 1
            while half > 0:
                for i in range(len(row)):
                    position[i] += half * (padded[position[i] + half - 1] < row[i])
                half >>= 1
            level_found = False
            for i in range(len(row)):
                histogram[position[i]] += 1
                level_found |= padded[position[i]] == row[i]
            if level_found:
                for i in range(len(row)):
                    p = a + position[i]
                    while p < b and threshold[p] == row[i]:
                        if pessimistic or index[c0 + i] < owner[p]:
                            level[p] += 1
                        p += 1
        for t in range(b - a + 1):
            passed[a + q + t] += histogram[t]
