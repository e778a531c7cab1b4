"""The points of an explorer as the bytes that a page gets: as few as can be, for a page may have 60,000 of them.

Classes are named once; groups and cells are numbers of one, two or four bytes; of an id there is only what differs from
the one before; and of many points the coordinates are whole numbers of two bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.explorers.packing import joined, looks, smallest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from labkit.explorers.embedding.data import ExplorerData

MANY = 20_000  # points; from here on a coordinate is one of 65,536 steps: a hundredth of a pixel in the first view
STEPS = 2**16 - 1


def pack(data: ExplorerData) -> bytes:
    """Head and arrays."""
    grouping = data.grouping
    shared, rest = folded(data.ids)
    low, step, whole = quantised(data.xy)
    arrays: dict[str, NDArray[Any]] = {
        "xy": whole if len(data) >= MANY else data.xy.astype(np.float32),
        "shared": shared,
        "labels": smallest(data.labels),
        "cells": smallest(data.cells + 1),
        "near": smallest(data.near),
        "similarity": data.similarity.astype(np.float32),
    }
    if grouping:
        arrays["groups"] = smallest(grouping.numbers)
    head = {
        "title": data.title,
        "subtitle": data.subtitle,
        "n": len(data),
        "ids": rest,
        "classes": data.classes,
        **(looks(range(len(data.colors.names))) if data.colored else {"colors": None, "shapes": None}),
        "size": data.sheet.size,
        "columns": data.sheet.columns,
        "k": data.near.shape[1],
        "grouped": {"by": grouping.by, "names": grouping.names} if grouping else None,
        "grid": {"low": low, "step": step} if len(data) >= MANY else None,
    }
    return joined(head, arrays)


def places(data: ExplorerData) -> NDArray[np.float64]:
    """Where the page has the points (n, 2): as they are, or, of many, the nearest steps of a grid."""
    low, step, whole = quantised(data.xy)
    return np.array(low) + whole * np.array(step) if len(data) >= MANY else data.xy.astype(np.float64)


def quantised(xy: NDArray[np.float32]) -> tuple[list[float], list[float], NDArray[np.uint16]]:
    """The least coordinates, the step of each axis, and every point as whole steps (n, 2)."""
    exact = xy.astype(np.float64)
    low, high = exact.min(axis=0), exact.max(axis=0)
    step = np.where(high > low, (high - low) / STEPS, 1.0)
    return low.tolist(), step.tolist(), np.rint((exact - low) / step).astype(np.uint16)


def folded(ids: Sequence[str]) -> tuple[NDArray[np.uint8], list[str]]:
    """How many letters each id shares with the one before, and the rest of it: "test-00042", 9 and "3"."""
    shared, rest, before = np.zeros(len(ids), np.uint8), [], ""
    for place, name in enumerate(ids):
        most, same = min(len(name), len(before), 255), 0
        # a letter above U+FFFF counts as two in the page
        while same < most and name[same] == before[same] and name[same] <= "\uffff":
            same += 1
        shared[place] = same
        rest.append(name[same:])
        before = name
    return shared, rest
