"""Emoji that no network has seen, embedded in several ways, and what is found for one of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from labkit.base.paths import RECORDED
from labkit.data import load
from labkit.metrics.nearest import metrics_of_ranks, ranking
from labkit.models import build
from labkit.runs import open_run, read_embeddings, read_samples
from labkit.runs.schema import RunError
from labkit.training.config import load_config
from labkit.training.recording import recorded_points

PIXELS, UNTRAINED, TRAINED = "pixels", "untrained network", "network trained with PNP-D_q"
SHOWN = 10


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
class Ranked:
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
            raise RunError(f"run {run_id} holds other drawings than the data set has now: record it anew")
        ways[TRAINED] = read_embeddings(run)
    except RunError as error:
        print(f"Without the trained network, only pixels and the untrained network are compared: {error}")
    unit = {name: torch.nn.functional.normalize(rows, dim=1) for name, rows in ways.items()}
    return Gallery(data.inputs, data.labels, data.columns["name"], data.columns["vendor"], unit)


def find(gallery: Gallery, way: str, query: int, count: int = SHOWN) -> Ranked:
    """Rank all other items by cosine similarity to the query."""
    order, similarity = (torch.from_numpy(one[0]) for one in ranking(gallery.ways[way].numpy(), np.array([query])))
    relevant = gallery.labels[order] == gallery.labels[query]
    ranks = relevant.nonzero().T.numpy() + 1
    value = float(metrics_of_ranks(ranks, ())["AP"][0])
    return Ranked(order[:count], similarity[:count], relevant[:count], ranks.shape[1], value)
