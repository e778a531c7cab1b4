"""Training a reader of words from start to end, or from wherever it stopped: a run directory like every other."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from labkit.base.files import atomic
from labkit.data.rendered_words import FONTS, WORDS
from labkit.metrics import evaluate_words
from labkit.runs.record import DataFacts
from labkit.runs.tracker import FileTracker
from labkit.surrogates.embedding import Surrogate
from labkit.surrogates.learning import surrogate_loss
from labkit.surrogates.shipped import weights_file
from labkit.surrogates.word_config import WordConfig, from_dict
from labkit.surrogates.word_source import Part, source_of
from labkit.surrogates.word_step import build_state, has_surrogate, keep_weights, train_step
from labkit.surrogates.word_task import random_word_pairs
from labkit.surrogates.words import decode_words
from labkit.training.ending import drop_checkpoints, summary_of
from labkit.training.lab_run import Lab, resume_lab, start_lab
from labkit.training.loop import save_last
from labkit.training.report import Report
from labkit.training.state import State, set_learning_rate
from labkit.training.watch import Clock, Stop

SHOWN = 300  # pairs of each kind that show how good a surrogate is
PACKED = {"id": "DELTA_BYTE_ARRAY", "label": "DELTA_BINARY_PACKED", "class_name": "PLAIN", "read": "PLAIN"}
TOLD = ("learn_loss", "error", "gradient_norm", "learn_kept")  # of the surrogate, where it has learned


def train(config: WordConfig, seed: int, state: State, tracker: FileTracker, stop: Stop) -> bool:
    """All steps that are left; False if somebody asked to stop."""
    progress, rhythm, clock = state.progress, config.train, Clock(state)
    steps = 0 if config.loss == "untrained" else rhythm.steps
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
                progress.best_step, progress.best = progress.step, measure(config, state, "validation")[0]
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
    clock = Clock(state)
    if config.loss == "untrained":
        state.progress.best_step, state.progress.best = 0, measure(config, state, "validation")[0]
    found, read = measure(config, state, "test")
    if tracker.record.keep != "metrics":
        write_readings(tracker.folder / "samples.parquet", source_of(config).part(config, "test"), read)
        if has_surrogate(config):
            write_table(tracker.folder / "approximation.parquet", approximation(config, state))
    clock.read()
    tracker.finish("finished", replace(summary_of(state), test=dict(found), test_last=dict(found)))
    drop_checkpoints(tracker.folder, tracker.record.keep)


@torch.no_grad()
def measure(config: WordConfig, state: State, split: str) -> tuple[dict[str, float], list[str]]:
    """Acc, NED and TED of the reader on the words of a part, and what it read."""
    source = source_of(config)
    part = source.part(config, split)
    state.module.eval()
    read: list[str] = []
    for inputs in part.inputs.split(256):
        read += decode_words(state.module(source.see(inputs.to(state.device))), source.alphabet)
    state.module.train()
    return evaluate_words(read, part.words), read


def approximation(config: WordConfig, state: State) -> dict[str, Any]:
    """e, ê and ‖∂ê/∂z‖ of pairs that nothing has learned from: what is read of test words, and random test words."""
    assert isinstance(state.loss, Surrogate)
    source = source_of(config)
    columns: dict[str, list[Any]] = {name: [] for name in ("id", "kind", "exact", "estimate", "gradient_norm")}
    part = source.part(config, "test")
    state.module.eval()
    with torch.no_grad():
        z = source.task.predict(state.module(source.see(part.inputs[:SHOWN].to(state.device))))
    pairs = random_word_pairs(sorted(set(part.words)), source.alphabet, source.slots, SHOWN, seed=SHOWN)(0)
    for kind, (first, second) in (("reader", (z, source.encoded(part.words[:SHOWN]))), ("generator", pairs)):
        first, second = first.to(state.device), second.to(state.device)
        exact = source.task.exact(first, second)
        found = surrogate_loss(state.loss, first, second, exact, lam=0.0)
        columns["id"] += [f"{kind}/{number}" for number in range(len(exact))]
        columns["kind"] += [kind] * len(exact)
        for name, values in (("exact", exact), ("estimate", found.estimate), ("gradient_norm", found.gradient_norm)):
            columns[name] += [round(value, 3) for value in values.tolist()]
    return columns


def write_readings(path: Path, data: Part, read: list[str]) -> None:
    """One row a word: its id, its number, the word, and what was read; intervals are found by drawing rows anew."""
    rows = {"id": data.ids, "label": range(len(data)), "class_name": data.words, "split": "test", "read": read}
    write_table(path, rows, use_dictionary=["split"], column_encoding=PACKED)  # half as large as by itself


def write_table(path: Path, columns: dict[str, Any], **how: Any) -> None:
    """A table as a run keeps it."""
    import pandas as pd

    with atomic(path) as temporary:
        pd.DataFrame(columns).to_parquet(temporary, index=False, compression="zstd", compression_level=19, **how)


def data_facts(config: WordConfig) -> DataFacts:
    """How many words there are, and a checksum of what a run depends on."""
    source = source_of(config)
    validation, test = source.part(config, "validation"), source.part(config, "test")
    digest = hashlib.sha256(f"{WORDS.checksum} {FONTS.checksum} {config.data['distortion']}".encode())
    for part in (validation, test, *([source.part(config, "train")] if config.data["pool"] else [])):
        digest.update(part.inputs.numpy().tobytes())
    for name in ("reader", "surrogate"):
        if config.data[name]:
            digest.update(weights_file(config.data[name]).read_bytes())
    words = len(source.words(config))
    return DataFacts(
        name=config.data["name"],
        sha256=digest.hexdigest(),
        train=words,
        train_classes=words,
        validation=len(validation),
        validation_classes=len(set(validation.words)),
        test=len(test),
        test_classes=len(set(test.words)),
    )


READERS = Lab("readers of words", from_dict, build_state, data_facts, train, finish)
start_words = partial(start_lab, READERS)
resume_words = partial(resume_lab, READERS)
