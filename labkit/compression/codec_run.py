"""Training the learned codec from start to end, or from wherever it stopped: a run directory like every other.

Beside what every run keeps, its folder has `codec.safetensors`, the codec as it stood at the last evaluation, which
`LearnedCodec` and `python -m labkit compress --weights` read.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from labkit.compression.codec_config import CodecConfig, from_dict
from labkit.compression.codec_step import build_state, train_step, training_photographs
from labkit.compression.learned import LearnedCodec, write_codec
from labkit.compression.likeness import likeness
from labkit.compression.network import LAMBDAS, Network
from labkit.data.files import DataError
from labkit.data.photographs import photographs
from labkit.runs import provenance
from labkit.runs.record import DataFacts
from labkit.runs.tracker import FileTracker
from labkit.training.ending import drop_checkpoints, summary_of
from labkit.training.lab_run import Lab, resume_lab, start_lab
from labkit.training.loop import save_last
from labkit.training.report import Report
from labkit.training.state import State, set_learning_rate
from labkit.training.watch import Clock, Stop

CODEC_FILE = "codec.safetensors"
VALIDATION, SIDE = 8, 256  # the middle of the first so many photographs of BSDS500 test
TESTED = (0, 25, 50, 75, 100)  # qualities at which Kodak is coded at the end


def train(config: CodecConfig, seed: int, state: State, tracker: FileTracker, stop: Stop) -> bool:
    """All steps that are left; False if somebody asked to stop."""
    progress, rhythm, steps, clock = state.progress, config.train, config.train.steps, Clock(state)
    with Report(tracker.folder.name, steps, progress.step) as report:
        while progress.step < steps:
            share = set_learning_rate(state.optimizer, config.optimizer, progress.step, steps)
            found = train_step(state, config, seed)
            progress.step += 1
            logging = progress.step % rhythm.log_every == 0 or progress.step == steps
            if logging:
                progress.loss = float(found["loss"])
                row = {"step": progress.step, "seconds": round(clock.read(), 3), "lr": config.optimizer.lr * share}
                tracker.log(row | {name: float(value) for name, value in found.items()})
                if not torch.isfinite(found["loss"]):
                    raise FloatingPointError(f"the loss is {progress.loss} at step {progress.step}: lower lr or clip")
            report.step(progress.loss if logging else None)
            if progress.step % rhythm.evaluate_every == 0 or progress.step == steps:
                progress.best_step, progress.best = progress.step, measure(state)
                tracker.log({"step": progress.step, "split": "validation"} | progress.best)
                write_codec(tracker.folder / CODEC_FILE, network_of(state), codec_facts(state))
                report.evaluated(progress.step, progress.loss, "", None)
            if stop.asked or progress.step % rhythm.checkpoint_every == 0 or progress.step == steps:
                save_last(tracker, state, clock)
            if stop.asked and progress.step < steps:
                return False
    return True


def network_of(state: State) -> Network:
    """The running mean of the weights, which is what is measured and written."""
    assert isinstance(state.loss, Network)
    return state.loss


def codec_facts(state: State) -> dict[str, str]:
    """What a file of weights says of its origin."""
    progress = state.progress
    return {
        "steps": str(progress.step),
        "cpu_hours": f"{progress.cpu_seconds / 3600:.2f}",
        "trained_on": "BSDS500 train + val",
        "commit": str(provenance.code_version()["commit"]),
    }


@torch.no_grad()
def measure(state: State) -> dict[str, float]:
    """Estimated bits per pixel and PSNR of a few pieces of BSDS500 test, at the lowest, middle and highest rate."""
    pieces = []
    for image in photographs("bsds500 test").images[:VALIDATION]:
        top, left = ((side - SIDE) // 2 for side in image.shape[:2])
        pieces.append(torch.from_numpy(image[top : top + SIDE, left : left + SIDE]).permute(2, 0, 1))
    images = torch.stack(pieces).to(state.device) / 255
    network, found = network_of(state), {}
    silence = tuple(
        images.new_zeros(VALIDATION, channels, SIDE // down, SIDE // down)
        for channels, down in ((network.sizes.latent, 16), (network.sizes.hyper, 64))
    )
    for name, level in (("low", 0.0), ("middle", (len(LAMBDAS) - 1) / 2), ("high", len(LAMBDAS) - 1.0)):
        decoded, bits = network(images, images.new_full((VALIDATION,), level), silence)
        error = (decoded.clamp(0, 1) - images).square().mean((1, 2, 3))
        found[f"bpp {name}"] = float(bits.mean()) / SIDE**2
        found[f"PSNR {name}"] = float(-10 * torch.log10(error).mean())
    return found


def finish(config: CodecConfig, state: State, tracker: FileTracker) -> None:
    """Code Kodak with real bytes if it is there, and write the summary."""
    clock = Clock(state)
    codec = LearnedCodec((tracker.folder / CODEC_FILE).read_bytes())
    try:
        test = measure_bytes(codec)
    except DataError:  # without Kodak a run ends with its validation
        test = None
    clock.read()
    tracker.finish("finished", replace(summary_of(state), test=test, test_last=test))
    drop_checkpoints(tracker.folder, tracker.record.keep)


def measure_bytes(codec: LearnedCodec) -> dict[str, float | None]:
    """Means over Kodak of real bits per pixel, PSNR and MS-SSIM, at some qualities."""
    found: dict[str, float | None] = {}
    for quality in TESTED:
        rows = []
        for image in photographs("kodak").images:
            data = codec.encode(image, quality)
            rows.append((8 * len(data) / (image.shape[0] * image.shape[1]), *likeness(image, codec.decode(data))))
        for name, value in zip(("bpp", "PSNR", "MS-SSIM"), np.mean(rows, axis=0)):
            found[f"{name}@{quality}"] = float(value)
    return found


def data_facts(config: CodecConfig) -> DataFacts:
    """How many photographs there are, and a checksum of them."""
    parts = [*training_photographs(), photographs("bsds500 test")]
    digest = hashlib.sha256("".join(part.checksum for part in parts).encode()).hexdigest()
    train = sum(len(part) for part in parts[:2])
    return DataFacts(
        name="bsds500",
        sha256=digest,
        train=train,
        train_classes=train,
        validation=VALIDATION,
        validation_classes=VALIDATION,
        test=24,
        test_classes=24,
    )


CODECS = Lab("learned codecs", from_dict, build_state, data_facts, train, finish)
start_codec = partial(start_lab, CODECS)
resume_codec = partial(resume_lab, CODECS)
