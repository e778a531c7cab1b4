"""Runs to make in one process, as a value: what is chosen, the seeds, and what a finished run keeps."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from labkit.base.typed import Needed
from labkit.losses.own import checksum, is_own
from labkit.runs.variant import Variant


@dataclass(frozen=True)
class Job:
    """A configuration with one seed, or with several where each takes only seconds.

    loss_sha256: of the file of a loss of one's own, when the job was prepared; another file will not be run.
    """

    preset: Needed[str] = ""
    loss: Needed[str] = ""
    seeds: Needed[tuple[int, ...]] = (0,)
    settings: Needed[dict[str, str]] = field(default_factory=dict)
    keep: str = "all"
    device: str = "auto"
    loss_sha256: str = ""

    @property
    def variant(self) -> Variant:
        """What is chosen for these runs."""
        return Variant(self.preset, self.loss, self.settings)

    def run_ids(self) -> list[str]:
        """The folders' names."""
        return [self.variant.run_id(seed) for seed in self.seeds]

    def arguments(self) -> list[str]:
        """What follows `python -m labkit train` to make these runs."""
        seeds = ["--seed", *(str(seed) for seed in self.seeds)]
        settings = ["--set", *(f"{name}={value}" for name, value in self.settings.items())] if self.settings else []
        device = [] if self.device == "auto" else ["--device", self.device]
        return [self.preset, "--loss", self.loss, *seeds, *settings, *device]

    def command(self) -> str:
        """What to type."""
        return f"python -m labkit train {shlex.join(self.arguments())}"

    def same_as(self, other: Job) -> bool:
        """Whether both make the same runs."""
        return (self.variant, sorted(self.seeds)) == (other.variant, sorted(other.seeds))


def left_of(job: Job, runs: Sequence[str], states: Sequence[str | None]) -> list[tuple[Job, str]]:
    """What is left of a job whose runs are in these states: new seeds together, runs that have begun one by one.

    With each comes the folder of the run that it goes on with, "" for new ones.
    """
    new = tuple(seed for seed, state in zip(job.seeds, states) if state is None)
    begun = [(seed, run) for seed, run, state in zip(job.seeds, runs, states) if state not in (None, "finished")]
    parts = [(replace(job, seeds=new), "")] if new else []
    return parts + [(replace(job, seeds=(seed,)), run) for seed, run in begun]


def sha256_of(loss: str) -> str:
    """The checksum of a loss in a file, "" for one of the catalogue."""
    return checksum(loss) if is_own(loss) else ""
