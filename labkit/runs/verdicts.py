"""From a paired difference over seeds to a verdict about the claim that it is above zero.

The margin, within which two results count as equal, was fixed before the runs were made (data/runs/PROTOCOL.md).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

HELD, CONTRADICTED, EQUAL, UNRESOLVED = "held", "contradicted", "equal", "not resolved"
# from what speaks most against a claim to what speaks for it
RESOLVED_LAST = (CONTRADICTED, UNRESOLVED, EQUAL, HELD)
TEST_WORDS = {
    "words-tune": 2000,
    "scene-text": 2400,
}  # of presets that train readers; the total edit distance is a sum over them
WIDE_MARGINS = ("emoji",)  # presets of this family have few queries, and seeds differ more


def margin_of(preset: str, metric: str) -> float:
    """Differences of this size or below count as none, in the metric's own unit."""
    if metric in ("intra", "inter"):
        return 0.01  # cosine distance
    if metric.startswith("CSC"):
        return 0.05
    if metric == "NED":
        return 0.005
    if metric == "TED":
        return 0.02 * TEST_WORDS.get(preset, 0)  # two edits in a hundred words
    return 0.02 if preset.startswith(WIDE_MARGINS) else 0.01


def verdict_of(low: float, high: float, margin: float) -> str:
    """What a 95 % interval says of "the difference is above zero"; inside the margin a sign does not matter."""
    if -margin <= low and high <= margin:
        return EQUAL
    if low > 0:
        return HELD
    return CONTRADICTED if high < 0 else UNRESOLVED


def weakest(verdicts: Sequence[str]) -> str:
    """The verdict of a claim that says several things at once: it holds only if each of them does."""
    return min(verdicts, key=RESOLVED_LAST.index)


def smallest_shown(low: float, high: float) -> float:
    """The smallest mean difference that these seeds would have told from zero: half the interval."""
    return (high - low) / 2


def p_value(differences: Sequence[float]) -> float:
    """Two-sided p of Student's paired test; 1 for fewer than two seeds."""
    from scipy.special import stdtr

    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        return 1.0
    if np.ptp(values) == 0:
        return float(values[0] == 0)
    error = values.std(ddof=1) / len(values) ** 0.5
    return float(2 * stdtr(len(values) - 1, -abs(values.mean()) / error))


def survivors(p_values: Sequence[float], rate: float = 0.05) -> list[bool]:
    """Which of many tests survive Benjamini and Hochberg's control of the false discovery rate."""
    p = np.asarray(p_values, dtype=float)
    order = p.argsort(kind="stable")
    below = np.flatnonzero(p[order] <= rate * np.arange(1, len(p) + 1) / max(1, len(p)))
    kept = np.zeros(len(p), dtype=bool)
    kept[order[: below[-1] + 1 if len(below) else 0]] = True
    return kept.tolist()
