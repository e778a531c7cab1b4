"""Ranking losses: against B×B×B implementations, per-query loops, and the floor."""

from collections.abc import Callable

import torch
from pytorch_metric_learning.losses import PNPLoss
from torch import Tensor

from benchmarks.measure import Row, exponent, extra_memory, median_times, record
from benchmarks.peers import recall_loop, similarity_floor, smooth_ap_cube
from labkit.losses import functional

DIM, PER_CLASS = 512, 4


def batch(size: int, dim: int = DIM, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Unit embeddings of `size` items, four of each class, shuffled."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randperm(size, generator=generator) // PER_CLASS
    e = torch.nn.functional.normalize(torch.randn(size, dim, generator=generator))
    return e.requires_grad_(), labels


def gradient_of(loss: Callable[[Tensor, Tensor], Tensor], e: Tensor, labels: Tensor) -> Callable[[], object]:
    return lambda: torch.autograd.grad(loss(e, labels), e)


def against_cube(quick: bool) -> list[Row]:
    """B = 384, D = 512, m = 4, PNP-Dq with the query as its own positive, as both define it."""
    size = 64 if quick else 384
    e, labels = batch(size)
    peer = PNPLoss(b=2, alpha=4, anneal=0.01, variant="Dq")
    run = {
        "labkit": gradient_of(lambda x, y: functional.pnp(x, y, alpha=4.0, convention="official"), e, labels),
        "peer": gradient_of(peer, e, labels),
    }
    memory = {name: max(extra_memory(f), 0.25) for name, f in run.items()}  # below a quarter MB is page noise
    times = median_times(run)
    detail = f"{times['labkit'] * 1e3:.1f} ms against {times['peer'] * 1e3:.0f} ms"
    used = f"{memory['labkit']:.1f} MB against {memory['peer']:.0f} MB"
    return [
        Row(
            "pnp-time",
            f"B={size}: PNP, times faster than pytorch-metric-learning",
            times["peer"] / times["labkit"],
            "×",
            100,
            True,
            detail,
        ),
        Row(
            "pnp-memory",
            f"B={size}: PNP, share of its extra memory",
            memory["labkit"] / memory["peer"],
            "",
            1 / 50,
            detail=used,
        ),
    ]


def against_loop(quick: bool) -> list[Row]:
    """B = 384, RS@k against the released code's loop over queries."""
    size = 64 if quick else 384
    e, labels = batch(size)
    run = {
        "labkit": gradient_of(lambda x, y: functional.recall_at_k(x, y, convention="official"), e, labels),
        "peer": gradient_of(recall_loop, e, labels),
    }
    times = median_times(run)
    detail = f"{times['labkit'] * 1e3:.1f} ms against {times['peer'] * 1e3:.0f} ms"
    return [
        Row(
            "rsk-loop",
            f"B={size}: RS@k, times faster than a loop over queries",
            times["peer"] / times["labkit"],
            "×",
            30,
            True,
            detail,
        )
    ]


def streamed(quick: bool) -> list[Row]:
    """B = 4096: forward and backward against autograd of E·Eᵀ."""
    size = 512 if quick else 4096
    e, labels = batch(size)
    upstream = torch.randn(size, size)
    run: dict[str, Callable[[], object]] = {"floor": lambda: similarity_floor(e, upstream)}
    for name in ("pnp", "smooth_ap", "recall_at_k"):
        loss = getattr(functional, name)
        run[name] = gradient_of(lambda x, y, loss=loss: loss(x, y, method="streamed"), e, labels)
    memory = {name: extra_memory(f) for name, f in run.items()}
    times = median_times(run)
    rows = []
    for name in list(run)[1:]:
        detail = f"{times[name] * 1e3:.0f} ms, floor {times['floor'] * 1e3:.0f} ms"
        rows += [
            Row(
                f"streamed-{name}-time",
                f"B={size}: {name}, × the floor",
                times[name] / times["floor"],
                "×",
                2.0,
                detail=detail,
            ),
            Row(f"streamed-{name}-memory", f"B={size}: {name}, extra memory", memory[name], "MB", 64),
        ]
    return rows


def simix(quick: bool) -> list[Row]:
    """SiMix: 4096 items and their virtual samples, 10240 in all."""
    size = 256 if quick else 4096
    e, labels = batch(size)
    run = gradient_of(lambda x, y: functional.recall_at_k(x, y, simix=True), e, labels)
    memory = extra_memory(run)
    seconds = median_times({"simix": run})["simix"]
    mixed = size // PER_CLASS * (PER_CLASS + PER_CLASS * (PER_CLASS - 1) // 2)
    return [
        Row(
            "simix-memory",
            f"RS@k with SiMix, {size} → {mixed}: extra memory",
            memory,
            "MB",
            150,
            detail=f"{seconds:.1f} CPU s forward and backward",
        )
    ]


def curves(quick: bool) -> dict:
    """Time and memory against B, for the plot."""
    sizes = [64, 128] if quick else [64, 128, 256, 512, 1024, 2048, 4096]
    losses = {
        "floor: E·Eᵀ": (None, 10**6),
        "labkit PNP-Dq": (lambda x, y: functional.pnp(x, y), 10**6),
        "labkit Smooth-AP": (lambda x, y: functional.smooth_ap(x, y), 10**6),
        "labkit RS@k": (lambda x, y: functional.recall_at_k(x, y), 10**6),
        "RS@k, loop over queries": (recall_loop, 1024),
        "Smooth-AP, B×B×B": (smooth_ap_cube, 256),
        "pytorch-metric-learning PNP": (PNPLoss(b=2, alpha=4, anneal=0.01, variant="Dq"), 256),
    }
    result: dict = {"sizes": sizes, "seconds": {name: [] for name in losses}, "memory": {name: [] for name in losses}}
    runs = []
    for size in sizes:
        e, labels = batch(size)
        upstream = torch.randn(size, size)
        run = {
            name: gradient_of(loss, e, labels) if loss else (lambda e=e, u=upstream: similarity_floor(e, u))
            for name, (loss, largest) in losses.items()
            if size <= largest
        }
        runs.append(run)
    record(result, runs)
    result["exponents"] = {name: exponent(sizes[: len(v)], v) for name, v in result["seconds"].items()}
    return result
