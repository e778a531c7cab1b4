"""The recorded toy runs while they learn: where training and unseen classes are on the circle, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit.base.paths import RECORDED
from labkit.figures import style
from labkit.figures.toy import class_variance, nearest_is_same, on_circles
from labkit.runs import open_run, read_frames, read_samples

if TYPE_CHECKING:
    import plotly.graph_objects as go

NAMES = {
    "pnp-o": "PNP-O",
    "pnp-iu": "PNP-I_u",
    "pnp-ib": "PNP-I_b",
    "pnp-ds": "PNP-D_s",
    "pnp-dq": "PNP-D_q",
    "smooth-ap": "Smooth-AP",
    "recall-at-k": "RS@k",
    "contrastive": "contrastive",
    "triplet": "triplet",
}
MIDDLE = "inside: training<br>outside: unseen"


@dataclass(frozen=True)
class Frames:
    """Embeddings (F, n, 2) at steps (F,) of training points (is_test False) and of unseen test points."""

    embeddings: Tensor
    steps: tuple[int, ...]
    labels: Tensor
    is_test: Tensor

    def part(self, frame: int, test: bool) -> tuple[Tensor, Tensor]:
        """Embeddings and labels of one split in one frame."""
        own = self.is_test if test else ~self.is_test
        return self.embeddings[frame][own], self.labels[own]

    def recall(self, frame: int) -> float:
        """R@1 of the unseen classes, among the recorded points."""
        return nearest_is_same(*self.part(frame, test=True))

    def variance(self, frame: int) -> float:
        """Mean circular variance of the training classes."""
        return class_variance(*self.part(frame, test=False))


@lru_cache(maxsize=64)
def frames_of(loss: str, layout: str) -> Frames:
    """The frames of a recorded toy run, seed 0."""
    run = open_run(f"toy_{loss}_layout={layout}_s0", RECORDED)
    embeddings, steps = read_frames(run)
    samples = read_samples(run)
    labels = torch.as_tensor(samples["label"].to_numpy().copy())
    is_test = torch.as_tensor((samples["split"] == "test").to_numpy().copy())
    return Frames(embeddings, tuple(steps.tolist()), labels, is_test)


def frame_figure(loss: str, layout: str, step: int) -> go.Figure:
    """The last frame at or before a step: training classes on the inner circle, unseen ones on the outer."""
    found = frames_of(loss, layout)
    frame = max(number for number, at in enumerate(found.steps) if at <= step)
    title = (
        f"{NAMES[loss]}, {layout}, step {found.steps[frame]}: R@1 of unseen classes {100 * found.recall(frame):.0f} %"
    )
    return on_circles(found.part(frame, test=False), found.part(frame, test=True), MIDDLE, title)


def during_training(of: str, losses: Sequence[str], layout: str) -> go.Figure:
    """The training classes' circular variance ("variance") or R@1 of the unseen classes ("recall") over the steps."""
    import plotly.graph_objects as go

    traces = []
    for number, loss in enumerate(losses):
        found = frames_of(loss, layout)
        value = [found.variance(i) if of == "variance" else 100 * found.recall(i) for i in range(len(found.steps))]
        traces.append(
            go.Scatter(x=found.steps, y=[round(v, 3) for v in value], name=NAMES[loss], line=style.line(number))
        )
    y = "circular variance of a training class" if of == "variance" else "R@1 of unseen classes (%)"
    fig = style.figure(*traces, x="training step", y=y, title=layout)
    fig.update_yaxes(range=[0, 1.05 if of == "variance" else 105])
    return fig
