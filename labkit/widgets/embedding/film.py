"""The stored frames of a run: where its samples were while it learned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit.figures.frames import DRAWN, frame_figure
from labkit.runs.read import Run, read_embeddings, read_frames, read_samples
from labkit.runs.schema import RunError
from labkit.widgets.embedding.data import classes_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

DISTANCE = 2.165  # of the eye, as plotly has it


@dataclass(frozen=True)
class Film:
    """Embeddings (F, n, d) at steps (F,) with the class and the split of every sample; d is 2 or 3."""

    title: str
    frames: Tensor
    steps: tuple[int, ...]
    labels: Tensor
    classes: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def turns(self) -> bool:
        """Whether it is a sphere, which can be turned."""
        return self.frames.shape[2] == 3

    def figure(self, step: int, turn: float = 45, tilt: float = 35) -> go.Figure:
        """The last frame at or before a step, the first if there is none; turn and tilt (degrees) of a sphere."""
        number = max((k for k, at in enumerate(self.steps) if at <= step), default=0)
        when = f"step {self.steps[number]}" if len(self.steps) > 1 else "after training"
        fig = frame_figure(self.frames[number], self.labels, self.classes, self.parts, when)
        if self.turns:
            across, up = math.radians(turn), math.radians(tilt)
            eye = {"x": math.cos(up) * math.cos(across), "y": math.cos(up) * math.sin(across), "z": math.sin(up)}
            fig.update_layout(scene_camera={"eye": {axis: DISTANCE * value for axis, value in eye.items()}})
        return fig


def read_film(run: Run) -> Film | None:
    """The frames of a run; without frames its last embeddings. None if they have more than three dimensions."""
    if run.has("frames.safetensors"):
        frames, steps = read_frames(run)
    else:
        frames, steps = read_embeddings(run)[None], torch.zeros(1, dtype=torch.long)
    if frames.shape[2] not in DRAWN:
        return None
    samples = read_samples(run)
    if not frames.shape[1] == len(samples) > 0 or not len(steps):
        raise RunError(f"run {run.id}: frames of {frames.shape[1]} points but {len(samples)} samples")
    if not frames.isfinite().all():
        raise RunError(f"run {run.id}: the frames hold NaN or infinite values")
    labels, classes = classes_of(samples)
    parts = tuple(samples["split"].astype(str)) if "split" in samples else ("all",) * len(samples)
    return Film(run.id, frames, tuple(steps.tolist()), torch.from_numpy(labels).long(), classes, parts)
