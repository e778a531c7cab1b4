"""Does a metric choose as people do? Two-alternative agreement, with intervals over references.

Of two pictures of one reference, a metric names the better one; agreement is the share of pairs, or of votes, in which
people name the same. Pictures of one reference are judged alike, so intervals are found by drawing references anew, not
pairs (percentile bootstrap); with five references, as JPEG's have, they are rough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

DRAWS = 2000


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows (first, second) of one reference, and whether people find the first better: 1, 0, or between."""

    first: np.ndarray
    second: np.ndarray
    preferred: np.ndarray
    reference: np.ndarray

    def __len__(self) -> int:
        """How many."""
        return len(self.first)

    def chosen(self, keep: np.ndarray) -> Pairs:
        """Some of them."""
        return Pairs(self.first[keep], self.second[keep], self.preferred[keep], self.reference[keep])


@dataclass(frozen=True)
class Agreement:
    """A share of pairs, its interval of 95 %, and on how many pairs and references it stands."""

    share: float
    low: float
    high: float
    pairs: int
    references: int


def all_pairs(reference: np.ndarray, quality: np.ndarray) -> Pairs:
    """Every pair of one reference that people tell apart; quality: higher is better."""
    first, second = np.triu_indices(len(reference), 1)
    keep = (reference[first] == reference[second]) & (quality[first] != quality[second])
    first, second = first[keep], second[keep]
    return Pairs(first, second, (quality[first] > quality[second]).astype(float), reference[first])


def agreements(scores: np.ndarray, pairs: Pairs) -> np.ndarray:
    """For every pair, how far the metric's choice is people's: 1, 0, or ½ where it finds both equal."""
    difference = scores[pairs.first] - scores[pairs.second]
    first_is_better = np.where(difference > 0, 1.0, np.where(difference < 0, 0.0, 0.5))
    return np.asarray(first_is_better * pairs.preferred + (1 - first_is_better) * (1 - pairs.preferred))


def agreement(scores: np.ndarray, pairs: Pairs, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """How often a metric (higher is better, one score a row) chooses as people do."""
    if len(pairs) == 0:
        raise ValueError("pairs must hold at least one pair")
    if not np.isfinite(scores[np.unique((pairs.first, pairs.second))]).all():
        raise ValueError("scores contains NaN or infinite values")
    return mean_over(agreements(scores, pairs), pairs.reference, draws, seed)


def mean_over(values: np.ndarray, reference: np.ndarray, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """The mean, with an interval that draws whole references."""
    groups, place = np.unique(reference, return_inverse=True)
    sums, counts = np.bincount(place, values), np.bincount(place)
    drawn = np.random.default_rng(seed).integers(0, len(groups), (draws, len(groups)))
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Agreement(float(values.mean()), float(low), float(high), len(values), len(groups))


def difference(scores: np.ndarray, others: np.ndarray, pairs: Pairs, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """How much more often the first metric agrees than the second, on the same pairs and the same drawn references."""
    return mean_over(agreements(scores, pairs) - agreements(others, pairs), pairs.reference, draws, seed)


def table(metrics: Mapping[str, np.ndarray], subsets: Mapping[str, Pairs]) -> list[dict[str, str | float]]:
    """A row for every metric and subset of pairs, for a CSV."""
    return [
        {"metric": metric, "pairs": subset, **rounded(agreement(scores, pairs))}
        for subset, pairs in subsets.items()
        for metric, scores in metrics.items()
    ]


def rounded(found: Agreement) -> dict[str, str | float]:
    """As it is written: shares with four decimals."""
    return {
        "agreement": round(found.share, 4),
        "low": round(found.low, 4),
        "high": round(found.high, 4),
        "number": found.pairs,
        "references": found.references,
    }
