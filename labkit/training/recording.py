"""What a run keeps to be looked at: embeddings of some points, who they are, and frames of them while it learns."""

from __future__ import annotations

from pathlib import Path

import torch

from labkit.data.dataset import Dataset, Splits
from labkit.runs.files import write_safetensors
from labkit.runs.samples import write_samples
from labkit.runs.tracker import explained
from labkit.training.config import Config
from labkit.training.distributed import rank
from labkit.training.evaluation import embed, stratified
from labkit.training.state import State


def save_embeddings(config: Config, state: State, splits: Splits, folder: Path, test_embeddings: torch.Tensor) -> None:
    """Half-precision embeddings of the recorded points, who they are, and the frames."""
    shown = recorded_points(config, splits)
    test_index = stratified(splits.test.labels, config.record.points)
    parts = [test_embeddings[test_index.to(test_embeddings.device)]]
    if len(shown) > 1:
        parts.append(embed(state, shown[1], config))
    if rank() > 0:
        return
    with explained(folder):
        facts = {"of": str(len(splits.test)), "split": "test"}
        write_safetensors(folder / "embeddings.safetensors", {"embeddings": torch.cat(parts).half()}, facts)
        write_samples(folder / "samples.parquet", dict(zip(("test", "train"), shown)))
        if state.frames:
            found = {"frames": torch.stack(state.frames), "steps": torch.tensor(state.progress.frame_steps)}
            write_safetensors(folder / "frames.safetensors", found)


def recorded_points(config: Config, splits: Splits) -> list[Dataset]:
    """The test points that a run keeps, and training points if any are wanted."""
    shown = [splits.test.take(stratified(splits.test.labels, config.record.points))]
    if config.record.train_points:
        shown.append(splits.train.take(stratified(splits.train.labels, config.record.train_points)))
    return shown


def take_frame(config: Config, state: State, shown: list[Dataset], frames: set[int]) -> None:
    """Remember where the recorded points are now."""
    if state.progress.step in frames:
        state.frames.append(torch.cat([embed(state, part, config) for part in shown]).half().cpu())
        state.progress.frame_steps.append(state.progress.step)


def frame_steps(config: Config, steps: int) -> set[int]:
    """Closer together at the start, where most happens."""
    count = config.record.frames
    return {round(steps * (i / (count - 1)) ** 1.5) for i in range(count)} if count > 1 else set()
