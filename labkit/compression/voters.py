"""Who votes with care: trap questions with a known answer, and what the votes of those who fail them are worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labkit.compression.agreement import Agreement, mean_over
from labkit.data.judgements import Aic4, Votes

BAR = 0.7  # the share of trap questions that a voter must answer rightly


@dataclass(frozen=True)
class GoldenSet:
    """Voters by the bar: how many pass and fail, and how often each group's votes across codecs follow the scale."""

    bar: float
    voters: int
    failing: int
    passing_agreement: Agreement | None
    failing_agreement: Agreement | None


def trap_scores(votes: Votes) -> dict[int, float]:
    """Of each voter, the share of trap questions answered rightly: one side is the reference; "not sure" is wrong."""
    trap = votes.kind == "trap"
    right = np.array([1 if left == ("", 0) else -1 for left in votes.left])
    return {
        int(worker): float(np.mean(votes.answer[own] == right[own]))
        for worker in np.unique(votes.worker[trap])
        for own in [trap & (votes.worker == worker)]
    }


def votes_against(votes: Votes, quality: dict[tuple[int, str, int], float], keep: np.ndarray) -> np.ndarray:
    """For every chosen vote, 1 where the side named worse has the lower quality, 0 where not, ½ where they are equal.

    quality: (reference, codec, level) -> a score, higher is better; the reference itself is above all.
    """
    found = []
    for row in np.flatnonzero(keep):
        sides = [
            np.inf if side == ("", 0) else quality[(int(votes.reference[row]), *side)]
            for side in (votes.left[row], votes.right[row])
        ]
        worse = np.sign(sides[0] - sides[1]) if sides[0] != sides[1] else 0.0  # 1: the right one has less
        found.append(0.5 if worse == 0 else float(worse == votes.answer[row]))
    return np.array(found)


def scale_of_people(data: Aic4) -> dict[tuple[int, str, int], float]:
    """The scale of JPEG AIC-4 as a quality: minus the just noticeable differences."""
    return quality_by(data, -data.distortion)


def quality_by(data: Aic4, scores: np.ndarray) -> dict[tuple[int, str, int], float]:
    """Scores by (reference, codec, level)."""
    keys = zip(data.reference.tolist(), data.codec.tolist(), data.level.tolist())
    return dict(zip(keys, scores.tolist()))


def decided(votes: Votes, kind: str) -> np.ndarray:
    """Votes of a kind that name a side."""
    return np.asarray((votes.kind == kind) & (votes.answer != 0))


def golden_set(votes: Votes, data: Aic4, bar: float = BAR) -> GoldenSet:
    """Votes across codecs beside the scale, for those who pass the bar on trap questions and for those who do not."""
    if not 0 <= bar <= 1:
        raise ValueError(f"bar must be a share, 0 … 1; got {bar!r}")
    marks = trap_scores(votes)
    passing = {worker for worker, mark in marks.items() if mark >= bar}
    known, scale = np.isin(votes.worker, list(marks)), scale_of_people(data)
    passes = np.isin(votes.worker, list(passing))

    def follow(keep: np.ndarray) -> Agreement | None:
        chosen = decided(votes, "cross") & known & keep
        if not chosen.any():
            return None
        return mean_over(votes_against(votes, scale, chosen), votes.reference[chosen])

    return GoldenSet(bar, len(marks), len(marks) - len(passing), follow(passes), follow(~passes))
