"""Data sets by name: `load("omniglot")` gives its splits. Loaders are imported when asked for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.data.dataset import Dataset, Splits

__all__ = ["NAMES", "Dataset", "Splits", "load"]

SMALL = ("toy", "fashion-mnist", "omniglot", "emoji", "icons")
BENCHMARKS = ("cub", "cars196", "sop", "in-shop", "vehicle-id", "inaturalist")
NAMES = SMALL + BENCHMARKS


def load(name: str, **options: Any) -> Splits:
    """The splits of a data set of `NAMES`, with the options of its loader."""
    from labkit.base.checks import check_choice

    check_choice("name", name, NAMES)
    if name in BENCHMARKS:
        benchmark: Callable[..., Splits] = import_module("labkit.data.benchmarks").load
        return benchmark(name, **options)
    module = name.replace("-", "_")
    loader: Callable[..., Splits] = getattr(import_module(f"labkit.data.{module}"), module)
    known = tuple(inspect.signature(loader).parameters)
    for option in options:
        if option not in known:
            raise ValueError(f"{name} has no option {option!r}; its options are {', '.join(known)}")
    return loader(**options)


def __getattr__(name: str) -> Any:
    """Dataset and Splits, which need torch, when they are asked for: who only looks at pictures waits for neither."""
    if name in ("Dataset", "Splits"):
        return getattr(import_module("labkit.data.dataset"), name)
    raise AttributeError(f"module 'labkit.data' has no attribute {name!r}")
