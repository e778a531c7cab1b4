"""The end of a run: it is tested, keeps what was asked for, and leaves a summary, or the reason why there is none."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from labkit.data.dataset import Splits
from labkit.runs.record import SCHEMA, Metrics, Summary
from labkit.runs.tracker import FileTracker, WriteError, remove_folder
from labkit.training.config import Config
from labkit.training.devices import peak_memory_mb
from labkit.training.distributed import rank, read_everywhere
from labkit.training.evaluation import measure_test, measure_train
from labkit.training.recording import save_embeddings
from labkit.training.state import State, load_weights_of
from labkit.training.watch import Clock


def finish(config: Config, state: State, splits: Splits, tracker: FileTracker, keep: str) -> None:
    """Test the last weights and the best ones, keep what was asked for, and write the summary."""
    clock, progress, folder = Clock(state), state.progress, tracker.folder
    if not config.record.test:
        clock.read()
        if rank() == 0:
            tracker.finish("finished", summary_of(state))
            drop_checkpoints(folder, keep)
        return
    last = measure_test(state, splits, config)
    best = last
    if config.train.select == "best" and 0 <= progress.best_step != progress.step:
        content = read_everywhere(folder / "checkpoints" / "best.safetensors")
        if content is not None and load_weights_of(content, state, folder, progress.best_step):
            best = measure_test(state, splits, config)
        else:
            progress.best_step = progress.step  # its weights are gone: what is tested are the last
    train_metrics: Metrics | None = None
    if config.record.train_metrics:
        train_metrics = dict(measure_train(state, splits, config))
    if keep != "metrics":
        save_embeddings(config, state, splits, folder)
    clock.read()
    progress.peak_memory_mb = max(progress.peak_memory_mb, peak_memory_mb(state.device))
    if rank() == 0:
        kept: Metrics = {name: last[name] for name in ("R@1", "MAP@R")}
        tracker.finish("finished", replace(summary_of(state), test=dict(best), test_last=kept, train=train_metrics))
        drop_checkpoints(folder, keep)


def drop_checkpoints(folder: Path, keep: str) -> None:
    """A finished run keeps its checkpoints only if all was to be kept."""
    if keep != "all":
        remove_folder(folder / "checkpoints")


def summary_of(state: State) -> Summary:
    """What training itself found."""
    progress = state.progress
    return Summary(
        schema=SCHEMA,
        steps=progress.step,
        best_step=max(0, progress.best_step),
        validation=dict(progress.best),
        loss=progress.loss,
        wall_seconds=round(progress.wall_seconds, 2),
        cpu_seconds=round(progress.cpu_seconds, 2),
        peak_memory_mb=round(progress.peak_memory_mb, 1),
    )


def report_failure(tracker: FileTracker, error: BaseException) -> None:
    """Leave the reason in run.json, if it can still be written."""
    if rank() > 0:
        return
    interrupted = isinstance(error, KeyboardInterrupt)
    with suppress(WriteError):  # the disk is full: the first error says so
        tracker.finish("interrupted" if interrupted else "failed", error=f"{type(error).__name__}: {error}")
