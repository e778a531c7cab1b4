"""What losses and metrics both do with tensors: check them, choose the precision, normalise rows.

A check's error names the argument. Checks that look at values are skipped on the meta device, where tensors have shapes
but no values, within torch.compile and torch.func, and where the caller says so (`unchecked`).
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar

import torch
from torch import Tensor

INTEGER_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
HALF_DTYPES = (torch.float16, torch.bfloat16)


CHECKED = ContextVar("CHECKED", default=True)


def is_traced(*tensors: Tensor) -> bool:
    """Within torch.compile or a transform of torch.func (grad, vmap), where a tensor stands for values to come."""
    # a name of torch's own, but there is no public one (tested with 2.13 and 2.15)
    return torch.compiler.is_compiling() or any(map(torch._C._functorch.is_functorch_wrapped_tensor, tensors))


def is_batched(tensor: Tensor) -> bool:
    """Within vmap: one tensor that stands for several."""
    return bool(torch._C._functorch.is_batchedtensor(tensor))


def has_values(tensor: Tensor) -> bool:
    """False on the meta device and for a tensor that is traced, where nothing can be read back."""
    return tensor.device.type != "meta" and not is_traced(tensor)


def may_check(tensor: Tensor) -> bool:
    """Whether a check may look at values: it then waits for the GPU."""
    return has_values(tensor) and CHECKED.get()


@contextmanager
def unchecked() -> Iterator[None]:
    """Within it no check looks at values of tensors."""
    token = CHECKED.set(False)
    try:
        yield
    finally:
        CHECKED.reset(token)


def check_float_matrix(name: str, value: Tensor, *, columns: int | None = None) -> None:
    """A finite floating-point matrix with at least one row (and `columns` columns, if given)."""
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
    if not value.is_floating_point():
        raise ValueError(f"{name} must have a floating-point dtype, got {value.dtype}")
    if value.dim() != 2:
        raise ValueError(f"{name} must be a matrix (rows, dimensions), got shape {tuple(value.shape)}")
    if value.shape[0] == 0 or value.shape[1] == 0:
        raise ValueError(f"{name} is empty: shape {tuple(value.shape)}")
    if columns is not None and value.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, got shape {tuple(value.shape)}")
    if may_check(value):
        # both extremes finite means all finite (NaN passes through aminmax), at a fraction of isfinite's cost
        lowest, highest = torch.aminmax(value.detach())
        if not bool(lowest.isfinite() & highest.isfinite()):
            raise ValueError(f"{name} contains NaN or infinite values")


def check_labels(name: str, labels: Tensor, length: int) -> None:
    """A vector of `length` integers."""
    if not isinstance(labels, Tensor):
        raise ValueError(f"{name} must be a torch.Tensor, got {type(labels).__name__}")
    if labels.dtype not in INTEGER_DTYPES:
        raise ValueError(f"{name} must have an integer dtype (int64, int32, int16, int8, uint8), got {labels.dtype}")
    if labels.dim() != 1:
        raise ValueError(f"{name} must be a vector, got shape {tuple(labels.shape)}")
    if labels.shape[0] != length:
        raise ValueError(f"{name} must have one entry per row: {length} expected, got {labels.shape[0]}")


def check_class_ids(name: str, labels: Tensor, num_classes: int) -> None:
    """Labels that index a table of `num_classes` rows."""
    if may_check(labels) and bool(((labels < 0) | (labels >= num_classes)).any()):
        low, high = int(labels.min()), int(labels.max())
        raise ValueError(
            f"{name} must lie in 0..{num_classes - 1} to index the {num_classes} classes, got {low}..{high}"
        )


def working_precision(x: Tensor) -> Tensor:
    """fp16 and bf16 are computed in fp32; fp32 and fp64 stay what they are."""
    return x.float() if x.dtype in HALF_DTYPES else x


@contextmanager
def autocast_off(x: Tensor) -> Iterator[None]:
    """Ranks and log-sums need full precision: no autocast, and on a GPU no TF32, around a loss or an evaluation."""
    kind = x.device.type
    if torch.compiler.is_compiling():  # what is compiled cannot change the precision of all matrix products
        with torch.autocast(kind, enabled=False):
            yield
        return
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
    if may_check(x) and bool(((norm < 1e-15) | (norm > 1e15)).any()):
        # squares of such rows may leave the range of numbers: bring every row near 1 first
        largest = x.detach().abs().amax(-1, keepdim=True)
        x = x / torch.where(largest >= torch.finfo(x.dtype).tiny, largest, torch.ones_like(largest))
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x / torch.where(norm > 0, norm, torch.ones_like(norm))
