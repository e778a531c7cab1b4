"""Embedding a data set and measuring it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from labkit import metrics
from labkit.base.processes import gather_rows, is_distributed
from labkit.data.dataset import Dataset, Splits
from labkit.training.config import ACROSS, WHILE_TRAINING, Config
from labkit.training.devices import autocast
from labkit.training.inputs import evaluation_batches
from labkit.training.state import State

KS = (1, 2, 4, 8, 10, 16, 100, 1000)


@torch.no_grad()
def embed(state: State, data: Dataset, config: Config) -> Tensor:
    """Embeddings (N, D) of a data set, float32; several processes share the work and all get all of it."""
    was_training = state.module.training
    state.module.eval()
    parts = []
    with autocast(state.device):
        for rows in evaluation_batches(data, config.images, 512 if data.in_memory else 128, state.device):
            parts.append(state.module(rows).float())
    state.module.train(was_training)
    own = torch.cat(parts) if parts else torch.zeros(0, config.model["dim"], device=state.device)
    return gather_rows(own)[0]


def measure_validation(state: State, splits: Splits, config: Config) -> dict[str, float]:
    """The few metrics that a curve shows."""
    embeddings = embed(state, splits.validation, config)
    found = metrics.evaluate(
        embeddings,
        splits.validation.labels.to(embeddings.device),
        (1, 10),
        progress=False,
        distributed=is_distributed(),
    )
    found["mean-norm"] = metrics.mean_norm(embeddings)
    return {name: found[name] for name in WHILE_TRAINING} | measure_across(embeddings, splits, splits.validation)


def measure_across(embeddings: Tensor, splits: Splits, data: Dataset) -> dict[str, float]:
    """R@1 and MAP@R once more, among other designers only, where the data name them."""
    if not splits.across:
        return {}
    _, groups = np.unique(data.columns[splits.across], return_inverse=True)
    labels = data.labels.to(embeddings.device)
    found = metrics.evaluate_across(embeddings, labels, torch.from_numpy(groups), (1,))
    return {f"{name} across": found[name] for name in ACROSS}


def measure_test(state: State, splits: Splits, config: Config) -> dict[str, float]:
    """Every metric on the test classes."""
    embeddings = embed(state, splits.test, config)
    labels = splits.test.labels.to(embeddings.device)
    against = splits.gallery
    found = metrics.evaluate(
        embeddings,
        labels,
        KS,
        nmi=config.record.nmi,
        progress=False,
        distributed=is_distributed(),
        gallery=None if against is None else embed(state, against, config),
        gallery_labels=None if against is None else against.labels.to(embeddings.device),
    )
    found["CSC-raw"] = metrics.csc(embeddings, labels, normalize=False)
    found["mean-norm"] = metrics.mean_norm(embeddings)
    return found | measure_across(embeddings, splits, splits.test)


def measure_train(state: State, splits: Splits, config: Config, limit: int = 10_000) -> dict[str, float]:
    """The same on (at most `limit` of) the training samples, without augmentation."""
    data = splits.train
    data = data.take(torch.arange(0, len(data), max(1, len(data) // limit)))
    embeddings = embed(state, data, config)
    found = metrics.evaluate(
        embeddings, data.labels.to(embeddings.device), (1, 10), progress=False, distributed=is_distributed()
    )
    found["mean-norm"] = metrics.mean_norm(embeddings)
    return {name: found[name] for name in WHILE_TRAINING}


def whole_classes(labels: Tensor, count: int) -> Tensor:
    """Indices of about `count` samples: whole classes, evenly spread, so that neighbours keep their meaning."""
    if count >= len(labels):
        return torch.arange(len(labels))
    classes = labels.unique()
    wanted = max(1, round(len(classes) * count / len(labels)))
    if wanted < 10:  # few large classes: take a share of each
        chosen = torch.linspace(0, len(labels) - 1, count).round().long()
        return labels.argsort(stable=True)[chosen].sort().values
    kept = classes[torch.linspace(0, len(classes) - 1, wanted).round().long()]
    return torch.isin(labels, kept).nonzero().flatten()


def num_parameters(model: nn.Module) -> int:
    """How many numbers a model learns."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
