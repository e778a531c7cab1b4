"""Rotated boxes as a task (LS-IoU): e = 1 − IoU, and random pairs that overlap a lot, a little or not at all."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import softplus

from labkit.base.checks import check_count
from labkit.data.samplers import generator
from labkit.metrics import rotated_iou
from labkit.surrogates.task import Task

BOX_FEATURES = 6


def box_task() -> Task:
    """Place rotated boxes (B, 5), columns cx, cy, w, h, angle in radians, judged by 1 − IoU.

    Slides, "Results on Scene Text Detection" (LS-IoU). Disjoint boxes and boxes without area have e = 1; NaN, infinite
    numbers and negative sides are a ValueError. A model's outputs (B, 5) become boxes by `as_boxes`.
    """
    return Task(lambda boxes, targets: 1 - rotated_iou(boxes, targets), predict=as_boxes)


def as_boxes(outputs: Tensor) -> Tensor:
    """Any five numbers as a box: the sides through softplus, so that they are positive."""
    return torch.cat((outputs[..., :2], softplus(outputs[..., 2:4]), outputs[..., 4:]), dim=-1)


def box_features(boxes: Tensor) -> Tensor:
    """What h should see of a box: cx, cy, w, h, cos 2θ, sin 2θ, since a box turned by π is the same box."""
    angle = 2 * boxes[..., 4:5]
    return torch.cat((boxes[..., :4], angle.cos(), angle.sin()), dim=-1)


def random_box_pairs(batch: int, *, seed: int = 0) -> Callable[[int], tuple[Tensor, Tensor]]:
    """The random data generator R for boxes: from a step to pairs (z_r, y_r), each (batch, 5).

    y_r has its centre in the unit square, sides 0.1…0.6 and any angle; z_r is it, moved, scaled and turned by amounts
    from nothing to far away. Ours, as `random_word_pairs` is.
    """
    check_count("batch", batch)

    def pairs(step: int) -> tuple[Tensor, Tensor]:
        rng = generator(seed, step, 13)
        draw, change = torch.rand(batch, 5, generator=rng), torch.randn(batch, 5, generator=rng)
        y = torch.cat((draw[:, :2], 0.1 + 0.5 * draw[:, 2:4], math.pi * draw[:, 4:]), dim=1)
        change = change * torch.rand(batch, 1, generator=rng).square()
        sides = y[:, 2:4] * change[:, 2:4].mul(0.5).exp()
        z = torch.cat((y[:, :2] + 0.5 * change[:, :2], sides, y[:, 4:] + change[:, 4:]), dim=1)
        return z, y

    return pairs
