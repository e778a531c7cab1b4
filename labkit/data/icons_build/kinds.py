"""Which things are drawn in one way and which in several: drawings of a thing, clustered by their outlines.

No trained network takes part, so the answer favours no loss. A drawing becomes its silhouette, whether it was drawn as
an outline or solid; silhouettes are cut to their box, brought to one size, blurred and compared by cosine, together
with their edges. Clusters are joined while their mean distance is below a limit. A thing is of "one" kind if nearly all
of its drawings are one cluster even at a strict limit, of "several" if a second cluster is large even at a loose one.
Looked at, of 40 things each, 39 called "one" were; of those called "several" about 29 were, most others being one
drawing turned or mirrored.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from scipy import ndimage
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

FEWEST = 8  # drawings, to speak of kinds at all
STRICT, LOOSE = 0.55, 0.75  # limits of the mean cosine distance
SIDE = 24  # pixels
Array = np.ndarray


def kind_of(images: Array) -> str:
    """ "one", "several", or "" for neither, from a thing's drawings (N, 48, 48), ink on white."""
    count = len(images)
    if count < FEWEST:
        return ""
    rows = np.stack([outline(image) for image in images])
    distance = np.clip(1 - rows @ rows.T, 0, 2)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    if cluster_sizes(tree, STRICT)[0] >= 0.9 * count:
        return "one"
    first, second = (*cluster_sizes(tree, LOOSE), 0)[:2]
    return "several" if first <= 0.75 * count and second >= max(3, 0.15 * count) else ""


def cluster_sizes(tree: Array, limit: float) -> list[int]:
    """How many drawings each cluster holds, largest first."""
    return sorted(np.bincount(fcluster(tree, limit, "distance"))[1:].tolist(), reverse=True)


def outline(image: Array) -> Array:
    """A unit vector of a drawing's silhouette and its edges."""
    ink = image < 255 * 0.65
    if ink.sum() < 5:
        return np.zeros(2 * SIDE * SIDE, np.float32)
    # an outline with small gaps is closed before it is filled
    closed = ndimage.binary_closing(np.pad(ink, 3), iterations=2)[3:-3, 3:-3] | ink
    filled = ndimage.binary_fill_holes(closed).astype(np.float32)
    edges = ndimage.gaussian_gradient_magnitude(filled, 1.0)
    rows, columns = np.nonzero(ink)
    box = slice(rows.min(), rows.max() + 1), slice(columns.min(), columns.max() + 1)
    row: Array = np.concatenate([brought_to_size(part[box]) for part in (filled, edges)])
    return row / np.float32(2**0.5)


def brought_to_size(part: Array) -> Array:
    """In the middle of a square, blurred, without its mean, of norm 1."""
    small = ndimage.zoom(part, SIDE / max(part.shape), order=1)[:SIDE, :SIDE]
    square = np.zeros((SIDE, SIDE), np.float32)
    top, left = (SIDE - small.shape[0]) // 2, (SIDE - small.shape[1]) // 2
    square[top : top + small.shape[0], left : left + small.shape[1]] = small
    blurred = ndimage.gaussian_filter(square, 1.2)
    blurred -= blurred.mean()
    norm = float(np.linalg.norm(blurred))
    flat: Array = (blurred / norm if norm else blurred).ravel()
    return flat


def write_kinds(icons: Path, out: Path) -> Path:
    """The table of all things that are of one kind or of several."""
    from tqdm import tqdm

    with np.load(icons, allow_pickle=False) as arrays:
        images, label, names = arrays["images"], arrays["label"], arrays["names"].tolist()
    with out.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["name", "kinds"])
        for number, name in enumerate(tqdm(names, desc="kinds of drawing", unit="thing")):
            if kind := kind_of(images[label == number]):
                table.writerow([name, kind])
    return out
