"""Projecting embeddings to the plane, once and for all: a page that shows them later only reads two columns."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.base.checks import check_choice
from labkit.runs.contents import read_embeddings, read_samples
from labkit.runs.run import Run
from labkit.runs.schema import PROJECTIONS, RunError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

NEIGHBOURS = 15
MIN_DIST = 0.1
BLOCK = 20_000  # rows that are in double precision at a time


def say(message: str) -> None:
    """A message for the person waiting."""
    print(f"labkit: {message}", file=sys.stderr, flush=True)


def project(
    run: Run,
    methods: Sequence[str] = PROJECTIONS,
    max_points: int = 10_000,
    seed: int = 0,
    tell: Callable[[str], None] = say,
) -> dict[str, Path]:
    """Write projections/pca.parquet and umap.parquet of the L2-normalised embeddings; returns the files by method.

    PCA shows every point. UMAP (cosine) shows at most max_points, drawn evenly from all classes. With three dimensions
    or fewer UMAP is left out: what the model does can be seen as it is. tell: takes a message for the person waiting.
    """
    for method in methods:
        check_choice("methods", method, PROJECTIONS)
    if max_points <= NEIGHBOURS:
        raise RunError(f"max_points must be above {NEIGHBOURS}, the neighbours UMAP looks at; got {max_points}")
    embeddings, ids, labels = read_points(run)
    written = {}
    for method in dict.fromkeys(methods):
        rows = np.arange(len(ids))
        parameters: dict[str, Any] = {"method": method, "seed": seed, "of": len(ids)}
        if method == "pca":
            tell(f"{run.id}: PCA of {len(ids):,} points")
            points, found = pca(embeddings)
        elif embeddings.shape[1] <= 3:
            tell(f"{run.id}: no UMAP of {embeddings.shape[1]} dimensions, look at the embedding itself")
            continue
        elif len(ids) <= NEIGHBOURS:
            tell(f"{run.id}: no UMAP of {len(ids)} points, it needs more than {NEIGHBOURS}")
            continue
        else:
            rows = stratified(labels, max_points, seed)
            tell(f"{run.id}: UMAP of {len(rows):,} points; the first in a session takes a minute or more")
            points, found = umap(embeddings[rows], seed)
        path = run.path / "projections" / f"{method}.parquet"
        write_projection(path, ids[rows], points, parameters | {"points": len(rows)} | found)
        written[method] = path
    return written


def read_points(run: Run) -> tuple[Floats, NDArray[np.object_], NDArray[np.int64]]:
    """Embeddings on the unit sphere, ids, and the class of each as a number."""
    embeddings, samples = read_embeddings(run), read_samples(run)
    if len(embeddings) != len(samples):
        raise RunError(f"run {run.id}: {len(embeddings)} embeddings but {len(samples)} samples")
    if len(embeddings) < 3:
        raise RunError(f"run {run.id}: a projection needs at least 3 embeddings, got {len(embeddings)}")
    if not embeddings.isfinite().all():
        raise RunError(f"run {run.id}: the embeddings hold NaN or infinite values, so the training diverged")
    unit = embeddings / embeddings.norm(dim=1, keepdim=True).clamp_min(1e-12)
    # a label of the training split may stand for another class in the test split
    strata = samples.groupby([name for name in ("split", "label") if name in samples], dropna=False).ngroup()
    return unit.numpy(), samples["id"].to_numpy(object), np.asarray(strata, dtype=np.int64)


def pca(embeddings: Floats) -> tuple[Floats, dict[str, Any]]:
    """The two directions of largest spread; each is turned so that its largest entry is positive."""
    centred = embeddings - embeddings.mean(axis=0)
    blocks = (centred[at : at + BLOCK].astype(np.float64) for at in range(0, len(centred), BLOCK))
    spread = sum((block.T @ block for block in blocks), np.zeros((centred.shape[1],) * 2)) / len(centred)
    shares, axes = np.linalg.eigh(spread)  # rising
    axes = axes[:, ::-1][:, :2].T
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    points = np.zeros((len(embeddings), 2), dtype=np.float32)
    points[:, : len(axes)] = centred @ (axes * signs[:, None]).T.astype(np.float32)
    total = max(float(shares.sum()), 1e-30)
    return points, {"explained_variance_ratio": [max(0.0, float(share)) / total for share in shares[::-1][:2]]}


def umap(embeddings: Floats, seed: int) -> tuple[Floats, dict[str, Any]]:
    """UMAP by cosine; with a seed it runs on one thread, and gives the same picture each time on one machine."""
    import warnings

    import umap as umap_learn  # type: ignore[import-untyped]

    model = umap_learn.UMAP(
        n_neighbors=NEIGHBOURS, min_dist=MIN_DIST, metric="cosine", random_state=seed, n_jobs=1, verbose=True
    )
    # its progress belongs with the other messages, not in the output
    with contextlib.redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = model.fit_transform(embeddings)
    found = {"metric": "cosine", "n_neighbors": NEIGHBOURS, "min_dist": MIN_DIST, "version": umap_learn.__version__}
    return np.asarray(points, dtype=np.float32), found


def stratified(labels: NDArray[np.int64], count: int, seed: int) -> NDArray[np.int64]:
    """Rows of at most `count` samples in their order: the same share of each class, and one of each while they last."""
    if count >= len(labels):
        return np.arange(len(labels))
    random = np.random.default_rng(seed)
    shuffled = random.permutation(len(labels))
    _, classes, sizes = np.unique(labels[shuffled], return_inverse=True, return_counts=True)
    order = np.argsort(classes, kind="stable")
    place = np.empty(len(labels), dtype=np.int64)  # 0, 1, 2 … within each class
    place[order] = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # by how far through its class a sample comes; ties stay in the shuffled order
    chosen = np.argsort(place / sizes[classes], kind="stable")[:count]
    return np.sort(shuffled[chosen])


def write_projection(path: Path, ids: NDArray[np.object_], points: Floats, parameters: dict[str, Any]) -> None:
    """id, x, y, and how they were made, atomically."""
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    from labkit.base.files import atomic

    columns = {"id": pa.array(ids, pa.string()), "x": pa.array(points[:, 0]), "y": pa.array(points[:, 1])}
    table = pa.table(columns).replace_schema_metadata({"parameters": json.dumps(parameters)})
    with atomic(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
