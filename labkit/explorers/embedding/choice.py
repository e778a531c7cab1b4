"""Which runs a page of the explorer can offer, and which of them belong side by side."""

from __future__ import annotations

from labkit.runs.run import Run
from labkit.runs.schema import PROJECTIONS


def projections_of(run: Run) -> list[str]:
    """The projections that can be shown: those whose points have samples and embeddings."""
    whole = run.has("embeddings.safetensors") and run.has("samples.parquet")
    return [name for name in PROJECTIONS if whole and run.has(f"projections/{name}.parquet")]


def same_samples(run: Run, other: Run) -> bool:
    """Whether the test samples of two runs are the same; merging classes changes those of training only."""
    if not run.data_name or run.data_name != other.data_name:
        return False
    mine, its = run.record.config.data, other.record.config.data
    merged = ("merge" in mine or "merge" in its) and mine | {"merge": 0} == its | {"merge": 0}
    return run.record.data.sha256 == other.record.data.sha256 or merged
