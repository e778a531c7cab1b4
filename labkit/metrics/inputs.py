"""What people have at hand, as tensors: numpy arrays and lists as rows, numbers, truth values or names as labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

Rows = Tensor | np.ndarray | Sequence[Sequence[float]]
Labels = Tensor | np.ndarray | Sequence[int] | Sequence[bool] | Sequence[str]


def as_rows(name: str, rows: Any) -> Tensor:
    """A matrix as a tensor."""
    if isinstance(rows, Tensor):
        return rows
    array = as_array(name, rows, "a matrix of numbers")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be a matrix of numbers, got {array.dtype}")
    return torch.from_numpy(np.ascontiguousarray(array))


def as_labels(**sides: Any) -> list[Tensor]:
    """Labels of one side, or of several that belong together: a name has the same number in all of them."""
    arrays = {
        name: labels if isinstance(labels, Tensor) else label_array(name, labels) for name, labels in sides.items()
    }
    named = [name for name, labels in arrays.items() if isinstance(labels, np.ndarray) and labels.dtype.kind in "US"]
    if named and len(named) < len(arrays):
        raise ValueError(f"{' and '.join(arrays)} must both be names, or both numbers")
    if named:
        numbers = np.unique(np.concatenate([arrays[name] for name in named]), return_inverse=True)[1].reshape(-1)
        parts = np.split(numbers, np.cumsum([len(arrays[name]) for name in named])[:-1])
        arrays = dict(zip(named, parts))
    tensors = [x if isinstance(x, Tensor) else torch.from_numpy(np.ascontiguousarray(x)) for x in arrays.values()]
    return [x.long() if x.dtype == torch.bool else x for x in tensors]


def label_array(name: str, labels: Any) -> np.ndarray:
    """Labels as an array of whole numbers, truth values or names."""
    array = as_array(name, labels, "a vector of whole numbers or names")
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in array.flat):
        array = array.astype(str)
    if array.dtype.kind == "u":
        array = array.astype(np.int64)
    if array.dtype.kind not in "ibUS":
        raise ValueError(f"{name} must be whole numbers or names, got {array.dtype}")
    if array.ndim != 1:
        raise ValueError(f"{name} must be a vector, got shape {array.shape}")
    return array


def as_array(name: str, values: Any, what: str) -> np.ndarray:
    """Anything that numpy reads as an array, without objects in it being called."""
    if values is None or isinstance(values, str | bytes | dict | set):
        raise ValueError(f"{name} must be {what}, got {type(values).__name__}")
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {what}; its rows are of different lengths") from None
