"""The film of a run that may still be learning: from its frames, or up to its last checkpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from labkit.base.errors import LabkitError
from labkit.data import SMALL
from labkit.runs.contents import read_arrays
from labkit.runs.film import Film, film_of, read_film
from labkit.runs.record import RunSettings
from labkit.runs.run import Run
from labkit.runs.samples import samples_frame
from labkit.runs.schema import RunError
from labkit.training.config import config_of
from labkit.training.inputs import load_data
from labkit.training.recording import recorded_points

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

CHECKPOINT = "checkpoints/last.safetensors"


def source(run: Run) -> str | None:
    """The file that holds the frames at this moment, None if there is none."""
    names = ("frames.safetensors", CHECKPOINT) if run.has("samples.parquet") else (CHECKPOINT,)
    return next((name for name in names if run.has(name)), None)


def read_moving(run: Run) -> Film | None:
    """All frames there are; None for a run that takes none, or whose samples are not known before it has finished."""
    found = source(run)
    if found != CHECKPOINT:
        return read_film(run) if found else None
    frames, steps = frames_of_checkpoint(run)
    samples = samples_of_data(run.record.config) if steps else None
    return None if samples is None else film_of(str(run), frames, steps, samples)


def frames_of_checkpoint(run: Run) -> tuple[NDArray[np.float32], tuple[int, ...]]:
    """Frames and steps up to the last checkpoint, empty if it has none."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(run.file(CHECKPOINT), framework="pt") as file:
            if "frames" not in file.keys():  # noqa: SIM118 (it is no dictionary)
                return np.zeros((0, 0, 0), np.float32), ()
            steps = tuple(int(step) for step in json.loads(file.metadata()["progress"])["frame_steps"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"run {run.id}: its checkpoint cannot be read: {error}") from None
    return read_arrays(run, CHECKPOINT, {"frames": 3})["frames"].astype(np.float32), steps


def samples_of_data(settings: RunSettings) -> pd.DataFrame | None:
    """The samples that a run will write, drawn from the data set again; only for data small enough to read at once."""
    try:
        config = config_of(settings)
        if config.data.get("name") not in SMALL:
            return None
        shown = recorded_points(config, load_data(config))
    except (LabkitError, TypeError, ValueError, KeyError, RuntimeError, OSError):  # foreign settings, or data gone
        return None
    return samples_frame(shown)
