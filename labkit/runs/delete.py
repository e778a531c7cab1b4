"""Deleting runs: out of sight in one step, so that nobody reads half a run."""

from __future__ import annotations

import os
import shutil

from labkit.runs.run import Run
from labkit.runs.schema import PACK, RunError


def delete_run(run: Run) -> None:
    """Delete a run's folder with all that it holds; one that is being written is refused."""
    if run.status == "running":
        raise RunError(f"run {run.id!r} is running (process {run.record.pid}): stop it first")
    if run.path.name == PACK:
        raise RunError(f"{run.path} is a pack of runs, not a run: it is not deleted here")
    if run.texts is not None:
        raise RunError(
            f"run {run.id!r} is one of many in {run.path.parent / PACK}, "
            "which labkit does not change: it cannot be deleted by itself"
        )
    hidden = run.path.with_name(f".deleted-{os.getpid()}-{run.id[:100]}")
    os.rename(run.path, hidden)
    shutil.rmtree(hidden)
