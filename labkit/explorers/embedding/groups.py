"""What the explorer's colours can stand for, which classes a search finds, and who is nearest to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.explorers.embedding.data import ExplorerData, Grouping
from labkit.metrics.nearest import nearest
from labkit.runs.contents import read_samples
from labkit.runs.run import Run

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from labkit.explorers.embedding.data import Floats, Whole

CLASS = "class"
CORRECT = "nearest neighbour right or wrong"
RIGHT_OR_WRONG = ("✓ of its class", "✗ of another class")
MOST_COMPARED = 20_000  # points of which everybody's nearest is looked for: some seconds
MOST_GROUPS = 500  # more values than this are names, not groups


def groupings(run: Run, data: ExplorerData) -> dict[str, Grouping | None]:
    """All that the points of a run can be coloured by: classes (None), columns of samples.parquet, right and wrong.

    A column is left out if it says of every point the same, something else of each, or the class once more. Right and
    wrong needs the nearest neighbour of every point, which `correctness` finds when it is asked for: here it is None.
    """
    found: dict[str, Grouping | None] = {CLASS: None}
    samples = read_samples(run).set_index("id").loc[list(data.ids)]
    for name in samples.columns:
        if name in ("label", "class_name", CLASS, CORRECT):
            continue
        numbers, names = numbered(samples[name])
        if 1 < len(names) <= MOST_GROUPS and len(names) < len(data) and not same_parts(numbers, data.labels):
            found[str(name)] = Grouping(str(name), numbers, names)
    if 1 < len(data) <= MOST_COMPARED:
        found[CORRECT] = None
    return found


def numbered(column: pd.Series[Any]) -> tuple[Whole, tuple[str, ...]]:
    """A number for every value and the values as text, in their order; what is missing is a value, too."""
    text = ["(none)" if missing else str(value) for value, missing in zip(column, column.isna())]
    names, numbers = np.unique(text, return_inverse=True)
    return numbers.astype(np.int32), tuple(map(str, names))


def same_parts(first: Whole, second: Whole) -> bool:
    """Whether two numberings put the same points together."""
    pairs = len(np.unique(np.stack([first, second]), axis=1).T)
    return pairs == len(np.unique(first)) == len(np.unique(second))


def correctness(data: ExplorerData) -> Grouping:
    """Points by whether their nearest neighbour in the embedding space is of their class."""
    rows = np.arange(len(data))
    near, _ = first_neighbours(data, rows)
    return Grouping(CORRECT, (data.labels[near] != data.labels).astype(np.int32), RIGHT_OR_WRONG)


def first_neighbours(data: ExplorerData, rows: NDArray[Any]) -> tuple[Whole, Floats]:
    """Row and cosine of the nearest other point of some points; of equals the earlier row."""
    if len(data) < 2:
        return np.zeros(len(rows), np.int32), np.full(len(rows), np.nan, np.float32)
    near, similarity = nearest(data.embeddings, rows)
    return near[:, 0].astype(np.int32), similarity[:, 0].astype(np.float32)


def matching(data: ExplorerData, search: str) -> list[int] | None:
    """Classes with one of the words (between commas) in their name, whatever the case; None if nothing is searched."""
    words = [word.strip().casefold() for word in search.split(",") if word.strip()]
    if not words:
        return None
    return [k for k, name in enumerate(data.classes) if any(word in name.casefold() for word in words)]


def neighbour_table(data: ExplorerData, search: str = "", most: int = 1000) -> tuple[list[dict[str, Any]], int]:
    """The points that a search finds, each with its nearest neighbour, at most so many; and how many there are."""
    kept = matching(data, search)
    rows = np.arange(len(data)) if kept is None else np.flatnonzero(np.isin(data.labels, kept))
    shown = rows[:most]
    near, similarity = first_neighbours(data, shown)
    table = [
        {
            "id": data.ids[i],
            "class": data.classes[data.labels[i]],
            "nearest neighbour": data.ids[j],
            "its class": data.classes[data.labels[j]],
            "cosine similarity": round(float(s), 3),
            "correct": "✓" if data.labels[i] == data.labels[j] else "✗",
        }
        for i, j, s in zip(shown, near, similarity)
    ]
    return table, len(rows)
