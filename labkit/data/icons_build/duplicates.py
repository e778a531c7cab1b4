"""Drawings that are nearly the same: kept once in a class, and under one name only."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from tqdm import tqdm

SAME_IN_CLASS = 0.98  # cosine of 16 × 16 inks from which two drawings of a class are one
SAME_ACROSS = 0.995  # cosine of 24 × 24 inks from which a drawing has two names
DIRECTIONS = 48  # in which drawings are compared first
ROWS = 512  # drawings compared with all others at once


def inks(images: np.ndarray, side: int) -> np.ndarray:
    """Drawings cut to their ink and shrunk to side × side, as unit vectors: the same at any size and place."""
    from PIL import Image

    vectors = np.zeros((len(images), side * side), np.float32)
    for number, image in enumerate(tqdm(images, desc=f"drawings cut to {side} × {side}")):
        ink = 255 - image.astype(np.float32)
        rows, columns = (np.flatnonzero((ink > 40).any(axis)) for axis in (1, 0))
        if not len(rows):
            continue
        middle = (columns[0] + columns[-1] + 1) / 2, (rows[0] + rows[-1] + 1) / 2
        half = max(columns[-1] - columns[0], rows[-1] - rows[0]) / 2 + 0.5
        box = (middle[0] - half, middle[1] - half, middle[0] + half, middle[1] + half)
        cut = Image.fromarray(ink).transform(
            (2 * side, 2 * side), Image.Transform.EXTENT, box, Image.Resampling.BILINEAR
        )
        vector = np.asarray(cut).reshape(side, 2, side, 2).mean((1, 3)).ravel()
        vectors[number] = vector / max(np.linalg.norm(vector), 1e-6)
    return vectors


def once_in_class(keys: list[str], images: np.ndarray) -> np.ndarray:
    """Which drawings stay when each class (keys) keeps one of nearly the same drawings: the first in order."""
    vectors = inks(images, 16)
    stays = np.zeros(len(keys), bool)
    classes = defaultdict(list)
    for place, key in enumerate(keys):
        classes[key].append(place)
    for places in classes.values():
        kept: list[int] = []
        for place in places:
            if not kept or (vectors[kept] @ vectors[place]).max() < SAME_IN_CLASS:
                kept.append(place)
        stays[kept] = True
    return stays


def same_across(keys: list[str], images: np.ndarray) -> list[tuple[int, int]]:
    """Pairs of places with the same drawing in different classes."""
    vectors = inks(images, 24)
    # No distance grows when vectors are projected: pairs too far apart in a few directions need no full comparison.
    few = vectors @ np.linalg.eigh(vectors.T @ vectors)[1][:, -DIRECTIONS:]
    half = (few**2).sum(1) / 2
    pairs = []
    for start in tqdm(range(0, len(keys), ROWS), desc="drawings compared", unit_scale=ROWS):
        rows = slice(start, start + ROWS)
        near = few[rows] @ few[start:].T - half[start:] >= half[rows, None] - (1 - SAME_ACROSS) - 1e-4
        for row, column in zip(*np.nonzero(near)):
            one, other = start + int(row), start + int(column)
            if one < other and keys[one] != keys[other] and vectors[one] @ vectors[other] >= SAME_ACROSS:
                pairs.append((one, other))
    return pairs


def one_name(keys: list[str], pairs: list[tuple[int, int]]) -> np.ndarray:
    """Which drawings stay when one with two names stays in the larger class, and in none of two equal ones."""
    size = Counter(keys)
    stays = np.ones(len(keys), bool)
    for one, other in pairs:
        sizes = size[keys[one]], size[keys[other]]
        if sizes[0] <= sizes[1]:
            stays[one] = False
        if sizes[1] <= sizes[0]:
            stays[other] = False
    return stays
