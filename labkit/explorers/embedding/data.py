"""What the explorer shows of a run, as arrays; `packed.py` makes them the bytes that every surface sends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.base.paths import RECORDED
from labkit.explorers.embedding.packed import pack
from labkit.explorers.embedding.sheet import NO_SHEET, Sheet, cut, sheet_of
from labkit.metrics.nearest import nearest as nearest_rows
from labkit.metrics.nearest import unit_rows
from labkit.runs.contents import classes_of, read_embedding_array, read_projection, read_samples
from labkit.runs.project import stratified
from labkit.runs.read import open_run
from labkit.runs.run import Run
from labkit.runs.schema import RunError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Whole = NDArray[np.int32]

MOST_COLORS = 10  # classes; with more, all are grey but the chosen one
NEIGHBOURS = 10


@dataclass(frozen=True)
class Grouping:
    """What the colours stand for: a name, the group of every point (n,), and what the groups are called."""

    by: str
    numbers: Whole
    names: tuple[str, ...]


@dataclass(frozen=True)
class ExplorerData:
    """Points of one run: ids that never change, places in the plane, classes, embeddings, pictures.

    xy is float32 (n, 2), labels are rows of `classes`, embeddings are float32 (n, d) of length one, cells are places
    in the sprite sheet or -1. near and similarity (n, k) are empty unless `with_neighbours` has filled them. Colours
    stand for classes unless there is a `grouping`; whether a neighbour is right is always about classes.
    """

    title: str
    method: str
    total: int
    ids: tuple[str, ...]
    xy: Floats
    labels: Whole
    classes: tuple[str, ...]
    embeddings: Floats
    cells: Whole
    sheet: Sheet
    near: Whole
    similarity: Floats
    grouping: Grouping | None = None

    def __len__(self) -> int:
        """The number of points."""
        return len(self.ids)

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of every id."""
        return {name: i for i, name in enumerate(self.ids)}

    @property
    def subtitle(self) -> str:
        """How many points of how many, and how they were brought to the plane."""
        shown = f"{len(self):,} points" if len(self) == self.total else f"{len(self):,} of {self.total:,} points"
        return f"{self.method.upper()}, {shown}, {len(self.classes)} classes"

    @property
    def colors(self) -> Grouping:
        """What the colours stand for."""
        return self.grouping or Grouping("class", self.labels, self.classes)

    @property
    def colored(self) -> bool:
        """Whether every group has a colour and a shape of its own."""
        return len(self.colors.names) <= MOST_COLORS

    @cached_property
    def packed(self) -> bytes:
        """The points for the page."""
        return pack(self)

    @cached_property
    def digests(self) -> tuple[str, str]:
        """Names of the bytes of points and sheet, by their content."""
        return sha256(self.packed).hexdigest(), sha256(self.sheet.data).hexdigest()


def explorer_data(
    run: Run | str,
    projection: str = "pca",
    *,
    limit: int | None = None,
    sprites: Path = RECORDED / "sprites",
    sheet_limit: int | None = None,
) -> ExplorerData:
    """The points of a run's stored projection; at most `limit`, drawn evenly from all classes.

    Pictures come from the data set's sprite sheet where there is one; with sheet_limit (bytes) it is cut down to the
    pictures shown and made smaller until it fits.
    """
    run = open_run(run) if isinstance(run, str) else run
    places, samples, embeddings = read_projection(run, projection), read_samples(run), read_embedding_array(run)
    if len(embeddings) != len(samples):
        raise RunError(f"run {run.id}: {len(embeddings)} embeddings but {len(samples)} samples")
    row_of = {name: i for i, name in enumerate(samples["id"])}
    if strangers := [name for name in places["id"] if name not in row_of]:
        raise RunError(f"run {run.id}: the {projection} projection has {strangers[0]!r}, which is no sample of the run")
    xy = places[["x", "y"]].to_numpy(np.float32)
    if len(xy) == 0 or not np.isfinite(xy).all():
        raise RunError(f"run {run.id}: the {projection} projection is empty or holds NaN or infinite values")
    samples = samples.iloc[[row_of[name] for name in places["id"]]].reset_index(drop=True)
    unit = unit_rows(embeddings[[row_of[name] for name in places["id"]]])
    labels, classes = classes_of(samples)
    ids = tuple(samples["id"])
    cells, sheet = sheet_of(run, ids, sprites)
    data = ExplorerData(
        title=str(run),
        method=projection,
        total=len(row_of),
        ids=ids,
        xy=xy,
        labels=labels,
        classes=classes,
        embeddings=unit,
        cells=cells,
        sheet=sheet,
        near=np.zeros((len(ids), 0), np.int32),
        similarity=np.zeros((len(ids), 0), np.float32),
    )
    if limit is not None and limit < len(data):
        data = subset(data, stratified(labels.astype(np.int64), limit, seed=0))
    if sheet_limit is not None and data.sheet is not NO_SHEET:
        cells, sheet = cut(data.sheet, data.cells, sheet_limit)
        data = replace(data, cells=cells, sheet=sheet)
    return data


def subset(data: ExplorerData, rows: NDArray[Any]) -> ExplorerData:
    """Some of the points, in the order of the rows; neighbours, which name rows, are dropped."""
    grouping = data.grouping and replace(data.grouping, numbers=data.grouping.numbers[rows])
    return replace(
        data,
        ids=tuple(data.ids[i] for i in rows),
        xy=data.xy[rows],
        labels=data.labels[rows],
        embeddings=data.embeddings[rows],
        cells=data.cells[rows],
        near=np.zeros((len(rows), 0), np.int32),
        similarity=np.zeros((len(rows), 0), np.float32),
        grouping=grouping,
    )


def nearest(data: ExplorerData, name: str, k: int = NEIGHBOURS) -> dict[str, Any]:
    """The k points most alike to one by cosine in the embedding space, the point itself left out; {} if unknown.

    Only points that are shown are looked at, so that each answer can be seen. Of equals the earlier row comes first.
    """
    if name not in data.row:
        return {}
    rows, cosines = nearest_rows(data.embeddings, np.array([data.row[name]]), k)
    return {"id": name, "ids": [data.ids[i] for i in rows[0]], "similarities": [float(s) for s in cosines[0]]}


def with_neighbours(data: ExplorerData, k: int = NEIGHBOURS) -> ExplorerData:
    """The same points with the k nearest of each, for a page that has no Python to ask."""
    rows, cosines = nearest_rows(data.embeddings, np.arange(len(data)), k)
    return replace(data, near=rows.astype(np.int32), similarity=cosines.astype(np.float32))
