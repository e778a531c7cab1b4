"""Training on the sphere: three-dimensional embeddings of Fashion-MNIST, step by step, of recorded runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit.base.mode import mode
from labkit.base.paths import RECORDED
from labkit.explorers.explorer import Control, Explorer, explore
from labkit.figures.sphere import sphere
from labkit.runs import open_run, read_frames, read_samples

if TYPE_CHECKING:
    import plotly.graph_objects as go

LOSSES = {
    "softmax": "softmax_label_smoothing={}",
    "softmax + SGSL": "sgsl_label_smoothing={}",
    "unit vectors, scale 16": "norm-softmax_label_smoothing={}",
    "unit vectors, scale 1": "norm-softmax_label_smoothing={}_scale=1.0",
}
SMOOTHING = ("0.0", "0.1")
IN_BOOK = 30  # points a class; a page holds all figures
Film = tuple[Tensor, list[int], Tensor, tuple[str, ...]]


@cache
def film(loss: str, smoothing: str) -> Film:
    """Frames (F, n, 3), their steps, labels (n,) and class names of the first seed's recorded run."""
    run = open_run(f"fashion-mnist-3d_{LOSSES[loss].format(smoothing)}_s0", RECORDED)
    frames, steps = read_frames(run)
    samples = read_samples(run)
    labels = torch.as_tensor(samples["label"].to_numpy().copy())
    by_label = dict(zip(samples["label"], samples["class_name"]))
    return frames, steps.tolist(), labels, tuple(by_label[label] for label in sorted(by_label))


def draw(loss: str, smoothing: str, step: int) -> go.Figure:
    """The sphere at one step of one run."""
    frames, steps, labels, names = film(loss, smoothing)
    per_class = IN_BOOK if mode() == "book" else None
    return sphere(frames[steps.index(step)], labels, names, per_class=per_class, title=f"{loss}, step {step}")


def explore_sphere(loss: str = "softmax + SGSL", smoothing: str = "0.0") -> Explorer | None:
    """Choose a loss, play its training, turn the sphere; beneath, the start, two steps between and the end."""
    steps = film(loss, smoothing)[1]
    chosen = (steps[0], steps[4], steps[11], steps[-1])
    if mode() == "book":
        steps = [*steps[:-1:2], steps[-1]]  # every second, the first and the last among them
    controls = [
        Control("loss", "loss", tuple(LOSSES), loss, menu=True),
        Control("smoothing", "label smoothing", SMOOTHING, smoothing, menu=True),
        Control("step", "step", tuple(steps), steps[-1], play=True),
    ]
    count = 10 * IN_BOOK if mode() == "book" else len(film(loss, smoothing)[2])
    alt = (
        f"{count} test images of Fashion-MNIST as points on the unit sphere while {loss} trains (label smoothing "
        f"{smoothing}, seed 0), at the steps {', '.join(map(str, chosen))}. At first all lie at one spot; they spread "
        "over the sphere, and the classes draw together."
    )
    return explore(draw, controls, [{"step": step} for step in chosen], alt)
