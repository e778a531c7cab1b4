"""What every data set looks like once it is loaded: inputs, labels, and who each sample is."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor


@dataclass(frozen=True)
class Dataset:
    """Samples of one split, with labels 0 … C-1 and ids that stay the same whatever is filtered or shuffled.

    inputs: a tensor (N, …) for what fits in memory (uint8 images (N, C, H, W) or float32 rows), else paths of images.
    columns: further facts about each sample, such as its vendor or alphabet.
    """

    name: str
    inputs: Tensor | Sequence[Path]
    labels: Tensor
    class_names: tuple[str, ...]
    ids: tuple[str, ...]
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a data set whose parts do not fit together."""
        sizes = {"inputs": len(self.inputs), "labels": len(self.labels), "ids": len(self.ids)}
        sizes |= {name: len(values) for name, values in self.columns.items()}
        if len(set(sizes.values())) != 1:
            raise ValueError(f"{self.name}: the parts have different lengths: {sizes}")
        if len(self.labels) and int(self.labels.max()) >= len(self.class_names):
            raise ValueError(f"{self.name}: label {int(self.labels.max())} has no class name")

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.ids)

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def in_memory(self) -> bool:
        """Whether inputs is a tensor."""
        return isinstance(self.inputs, Tensor)

    def take(self, index: Tensor) -> Dataset:
        """The samples at index, in that order; labels are kept as they are."""
        where = index.tolist()
        inputs = self.inputs[index] if isinstance(self.inputs, Tensor) else [self.inputs[i] for i in where]
        columns = {name: tuple(values[i] for i in where) for name, values in self.columns.items()}
        return replace(
            self, inputs=inputs, labels=self.labels[index], ids=tuple(self.ids[i] for i in where), columns=columns
        )

    def keep_classes(self, classes: Sequence[int]) -> Dataset:
        """The samples of some classes, labelled anew 0 … in the order given."""
        new = torch.full((self.num_classes,), -1)
        new[torch.tensor(list(classes), dtype=torch.long)] = torch.arange(len(classes))
        kept = self.take((new[self.labels] >= 0).nonzero().flatten())
        return replace(kept, labels=new[kept.labels], class_names=tuple(self.class_names[c] for c in classes))

    def fingerprint(self) -> str:
        """Hash of inputs and labels; of paths, sizes and labels for files."""
        digest = hashlib.sha256()
        if isinstance(self.inputs, Tensor):
            digest.update(self.inputs.contiguous().numpy().tobytes())
        else:
            for path, name in zip(self.inputs, self.ids):
                digest.update(f"{name} {path.stat().st_size}\n".encode())
        digest.update(self.labels.long().contiguous().numpy().tobytes())
        return digest.hexdigest()


@dataclass(frozen=True)
class Splits:
    """A task: train on some classes, choose on validation, report on test.

    With a gallery, test samples are queries against it (In-shop, VehicleID); else each is a query against the others.
    across: a column (such as "designer") whose own value is left out of a query's gallery in a second measurement.
    """

    train: Dataset
    validation: Dataset
    test: Dataset
    gallery: Dataset | None = None
    across: str = ""
