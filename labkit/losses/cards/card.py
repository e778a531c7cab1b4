"""The card of a loss: what the dashboard, the lessons and the docs show, and how the command line builds it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn


@dataclass(frozen=True)
class Card:
    """One loss. sources: where an option's default comes from; released: what the released code does differently."""

    name: str
    title: str
    family: str
    latex: str
    paper: str
    equation: str
    errata: tuple[str, ...]
    sources: dict[str, str]
    factory: Callable[..., nn.Module]
    released: str = ""

    @property
    def options(self) -> dict[str, inspect.Parameter]:
        """What the factory takes, with defaults."""
        return dict(inspect.signature(self.factory).parameters)

    @property
    def defaults(self) -> dict[str, tuple[Any, str]]:
        """Option -> (default, where it comes from)."""
        return {name: (self.options[name].default, source) for name, source in self.sources.items()}

    @property
    def needs_classes(self) -> bool:
        """Whether it learns vectors of classes, whose number and dimension it must know."""
        return {"num_classes", "dim"} <= self.options.keys()

    def build(self, num_classes: int | None = None, dim: int | None = None, **options: Any) -> nn.Module:
        """The Module, with options over the defaults; num_classes and dim are needed where the loss has parameters."""
        if not self.needs_classes:
            return self.factory(**options)
        if num_classes is None or dim is None:
            raise ValueError(f"num_classes and dim are needed to build {self.name}: it learns a vector for each class")
        return self.factory(num_classes, dim, **options)
