"""A query and what is found for it, as pictures: emoji that no network has seen, compared in several ways."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from labkit.base.paths import RECORDED
from labkit.data import load
from labkit.figures import style
from labkit.metrics.nearest import metrics_of_ranks, ranking
from labkit.models import build
from labkit.runs import open_run, read_embeddings, read_samples
from labkit.runs.schema import RunError
from labkit.training.config import load_config
from labkit.training.recording import recorded_points

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from matplotlib.figure import Figure

    Box = tuple[float, float]

PIXELS, UNTRAINED, TRAINED = "pixels", "untrained network", "network trained with PNP-D_q"
SIDE, WIDE, HIGH = 48, 66, 82  # pixels of a picture, and of the place it has
SHOWN = 10
LONGEST = 14  # letters of a name beneath a picture


@dataclass(frozen=True)
class Gallery:
    """Pictures (N, 3, 48, 48), their labels and names, and unit embeddings (N, D) for each way of comparing."""

    images: Tensor
    labels: Tensor
    names: tuple[str, ...]
    vendors: tuple[str, ...]
    ways: dict[str, Tensor]

    def title(self, item: int) -> str:
        """What the reader calls an item."""
        return f"{self.names[item]} ({self.vendors[item]})"


@dataclass(frozen=True)
class Found:
    """The first items of a ranking (10,), their similarities, whether they are positives, and metrics of the query."""

    order: Tensor
    similarity: Tensor
    hit: Tensor
    num_relevant: int
    average_precision: float

    def told(self) -> str:
        """The metrics in words."""
        hits = int(self.hit.sum())
        return (
            f"R@1 = {int(self.hit[0])}, {hits} of {self.num_relevant} found in the first {len(self.order)}, "
            f"AP of the whole ranking {100 * self.average_precision:.0f} %"
        )


def emoji_gallery(run_id: str = "emoji_pnp-dq_s0", root: Path = RECORDED) -> Gallery:
    """The drawings of unseen emoji that recorded runs keep, by pixels, by an untrained network and by a trained one.

    The trained way is missing as long as its run is not recorded.
    """
    config = load_config("emoji")
    data = recorded_points(config, load("emoji"))["test"]
    assert isinstance(data.inputs, Tensor)
    images = data.inputs.float() / 255
    torch.manual_seed(0)
    options = {key: value for key, value in config.model.items() if key != "name"}
    network = build(str(config.model["name"]), **options).eval()
    with torch.no_grad():
        ways = {PIXELS: images.flatten(1), UNTRAINED: network(images)}
    try:
        run = open_run(run_id, root)
        if tuple(read_samples(run)["id"]) != data.ids:
            raise RunError(f"run {run_id} keeps other drawings than the data set gives now: record it anew")
        ways[TRAINED] = read_embeddings(run)
    except RunError as error:
        print(f"The trained network is not there yet, two ways of comparing are: {error}")
    unit = {name: torch.nn.functional.normalize(rows, dim=1) for name, rows in ways.items()}
    return Gallery(data.inputs, data.labels, data.columns["name"], data.columns["vendor"], unit)


def find(gallery: Gallery, way: str, query: int, count: int = SHOWN) -> Found:
    """Rank all other items by cosine similarity to the query."""
    order, similarity = (torch.from_numpy(one[0]) for one in ranking(gallery.ways[way].numpy(), np.array([query])))
    relevant = gallery.labels[order] == gallery.labels[query]
    ranks = relevant.nonzero().T.numpy() + 1
    value = float(metrics_of_ranks(ranks, ())["AP"][0])
    return Found(order[:count], similarity[:count], relevant[:count], ranks.shape[1], value)


def retrieved(gallery: Gallery, query: int, way: str) -> go.Figure:
    """The query on the left, its ten nearest drawings beside it; ✓ and a solid frame, or ✗ and a dashed one."""
    import plotly.graph_objects as go

    found = find(gallery, way, query)
    corners = [(0.0, HIGH / 2)] + [(WIDE * (1.4 + i % 5), HIGH * (i // 5)) for i in range(SHOWN)]
    items = [query, *found.order.tolist()]
    names = ["query"] + [
        f"{i + 1} {'✓' if hit else '✗'}<br>{short(gallery.names[item])}"
        for i, (item, hit) in enumerate(zip(items[1:], found.hit))
    ]
    hover = ["query: " + gallery.title(query)]
    hover += [f"{gallery.title(item)}, similarity {s:.3f}" for item, s in zip(items[1:], found.similarity)]
    hits = [corner for corner, hit in zip(corners[1:], found.hit) if hit]
    misses = [corner for corner, hit in zip(corners[1:], found.hit) if not hit]
    fig = style.figure(
        go.Image(source=montage([gallery.images[i] for i in items], corners), zsmooth="fast", hoverinfo="skip"),
        frames([corners[0]], "query", {"color": style.TEXT, "width": 2, "dash": "dot"}),
        frames(hits, "✓ the same emoji", {"color": style.GOOD, "width": 3, "dash": "solid"}),
        frames(misses, "✗ another emoji", {"color": style.BAD, "width": 3, "dash": "dash"}),
        go.Scatter(
            x=[x + SIDE / 2 for x, _ in corners],
            y=[y + SIDE + 13 for _, y in corners],
            mode="text",
            text=names,
            textfont={"size": 12},
            hoverinfo="skip",
            showlegend=False,
            cliponaxis=False,
        ),
        go.Scatter(
            x=[x + SIDE / 2 for x, _ in corners],
            y=[y + SIDE / 2 for _, y in corners],
            mode="markers",
            marker={"size": 50, "opacity": 0, "symbol": "square"},
            hovertext=hover,
            hoverinfo="text",
            showlegend=False,
        ),
        title=found.told(),
        height=430,
    )
    fig.update_xaxes(range=[-6, WIDE * 6.3], visible=False, constrain="domain")
    fig.update_yaxes(range=[2 * HIGH + 2, -6], visible=False, scaleanchor="x", constrain="domain")
    fig.update_layout(
        margin={"l": 10, "r": 10, "t": 46, "b": 10}, legend={"orientation": "h", "x": 0, "y": 0, "yanchor": "top"}
    )
    return fig


def short(name: str) -> str:
    """A name that fits beneath a picture."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def frames(corners: Sequence[Box], name: str, line: dict[str, Any]) -> go.Scatter:
    """Squares round some pictures, as one line with gaps."""
    import plotly.graph_objects as go

    x: list[float | None] = []
    y: list[float | None] = []
    for left, top in corners:
        right, bottom = left + SIDE, top + SIDE
        x += [left, right, right, left, left, None]
        y += [top, top, bottom, bottom, top, None]
    return go.Scatter(x=x or [None], y=y or [None], mode="lines", name=name, line=line, hoverinfo="skip")


