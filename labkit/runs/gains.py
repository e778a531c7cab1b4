"""What tuning a reader of words gains over the base that it began with, arm by arm, with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from labkit.runs.compare import PairedDifference
from labkit.runs.readings import arm_table, word_difference
from labkit.runs.run import Run
from labkit.runs.schema import RunError
from labkit.runs.variant import Variant

BASE = "untrained"  # the arm that leaves the base as it is
READER = "data.reader"
LOWER = ("TED",)  # metrics of which less is better
CONTROLS = (
    "cross-entropy",
    "reinforce",
    "soft-edit-distance",
    "feds-random",
)  # what needs no surrogate, or a blind one


@dataclass(frozen=True)
class Gain:
    """An arm beside the base it was tuned from; above 0 is better, whichever way the metric goes."""

    difference: PairedDifference
    reader: str
    base: float
    cpu_seconds: float

    @property
    def variant(self) -> Variant:
        """The arm."""
        return self.difference.group

    @property
    def title(self) -> str:
        """Its name for people, where the base has been said."""
        said = [part for key, part in zip(self.variant.changes, self.variant.phrases) if key != READER]
        return ", ".join([self.variant.loss_title, *said])

    @property
    def is_control(self) -> bool:
        """Whether it does without a learned surrogate, or without what the surrogate knows."""
        return self.variant.loss in CONTROLS

    @property
    def mean(self) -> float:
        """The gain, mean over seeds."""
        return self.turn * self.difference.mean

    @property
    def interval(self) -> tuple[float, float]:
        """From the lower to the higher end; NaN where there is none."""
        low, high = sorted((self.turn * self.difference.low, self.turn * self.difference.high))
        return low, high

    @property
    def turn(self) -> int:
        """Minus one where less is better."""
        return -1 if self.difference.metric in LOWER else 1


def gains(runs: Iterable[Run], preset: str = "words-tune", metric: str = "TED") -> list[Gain]:
    """Every arm of a preset whose base is there, by base, then the largest gain first.

    The base is the same for every seed, so that one run of it does for all.
    """
    runs = list(runs)
    frame = arm_table(runs, preset)
    by_id = {run.id: run for run in runs}
    found = []
    for _, part in frame[frame["loss"] != BASE].groupby("variant", sort=False):
        tuned = [by_id[name] for name in part["run_id"]]
        base = base_of(tuned[0], runs)
        if base is None or (value := base.value(metric)) is None:
            continue
        pairs = [replace(base, record=replace(base.record, seed=run.seed)) for run in tuned]
        try:
            difference = word_difference([*tuned, *pairs], tuned[0].variant, base.variant, metric)
        except RunError:  # what was read is damaged, or of other words
            continue
        found.append(Gain(difference, str(part["reader"].iloc[0]), value, float(part["cpu_seconds"].mean())))
    return sorted(found, key=lambda gain: (gain.reader, -gain.mean))


def base_of(run: Run, runs: Iterable[Run]) -> Run | None:
    """The base that a reader was tuned from, tested on the same words; of the same seed where there is one."""
    same = [one for one in runs if one.loss == BASE and one.preset == run.preset and is_base(one, run)]
    return min(same, key=lambda one: (one.seed != run.seed, one.id), default=None)


def is_base(base: Run, run: Run) -> bool:
    """The same reader to begin with, and the same test words."""
    data, other = base.record.config.data, run.record.config.data
    shared = all(data.get(name) == other.get(name) for name in ("reader", "test", "distortion"))
    return shared and base.status == "finished" and not base.problems
