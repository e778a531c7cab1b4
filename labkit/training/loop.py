"""Training a run from start to end, or from wherever it stopped."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from labkit.data import load
from labkit.data.dataset import Splits
from labkit.runs import provenance
from labkit.runs.tracker import FileTracker, WriteError, explained, remove_folder
from labkit.training.config import BASELINES, Config, from_dict
from labkit.training.devices import choose_device, device_name, peak_memory_mb, prepare, process_group
from labkit.training.distributed import is_distributed, rank
from labkit.training.evaluation import measure_test, measure_train, measure_validation, num_parameters
from labkit.training.inputs import sampler, training_batches
from labkit.training.recording import frame_steps, recorded_points, save_embeddings, take_frame
from labkit.training.report import Report
from labkit.training.state import (
    State,
    build_state,
    load_checkpoint,
    load_weights,
    save_checkpoint,
    set_learning_rate,
)
from labkit.training.step import train_step
from labkit.training.watch import Clock, agreed, stop_signals

KEEP = ("all", "embeddings", "metrics")


def start(
    config: Config, seed: int, folder: Path, *, device: str = "auto", keep: str = "all", info: dict[str, Any]
) -> dict[str, Any]:
    """Train a new run in `folder`; returns run.json's final content."""
    return run(config, seed, folder, choose_device(device), keep, info, resume=False)


def resume(folder: Path, *, device: str = "auto") -> dict[str, Any]:
    """Go on with a run that was killed, interrupted or failed, from its last checkpoint."""
    path = folder / "run.json"
    if not path.exists():
        raise ValueError(f"{folder} holds no run (no run.json)")
    info = json.loads(path.read_text(encoding="utf-8"))
    if info["status"] == "finished":
        raise ValueError(f"{folder} is finished; there is nothing to resume")
    return run(from_dict(info["config"]), info["seed"], folder, choose_device(device), info["keep"], info, resume=True)


def run(
    config: Config, seed: int, folder: Path, device: torch.device, keep: str, info: dict[str, Any], resume: bool
) -> dict[str, Any]:
    """Set everything up, train, evaluate, and leave a status whatever happens."""
    prepare(device)
    with process_group(device):
        splits = load(**config.data)
        state = build_state(config, splits.train.num_classes, seed, device)
        last = folder / "checkpoints" / "last.safetensors"
        if resume and last.exists():
            load_checkpoint(last, state)
        tracker = open_tracker(config, seed, folder, keep, info, resume, state, splits)
        try:
            finished = train(config, seed, state, splits, tracker)
            if finished:
                finish(config, state, splits, tracker, keep)
            elif rank() == 0:
                tracker.finish("interrupted")
        except BaseException as error:
            report_failure(tracker, error)
            raise
    return tracker.info


def open_tracker(
    config: Config,
    seed: int,
    folder: Path,
    keep: str,
    info: dict[str, Any],
    resume: bool,
    state: State,
    splits: Splits,
) -> FileTracker:
    """run.json with its provenance; only the first process writes."""
    if resume:
        tracker = FileTracker(folder, info) if rank() else FileTracker.reopen(folder, info, state.progress.step)
    else:
        facts = {
            **info,
            "preset": config.preset,
            "loss": config.loss,
            "seed": seed,
            "keep": keep,
            "config": config.as_dict(),
            **provenance.code_version(),
            "versions": provenance.library_versions(),
            "host": provenance.host(),
            "device": state.device.type,
            "device_name": device_name(state.device),
            "threads": torch.get_num_threads(),
            "processes": dist.get_world_size() if is_distributed() else 1,
            "parameters": num_parameters(state.module),
            "data": provenance.data_facts(splits),
        }
        tracker = FileTracker(folder, facts) if rank() else FileTracker.create(folder, facts)
    return tracker


