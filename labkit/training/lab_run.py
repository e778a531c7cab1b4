"""The frame of a lab's training in one process: begin, go on, test, and leave a status whatever happens.

A lab (readers of words, the learned codec) brings a `Lab`: how its settings are read and its state is built, what its
data are, how it trains and how it ends. All else about its run directories is as for every other run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from labkit.runs.record import DataFacts, RunRecord, RunSettings
from labkit.runs.tracker import FileTracker
from labkit.runs.variant import Variant
from labkit.training.devices import choose_device, prepare
from labkit.training.distributed import world_size
from labkit.training.ending import report_failure
from labkit.training.loop import first_record, going_on, provenance_of, resumable
from labkit.training.state import State, load_checkpoint
from labkit.training.watch import Stop, stop_signals

C = TypeVar("C", bound=RunSettings)


@dataclass(frozen=True)
class Lab(Generic[C]):
    """What a lab's runs are made of. name: in the plural, for messages."""

    name: str
    read: Callable[[dict[str, Any]], C]
    build: Callable[[C, int, torch.device], State]
    data: Callable[[C], DataFacts]
    train: Callable[[C, int, State, FileTracker, Stop], bool]  # False if somebody asked to stop
    finish: Callable[[C, State, FileTracker], None]


def start_lab(
    lab: Lab[C],
    config: C,
    seed: int,
    folder: Path,
    *,
    variant: Variant | None = None,
    command: str = "",
    device: str = "auto",
    keep: str = "all",
) -> RunRecord:
    """Train a new run in `folder`; returns run.json's final content. variant: what was chosen, for the record."""
    state = lab.build(config, seed, choose_device(device))
    record = replace(
        first_record(config, seed, folder, variant, command, keep), **provenance_of(state, lab.data(config))
    )
    return run(lab, config, seed, state, FileTracker.create(folder, record))


def resume_lab(lab: Lab[C], folder: Path, *, device: str = "auto", threads: int | None = None) -> RunRecord:
    """Go on with a run that was killed, interrupted or failed, from its last checkpoint."""
    record, settings = resumable(folder)
    torch.set_num_threads(threads or record.threads)
    config, seed = lab.read(settings), record.seed or 0
    state = lab.build(config, seed, choose_device(record.device if device == "auto" else device))
    path = folder / "checkpoints" / "last.safetensors"
    if path.is_file():
        load_checkpoint(path.read_bytes(), state, folder)
    record = going_on(record, state, lab.data(config), folder)
    return run(lab, config, seed, state, FileTracker.reopen(folder, record, state.progress.step))


def run(lab: Lab[C], config: C, seed: int, state: State, tracker: FileTracker) -> RunRecord:
    """Train, test, and leave a status whatever happens."""
    if world_size() > 1:
        raise ValueError(f"{lab.name} are trained by one process; start it without torchrun")
    prepare(state.device)
    try:
        with stop_signals() as stop:
            if lab.train(config, seed, state, tracker, stop):
                lab.finish(config, state, tracker)
            else:
                tracker.finish("interrupted")
    except BaseException as error:
        report_failure(tracker, error)
        raise
    return tracker.record
