"""Proxy losses: 1000 classes, B = 1024, D = 512, against pytorch-metric-learning and the full matrix of Eq. 3."""

import torch
from pytorch_metric_learning.losses import ProxyAnchorLoss, SoftTripleLoss

from benchmarks.measure import Row, extra_memory, median_times
from benchmarks.peers import full_matrix_regularizer
from labkit.losses import ProxyAnchor, SoftTriple
from labkit.losses.functional import proxy_regularizer


def step(module: torch.nn.Module, e: torch.Tensor, labels: torch.Tensor):
    """Gradients of embeddings and proxies."""
    parameters = [e, *module.parameters()]
    return lambda: torch.autograd.grad(module(e, labels), parameters)


def against_library(quick: bool) -> list[Row]:
    classes, size, dim = (50, 64, 32) if quick else (1000, 1024, 512)
    torch.manual_seed(0)
    e, labels = torch.randn(size, dim, requires_grad=True), torch.randint(0, classes, (size,))
    pairs = {
        "soft-triple": (SoftTriple(classes, dim, tau=0.0), SoftTripleLoss(classes, dim), 1.0),
        "proxy-anchor": (ProxyAnchor(classes, dim), ProxyAnchorLoss(classes, dim), 0.6),
    }
    rows = []
    for name, (own, peer, target) in pairs.items():
        times = median_times({"labkit": step(own, e, labels), "peer": step(peer, e, labels)}, repeats=9)
        detail = f"{times['labkit'] * 1e3:.0f} ms against {times['peer'] * 1e3:.0f} ms"
        what = f"{name}, {classes} classes, B={size}: × pytorch-metric-learning's time"
        rows.append(Row(name, what, times["labkit"] / times["peer"], "×", target, detail=detail))
    return rows


def regularizer(quick: bool) -> list[Row]:
    classes, centers, dim = (50, 4, 32) if quick else (1000, 10, 512)
    torch.manual_seed(0)
    w = torch.nn.functional.normalize(torch.randn(classes, centers, dim), dim=-1).requires_grad_()
    run = {
        "labkit": lambda: torch.autograd.grad(proxy_regularizer(w), w),
        "peer": lambda: torch.autograd.grad(full_matrix_regularizer(w), w),
    }
    memory = f"{extra_memory(run['labkit']):.0f} MB against {extra_memory(run['peer']):.0f} MB"
    times = median_times(run)
    detail = f"{times['labkit'] * 1e3:.1f} ms against {times['peer'] * 1e3:.0f} ms; {memory}"
    return [
        Row(
            "regularizer",
            f"Eq. 3, C={classes}, K={centers}: times faster than the (CK)² matrix",
            times["peer"] / times["labkit"],
            "×",
            20,
            True,
            detail,
        )
    ]
