"""The run directory: find, read, compare, move and project runs. Heavy packages load when a function needs them."""

from labkit.runs.compare import curves, paired_difference, table, to_csv, to_latex
from labkit.runs.contents import read_embeddings, read_frames, read_metrics, read_projection, read_samples
from labkit.runs.read import Run, default_roots, find_runs, open_run, read_run
from labkit.runs.schema import RunError, check_info
from labkit.runs.transfer import export_runs, import_runs

__all__ = [
    "Run",
    "RunError",
    "check_info",
    "curves",
    "default_roots",
    "export_runs",
    "find_runs",
    "import_runs",
    "open_run",
    "paired_difference",
    "read_embeddings",
    "read_frames",
    "read_metrics",
    "read_projection",
    "read_run",
    "read_samples",
    "table",
    "to_csv",
    "to_latex",
]
