"""SiMix's virtual samples in the plane, and the memory of a batch in one pass and in two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from labkit.figures import style
from labkit.metrics.nearest import recall_at_1, unit_rows

if TYPE_CHECKING:
    import plotly.graph_objects as go

MEGABYTE = 2**20


def mixed_pair(a: float, angle: float) -> go.Figure:
    """x and z on the unit circle, `angle` degrees apart, and v = a·x + (1−a)·z on the chord between them."""
    import plotly.graph_objects as go

    half = np.radians(angle) / 2
    x, z = np.array([np.cos(half), np.sin(half)]), np.array([np.cos(half), -np.sin(half)])
    v = a * x + (1 - a) * z
    turn = np.linspace(-np.pi / 2, np.pi / 2, 91)
    named = {"x": x, "z": z, "v": v}
    points = [
        go.Scatter(
            x=[0, point[0]], y=[0, point[1]], mode="lines+markers", name=name, line=style.line(number),
            marker=style.marker(number, size=11),
        )
        for number, (name, point) in enumerate(named.items())
    ]  # fmt: skip
    grey = {"color": style.COLORS[6], "width": 1.5}
    circle = go.Scatter(x=np.cos(turn), y=np.sin(turn), mode="lines", name="length 1", line=grey)
    chord = go.Scatter(x=[x[0], z[0]], y=[x[1], z[1]], mode="lines", line=grey | {"dash": "dot"}, showlegend=False)
    title = f"s(v, x) = {v @ x:.3f}, s(v, z) = {v @ z:.3f}, s(v, v) = {v @ v:.3f}"
    fig = style.figure(circle, chord, *points, title=title, height=430)
    fig.update_xaxes(range=[-0.15, 1.15], constrain="domain")
    fig.update_yaxes(range=[-1.1, 1.1], scaleanchor="x")
    return fig


def parents(similarity: float) -> go.Figure:
    """Similarities of a virtual sample to its parents and to itself over a: one parent is always the nearest."""
    import plotly.graph_objects as go

    a = np.linspace(0, 1, 101)
    curves = {
        "s(v, x)": a + (1 - a) * similarity,
        "s(v, z)": (1 - a) + a * similarity,
        "s(v, v) = |v|²": a**2 + (1 - a) ** 2 + 2 * a * (1 - a) * similarity,
    }
    traces = [
        go.Scatter(x=a, y=y, name=name, line=style.line(number)) for number, (name, y) in enumerate(curves.items())
    ]
    fig = style.figure(*traces, x="mixing weight a", y="similarity", title=f"s(x, z) = {similarity:g}")
    fig.update_yaxes(range=[-0.55, 1.05])
    return fig


def batch_difficulty(
    networks: Mapping[str, tuple[Tensor, Tensor]], per_class: int = 4, queries: int = 4000
) -> go.Figure:
    """Any-hit recall@1 when the gallery is only a batch of some classes, against the size of the batch."""
    import plotly.graph_objects as go

    traces = []
    for number, (name, (embeddings, labels)) in enumerate(networks.items()):
        source = torch.Generator().manual_seed(0)
        unit = unit_rows(embeddings.numpy())
        members = [(labels == c).nonzero().flatten() for c in labels.unique()]
        counts = [c for c in (2, 4, 8, 16, 32, 64, 128) if c <= len(members)]
        found = []
        for classes in counts:
            hits, draws = 0.0, queries // (per_class * classes)  # equally many queries for every size
            for _ in range(draws):
                drawn = [members[i] for i in torch.randperm(len(members), generator=source)[:classes]]
                rows = torch.cat([m[torch.randperm(len(m), generator=source)[:per_class]] for m in drawn])
                hits += recall_at_1(unit[rows.numpy()], labels[rows].numpy())
            found.append(100 * hits / draws)
        sizes = [per_class * c for c in counts]
        traces.append(
            go.Scatter(
                x=sizes, y=found, mode="lines+markers", name=name, line=style.line(number), marker=style.marker(number)
            )
        )
    fig = style.figure(*traces, x="items in the batch", y="recall@1 within the batch (%)")
    fig.update_xaxes(type="log", tickvals=sizes, ticktext=[str(size) for size in sizes])
    fig.update_yaxes(range=[0, 102])
    return fig


class Ledger:
    """What autograd keeps for the backward pass, in bytes, and the most of it at any moment."""

    def __init__(self, ignore: Iterable[Tensor]) -> None:
        """ignore: tensors that are in memory anyway, as weights and images are."""
        self.ignored = {tensor.untyped_storage().data_ptr() for tensor in ignore}
        self.holders: Counter[int] = Counter()
        self.now = self.most = 0

    def keep(self, tensor: Tensor) -> Kept:
        """A tensor is put aside; two views of one storage count once."""
        return Kept(self, tensor)


class Kept:
    """A tensor that waits for the backward pass: entered into the ledger, and struck out when it is let go."""

    def __init__(self, ledger: Ledger, tensor: Tensor) -> None:
        """Enter it."""
        storage = tensor.untyped_storage()
        self.ledger, self.tensor, self.place, self.size = ledger, tensor, storage.data_ptr(), storage.nbytes()
        if self.place not in ledger.ignored:
            ledger.holders[self.place] += 1
            ledger.now += self.size if ledger.holders[self.place] == 1 else 0
            ledger.most = max(ledger.most, ledger.now)

    def __del__(self) -> None:
        """Strike it out."""
        if self.place not in self.ledger.ignored:
            self.ledger.holders[self.place] -= 1
            self.ledger.now -= 0 if self.ledger.holders[self.place] else self.size


def kept_megabytes(step: Callable[..., object], *arguments: object, ignore: Iterable[Tensor] = ()) -> float:
    """The most that autograd keeps at any moment of step(*arguments), in MB (2²⁰ bytes)."""
    ledger = Ledger(ignore)
    with torch.autograd.graph.saved_tensors_hooks(ledger.keep, lambda kept: kept.tensor):
        step(*arguments)
    return ledger.most / MEGABYTE


def memory(measured: Mapping[str, Mapping[int, float]], micro_batch: int) -> go.Figure:
    """Memory against the batch size: all at once, in two passes of this micro-batch, and the loss alone.

    measured: MB by batch size, under the keys "one pass", "loss alone" and each micro-batch as text.
    """
    import plotly.graph_objects as go

    lines = {
        "one pass": "one pass",
        f"two passes, {micro_batch} at a time": str(micro_batch),
        "loss alone": "loss alone",
    }
    traces = [
        go.Scatter(
            x=list(measured[key]), y=list(measured[key].values()), mode="lines+markers", name=name,
            line=style.line(number), marker=style.marker(number),
        )
        for number, (name, key) in enumerate(lines.items())
    ]  # fmt: skip
    fig = style.figure(*traces, x="batch size", y="kept for backward (MB)", title=f"micro-batch {micro_batch}")
    sizes = list(measured["one pass"])
    fig.update_xaxes(type="log", tickvals=sizes, ticktext=[str(size) for size in sizes])
    fig.update_yaxes(type="log", dtick=1)
    return fig
