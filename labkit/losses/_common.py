"""Small pieces every loss uses: safe normalisation, working precision, reduction, log-sum-exp with an empty set."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import torch
from torch import Tensor

from labkit._validate import HALF_DTYPES, check_choice, has_values

REDUCTIONS = ("mean", "sum", "none")
CONVENTIONS = ("paper", "official")


def working_precision(x: Tensor) -> Tensor:
    """fp16 and bf16 are computed in fp32; fp32 and fp64 stay what they are."""
    return x.float() if x.dtype in HALF_DTYPES else x


@contextmanager
def autocast_off(x: Tensor) -> Iterator[None]:
    """Ranks and log-sums need full precision: no autocast, and on a GPU no TF32, around a loss or an evaluation."""
    kind = x.device.type
    precision = torch.get_float32_matmul_precision()
    if kind == "cuda" and precision != "highest":
        torch.set_float32_matmul_precision("highest")
    try:
        active = torch.amp.is_autocast_available(kind) and torch.is_autocast_enabled(kind)
        with torch.autocast(kind, enabled=False) if active else nullcontext():
            yield
    finally:
        if kind == "cuda" and precision != "highest":
            torch.set_float32_matmul_precision(precision)


def unit_rows(x: Tensor) -> Tensor:
    """x / ‖x‖ for each row; a zero row stays zero and its gradient stays finite (a clamp at 1e-12 would give 1e12)."""
    norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    if has_values(x) and bool(((norm < 1e-15) | (norm > 1e15)).any()):
        # squares of such rows may leave the range of numbers: bring every row near 1 first
        largest = x.detach().abs().amax(-1, keepdim=True)
        x = x / torch.where(largest >= torch.finfo(x.dtype).tiny, largest, torch.ones_like(largest))
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / torch.where(norm > 0, norm, torch.ones_like(norm))


def safe_sqrt(x: Tensor) -> Tensor:
    """√x for x ≥ 0 with gradient 0 at x = 0, where the true one is infinite."""
    positive = x > 0
    return torch.where(positive, torch.where(positive, x, torch.ones_like(x)).sqrt(), torch.zeros_like(x))


def distances(x: Tensor, y: Tensor) -> Tensor:
    """Euclidean distances between rows, (n, m), true to fp32; 0 with gradient 0 where rows coincide up to rounding.

    ‖x‖² + ‖y‖² − 2x·y cancels for close rows: in fp32 a distance below 3e-4 would be noise, so the sums are in fp64.
    """
    a, b = (x, y) if x.device.type == "mps" else (x.double(), y.double())  # Apple GPUs have no fp64
    scale = a.square().sum(-1)[:, None] + b.square().sum(-1)[None]
    squared = scale - 2 * a @ b.T
    rounding = 2 * x.shape[-1] ** 0.5 * torch.finfo(a.dtype).eps * scale  # several times the largest error measured
    return safe_sqrt(torch.where(squared > rounding, squared, 0)).to(x.dtype)


def log1p_sum_exp(x: Tensor, mask: Tensor, dim: int) -> Tensor:
    """log(1 + Σ exp x) over the entries where mask is true: softplus of a log-sum-exp, 0 for an empty set."""
    masked = torch.where(mask, x, torch.full_like(x, -torch.inf))
    zero = torch.zeros_like(masked.select(dim, 0)).unsqueeze(dim)
    return torch.logsumexp(torch.cat([masked, zero], dim), dim)


def refuse_second_derivative(way_out: str = "") -> None:
    """Call in a hand-written backward: differentiated again, its result would be silently wrong.

    (`once_differentiable` stays silent when the upstream gradient is a constant, and under `torch.autograd.grad`.)
    """
    if torch.is_grad_enabled():
        raise RuntimeError(f"this loss has no second derivative (create_graph=True){way_out}")


def check_reduction(reduction: str) -> None:
    """Raise ValueError for an unknown reduction."""
    check_choice("reduction", reduction, REDUCTIONS)


def reduce(values: Tensor, reduction: str, count: Tensor | int | None = None) -> Tensor:
    """Mean (over `count` entries, all by default), sum, or the values as they are."""
    if reduction == "none":
        return values
    if reduction == "sum":
        return values.sum()
    return values.sum() / (values.numel() if count is None else count)
