"""Retrieval among the points that a run has kept: what is found for a query, where its positives are, its metrics.

Runs keep embeddings of some test points only, so that numbers from here differ from the run's test metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.metrics.nearest import Floats, Whole, metrics_of_ranks, positive_ranks, ranking, unit_rows
from labkit.runs.contents import read_embedding_array, read_samples
from labkit.runs.schema import RunError
from labkit.runs.variant import as_text, short_key

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from labkit.runs.run import Run

MOST = 3000  # points that are compared with each other; a run may keep 60,000
KS = (1, 5, 10)


@dataclass(frozen=True)
class Points:
    """Unit embeddings (n, d), float64, of test points, their labels (n,), ids and class names.

    kept: test points in the file, of which these are n; tested: test items of the data set, None if not known.
    queries: where the data have a gallery, the first so many points are queries and the others the gallery; where they
    have none (0), every point is a query among all others.
    """

    unit: Floats
    labels: Whole
    ids: tuple[str, ...]
    class_names: tuple[str, ...]
    kept: int
    tested: int | None
    queries: int = 0

    def __len__(self) -> int:
        """The number of points."""
        return len(self.ids)

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of every id."""
        return {name: i for i, name in enumerate(self.ids)}

    @property
    def others(self) -> int:
        """How many items a query is compared with."""
        return len(self) - (self.queries or 1)

    @property
    def told(self) -> str:
        """How many points these are, of how many."""
        if self.queries:
            of = "" if self.tested is None else f" of {self.tested:,}"
            return (
                f"among {self.others:,} recorded items of the gallery, for {self.queries:,}{of} test items as queries"
            )
        thinned = f" (the first classes of {self.kept:,} recorded points)" if self.kept > len(self) else ""
        of = "" if self.tested is None else f" of {self.tested:,} test items"
        return f"among the {len(self):,} recorded points{thinned}{of}"


@dataclass(frozen=True)
class Found:
    """All other points, or the gallery, by falling similarity to a query, which are positives, the query's metrics."""

    order: Whole
    similarity: Floats
    hit: NDArray[np.bool_]
    metrics: dict[str, float]

    @property
    def ranks(self) -> list[int]:
        """The rank of every positive; 1 is the top."""
        return [int(place) + 1 for place in np.flatnonzero(self.hit)]


def read_points(run: Run, most: int = MOST) -> Points:
    """The recorded test points, then those of the gallery if there is one.

    Of more than `most` the first classes, as many as fit, the last perhaps cut.
    """
    import pandas as pd

    embeddings, samples = read_embedding_array(run), read_samples(run)
    if len(embeddings) != len(samples):
        raise RunError(f"run {run.id}: {len(embeddings)} embeddings but {len(samples)} samples")
    if "split" in samples:  # training points have labels of their own, which may be the same numbers
        samples = samples[samples["split"].isin(["test", "gallery"])]
    kept = len(samples)
    if kept > most:
        samples = samples.sort_values("label", kind="stable")[:most].sort_index()
    if len(samples) < 2:
        raise RunError(f"run {run.id} has recorded {len(samples)} test points; at least 2 are needed")
    in_gallery = samples["split"] == "gallery" if "split" in samples else np.zeros(len(samples), dtype=bool)
    queries = int((~in_gallery).sum()) if in_gallery.any() else 0
    samples = pd.concat([samples[~in_gallery], samples[in_gallery]])
    rows = embeddings[samples.index.to_numpy()].astype(np.float64)
    if not np.isfinite(rows).all():
        raise RunError(f"run {run.id}: an embedding is not finite")
    names = samples["class_name"] if "class_name" in samples else samples["label"]
    return Points(
        unit_rows(rows),
        samples["label"].to_numpy(np.int64),
        tuple(samples["id"]),
        tuple(names.astype(str)),
        kept,
        run.record.data.test or None,
        queries,
    )


def find(points: Points, query: int) -> Found:
    """What is found for one query; a query without positives has no metrics."""
    order, similarity = (one[0] for one in ranking(points.unit, np.array([query]), points.queries))
    hit = points.labels[order] == points.labels[query]
    ranks = np.flatnonzero(hit)[None] + 1
    values = {name: float(value[0]) for name, value in measure(ranks).items()} if hit.any() else {}
    return Found(order, similarity, hit, values)


def per_query(points: Points) -> pd.DataFrame:
    """Every query that has a positive, in the order of the file: id, class, metrics, rank of the first positive."""
    import pandas as pd

    parts = [
        {"row": queries} | measure(ranks)
        for queries, ranks in positive_ranks(points.unit, points.labels, points.queries)
    ]
    if not parts:
        raise RunError("no recorded point has another one of its class: there is nothing to find")
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    rows = columns.pop("row")
    who = {"id": [points.ids[row] for row in rows], "class": [points.class_names[row] for row in rows]}
    return pd.DataFrame(who | columns, index=rows).sort_index().reset_index(drop=True)


def measure(ranks: Whole) -> dict[str, NDArray[Any]]:
    """What the page shows of queries with such ranks of positives (Q, P)."""
    return metrics_of_ranks(ranks, KS) | {"first positive": ranks[:, 0]}


def same_data(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs that have kept embeddings, by what they were tested on: only those can be compared query by query.

    The name is the preset with the options of its data; equal names of different data get the beginning of their hash.
    """
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.has("embeddings.safetensors") and run.has("samples.parquet"):
            groups.setdefault((data_name(run), run.record.data.sha256), []).append(run)
    names = [name for name, _ in groups]
    return {
        name if names.count(name) == 1 else f"{name} ({digest[:8]})": sorted(some, key=lambda run: run.id)
        for (name, digest), some in sorted(groups.items())
    }


def data_name(run: Run) -> str:
    """The preset and the options of its data: "toy, layout=ring"."""
    options = run.variant.settings.items()
    chosen = [f"{short_key(key)}={as_text(value)}" for key, value in options if key.startswith("data.")]
    return ", ".join([run.preset or "no preset", *chosen])
