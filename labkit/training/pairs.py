"""What the recorded embeddings of a run say about pairs and batches: counts, differences, recall within a batch."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from labkit.base.paths import RECORDED
from labkit.data.samplers import BalancedBatches, batches_from
from labkit.losses.functional import pnp
from labkit.metrics.nearest import recall_at_1, unit_rows
from labkit.runs.contents import read_embeddings, read_samples
from labkit.runs.read import open_run

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

BATCHES = (2, 4, 8, 16, 32, 64, 128)  # classes


def embedded(run_id: str) -> tuple[Tensor, Tensor]:
    """Embeddings (N, D) and labels (N,) of a recorded run."""
    run = open_run(run_id, RECORDED)
    return read_embeddings(run), torch.as_tensor(read_samples(run)["label"].to_numpy().copy())


def counts_of_run(
    run_id: str, classes: int = 32, per_class: int = 4, batches: int = 8, tau: float = 0.01, seed: int = 0
) -> Tensor:
    """R(i, S_N) of every (query, positive) pair in balanced batches of a recorded run's test embeddings."""
    embeddings, labels = embedded(run_id)
    sampler = BalancedBatches(labels.unique(return_inverse=True)[1], classes, per_class, seed)
    found = []
    for _, chosen in islice(batches_from(sampler, 0), batches):
        _, parts = pnp(embeddings[chosen], labels[chosen], tau=tau, return_parts=True)
        found.append(parts.R_neg)
    return torch.cat(found).double()


def similarity_differences(run_id: str, queries: int = 100, seed: int = 0) -> Floats:
    """s_j − s_i of all items j and positives i, for some queries of a recorded run's test embeddings."""
    embeddings, label = embedded(run_id)
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    chosen = torch.randperm(len(unit), generator=torch.Generator().manual_seed(seed))[:queries]
    found = []
    for q in chosen.tolist():
        s = unit @ unit[q]
        others = torch.arange(len(unit)) != q
        positive = (label == label[q]) & others
        found.append((s[others][None, :] - s[positive][:, None]).flatten())
    return torch.cat(found).double().numpy()


def recall_in_batches(embeddings: Tensor, labels: Tensor, per_class: int = 4, queries: int = 4000) -> dict[int, float]:
    """Any-hit recall@1 when the gallery is only a random batch of some classes, by the number of items in the batch."""
    source = torch.Generator().manual_seed(0)
    unit = unit_rows(embeddings.numpy())
    members = [(labels == c).nonzero().flatten() for c in labels.unique()]
    found = {}
    for classes in (count for count in BATCHES if count <= len(members)):
        hits, draws = 0.0, queries // (per_class * classes)  # equally many queries for every size
        for _ in range(draws):
            drawn = [members[i] for i in torch.randperm(len(members), generator=source)[:classes]]
            rows = torch.cat([m[torch.randperm(len(m), generator=source)[:per_class]] for m in drawn])
            hits += recall_at_1(unit[rows.numpy()], labels[rows].numpy())
        found[per_class * classes] = hits / draws
    return found