def train(config: Config, seed: int, state: State, splits: Splits, tracker: FileTracker) -> bool:
    """All steps that are left; False if somebody asked to stop."""
    steps = total_steps(config, splits, seed)
    frames = frame_steps(config, steps)
    shown, progress = recorded_points(config, splits), state.progress
    batches = training_batches(splits.train, config, seed, progress.step, state.device)
    clock = Clock(state)
    state.model.train()
    if progress.step == 0 and not state.frames:
        take_frame(config, state, shown, frames)
    with Report(tracker.folder.name, steps, progress.step, quiet=rank() > 0) as report, stop_signals() as stop:
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
            stopping = agreed(stop.asked, state.device)
            if progress.step % config.train.evaluate_every == 0 or progress.step == steps:
                evaluate(config, state, splits, tracker, report)
                state.model.train()
            if stopping or progress.step % config.train.checkpoint_every == 0 or progress.step == steps:
                clock.read()
                checkpoint(tracker.folder / "checkpoints" / "last.safetensors", state)
            if stopping and progress.step < steps:
                return False
    clock.read()
    return True


def evaluate(config: Config, state: State, splits: Splits, tracker: FileTracker, report: Report) -> None:
    """Measure the validation classes; keep the weights if they are the best so far."""
    progress, metric = state.progress, config.train.metric
    if len(splits.validation) == 0:
        progress.best_step = progress.step
        report.evaluated(progress.step, progress.loss, metric, None)
        return
    found = measure_validation(state, splits, config)
    log(tracker, {"step": progress.step, "split": "validation"} | found)
    if progress.best_step < 0 or found[metric] > progress.best[metric]:
        progress.best_step, progress.best, progress.without_better = progress.step, found, 0
        checkpoint(tracker.folder / "checkpoints" / "best.safetensors", state)
    else:
        progress.without_better += 1
    report.evaluated(progress.step, progress.loss, metric, found[metric])


def finish(config: Config, state: State, splits: Splits, tracker: FileTracker, keep: str) -> None:
    """Test the last weights and the best ones, keep what was asked for, and write the summary."""
    clock, progress = Clock(state), state.progress
    progress.peak_memory_mb = max(progress.peak_memory_mb, peak_memory_mb(state.device))
    if not config.record.test:
        if rank() == 0:
            tracker.finish("finished", summary_of(state) | {"test": None})
        return
    last = measure_test(state, splits, config)
    best = last
    path = tracker.folder / "checkpoints" / "best.safetensors"
    if config.train.select == "best" and path.exists() and 0 <= progress.best_step != progress.step:
        from safetensors.torch import load_file

        load_weights(load_file(path), state)
        best = measure_test(state, splits, config)
    train_metrics = {"train": measure_train(state, splits, config)} if config.record.train_metrics else {}
    if keep != "metrics":
        save_embeddings(config, state, splits, tracker.folder)
    clock.read()
    if rank() == 0:
        found = {"test": best, "test_last": {name: last[name] for name in ("R@1", "MAP@R")}} | train_metrics
        tracker.finish("finished", summary_of(state) | found)
        if keep != "all":
            remove_folder(tracker.folder / "checkpoints")


def summary_of(state: State) -> dict[str, Any]:
    """What training itself found."""
    progress = state.progress
    return {
        "steps": progress.step,
        "best_step": max(0, progress.best_step),
        "validation": progress.best,
        "loss": progress.loss,
        "wall_seconds": round(progress.wall_seconds, 2),
        "cpu_seconds": round(progress.cpu_seconds, 2),
        "peak_memory_mb": round(progress.peak_memory_mb, 1),
    }


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


def report_failure(tracker: FileTracker, error: BaseException) -> None:
    """Leave the reason in run.json, if it can still be written."""
    if rank() > 0:
        return
    interrupted = isinstance(error, KeyboardInterrupt)
    with suppress(WriteError):  # the disk is full: the first error says so
        tracker.finish("interrupted" if interrupted else "failed", error=f"{type(error).__name__}: {error}")
