"""Lesson 10, learned surrogates: e jumps where ê slides, a surrogate that learns, boxes that leave each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch

from labkit.data.word_images import LETTERS
from labkit.figures import style
from labkit.metrics import edit_distances, rotated_iou
from labkit.surrogates import Surrogate, decode_words, encode_words, soft_edit_distance
from labkit.surrogates.pocket import SLOTS, Learning, box_surrogate, word_surrogate
from labkit.surrogates.words import END

if TYPE_CHECKING:
    import plotly.graph_objects as go

TARGET = (0.5, 0.5, 0.5, 0.3, 0.0)  # cx, cy, w, h, angle
TURNED = 0.6  # of the box that is moved, in radians


def one_slot(read: str, truth: str, slot: int, temperature: float = 0.1) -> go.Figure:
    """e, ê and the soft edit distance while one slot goes over from the letter read to the true one."""
    import plotly.graph_objects as go

    share = torch.linspace(0, 1, 101)
    first, second = encode_words([read], LETTERS, SLOTS), encode_words([truth], LETTERS, SLOTS)
    z = first.repeat(len(share), 1, 1)
    z[:, slot] = (1 - share[:, None]) * first[:, slot] + share[:, None] * second[:, slot]
    y = second.expand_as(z)
    exact = edit_distances(decode_words(z, LETTERS), [truth] * len(z))
    with torch.no_grad():
        estimate = word_surrogate()(z, y).numpy()
        soft = soft_edit_distance(z, y, temperature, end=END).numpy()
    x = 100 * share.numpy()
    return style.figure(
        go.Scatter(x=x, y=exact, name="e, edit distance", line=style.line(1, shape="hv")),
        go.Scatter(x=x, y=estimate, name="ê, learned surrogate", line=style.line(0)),
        go.Scatter(x=x, y=soft, name=f"soft edit distance, T = {temperature:g}", line=style.line(2)),
        x=f"slot {slot + 1}: share of the true letter (%)",
        y="distance (edits)",
        title=f"{read} → {truth}",
    )


def predicted(learned: Learning, film: int, frame: int) -> go.Figure:
    """ê against e of the held-out pairs at one frame of a film."""
    import plotly.graph_objects as go

    exact, estimate = learned.exact.astype(float), learned.estimates[film, frame]
    aside = ((np.arange(len(exact)) * 37) % 61 / 61 - 0.5) * 0.6  # equal distances side by side
    whole = np.unique(exact)
    means = [float(estimate[exact == e].mean()) for e in whole]
    ends = [0.0, float(whole[-1])]
    dots = style.marker(0, size=5, opacity=0.6)
    fig = style.figure(
        go.Scatter(x=exact + aside, y=estimate, mode="markers", name="a pair", marker=dots),
        go.Scatter(x=whole, y=means, mode="lines+markers", name="mean", line=style.line(1), marker=style.marker(1)),
        go.Scatter(x=ends, y=ends, mode="lines", name="ê = e", line=style.line(6, dash="dot")),
        x="e, true edit distance",
        y="ê, the surrogate",
        title=f"λ = {learned.lams[film]:g}, step {learned.steps[frame]:,}",
    )
    fig.update_yaxes(range=[0, max(8.0, float(estimate.max()) + 0.5)])
    return fig


def apart(shift: Sequence[float], surrogate: Surrogate | None = None) -> dict[str, np.ndarray]:
    """A turned box that is moved to the right of its target: values, and slopes along the way home."""
    z = torch.tensor([[TARGET[0] + x, *TARGET[1:4], TURNED] for x in shift], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([TARGET], dtype=torch.float64).expand_as(z)
    exact = 1 - rotated_iou(z, y)
    estimate = (surrogate or box_surrogate()).double()(z, y)
    found = {"exact": exact.detach().numpy(), "estimate": estimate.detach().numpy()}
    for name, value in (("exact", exact), ("estimate", estimate)):
        (gradient,) = torch.autograd.grad(value.sum(), z, retain_graph=True)
        found[f"{name} slope"] = gradient[:, 0].numpy()
    return found


def leaving(what: str = "value") -> go.Figure:
    """1 − IoU and its surrogate, or the slopes of both, over how far the box has moved away."""
    import plotly.graph_objects as go

    shift = np.linspace(0.02, 1.2, 119)
    found, end = apart(shift.tolist()), "" if what == "value" else " slope"
    fig = style.figure(
        go.Scatter(x=shift, y=found[f"exact{end}"], name="1 − IoU, exact", line=style.line(0)),
        go.Scatter(x=shift, y=found[f"estimate{end}"], name="ê, learned", line=style.line(1)),
        x="distance between the centres",
        y="value" if what == "value" else "slope (above 0: pulled home)",
        title="value" if what == "value" else "slope",
    )
    fig.update_yaxes(rangemode="tozero")
    return fig


def pulled_home(surrogate: Surrogate, boxes: torch.Tensor, targets: torch.Tensor) -> np.ndarray:
    """The angle, in degrees, between each box's step down the surrogate and the way to its target's centre."""
    z = boxes.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(surrogate(z, targets).sum(), z)
    step, home = -gradient[:, :2], (targets - boxes)[:, :2]
    cosine = (step * home).sum(1) / (step.norm(dim=1) * home.norm(dim=1)).clamp(min=1e-12)
    angles: np.ndarray = np.degrees(np.arccos(np.clip(cosine.numpy(), -1, 1)))
    return angles
