"""Smooth-AP beside average precision, and how far apart the similarities of a real network are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from labkit.base.paths import RECORDED
from labkit.figures import style
from labkit.runs import open_run, read_embeddings, read_samples

if TYPE_CHECKING:
    import plotly.graph_objects as go

    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]


def average_precisions(similarity: Tensor, positive: Tensor, tau: float | None) -> Tensor:
    """AP of each row of similarities (m, n); comparisons are hard with tau=None and sigmoids otherwise."""
    difference = similarity[:, None, :] - similarity[:, :, None]
    before = (difference > 0).double() if tau is None else torch.sigmoid(difference / tau)
    before = before * ~torch.eye(similarity.shape[1], dtype=torch.bool)
    R_pos, R_neg = before[:, positive][:, :, positive].sum(2), before[:, positive][:, :, ~positive].sum(2)
    return ((1 + R_pos) / (1 + R_pos + R_neg)).mean(1)


def moved_positive(negatives: Tensor, other_positive: float, tau: float = 0.01) -> go.Figure:
    """AP and Smooth-AP of one query while one positive moves from similarity 0 to 1; the other items stay."""
    import plotly.graph_objects as go

    x = torch.linspace(0, 1, 800, dtype=torch.float64)
    fixed = torch.tensor([other_positive, *negatives.tolist()], dtype=torch.float64)
    rows = torch.cat([x[:, None], fixed.expand(len(x), -1)], 1)
    positive = torch.arange(rows.shape[1]) < 2
    hard, soft = average_precisions(rows, positive, None), average_precisions(rows, positive, tau)
    return style.figure(
        go.Scatter(x=x.numpy(), y=hard.numpy(), name="average precision", line=style.line(1, shape="hv")),
        go.Scatter(x=x.numpy(), y=soft.numpy(), name=f"Smooth-AP, τ = {tau:g}", line=style.line(0)),
        x="similarity of the moved positive", y="value (1 is perfect)",
    )  # fmt: skip


def similarity_differences(run_id: str, queries: int = 100, seed: int = 0) -> Floats:
    """s_j − s_i of all items j and positives i, for some queries of a recorded run's test embeddings."""
    run = open_run(run_id, RECORDED)
    unit = torch.nn.functional.normalize(read_embeddings(run), dim=1)
    label = torch.as_tensor(read_samples(run)["label"].to_numpy().copy())
    chosen = torch.randperm(len(unit), generator=torch.Generator().manual_seed(seed))[:queries]
    found = []
    for q in chosen.tolist():
        s = unit @ unit[q]
        others = torch.arange(len(unit)) != q
        positive = (label == label[q]) & others
        found.append((s[others][None, :] - s[positive][:, None]).flatten())
    return torch.cat(found).double().numpy()
