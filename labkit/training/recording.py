"""What a run keeps to be looked at: embeddings of some points, who they are, and frames of them while it learns."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import torch
from torch import Tensor

from labkit.base.files import write_safetensors
from labkit.data.dataset import Dataset, Splits
from labkit.runs.project import project
from labkit.runs.read import read_run
from labkit.runs.samples import write_samples
from labkit.runs.schema import RunError
from labkit.runs.tracker import explained
from labkit.training.config import Config
from labkit.training.distributed import rank
from labkit.training.evaluation import embed, whole_classes
from labkit.training.state import State


def save_embeddings(config: Config, state: State, splits: Splits, folder: Path) -> None:
    """Half-precision embeddings of the recorded points, who they are, the frames, and their PCA."""
    shown = recorded_points(config, splits)
    embeddings = embed_all(state, shown, config)
    if rank() > 0:
        return
    with explained(folder):
        facts = {"of": str(len(splits.test)), "split": "test"}
        write_safetensors(folder / "embeddings.safetensors", {"embeddings": embeddings}, facts)
        write_samples(folder / "samples.parquet", shown)
        if state.frames:
            found = {"frames": torch.stack(state.frames), "steps": torch.tensor(state.progress.frame_steps)}
            write_safetensors(folder / "frames.safetensors", found)
        with suppress(RunError):  # too few points, or a training that went astray
            project(
                read_run(folder), ["pca"], tell=lambda _: None
            )  # so that pages show it at once; UMAP when asked for


def recorded_points(config: Config, splits: Splits) -> dict[str, Dataset]:
    """The points that a run keeps, by split: test, the gallery of the same classes, and training points if wanted."""
    test, gallery = splits.test, splits.gallery
    labels = test.labels if gallery is None else torch.cat([test.labels, gallery.labels])
    chosen = whole_classes(labels, config.record.points)
    shown = {"test": test.take(chosen[chosen < len(test)])}
    if gallery is not None:
        shown["gallery"] = gallery.take(chosen[chosen >= len(test)] - len(test))
    if config.record.train_points:
        shown["train"] = splits.train.take(whole_classes(splits.train.labels, config.record.train_points))
    return shown


def embed_all(state: State, shown: dict[str, Dataset], config: Config) -> Tensor:
    """Embeddings of all recorded points, in half precision."""
    return torch.cat([embed(state, part, config) for part in shown.values()]).half().cpu()


def take_frame(config: Config, state: State, shown: dict[str, Dataset], frames: set[int]) -> None:
    """Remember where the recorded points are now."""
    if state.progress.step in frames:
        state.frames.append(embed_all(state, shown, config))
        state.progress.frame_steps.append(state.progress.step)


def frame_steps(config: Config, steps: int) -> set[int]:
    """Closer together at the start, where most happens."""
    count = config.record.frames
    return {round(steps * (i / (count - 1)) ** 1.5) for i in range(count)} if count > 1 else set()
