"""Exact metrics: ranking, clusters, strings, boxes and images.

The names are those of `public`, which loads torch when one is first asked for; `nearest` does without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.metrics.public import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """A public name."""
        if name == "nearest":  # a module: the import system looks for it by itself
            raise AttributeError(name)
        return getattr(import_module("labkit.metrics.public"), name)
