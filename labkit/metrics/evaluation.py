"""All retrieval and cluster metrics of a set of embeddings, in one call."""

from collections.abc import Sequence
from importlib.util import find_spec

import torch
import torch.distributed as dist
from torch import Tensor

from labkit.base.checks import check_choice, check_count, check_ks, check_positive
from labkit.base.tensors import autocast_off, check_float_matrix, check_labels, unit_rows, working_precision
from labkit.metrics.clusters import cluster_metrics
from labkit.metrics.clusters import nmi as clustering_nmi
from labkit.metrics.counter import choose_engine
from labkit.metrics.from_ranks import metrics_from_ranks
from labkit.metrics.inputs import Labels, Rows, as_labels, as_rows
from labkit.metrics.lists import exact_device
from labkit.metrics.ranks import TILE, Retrieval, positive_ranks, watched
from labkit.metrics.ties import expected_metrics

TIES = ("stable", "pessimistic", "expected")
ENGINES = ("auto", "numba", "torch")


@torch.no_grad()
def per_query_metrics(
    embeddings: Rows,
    labels: Labels,
    ks: Sequence[int] = (1, 10, 100, 1000),
    *,
    gallery: Rows | None = None,
    gallery_labels: Labels | None = None,
    ties: str = "stable",
    engine: str = "auto",
    memory_mb: float = 256,
    tile: int = TILE,
    distributed: bool = False,
    progress: bool = True,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Indices of the queries that have a positive (Q,), and every ranking metric of each (Q,), float64.

    Arguments as in `evaluate`.
    """
    ks = check_ks("ks", ks)
    check_choice("ties", ties, TIES)
    check_choice("engine", engine, ENGINES)
    check_positive("memory_mb", memory_mb)
    check_count("tile", tile)
    sides = as_sides(embeddings, labels, gallery, gallery_labels)
    queries, y = read_side("embeddings", sides[0], "labels", sides[1])
    same = len(sides) == 2
    others, other_y = (queries, y) if same else read_side("gallery", sides[2], "gallery_labels", sides[3])
    if others.shape[1] != queries.shape[1]:
        raise ValueError(f"gallery must have the embeddings' dimension {queries.shape[1]}, got {others.shape[1]}")
    if distributed and not (dist.is_available() and dist.is_initialized()):
        raise ValueError("distributed=True needs an initialised torch.distributed process group")
    wider = torch.promote_types(queries.dtype, others.dtype)  # narrower, a gallery may overflow
    queries, others, other_y = queries.to(wider), others.to(queries.device, wider), other_y.to(queries.device)
    if engine == "numba" and find_spec("numba") is None:
        raise ValueError('engine: numba is not installed; use "auto" or "torch", or pip install numba')
    if engine == "numba" and queries.device.type != "cpu":
        raise ValueError(f'engine: "numba" counts on the CPU, the embeddings are on {queries.device.type}; use "auto"')
    job = Retrieval(
        queries,
        y,
        others,
        other_y,
        same,
        ties == "pessimistic",
        choose_engine(engine, queries.device),
        int(memory_mb * 2**20),
        distributed,
        progress,
        tile,
    )
    with autocast_off(queries):  # similarities in bf16 would be mostly ties
        if ties == "expected":
            found, columns = expected_by_blocks(job, ks)
        else:
            found, columns = [], []
            for block in positive_ranks(job):
                found.append(block.query)
                columns.append(metrics_from_ranks(block.ranks, ks))
    if not found:
        raise ValueError("labels: no query has a positive in the gallery")
    query = torch.cat(found)
    by_index = query.argsort()
    return query[by_index], {name: torch.cat([c[name] for c in columns])[by_index] for name in columns[0]}


def evaluate(
    embeddings: Rows,
    labels: Labels,
    ks: Sequence[int] = (1, 10, 100, 1000),
    nmi: bool = False,
    *,
    gallery: Rows | None = None,
    gallery_labels: Labels | None = None,
    ties: str = "stable",
    engine: str = "auto",
    memory_mb: float = 256,
    tile: int = TILE,
    distributed: bool = False,
    progress: bool = True,
    seed: int = 0,
) -> dict[str, float]:
    """Means over queries of every ranking metric, and the cluster metrics, by cosine similarity.

    embeddings (N, D), labels (N,): every item is a query against all others. With gallery (M, D) and gallery_labels
    (M,) the embeddings are queries against that gallery only. Tensors, numpy arrays or lists; labels may be whole
    numbers, truth values or names. Keys, for each k: "R@k" (any hit), "recall-fraction@k",
    "recall-capped@k", "P@k", "MAP@k/k", "/relevant", "/min", "/hits", "nDCG@k"; then "MAP@R", "R-precision", "MRR",
    "intra", "inter", "CSC" (unit vectors; over queries and gallery together), with nmi=True "NMI"; "queries" and
    "skipped" (queries without a positive, which are left out). Ranking metrics and NMI lie in 0…1, cosine distances in
    0…2; CSC has no upper bound.

    ties: order of equal similarities: "stable" (lower index first), "pessimistic" (negatives first) or "expected"
    (mean over random orders, in closed form; without "/hits"). Ranks are exact for the similarities as computed: a
    matrix product may round equal dot products differently, so copies of an item can come out next to, not level with,
    each other. engine: "numba" or "torch" counter, same numbers; memory_mb bounds the working memory beside one copy of
    the embeddings and the class means (C, D) in float64, tile how many rows are compared at a time; distributed: share
    the work over the torch.distributed group ("expected" ties are not shared).
    """
    sides = as_sides(embeddings, labels, gallery, gallery_labels)
    rows, y = sides[:2]
    query, columns = per_query_metrics(
        rows,
        y,
        ks,
        **dict(zip(("gallery", "gallery_labels"), sides[2:])),
        ties=ties,
        engine=engine,
        memory_mb=memory_mb,
        tile=tile,
        distributed=distributed,
        progress=progress,
    )
    result = {name: float(values.mean()) for name, values in columns.items()}
    num_queries = len(y)
    if len(sides) > 2:
        # each side by itself first: in the queries' dtype a gallery may overflow, a label wrap round
        rows = torch.cat([working_precision(x) for x in (rows.detach(), sides[2].detach().to(rows.device))])
        y = torch.cat([y.long(), sides[3].to(y.device).long()])
    result |= cluster_metrics(rows, y)
    if nmi:
        result["NMI"] = clustering_nmi(rows, y, seed)
    return result | {"queries": len(query), "skipped": num_queries - len(query)}


def as_sides(
    embeddings: Rows, labels: Labels, gallery: Rows | None, gallery_labels: Labels | None
) -> tuple[Tensor, ...]:
    """Embeddings and labels as tensors, and the gallery's if there is one."""
    if (gallery is None) != (gallery_labels is None):
        raise ValueError("gallery and gallery_labels go together: give both or neither")
    if gallery is None:
        return as_rows("embeddings", embeddings), *as_labels(labels=labels)
    y, other_y = as_labels(labels=labels, gallery_labels=gallery_labels)
    return as_rows("embeddings", embeddings), y, as_rows("gallery", gallery), other_y


def read_side(name: str, embeddings: Tensor, label_name: str, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Checked rows (float32 or float64) and labels on the same device."""
    check_float_matrix(name, embeddings)
    check_labels(label_name, labels, embeddings.shape[0])
    x = exact_device(embeddings.detach())
    return working_precision(x), labels.to(x.device, torch.int64).contiguous()


def expected_by_blocks(job: Retrieval, ks: tuple[int, ...]) -> tuple[list[Tensor], list[dict[str, Tensor]]]:
    """Expected metrics from full similarity rows, as many at a time as memory allows (about 120 bytes an entry)."""
    found, columns = [], []
    gallery = unit_rows(job.gallery)
    step = max(1, job.memory // (120 * len(job.gallery)))
    parts = torch.arange(len(job.queries), device=job.queries.device).split(step)
    for query in watched(list(parts), job.progress):
        similarity = unit_rows(job.queries[query]) @ gallery.T
        relevant = job.labels[query][:, None] == job.gallery_labels[None]
        if job.same:
            itself = query[:, None] == torch.arange(len(job.gallery), device=query.device)
            similarity, relevant = similarity.masked_fill(itself, -torch.inf), relevant & ~itself
        counted = relevant.any(1)
        if bool(counted.any()):
            found.append(query[counted])
            columns.append(expected_metrics(similarity[counted], relevant[counted], ks))
    return found, columns