def montage(pictures: Sequence[Tensor], corners: Sequence[Box]) -> str:
    """Pictures at their places on a clear ground, few colours, as a PNG address."""
    from PIL import Image

    width, height = (round(max(c[i] for c in corners)) + SIDE for i in (0, 1))
    page = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    for picture, (left, top) in zip(pictures, corners):
        page.paste(Image.fromarray(picture.permute(1, 2, 0).numpy()), (round(left), round(top)))
    buffer = io.BytesIO()
    page.quantize(96).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()


def page(gallery: Gallery, queries: Sequence[int]) -> Figure:
    """The still twin: for each query a row for each way of comparing, the query first."""
    from matplotlib.figure import Figure

    rows = [(query, way) for query in queries for way in gallery.ways]
    fig = Figure(figsize=(10.4, 1.42 * len(rows)), dpi=80, facecolor="white")
    grid = fig.add_gridspec(
        len(rows), SHOWN + 1, left=0.01, right=0.99, top=1 - 0.3 / len(rows), bottom=0.02, hspace=0.75, wspace=0.12
    )
    for row, (query, way) in enumerate(rows):
        found = find(gallery, way, query)
        for column, item in enumerate([query, *found.order.tolist()]):
            axes = fig.add_subplot(grid[row, column])
            axes.imshow(gallery.images[item].permute(1, 2, 0).numpy())
            axes.set_xticks([])
            axes.set_yticks([])
            hit = column > 0 and bool(found.hit[column - 1])
            color, dash = (style.TEXT, ":") if column == 0 else (style.GOOD, "-") if hit else (style.BAD, "--")
            for spine in axes.spines.values():
                spine.set(color=color, linestyle=dash, linewidth=2.2)
            axes.set_xlabel(f"{column} {'✓' if hit else '✗'}" if column else "query", fontsize=9, labelpad=2)
            if column == 0:
                axes.set_title(f"{way}: {found.told()}", fontsize=10, loc="left", pad=5)
    return fig
