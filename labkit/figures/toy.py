"""The 2-D toy of PNP Fig. 6: its points, a network trained on them in under a second, and embeddings on the circle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from labkit.data import load
from labkit.data.samplers import BalancedBatches, batches_from
from labkit.data.toy import CLASSES
from labkit.figures import style
from labkit.metrics.nearest import recall_at_1, unit_rows
from labkit.models import build

if TYPE_CHECKING:
    import plotly.graph_objects as go

PER_CLASS = 16  # in a batch, as in the preset "toy"
STEPS, RATE = 150, 0.01  # a quarter of the preset's steps, at twice its learning rate
SHOWN = 18  # points of a class in a picture
INNER = 0.6  # radius of the inner of two circles

Ring = tuple[Tensor, Tensor]  # embeddings (n, 2) and labels (n,)


@dataclass(frozen=True)
class Trained:
    """Embeddings of the unseen test points before and after training, and their labels, as the network gave them."""

    before: Tensor
    after: Tensor
    labels: Tensor

    @property
    def recall(self) -> tuple[float, float]:
        """R@1 of the unseen classes before and after."""
        return nearest_is_same(self.before, self.labels), nearest_is_same(self.after, self.labels)


def train(loss: Callable[[Tensor, Tensor], Tensor], seed: int = 0, layout: str = "ring", steps: int = STEPS) -> Trained:
    """Train the toy network with a loss; batches of 4 classes × 16, Adam, learning rate down to 0 along a cosine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for tensors this small, threads cost more than they give
    try:
        return train_in_one_thread(loss, seed, layout, steps)
    finally:
        torch.set_num_threads(threads)


def train_in_one_thread(loss: Callable[[Tensor, Tensor], Tensor], seed: int, layout: str, steps: int) -> Trained:
    """The training itself."""
    splits = toy(layout, seed)
    data, test = splits.train, splits.test
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = build("toy-mlp", 2)
    with torch.no_grad():
        before = model(test.inputs)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    batches = batches_from(BalancedBatches(data.labels, CLASSES, PER_CLASS, seed), 0)
    for _, chosen in islice(batches, steps):
        optimizer.zero_grad()
        loss(model(data.inputs[chosen]), data.labels[chosen]).backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return Trained(before, model(test.inputs), test.labels)


@lru_cache(maxsize=32)
def toy(layout: str, seed: int) -> Any:
    """The toy's splits, drawn once."""
    return load("toy", layout=layout, seed=seed)


def nearest_is_same(embeddings: Tensor, labels: Tensor) -> float:
    """Share of points whose nearest other point (by cosine) has the same label: Recall@1."""
    return recall_at_1(unit_rows(embeddings.double().numpy()), labels.numpy())


def circular_variance(embeddings: Tensor) -> float:
    """1 − ‖mean of the unit vectors‖: 0 where all agree, 1 where they cancel."""
    return float(1 - torch.nn.functional.normalize(embeddings.double(), dim=1).mean(0).norm())


def class_variance(embeddings: Tensor, labels: Tensor) -> float:
    """Mean over classes of the circular variance."""
    found = [circular_variance(embeddings[labels == label]) for label in labels.unique()]
    return sum(found) / len(found)


def layout_figure(layout: str, seed: int = 0) -> go.Figure:
    """The toy's points (PNP Fig. 6 a): training classes are made of several clusters, each unseen class of one."""
    splits = toy(layout, seed)
    traces = points(splits.train.inputs, splits.train.labels, "training class", size=5, most=40)
    traces += points(splits.test.inputs, splits.test.labels, "unseen class", size=11, most=SHOWN, rim=True)
    fig = style.figure(*traces, x="first coordinate", y="second coordinate", title=layout, height=460)
    fig.update_yaxes(scaleanchor="x")
    return fig


def on_circles(inner: Ring, outer: Ring, middle: str, title: str = "", height: int = 460) -> go.Figure:
    """Unit embeddings on two circles, each given with its labels; middle: words in the centre that say which is which.

    Points are moved a little off their circle, outwards or inwards, because many coincide.
    """
    import plotly.graph_objects as go

    turn = np.linspace(0, 2 * np.pi, 49)
    traces: list[go.Scatter] = [
        go.Scatter(
            x=(radius * np.cos(turn)).round(3).tolist(), y=(radius * np.sin(turn)).round(3).tolist(), mode="lines",
            line={"color": style.COLORS[6], "width": 1}, showlegend=False, hoverinfo="skip",
        )
        for radius in (INNER, 1.0)
    ]  # fmt: skip
    for number, (radius, (embeddings, labels)) in enumerate(((INNER, inner), (1.0, outer))):
        angle = torch.atan2(embeddings[:, 1].double(), embeddings[:, 0].double())
        off = 0.06 * torch.cos(2.4 * torch.arange(len(angle)))  # the same in every frame, so that points do not flicker
        placed = torch.stack([(radius + off) * angle.cos(), (radius + off) * angle.sin()], 1)
        traces += points(placed, labels, "class", size=7 + 2 * number, most=SHOWN, legend=number == 1)
    fig = style.figure(*traces, title=title, height=height, margin={"l": 10, "r": 10, "t": 50, "b": 10})
    fig.update_xaxes(range=[-1.15, 1.15], visible=False)
    fig.update_yaxes(range=[-1.15, 1.15], visible=False, scaleanchor="x")
    fig.add_annotation(x=0, y=0, text=middle, showarrow=False, font={"size": style.FONT_SIZE - 3})
    return fig


def points(
    placed: Tensor, labels: Tensor, name: str, *, size: int, most: int, legend: bool = True, rim: bool = False
) -> list[go.Scatter]:
    """One trace a class, evenly thinned to `most` points and rounded: pictures stay small."""
    import plotly.graph_objects as go

    traces = []
    for label in labels.unique().tolist():
        own = placed[labels == label]
        own = own[torch.linspace(0, len(own) - 1, min(most, len(own))).round().long()].double()
        x, y = own.T.numpy().round(3).tolist()
        look = style.marker(label, size=size, opacity=0.9 if rim else 0.7)
        if rim:
            look["line"] = {"color": style.TEXT, "width": 1.5}
        traces.append(
            go.Scatter(
                x=x, y=y, mode="markers", marker=look, name=f"{name} {label}", legendgroup=f"{name} {label}",
                showlegend=legend, hoverinfo="name",
            )
        )  # fmt: skip
    return traces
