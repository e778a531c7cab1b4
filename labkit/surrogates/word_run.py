"""Training a reader of words from start to end, or from wherever it stopped: a run directory like every other."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from labkit.base.files import atomic
from labkit.data.rendered_words import FONTS, WORDS, rendered_words, words_of
from labkit.data.word_images import LETTERS, WordImages
from labkit.metrics import evaluate_words
from labkit.runs import provenance
from labkit.runs.record import DataFacts, Resumed, RunRecord
from labkit.runs.tracker import FileTracker
from labkit.runs.variant import Variant
from labkit.surrogates.word_config import WordConfig, from_dict
from labkit.surrogates.word_step import build_state, keep_weights, reader_weights, train_step
from labkit.surrogates.words import decode_words
from labkit.training.devices import choose_device, device_name, prepare
from labkit.training.distributed import world_size
from labkit.training.ending import drop_checkpoints, report_failure, summary_of
from labkit.training.evaluation import num_parameters
from labkit.training.loop import first_record, resumable, save_last
from labkit.training.report import Report
from labkit.training.state import State, load_checkpoint, set_learning_rate
from labkit.training.watch import Clock, Stop, stop_signals

TOLD = ("learn_loss", "error", "gradient_norm", "learn_kept")  # of the surrogate, where it has learned


def start_words(
    config: WordConfig,
    seed: int,
    folder: Path,
    *,
    variant: Variant | None = None,
    command: str = "",
    device: str = "auto",
    keep: str = "all",
) -> RunRecord:
    """Train a new run in `folder`; returns run.json's final content. variant: what was chosen, for the record."""
    state = build_state(config, seed, choose_device(device))
    record = replace(first_record(config, seed, folder, variant, command, keep), **facts(config, state))
    return run(config, seed, state, FileTracker.create(folder, record))


def resume_words(folder: Path, *, device: str = "auto", threads: int | None = None) -> RunRecord:
    """Go on with a run that was killed, interrupted or failed, from its last checkpoint."""
    record, settings = resumable(folder)
    torch.set_num_threads(threads or record.threads)
    config, seed = from_dict(settings), record.seed or 0
    state = build_state(config, seed, choose_device(record.device if device == "auto" else device))
    now = facts(config, state)
    if record.data.sha256 != now["data"].sha256:
        raise ValueError(f"{folder}: the data are not those that the run began with; it cannot be resumed")
    path = folder / "checkpoints" / "last.safetensors"
    if path.is_file():
        load_checkpoint(path.read_bytes(), state, folder)
    again = {name: now[name] for name in ("commit", "dirty", "versions", "device_name")}
    record = replace(record, resumed=(*record.resumed, Resumed(step=state.progress.step, **again)))
    return run(config, seed, state, FileTracker.reopen(folder, record, state.progress.step))


def run(config: WordConfig, seed: int, state: State, tracker: FileTracker) -> RunRecord:
    """Train, test, and leave a status whatever happens."""
    if world_size() > 1:
        raise ValueError("readers of words are trained by one process; start it without torchrun")
    prepare(state.device)
    try:
        with stop_signals() as stop:
            if train(config, seed, state, tracker, stop):
                finish(config, state, tracker)
            else:
                tracker.finish("interrupted")
    except BaseException as error:
        report_failure(tracker, error)
        raise
    return tracker.record


