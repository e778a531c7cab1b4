"""A run's samples while it learned: the one record of embeddings over training time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from labkit.metrics.nearest import circular_variance, csc, recall_at_1, unit_rows
from labkit.runs.contents import classes_of, read_embedding_array, read_frame_array, read_samples
from labkit.runs.run import Run
from labkit.runs.schema import RunError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Whole = NDArray[np.int32]

KINDS = {2: "circles", 3: "sphere"}  # by dimension; more become points in a plane


@dataclass(frozen=True, eq=False)  # two films are never compared; each is packed once
class Film:
    """Embeddings (F, n, d) at steps (F,), and of every sample its class, a row of `classes`, and its split."""

    title: str
    frames: Floats
    steps: tuple[int, ...]
    labels: Whole
    classes: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def kind(self) -> str:
        """How it is drawn: directions on "circles" or on a "sphere", or their main directions in a "plane"."""
        return KINDS.get(int(self.frames.shape[2]), "plane")

    @cached_property
    def unit(self) -> Floats:
        """The embeddings as directions."""
        return unit_rows(self.frames.astype(np.float64))

    @cached_property
    def places(self) -> Floats:
        """Where samples are drawn (F, n, 2 or 3), within −1 … 1.

        The plane is that of the two directions of largest variance of the unseen classes in the last frame.
        """
        if self.kind != "plane":
            return self.unit
        last = self.unit[-1][self.unseen]
        _, _, across = np.linalg.svd(last - last.mean(axis=0), full_matrices=False)
        flat: Floats = (self.unit - last.mean(axis=0)) @ across[:2].T
        return flat / max(float(np.abs(flat).max()), 1e-12)

    @cached_property
    def splits(self) -> dict[str, NDArray[np.bool_]]:
        """Which samples are in which split; training comes first, so that unseen classes are on the outer circle."""
        return {name: np.array([part == name for part in self.parts]) for name in sorted(set(self.parts), reverse=True)}

    @cached_property
    def unseen(self) -> NDArray[np.bool_]:
        """The samples that are not of training; all if there are no others."""
        found = np.array([part != "train" for part in self.parts])
        return found if found.any() else ~found

    @cached_property
    def numbers(self) -> Whole:
        """Of every sample the number of its class within its split: it decides a class's colour and symbol."""
        found = np.zeros(len(self.labels), np.int32)
        for own in self.splits.values():
            found[own] = np.unique(self.labels[own], return_inverse=True)[1]
        return found

    @cached_property
    def table(self) -> list[dict[str, float | int]]:
        """What can be said of every frame: R@1 within each split and, on the sphere, CSC of all (SGSL Eq. 9)."""
        rows = []
        for step, frame in zip(self.steps, self.unit):
            found: dict[str, float | int] = {"step": step}
            for name, own in self.splits.items():
                if not math.isnan(share := recall_at_1(frame[own], self.labels[own])):
                    found[f"R@1 of {name} (%)"] = round(100 * share, 1)
            rows.append(found | ({"CSC": round(csc(frame, self.labels), 2)} if self.kind == "sphere" else {}))
        return rows

    def recall(self, frame: int) -> float:
        """R@1 of the unseen classes, among the recorded samples."""
        return recall_at_1(self.unit[frame][self.unseen], self.labels[self.unseen])

    def variance(self, frame: int) -> float:
        """Mean circular variance of the training classes: 0 where a class has one direction, 1 where they cancel."""
        own, labels = self.unit[frame][~self.unseen], self.labels[~self.unseen]
        return float(np.mean([circular_variance(own[labels == label]) for label in np.unique(labels)]))

    def some(self, per_class: int, classes: int | None = None) -> NDArray[np.int64]:
        """Rows of at most so many samples of each class, evenly thinned; classes: only of the first of each split."""
        found: list[NDArray[np.int64]] = []
        for own in self.splits.values():
            for label in np.unique(self.labels[own])[:classes]:
                rows = np.flatnonzero(self.labels == label)
                found.append(rows[np.linspace(0, len(rows) - 1, min(per_class, len(rows))).round().astype(np.int64)])
        return np.sort(np.concatenate(found))


def read_film(run: Run, title: str = "") -> Film | None:
    """The frames of a run; without frames its last embeddings, None if those have more than three dimensions."""
    if run.has("frames.safetensors"):
        frames, steps = read_frame_array(run)
    else:
        frames, steps = read_embedding_array(run)[None], np.zeros(1, np.int64)
        if frames.shape[2] not in KINDS:
            return None
    return film_of(title or str(run), frames, tuple(steps.tolist()), read_samples(run))


def film_of(title: str, frames: Floats, steps: tuple[int, ...], samples: pd.DataFrame) -> Film:
    """A film of frames (F, n, d) at steps (F,) and their n samples; RunError if they do not fit."""
    if not frames.shape[1] == len(samples) > 0 or len(frames) != len(steps) or not steps:
        raise RunError(f"{title}: {len(frames)} frames of {frames.shape[1]} points but {len(samples)} samples")
    if not np.isfinite(frames).all():
        raise RunError(f"{title}: the frames hold NaN or infinite values")
    labels, classes = classes_of(samples)
    parts = tuple(samples["split"].astype(str)) if "split" in samples else ("all",) * len(samples)
    return Film(title, frames.astype(np.float32), steps, labels, classes, parts)
