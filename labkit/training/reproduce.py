"""The rows of the papers' tables as runs: what to train for each, or why labkit cannot, and its numbers beside ours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from labkit.base.checks import check_choice
from labkit.data.papers import PAPERS, tables
from labkit.runs.run import Run
from labkit.runs.variant import Variant, as_text
from labkit.training.config import load_config
from labkit.training.job import Job

if TYPE_CHECKING:
    import pandas as pd

DATA: dict[str, tuple[str, dict[str, str]]] = {
    "SOP": ("sop", {}),
    "CUB": ("cub", {}),
    "Cars196": ("cars196", {}),
    "In-shop": ("in-shop", {}),
    "iNaturalist": ("inaturalist", {}),
    **{f"VehicleID-{size}": ("vehicle-id", {"data.size": size}) for size in ("small", "medium", "large")},
}
NETWORKS: dict[str, dict[str, str]] = {
    "ResNet-50": {"model.name": "resnet50", "model.weights": "resnet50-imagenet.pth"},
    "ResNet-101": {"model.name": "resnet101", "model.weights": "resnet101-imagenet.pth"},
    "ViT-B/32": {"model.name": "vit", "model.patch": "32", "model.weights": "vit-b32-imagenet21k.pth"},
    "ViT-B/16": {"model.name": "vit", "model.patch": "16", "model.weights": "vit-b16-imagenet21k.pth"},
}
LOSSES = {
    **{f"PNP-{variant}": f"pnp-{variant.lower()}" for variant in ("O", "Iu", "Ib", "Ds", "Dq")},
    "Smooth-AP": "smooth-ap",
    "FastAP": "fast-ap",
    "Blackbox AP": "blackbox-ap",
    "Margin": "margin",
    "RS@k": "recall-at-k",
    "RS@k + SiMix": "recall-at-k-simix",
    "Multi-Similarity": "multi-similarity",
    "SoftTriple": "soft-triple",
    "ProxyAnchor": "proxy-anchor",
    "Triplet": "triplet",
    "Normalized Softmax": "norm-softmax",
    "Softmax": "softmax",
    "Softmax + L2-Norm": "norm-softmax",
    "Softmax + Ring Loss": "ring",
    "Softmax + SGSL": "sgsl",
    "SGSL": "sgsl",
}
# Written behind a method's name: a size of the batch, or an option of the loss.
BEHIND = re.compile(r" \((?:BS (?P<batch>\d+)|(?P<symbol>[γβ]) = (?P<value>[\d.]+))\)$")
SYMBOLS = {"γ": "gamma", "β": "beta"}
RBR = "Softmax + RBR"


@dataclass(frozen=True)
class Row:
    """A row of a table for one data set: what the paper printed, and what to train, or why that is not possible."""

    dataset: str
    method: str
    backbone: str
    dim: str
    printed: dict[str, float]  # by our names of the metrics
    variant: Variant | None = None
    why_not: str = ""

    @property
    def title(self) -> str:
        """What people call it."""
        return ", ".join(part for part in (self.dataset, self.method, self.backbone, self.dim) if part)


def rows_of(paper: str, table: str) -> list[Row]:
    """The rows of a table, in the paper's order."""
    check_choice("paper", paper, tuple(PAPERS))
    frame = tables(paper)
    check_choice("table", table, tuple(dict.fromkeys(frame["table"])))
    frame = frame[frame["table"] == table]
    keys = list(dict.fromkeys(frame[["dataset", "method", "backbone", "dim"]].itertuples(index=False, name=None)))
    return [row_of(key, printed_of(frame, key)) for key in keys]


def printed_of(frame: pd.DataFrame, key: tuple[str, ...]) -> dict[str, float]:
    """The printed numbers of one row, as shares, under the names that runs have for them."""
    here = frame[(frame[["dataset", "method", "backbone", "dim"]] == list(key)).all(axis=1)]
    found = {}
    for entry in here.to_dict("records"):
        k = "" if entry["k"] != entry["k"] else f"@{entry['k']:g}"
        found[f"{entry['metric']}{k}"] = entry["value"] / 100
    return found


def row_of(key: tuple[str, str, str, str], printed: dict[str, float]) -> Row:
    """What trains a row."""
    dataset, method, backbone, dim = key
    row = Row(dataset, method, backbone, dim, printed)
    name, settings = taken_apart(method)
    if dataset not in DATA:
        return replace(row, why_not=f"labkit has no training on {dataset or 'data that the table does not name'}")
    if not backbone:
        return replace(row, why_not="the table quotes it from another paper and does not say with which network")
    if backbone not in NETWORKS:
        return replace(row, why_not=f"labkit has no network {backbone} with public weights")
    if name not in LOSSES:
        return replace(row, why_not=f"labkit has no loss {name}")
    preset, of_data = DATA[dataset]
    settings |= of_data | network_of(preset, backbone) | ({"model.dim": dim} if dim else {})
    changed = Variant(preset, LOSSES[name], settings).changes  # so that equal runs have one name
    return replace(row, variant=Variant(preset, LOSSES[name], changed))


def taken_apart(method: str) -> tuple[str, dict[str, str]]:
    """A method's own name and the settings that are written behind or into it."""
    settings: dict[str, str] = {}
    if found := BEHIND.search(method):
        method = method[: found.start()]
        if found["batch"]:
            settings |= {"batch.classes": str(int(found["batch"]) // 4), "batch.per_class": "4"}
        else:
            settings[SYMBOLS[found["symbol"]]] = found["value"]
    if method.startswith(RBR):  # the last BN-ReLU of the network is removed
        settings["model.last"] = "rbr"
        method = "Softmax" + method.removeprefix(RBR)
    return method, settings


def network_of(preset: str, backbone: str) -> dict[str, str]:
    """The settings that choose a network, none where the preset has it already."""
    own = NETWORKS[backbone]
    return {} if load_config(preset).model["name"] == own["model.name"] == "resnet50" else own


def jobs_of(rows: Iterable[Row], seeds: Sequence[int], more: dict[str, str]) -> list[Job]:
    """The runs that rows need, each once; more: settings over all of them."""
    variants = dict.fromkeys(row.variant for row in rows if row.variant is not None)
    return [Job(v.preset, v.loss, tuple(seeds), settings_of(v) | more, "metrics") for v in variants]


def settings_of(variant: Variant) -> dict[str, str]:
    """A variant's settings as text, as after `--set`."""
    return {key: as_text(value) for key, value in variant.settings.items()}


def cost(variant: Variant, more: dict[str, str]) -> str:
    """How long one run is, in words."""
    config = load_config(variant.preset, variant.loss, settings_of(variant) | more)
    batch = config.batch.classes * config.batch.per_class if config.batch.sampler == "balanced" else config.batch.size
    length = f"{config.train.epochs:g} epochs" if config.train.epochs else f"{config.train.steps:,} steps"
    return f"{length} of batches of {batch}"


def own_numbers(row: Row, runs: Iterable[Run], more: dict[str, str]) -> dict[str, list[float]]:
    """What finished runs of a row have measured, by metric, a number for each seed."""
    if row.variant is None:
        return {}
    wanted = Variant(row.variant.preset, row.variant.loss, settings_of(row.variant) | more)
    here = [run for run in runs if run.variant == wanted and run.status == "finished"]
    values = {metric: [run.value(metric) for run in here] for metric in row.printed}
    return {metric: [v for v in found if v is not None] for metric, found in values.items()}
