"""Retrieval among the points that a run has kept: what is found for a query, where its positives are, its metrics.

Runs keep embeddings of some test points only, so that numbers from here differ from the run's test metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit.metrics.from_ranks import metrics_from_ranks
from labkit.runs.contents import read_embeddings, read_samples
from labkit.runs.schema import RunError

if TYPE_CHECKING:
    import pandas as pd

    from labkit.runs.read import Run

MOST = 3000  # points that are compared with each other; a run may keep 60,000
ROWS_AT_ONCE = 256
DIGITS = 10  # of a similarity: what differs by rounding alone is a tie, which the order of the file decides
KS = (1, 5, 10)


@dataclass(frozen=True)
class Points:
    """Unit embeddings (n, d), float64, of test points, their labels (n,), ids and class names.

    kept: test points in the file, of which these are n; tested: test items of the data set, None if not known.
    """

    unit: Tensor
    labels: Tensor
    ids: tuple[str, ...]
    class_names: tuple[str, ...]
    kept: int
    tested: int | None

    def __len__(self) -> int:
        """The number of points."""
        return len(self.ids)

    @cached_property
    def row(self) -> dict[str, int]:
        """The row of every id."""
        return {name: i for i, name in enumerate(self.ids)}

    @property
    def told(self) -> str:
        """How many points these are, of how many."""
        thinned = f" (the first classes of {self.kept:,} recorded points)" if self.kept > len(self) else ""
        of = "" if self.tested is None else f" of {self.tested:,} test items"
        return f"among the {len(self):,} recorded points{thinned}{of}"


@dataclass(frozen=True)
class Found:
    """All other points (n − 1,) by falling similarity to a query, which are positives, and the query's metrics."""

    order: Tensor
    similarity: Tensor
    hit: Tensor
    metrics: dict[str, float]

    @property
    def ranks(self) -> list[int]:
        """The rank of every positive; 1 is the top."""
        return [rank + 1 for rank in self.hit.nonzero()[:, 0].tolist()]


def read_points(run: Run, most: int = MOST) -> Points:
    """The recorded test points; of more than `most` the first classes, as many as fit, the last perhaps cut."""
    embeddings, samples = read_embeddings(run), read_samples(run)
    if len(embeddings) != len(samples):
        raise RunError(f"run {run.id}: {len(embeddings)} embeddings but {len(samples)} samples")
    if "split" in samples:  # training points have labels of their own, which may be the same numbers
        samples = samples[samples["split"] == "test"]
    kept = len(samples)
    if kept > most:
        samples = samples.sort_values("label", kind="stable")[:most].sort_index()
    if len(samples) < 2:
        raise RunError(f"run {run.id} has recorded {len(samples)} test points: a query needs another one to be found")
    rows = embeddings[torch.as_tensor(samples.index.to_numpy().copy())].double()
    if not torch.isfinite(rows).all():
        raise RunError(f"run {run.id}: an embedding is not finite")
    names = samples["class_name"] if "class_name" in samples else samples["label"]
    data = run.info.get("data")
    tested = data.get("test") if isinstance(data, dict) else None
    return Points(
        torch.nn.functional.normalize(rows, dim=1), torch.as_tensor(samples["label"].to_numpy().copy()),
        tuple(samples["id"]), tuple(names.astype(str)), kept, tested if isinstance(tested, int) else None,
    )  # fmt: skip


def rank(points: Points, queries: Tensor) -> tuple[Tensor, Tensor]:
    """For each query (Q,) all other points (Q, n − 1) by falling similarity, and the similarities."""
    similarity = (points.unit[queries] @ points.unit.T).round(decimals=DIGITS)
    similarity.scatter_(1, queries[:, None], -torch.inf)  # the query goes to the end, which is cut off
    found = similarity.sort(dim=1, descending=True, stable=True)
    return found.indices[:, :-1], found.values[:, :-1]


def measure(ranks: Tensor, others: int) -> dict[str, Tensor]:
    """Metrics (Q,) from ascending ranks of positives (Q, P) among `others` points; AP is that of the whole ranking."""
    found = metrics_from_ranks(ranks, (*KS, others))
    out = {"AP": found[f"MAP@{others}/relevant"]}
    for k in KS:
        out |= {f"R@{k}": found[f"R@{k}"], f"nDCG@{k}": found[f"nDCG@{k}"]}
    return out | {"first positive": ranks[:, 0]}


def find(points: Points, query: int) -> Found:
    """What is found for one query; a query without positives has no metrics."""
    order, similarity = rank(points, torch.tensor([query]))
    hit = points.labels[order] == points.labels[query]
    ranks = hit.nonzero()[:, 1][None] + 1
    values = {name: float(value) for name, value in measure(ranks, hit.shape[1]).items()} if hit.any() else {}
    return Found(order[0], similarity[0], hit[0], values)


def per_query(points: Points) -> pd.DataFrame:
    """Every query that has a positive, in the order of the file: id, class, metrics, rank of the first positive."""
    import pandas as pd

    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for so few points threads cost more than they give: 0.1 against 0.4 CPU seconds
    try:
        ranks = all_ranks(points)
    finally:
        torch.set_num_threads(threads)
    _, number, sizes = points.labels.unique(return_inverse=True, return_counts=True)
    counts = sizes[number] - 1  # positives of each query
    parts = []
    for count in counts[counts > 0].unique().tolist():  # metrics take queries with equally many positives at once
        own = counts == count
        theirs = ranks[own.repeat_interleave(counts)].view(-1, count)
        parts.append({"row": own.nonzero()[:, 0]} | measure(theirs, len(points) - 1))
    if not parts:
        raise RunError("no recorded point has another one of its class: there is nothing to find")
    columns = {name: torch.cat([part[name] for part in parts]).numpy() for name in parts[0]}
    rows = columns.pop("row")
    who = {"id": [points.ids[row] for row in rows], "class": [points.class_names[row] for row in rows]}
    return pd.DataFrame(who | columns, index=rows).sort_index().reset_index(drop=True)


def all_ranks(points: Points) -> Tensor:
    """Ranks of the first query's positives, of the second's, and so on, in one row."""
    found = []
    for queries in torch.arange(len(points)).split(ROWS_AT_ONCE):
        hit = points.labels[rank(points, queries)[0]] == points.labels[queries, None]
        found.append(hit.nonzero()[:, 1] + 1)
    return torch.cat(found)


def same_data(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs that have kept embeddings, by what they were tested on: only those can be compared query by query.

    The name is the preset with the options of its data; equal names of different data get the beginning of their hash.
    """
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        if run.has("embeddings.safetensors") and run.has("samples.parquet"):
            groups.setdefault((data_name(run), data_hash(run)), []).append(run)
    names = [name for name, _ in groups]
    return {
        name if names.count(name) == 1 else f"{name} ({digest[:8]})": sorted(some, key=lambda run: run.id)
        for (name, digest), some in sorted(groups.items())
    }


def data_name(run: Run) -> str:
    """The preset and the options of its data: "toy, layout=ring"."""
    overrides = run.info.get("overrides")
    options = overrides.items() if isinstance(overrides, dict) else ()
    chosen = [f"{key.removeprefix('data.')}={value}" for key, value in options if key.startswith("data.")]
    return ", ".join([run.preset or "no preset", *chosen])


def data_hash(run: Run) -> str:
    """The checksum of the data, "" if not known."""
    data = run.info.get("data")
    return str(data.get("sha256") or "") if isinstance(data, dict) else ""
