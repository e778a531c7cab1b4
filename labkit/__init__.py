"""labkit: train on what you measure. Losses and metrics for what is not differentiable, and lessons about them."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# the short names that lessons use, looked up only then: `import labkit` itself stays light
SHORT = {
    "check": ("labkit.course.check", None),
    "claims": ("labkit.course.experiment", "claims"),
    "experiment": ("labkit.course.experiment", "experiment"),
    "explore": ("labkit.explorers.explorer", "explore"),
    "explore_embeddings": ("labkit.explorers.embedding", "explore_embeddings"),
    "fast": ("labkit.course.mode", "fast"),
    "predict": ("labkit.course.predict", "predict"),
    "progress": ("labkit.course.progress", "progress"),
    "show": ("labkit.course.show", "show"),
    "start": ("labkit.course.start", "start"),
    "style": ("labkit.figures.style", None),
}


def __getattr__(name: str) -> Any:
    """A short name of a lesson."""
    if name not in SHORT:
        raise AttributeError(f"module 'labkit' has no attribute {name!r}")
    module, attribute = SHORT[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)
