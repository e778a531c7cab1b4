"""labkit: train on what you measure. Losses and metrics for what is not differentiable, and lessons about them."""

# Every Python since 2.7 must be able to read this file and __main__.py, which tells an old one what is needed.
from importlib import import_module

TYPE_CHECKING = False  # typing is not there on every Python
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

# the short names that lessons use, looked up only then: `import labkit` itself stays light
SHORT = {
    "check": ("labkit.assignments.named_checks", None),
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


def __getattr__(name):  # type: (str) -> Any
    """A short name of a lesson."""
    if name not in SHORT:
        raise AttributeError("module 'labkit' has no attribute " + repr(name))
    module, attribute = SHORT[name]
    found = import_module(module)
    return found if attribute is None else getattr(found, attribute)
