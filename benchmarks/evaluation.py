"""Evaluation: every ranking metric, CSC, intra and inter, against one full tiled matrix product."""

import faiss
import torch
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
from torch import Tensor
from torchmetrics.retrieval import RetrievalMAP

from benchmarks.measure import Row, exponent, extra_memory, median_times, record
from benchmarks.peers import tiled_product
from labkit.metrics import evaluate

DIM = 512


def items(count: int, classes: int, spread: float | None, dim: int = DIM) -> tuple[Tensor, Tensor]:
    """Unit embeddings: classes round random centres (spread = noise over distance), or None for pure noise."""
    generator = torch.Generator().manual_seed(0)
    labels = (torch.arange(count) % classes)[torch.randperm(count, generator=generator)]
    e = torch.randn(count, dim, generator=generator)
    if spread is not None:
        e.mul_(spread).add_(torch.randn(classes, dim, generator=generator)[labels])
    return e.div_(torch.linalg.vector_norm(e, dim=1, keepdim=True)), labels


def compare(name: str, what: str, e: Tensor, labels: Tensor, target: float, repeats: int = 5) -> Row:
    run = {"labkit": lambda: evaluate(e, labels, progress=False), "floor": lambda: tiled_product(e)}
    times = median_times(run, repeats)
    detail = f"{times['labkit']:.1f} CPU s, product {times['floor']:.1f} s"
    return Row(name, what, times["labkit"] / times["floor"], "×", target, detail=detail)


def large(quick: bool) -> list[Row]:
    """The size of SOP's test set."""
    count, classes = (2000, 400) if quick else (60_502, 11_316)
    e, labels = items(count, classes, 1.0)
    memory = extra_memory(lambda: evaluate(e, labels, progress=False))
    what = f"evaluate, N={count:,}, {classes:,} classes"
    return [
        compare("evaluate-sop", f"{what}: × one product", e, labels, 1.1),
        Row("evaluate-sop-memory", f"{what}: extra memory", memory, "MB", 300),
    ]


def medium(quick: bool) -> list[Row]:
    """The size of Cars196's test set, with trained-like and with random embeddings."""
    count, classes = (1000, 20) if quick else (8131, 98)
    rows = []
    for kind, spread in (("trained-like", 1.0), ("random", None)):
        e, labels = items(count, classes, spread)
        what = f"evaluate, N={count:,}, {classes} classes, {kind}: × one product"
        rows.append(compare(f"evaluate-cars-{kind}", what, e, labels, 2.0, repeats=7))
    return rows


def curves(quick: bool) -> dict:
    """Time and memory against N, for the plot."""
    sizes = [500, 1000] if quick else [1000, 2000, 4000, 8000, 16_000]
    names = [
        "floor: N×N product",
        "labkit evaluate, all metrics",
        "faiss, 1001 neighbours",
        "pytorch-metric-learning",
        "torchmetrics, MAP alone",
    ]
    largest = dict(zip(names, (10**6, 10**6, 10**6, 8000, 2000)))
    result: dict = {"sizes": sizes, "seconds": {name: [] for name in names}, "memory": {name: [] for name in names}}
    runs = []
    for size in sizes:
        e, labels = items(size, max(2, size // 5), 1.0)
        array = e.numpy()
        calculator = AccuracyCalculator(
            include=("precision_at_1", "r_precision", "mean_average_precision_at_r", "mean_reciprocal_rank"),
            k="max_bin_count",
        )
        run = {
            names[0]: lambda e=e: tiled_product(e),
            names[1]: lambda e=e, labels=labels: evaluate(e, labels, progress=False),
            names[2]: lambda x=array: neighbours(x),
            names[3]: lambda c=calculator, e=e, labels=labels: c.get_accuracy(e, labels, e, labels, True),
            names[4]: lambda e=e, labels=labels: mean_average_precision(e, labels),
        }
        run = {name: f for name, f in run.items() if size <= largest[name]}
        runs.append(run)
    record(result, runs)
    result["exponents"] = {name: exponent(sizes[: len(v)], v) for name, v in result["seconds"].items()}
    return result


def mean_average_precision(e: Tensor, labels: Tensor) -> Tensor:
    """torchmetrics takes one flat list of all (query, item) pairs, and drops those with a score of 0 or below."""
    query = torch.arange(len(e)).repeat_interleave(len(e))
    others = query != torch.arange(len(e)).repeat(len(e))
    relevant = (labels[:, None] == labels).flatten()
    return RetrievalMAP()((e @ e.T + 1).flatten()[others], relevant[others], query[others])


def neighbours(x) -> None:
    """The first 1001 neighbours of every item: enough for R@1000, and for nothing else."""
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(x.shape[1])
    index.add(x)
    index.search(x, min(1001, len(x)))