def train(config: WordConfig, seed: int, state: State, tracker: FileTracker, stop: Stop) -> bool:
    """All steps that are left; False if somebody asked to stop."""
    progress, rhythm, steps, clock = state.progress, config.train, config.train.steps, Clock(state)
    with Report(tracker.folder.name, steps, progress.step) as report:
        while progress.step < steps:
            share = set_learning_rate(state.optimizer, config.optimizer, progress.step, steps)
            found = train_step(state, config, seed)
            progress.step += 1
            if told := {name: float(found[name]) for name in TOLD if name in found}:
                tracker.log({"step": progress.step, "split": "surrogate"} | told)
            logging = progress.step % rhythm.log_every == 0 or progress.step == steps
            if logging:
                progress.loss = float(found["loss"])
                row = {"step": progress.step, "seconds": round(clock.read(), 3), "loss": progress.loss}
                kept = {"tune_kept": float(found["tune_kept"])} if "tune_kept" in found else {}
                tracker.log(row | {"lr": config.optimizer.lr * share} | kept)
                if not torch.isfinite(found["loss"]):
                    raise FloatingPointError(f"the loss is {progress.loss} at step {progress.step}: lower lr or clip")
            report.step(progress.loss if logging else None)
            if progress.step % rhythm.evaluate_every == 0 or progress.step == steps:
                progress.best_step, progress.best = progress.step, measure(state, held_out(config, "validation"))[0]
                tracker.log({"step": progress.step, "split": "validation"} | progress.best)
                report.evaluated(progress.step, progress.loss, rhythm.metric, progress.best[rhythm.metric])
            if is_frame(progress.step, steps, config.record.frames):
                about = {"run": tracker.record.id, "commit": tracker.record.commit or "", "step": str(progress.step)}
                keep_weights(tracker.folder / "checkpoints" / f"{progress.step}.safetensors", state, about)
            if stop.asked or progress.step % rhythm.checkpoint_every == 0 or progress.step == steps:
                save_last(tracker, state, clock)
            if stop.asked and progress.step < steps:
                return False
    return True


def is_frame(step: int, steps: int, frames: int) -> bool:
    """Whether the weights are kept after this step: so many times, evenly spread, the last time at the end."""
    return frames > 0 and step * frames // steps > (step - 1) * frames // steps


def finish(config: WordConfig, state: State, tracker: FileTracker) -> None:
    """Test the last weights, keep what was read, and write the summary."""
    clock, data = Clock(state), held_out(config, "test")
    found, read = measure(state, data)
    if tracker.record.keep != "metrics":
        write_readings(tracker.folder / "samples.parquet", data, read)
    clock.read()
    tracker.finish("finished", replace(summary_of(state), test=dict(found), test_last=dict(found)))
    drop_checkpoints(tracker.folder, tracker.record.keep)


@torch.no_grad()
def measure(state: State, data: WordImages) -> tuple[dict[str, float], list[str]]:
    """Acc, NED and TED of the reader on words, and what it read."""
    state.module.eval()
    read: list[str] = []
    for images in data.images.split(256):
        read += decode_words(state.module(images.to(state.device) / 255), LETTERS)
    state.module.train()
    return evaluate_words(read, data.words), read


def write_readings(path: Path, data: WordImages, read: list[str]) -> None:
    """One row a word: its id, its number, the word, and what was read; intervals are found by drawing rows anew."""
    import pandas as pd

    table = pd.DataFrame(
        {"id": data.ids, "label": range(len(data)), "class_name": data.words, "split": "test", "read": read}
    )
    with atomic(path) as temporary:
        table.to_parquet(temporary, index=False, compression="zstd")


def held_out(config: WordConfig, split: str) -> WordImages:
    """The words that every run is measured on: they depend on their number and on the distortion alone."""
    return drawn(split, config.data[split], config.data["distortion"])


@cache
def drawn(split: str, count: int, distortion: float) -> WordImages:
    """Drawn once a process."""
    return rendered_words(split, count, distortion=distortion)


def facts(config: WordConfig, state: State) -> dict[str, Any]:
    """Code, libraries, machine and data of this process."""
    validation, test = held_out(config, "validation"), held_out(config, "test")
    digest = hashlib.sha256(f"{WORDS.checksum} {FONTS.checksum} {config.data['distortion']}".encode())
    for part in (validation, test):
        digest.update(part.images.numpy().tobytes())
    if config.data["reader"]:
        for name, tensor in sorted(reader_weights(Path(config.data["reader"])).items()):
            digest.update(name.encode() + tensor.numpy().tobytes())
    words = len(words_of("train"))
    data = DataFacts(
        name=config.data["name"],
        sha256=digest.hexdigest(),
        train=words,
        train_classes=words,
        validation=len(validation),
        validation_classes=len(set(validation.words)),
        test=len(test),
        test_classes=len(set(test.words)),
    )
    return {
        **provenance.code_version(),
        "versions": provenance.library_versions(),
        "host": provenance.host(),
        "device": state.device.type,
        "device_name": device_name(state.device),
        "threads": torch.get_num_threads(),
        "processes": 1,
        "parameters": num_parameters(state.module),
        "data": data,
    }
