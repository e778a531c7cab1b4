"""Training a run from start to end, or from wherever it stopped."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from labkit.data.dataset import Splits
from labkit.losses.own import checksum, is_own
from labkit.runs import provenance
from labkit.runs.process import is_alive
from labkit.runs.record import SCHEMA, DataFacts, LossFile, Resumed, RunRecord, RunSettings, read_record
from labkit.runs.schema import RunError, parse_json, run_file
from labkit.runs.tracker import FileTracker, explained
from labkit.runs.variant import Variant
from labkit.training.config import BASELINES, Config, from_dict
from labkit.training.devices import choose_device, device_name, peak_memory_mb, prepare, process_group
from labkit.training.distributed import rank, read_everywhere, world_size
from labkit.training.ending import finish, report_failure
from labkit.training.evaluation import measure_validation, num_parameters
from labkit.training.inputs import load_data, sampler, training_batches
from labkit.training.recording import frame_steps, recorded_points, take_frame
from labkit.training.report import Report
from labkit.training.state import State, build_state, load_checkpoint, save_checkpoint, set_learning_rate
from labkit.training.step import train_step
from labkit.training.watch import Clock, Stop, agreed, stop_signals


def start(
    config: Config,
    seed: int,
    folder: Path,
    *,
    variant: Variant | None = None,
    command: str = "",
    loss_sha256: str = "",
    device: str = "auto",
    keep: str = "all",
) -> RunRecord:
    """Train a new run in `folder`; returns run.json's final content. variant: what was chosen, for the record.

    loss_sha256: the checksum that the file of a loss of one's own must have, by default the one that it has.
    """
    record = first_record(config, seed, folder, variant, command, keep)
    if is_own(config.loss):
        record = replace(
            record, loss_file=LossFile(config.loss.rpartition(":")[0], loss_sha256 or checksum(config.loss))
        )
    return run(config, folder, choose_device(device), record, resume=False)


def first_record(
    config: RunSettings, seed: int, folder: Path, variant: Variant | None, command: str, keep: str
) -> RunRecord:
    """What is known of a run before it begins."""
    variant = variant or Variant(config.preset, config.loss)
    return RunRecord(
        schema=SCHEMA,
        id=folder.name,
        group=variant.name,
        preset=config.preset,
        loss=config.loss,
        seed=seed,
        overrides=dict(variant.overrides),
        command=command,
        keep=keep,
        config=config,
    )


def resume(folder: Path, *, device: str = "auto", threads: int | None = None) -> RunRecord:
    """Go on with a run that was killed, interrupted or failed, from its last checkpoint.

    Device and threads are the run's own unless given: another number of threads adds up in another order, so that the
    last digits would differ from those of an uninterrupted run.
    """
    with process_group(choose_device(device)):
        record, settings = resumable(folder)
        torch.set_num_threads(threads or record.threads)
        where = choose_device(record.device if device == "auto" else device)
        return run(from_dict(settings), folder, where, record, resume=True)  # refuses what it does not know


def resumable(folder: Path) -> tuple[RunRecord, dict[str, Any]]:
    """The record of a run that can go on, and its settings with those that this labkit does not know.

    A run that is finished, that another process is writing, or that had another number of processes is refused.
    """
    if rank() == 0 and os.path.lexists(folder / "run.json"):
        run_file(folder, "run.json")  # refuses a pipe, which would never end
    written = read_everywhere(folder / "run.json")
    if written is None:
        raise ValueError(f"{folder} holds no run (no run.json)")
    try:
        content = parse_json(written, "run.json")
    except RunError as error:
        raise RunError(f"{folder} cannot be resumed: {error}") from None
    record, wrong = read_record(content)
    if wrong:
        raise ValueError(f"{folder} cannot be resumed: {'; '.join(wrong)}")
    if record.status == "finished":
        raise ValueError(f"{folder} is finished; there is nothing to resume")
    other = record.status == "running" and record.pid != os.getpid()
    if other and rank() == 0 and is_alive(record.pid, record.pid_started, record.node):
        raise ValueError(f"{folder} is running, in process {record.pid}; stop that one first")
    if record.processes != world_size():
        raise ValueError(f"{folder} was made by {record.processes} processes: resume it with as many")
    return record, content["config"]


def run(config: Config, folder: Path, device: torch.device, record: RunRecord, resume: bool) -> RunRecord:
    """Set everything up, train, evaluate, and leave a status whatever happens."""
    seed = record.seed or 0
    prepare(device)
    with process_group(device), stop_signals() as stop:
        splits = load_data(config)
        file = record.loss_file or LossFile()
        state = build_state(config, splits.train.num_classes, seed, device, file.sha256)
        content = read_everywhere(folder / "checkpoints" / "last.safetensors") if resume else None
        if content is not None:
            load_checkpoint(content, state, folder)
        data = provenance.data_facts(splits)
        record = going_on(record, state, data, folder) if resume else replace(record, **provenance_of(state, data))
        tracker = FileTracker(folder, record)
        if rank() == 0:
            step = state.progress.step
            tracker = FileTracker.reopen(folder, record, step) if resume else FileTracker.create(folder, record)
        try:
            if train(config, seed, state, splits, tracker, stop):
                finish(config, state, splits, tracker, record.keep)
            elif rank() == 0:
                tracker.finish("interrupted")
        except BaseException as error:
            report_failure(tracker, error)
            raise
    return tracker.record


def going_on(record: RunRecord, state: State, data: DataFacts, folder: Path) -> RunRecord:
    """The record of a run that is resumed, if its data are those that it began with."""
    facts = provenance_of(state, data)
    if record.data.sha256 != facts["data"].sha256:
        raise ValueError(f"{folder}: the data are not those that the run began with; it cannot be resumed")
    again = {name: facts[name] for name in ("commit", "dirty", "versions", "device_name")}
    return replace(record, resumed=(*record.resumed, Resumed(step=state.progress.step, **again)))


def provenance_of(state: State, data: DataFacts) -> dict[str, Any]:
    """Code, libraries, machine and data of this process."""
    return {
        **provenance.code_version(),
        "versions": provenance.library_versions(),
        "host": provenance.host(),
        "device": state.device.type,
        "device_name": device_name(state.device),
        "threads": torch.get_num_threads(),
        "processes": world_size(),
        "parameters": num_parameters(state.module),
        "data": data,
    }


def train(config: Config, seed: int, state: State, splits: Splits, tracker: FileTracker, stop: Stop) -> bool:
    """All steps that are left; False if somebody asked to stop."""
    steps = total_steps(config, splits, seed)
    frames = frame_steps(config, steps)
    shown, progress = recorded_points(config, splits), state.progress
    batches = training_batches(splits.train, config, seed, progress.step, state.device)
    clock = Clock(state)
    saved = progress.step
    state.model.train()
    if progress.step == 0 and not state.frames:
        take_frame(config, state, shown, frames)
    with Report(tracker.folder.name, steps, progress.step, quiet=rank() > 0) as report:
        while progress.step < steps and not patience_spent(config, state):
            share = set_learning_rate(state.optimizer, config.optimizer, progress.step, steps)
            batch = next(batches)
            value = train_step(state, batch, config, seed)
            progress.step += 1
            logging = progress.step % config.train.log_every == 0 or progress.step == steps
            if logging:
                progress.loss = float(value)  # waits for the device, so not at every step
                row = {"step": progress.step, "epoch": batch.epoch, "seconds": round(clock.read(), 3)}
                log(tracker, row | {"loss": progress.loss, "lr": config.optimizer.lr * share})
                if not torch.isfinite(value):
                    raise FloatingPointError(f"the loss is {progress.loss} at step {progress.step}: lower lr or clip")
            report.step(progress.loss if logging else None)
            take_frame(config, state, shown, frames)
            stopping = agreed(stop, progress.step, state.device)
            if progress.step % config.train.evaluate_every == 0 or progress.step == steps:
                evaluate(config, state, splits, tracker, report)
                state.model.train()
            if stopping or progress.step % config.train.checkpoint_every == 0 or progress.step == steps:
                save_last(tracker, state, clock)
                saved = progress.step
            if stopping and progress.step < steps:
                return False
        if steps == 0:  # a baseline
            evaluate(config, state, splits, tracker, report)
    if saved != progress.step and steps > 0:  # stopped early
        save_last(tracker, state, clock)
    return True


def save_last(tracker: FileTracker, state: State, clock: Clock) -> None:
    """A checkpoint to go on from, after the metrics that belong before it."""
    clock.read()
    state.progress.peak_memory_mb = max(state.progress.peak_memory_mb, peak_memory_mb(state.device))
    if rank() == 0:
        tracker.flush()
    checkpoint(tracker.folder / "checkpoints" / "last.safetensors", state)


def evaluate(config: Config, state: State, splits: Splits, tracker: FileTracker, report: Report) -> None:
    """Measure the validation classes; keep the weights if train.select is "best" and these are the best so far."""
    progress, metric = state.progress, config.train.metric
    if len(splits.validation) == 0:
        progress.best_step = progress.step
        report.evaluated(progress.step, progress.loss, metric, None)
        return
    found = measure_validation(state, splits, config)
    log(tracker, {"step": progress.step, "split": "validation"} | found)
    if config.train.select == "last":
        progress.best_step, progress.best = progress.step, found
    elif progress.best_step < 0 or found[metric] > progress.best[metric]:
        progress.best_step, progress.best, progress.without_better = progress.step, found, 0
        checkpoint(tracker.folder / "checkpoints" / "best.safetensors", state)
    else:
        progress.without_better += 1
    report.evaluated(progress.step, progress.loss, metric, found[metric])


def total_steps(config: Config, splits: Splits, seed: int) -> int:
    """The length of training."""
    if config.loss in BASELINES:
        return 0
    if config.train.epochs:
        return round(config.train.epochs * len(sampler(splits.train.labels, config.batch, seed).epoch(0)))
    return config.train.steps


def patience_spent(config: Config, state: State) -> bool:
    """Whether the validation classes have stopped getting better."""
    return 0 < config.train.patience <= state.progress.without_better


def checkpoint(path: Path, state: State) -> None:
    """Only the first process writes."""
    if rank() == 0:
        with explained(path.parent.parent):
            save_checkpoint(path, state)


def log(tracker: FileTracker, row: dict[str, Any]) -> None:
    """Only the first process writes."""
    if rank() == 0:
        tracker.log(row)
