"""Checks of user input, shared by losses and metrics: each error names the argument and says what was wrong.

Checks that look at values are skipped on the meta device, where tensors have shapes but no values.
"""

import math
from collections.abc import Iterable
from numbers import Real

import torch
from torch import Tensor

INTEGER_DTYPES = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
HALF_DTYPES = (torch.float16, torch.bfloat16)


def has_values(tensor: Tensor) -> bool:
    """False on the meta device, where nothing can be read back."""
    return tensor.device.type != "meta"


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
    if has_values(value):
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
    if has_values(labels) and bool(((labels < 0) | (labels >= num_classes)).any()):
        low, high = int(labels.min()), int(labels.max())
        raise ValueError(
            f"{name} must lie in 0..{num_classes - 1} to index the {num_classes} classes, got {low}..{high}"
        )


def check_positive(name: str, value: float) -> None:
    """A finite number above zero."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a finite number above 0, got {value!r}")


def check_not_negative(name: str, value: float) -> None:
    """A finite number, zero or above."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a finite number, 0 or above, got {value!r}")


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """One of the named choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_ks(name: str, ks: Iterable[int]) -> tuple[int, ...]:
    """A non-empty sequence of whole numbers, 1 or above."""
    try:
        values = tuple(ks)
        wrong = any(isinstance(k, bool) or int(k) != k or k < 1 for k in values)
    except (TypeError, ValueError, OverflowError):  # not a sequence; text, None, NaN or infinity in it
        raise ValueError(f"{name} must be a sequence of whole numbers, got {ks!r}") from None
    if not values or wrong:
        raise ValueError(f"{name} must hold at least one whole number, each 1 or above; got {values!r}")
    return tuple(int(k) for k in values)
