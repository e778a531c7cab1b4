"""The stored frames of a run: where its samples were while it learned, on a sphere or on circles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from labkit.explorers.embedding.data import classes_of
from labkit.explorers.embedding.packed import SHAPES, joined, smallest
from labkit.figures.style import COLORS
from labkit.metrics.nearest import csc, recall_at_1, unit_rows
from labkit.runs.contents import read_embedding_array, read_frame_array, read_samples
from labkit.runs.run import Run
from labkit.runs.schema import RunError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Whole = NDArray[np.int32]

DRAWN = (2, 3)  # dimensions
FINE = 32_767  # steps of a coordinate on either side of zero


@dataclass(frozen=True)
class Film:
    """Directions (F, n, d) at steps (F,) with the class and the split of every sample; d is 2 or 3."""

    title: str
    frames: Floats
    steps: tuple[int, ...]
    labels: Whole
    classes: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def turns(self) -> bool:
        """Whether it is a sphere, which can be turned."""
        return int(self.frames.shape[2]) == 3

    @cached_property
    def splits(self) -> dict[str, NDArray[np.bool_]]:
        """Which samples are in which split; training comes first, so that unseen classes are on the outer circle."""
        return {name: np.array([part == name for part in self.parts]) for name in sorted(set(self.parts), reverse=True)}

    @cached_property
    def table(self) -> list[dict[str, float | int]]:
        """What can be said of every frame: R@1 within each split and, on the sphere, CSC of all (SGSL Eq. 9)."""
        rows = []
        for step, frame in zip(self.steps, self.frames):
            found: dict[str, float | int] = {"step": step}
            for name, own in self.splits.items():
                if not math.isnan(share := recall_at_1(frame[own], self.labels[own])):
                    found[f"R@1 of {name} (%)"] = round(100 * share, 1)
            rows.append(found | ({"CSC": round(csc(frame, self.labels), 2)} if self.turns else {}))
        return rows

    @cached_property
    def packed(self) -> bytes:
        """The film for the page; coordinates are whole numbers of two bytes."""
        number, words = range(len(self.classes)), []
        for row in self.table:
            said = [f"step {row['step']:,}" if len(self.steps) > 1 else "after training"]
            said += [f"{name.removesuffix(' (%)')} {row[name]:.0f} %" for name in row if name.startswith("R@1")]
            words.append(", ".join([*said, *([f"CSC {row['CSC']:.1f}"] if "CSC" in row else [])]))
        head = {
            "title": self.title, "steps": self.steps, "words": words, "classes": self.classes,
            "n": len(self.labels), "d": self.frames.shape[2], "splits": list(self.splits),
            "kind": "sphere" if self.turns else "circles",
            "colors": [COLORS[k % len(COLORS)] for k in number], "shapes": [SHAPES[k % len(SHAPES)] for k in number],
        }  # fmt: skip
        part = np.argmax(np.stack(list(self.splits.values())), axis=0)
        whole = np.rint(self.frames * FINE).astype(np.int16)
        return joined(head, {"frames": whole, "labels": smallest(self.labels), "part": smallest(part)})

    @cached_property
    def reel(self) -> bytes:
        """This film alone, with nothing to choose, for the player."""
        return reel({(): self}, [])

    @cached_property
    def digest(self) -> str:
        """The name of those bytes, by their content."""
        return sha256(self.reel).hexdigest()


def reel(films: Mapping[tuple[str, ...], Film], menus: Sequence[Mapping[str, Any]]) -> bytes:
    """Films by what is chosen in the menus; a menu has a label, its values and the one to start with."""
    packed = [film.packed for film in films.values()]
    listed = [{"key": key, "size": len(content)} for key, content in zip(films, packed)]
    return joined({"menus": menus, "films": listed}, {"bytes": np.frombuffer(b"".join(packed), np.uint8)})


def read_film(run: Run) -> Film | None:
    """The frames of a run; without frames its last embeddings. None if they have more than three dimensions."""
    if run.has("frames.safetensors"):
        frames, steps = read_frame_array(run)
    else:
        frames, steps = read_embedding_array(run)[None], np.zeros(1, np.int64)
    if frames.shape[2] not in DRAWN:
        return None
    samples = read_samples(run)
    if not frames.shape[1] == len(samples) > 0 or not len(steps):
        raise RunError(f"run {run.id}: frames of {frames.shape[1]} points but {len(samples)} samples")
    if not np.isfinite(frames).all():
        raise RunError(f"run {run.id}: the frames hold NaN or infinite values")
    labels, classes = classes_of(samples)
    parts = tuple(samples["split"].astype(str)) if "split" in samples else ("all",) * len(samples)
    return Film(run.id, unit_rows(frames), tuple(steps.tolist()), labels, classes, parts)
