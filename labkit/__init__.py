"""labkit: train on what you measure. Losses and metrics for what is not differentiable, and lessons about them."""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# the short names that lessons use, looked up only then: `import labkit` itself stays light
SHORT = {
    "check": ("labkit.assignments.check", None),
    "claims": ("labkit.lessons.experiment", "claims"),
    "experiment": ("labkit.lessons.experiment", "experiment"),
    "explore": ("labkit.explorers.sliders", "explore"),
    "explore_embeddings": ("labkit.explorers.embedding", "explore_embeddings"),
    "fast": ("labkit.base.mode", "fast"),
    "papers": ("labkit.data.papers", None),
    "predict": ("labkit.lessons.predict", "predict"),
    "progress": ("labkit.lessons.progress", "progress"),
    "show": ("labkit.lessons.show", "show"),
    "start": ("labkit.lessons.start", "start"),
    "style": ("labkit.figures.style", None),
}


def __getattr__(name: str) -> Any:
    """A short name of a lesson."""
    if name not in SHORT:
        raise AttributeError(f"module 'labkit' has no attribute {name!r}")
    module, attribute = SHORT[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)
