"""The run directory: find, read, compare and move runs.

Names are looked up when first used, so that importing one part does not load what the others need.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.runs.compare import curves, paired_difference, table, to_csv, to_latex
    from labkit.runs.contents import read_embeddings, read_frames, read_projection, read_samples
    from labkit.runs.read import default_roots, find_runs, open_run, read_run
    from labkit.runs.run import Run
    from labkit.runs.schema import RunError
    from labkit.runs.transfer import export_runs, import_runs
    from labkit.runs.variant import Variant

PARTS = {
    "compare": ("curves", "paired_difference", "table", "to_csv", "to_latex"),
    "contents": ("read_embeddings", "read_frames", "read_projection", "read_samples"),
    "read": ("Run", "default_roots", "find_runs", "open_run", "read_run"),
    "schema": ("RunError",),
    "variant": ("Variant",),
    "transfer": ("export_runs", "import_runs"),
}
__all__ = [
    "Run",
    "RunError",
    "Variant",
    "curves",
    "default_roots",
    "export_runs",
    "find_runs",
    "import_runs",
    "open_run",
    "paired_difference",
    "read_embeddings",
    "read_frames",
    "read_projection",
    "read_run",
    "read_samples",
    "table",
    "to_csv",
    "to_latex",
]


def __getattr__(name: str) -> Any:
    """A name of `__all__`, from the part that defines it."""
    for part, names in PARTS.items():
        if name in names:
            return getattr(import_module(f"labkit.runs.{part}"), name)
    raise AttributeError(f"module 'labkit.runs' has no attribute {name!r}")
