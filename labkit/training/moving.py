"""Embeddings while a run learns: from its frames once it has finished, before that from its last checkpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.base.errors import LabkitError
from labkit.data import SMALL, load
from labkit.runs.contents import read_frames, read_samples, read_tensors
from labkit.runs.record import Settings
from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.training.config import config_of
from labkit.training.recording import recorded_points

CHECKPOINT = "checkpoints/last.safetensors"


@dataclass(frozen=True)
class Points:
    """Who the recorded points are: labels (n,), which are of unseen classes (n,), and those classes' names by label."""

    labels: Tensor
    is_test: Tensor
    names: dict[int, str]


@dataclass(frozen=True)
class Moving:
    """Embeddings (F, n, d) at steps (F,)."""

    frames: Tensor
    steps: tuple[int, ...]
    points: Points


def source(run: Run) -> str | None:
    """The file that holds the frames at this moment, None if there is none."""
    names = ("frames.safetensors", CHECKPOINT) if run.has("samples.parquet") else (CHECKPOINT,)
    return next((name for name in names if run.has(name)), None)


def read_moving(run: Run) -> Moving | None:
    """All frames there are; None for a run that takes none, or whose points are not known before it has finished."""
    found = source(run)
    if found is None:
        return None
    if found == CHECKPOINT:
        frames, steps = frames_of_checkpoint(run)
        points = points_of_data(run.record.config) if len(frames) else None
    else:
        frames, steps = read_frames(run)
        points = points_of_samples(run)
    if points is None:
        return None
    if len(frames) != len(steps) or frames.shape[1] != len(points.labels):
        raise RunError(f"run {run.id}: its frames do not fit its points")
    return Moving(frames, tuple(steps.tolist()), points)


def frames_of_checkpoint(run: Run) -> tuple[Tensor, Tensor]:
    """Frames and steps up to the last checkpoint, empty if it has none."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(run.file(CHECKPOINT), framework="pt") as file:
            if "frames" not in file.keys():  # noqa: SIM118 (it is no dictionary)
                return torch.zeros(0, 0, 0), torch.zeros(0, dtype=torch.long)
            steps = torch.tensor(json.loads(file.metadata()["progress"])["frame_steps"], dtype=torch.long)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise RunError(f"run {run.id}: its checkpoint cannot be read: {error}") from None
    return read_tensors(run, CHECKPOINT, {"frames": 3})["frames"].float(), steps


def points_of_samples(run: Run) -> Points:
    """The points as a finished run has written them."""
    samples = read_samples(run)
    labels = samples["label"].tolist()
    test = [split != "train" for split in samples["split"]] if "split" in samples else [True] * len(labels)
    called = samples.get("class_name", labels)
    names = {label: str(name) for label, name, unseen in zip(labels, called, test) if unseen}
    return Points(torch.tensor(labels), torch.tensor(test), names)


def points_of_data(settings: Settings) -> Points | None:
    """The points that a run will write, drawn from the data set again; only for those small enough to read at once."""
    try:
        config = config_of(settings)
        if config.data.get("name") not in SMALL:
            return None
        shown = recorded_points(config, load(**config.data))
    except (LabkitError, TypeError, ValueError, KeyError, RuntimeError, OSError):  # foreign settings, or data gone
        return None
    labels = torch.cat([part.labels for part in shown.values()])
    test = torch.cat([torch.full((len(part),), split != "train") for split, part in shown.items()])
    names = dict(enumerate(shown["test"].class_names))
    return Points(labels, test, names)
