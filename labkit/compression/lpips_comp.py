"""LPIPS-Comp: weights for the channels of a feature distance, learned from people's judgements of compressed pictures.

d(x, y) = Σ_c w_c f_c(x, y),  w_c ≥ 0;  P(people prefer a to b) = σ(d_b − d_a)

The slides' LPIPS-Comp, in small: f is the distance of EfficientNet-Lite0's channels (features.py), and the judgements
are those of TID2013's compression-like pictures. Negative weights would reward a difference, so w is a square. Settings
are ours; the paper's are not published.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from labkit.compression.agreement import Pairs, agreements, all_pairs
from labkit.data.judgements import Tid2013

STEPS, RATE, DECAY = 300, 0.05, 1e-3
FOLDS = 5


def learn_weights(features: np.ndarray, pairs: Pairs, steps: int = STEPS) -> np.ndarray:
    """Weights (C,), none negative, that make pairs likely: full batches, Adam, a small penalty on large weights.

    features (N, C) are the channel distances of each row to its reference. The same input gives the same weights.
    """
    if features.ndim != 2 or not np.isfinite(features).all() or (features < 0).any():
        raise ValueError("features must be an array (N, C) of finite numbers, none of them negative")
    if len(pairs) == 0:
        raise ValueError("pairs must hold at least one pair")
    unit = features.mean(0) + 1e-12  # channels differ by orders of magnitude
    scaled = torch.from_numpy(features / unit).float()
    first, second = torch.from_numpy(pairs.first), torch.from_numpy(pairs.second)
    preferred = torch.from_numpy(pairs.preferred).float()
    root = torch.full((features.shape[1],), (10 / features.shape[1]) ** 0.5, requires_grad=True)
    optimizer = torch.optim.Adam([root], lr=RATE)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - step / steps)
        loss = pair_loss(scaled @ root.square(), first, second, preferred) + DECAY * root.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return np.asarray(root.detach().square().double().numpy() / unit)


def pair_loss(distance: Tensor, first: Tensor, second: Tensor, preferred: Tensor) -> Tensor:
    """Mean of −log P(people's choice)."""
    logit = distance[second] - distance[first]
    return torch.nn.functional.binary_cross_entropy_with_logits(logit, preferred)


def scores(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The negative distance, higher is better, as of every metric here."""
    return np.asarray(-features @ weights)


def folds(reference: np.ndarray, count: int = FOLDS, seed: int = 0) -> Iterator[np.ndarray]:
    """Rows that are held out together: whole references, in `count` parts."""
    known = np.random.default_rng(seed).permutation(np.unique(reference))
    for part in range(count):
        yield np.isin(reference, known[part::count])


def held_out_scores(data: Tid2013, groups: Iterator[np.ndarray]) -> np.ndarray:
    """Scores of every row by weights that were learned without it: each group is scored by weights of all others."""
    found = np.full(len(data.opinion), np.nan)
    for held in groups:
        rows = np.flatnonzero(~held)
        pairs = all_pairs(data.reference[rows], data.opinion[rows])
        weights = learn_weights(data.features[rows], pairs)
        # distances of two folds are compared with each other where a group is a type: bring both to one scale
        weights = weights / (data.features[rows] @ weights).mean()
        found[held] = scores(data.features[held], weights)
    return found


def unseen_type_agreements(data: Tid2013) -> tuple[np.ndarray, np.ndarray]:
    """For every kind of distortion: agreement on pairs with one of that kind, by weights that never saw that kind.

    Returns the values of all such pairs and their references. A pair of two kinds is judged twice, once for each.
    """
    values, references = [], []
    everything = all_pairs(data.reference, data.opinion)
    for kind in np.unique(data.type):
        rows = np.flatnonzero(data.type != kind)
        weights = learn_weights(data.features[rows], all_pairs(data.reference[rows], data.opinion[rows]))
        one = (data.type[everything.first] == kind) | (data.type[everything.second] == kind)
        across = data.type[everything.first] != data.type[everything.second]
        chosen = everything.chosen(one & across)
        values.append(agreements(scores(data.features, weights), chosen))
        references.append(chosen.reference)
    return np.concatenate(values), np.concatenate(references)
