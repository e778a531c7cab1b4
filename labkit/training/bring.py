"""Embeddings made elsewhere become a run: measured, projected, and to be seen wherever runs are.

The file is a .npz of plain arrays; nothing in it is executed. What cannot be used is refused with the array's name
before anything is written, and the run takes its place by renaming, whole or not at all.
"""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from labkit import metrics
from labkit.base.files import write_json, write_safetensors
from labkit.data.dataset import Dataset
from labkit.data.sprites import write_sprites
from labkit.runs.notes import Notes
from labkit.runs.project import project, stratified
from labkit.runs.provenance import code_version, host, library_versions
from labkit.runs.read import read_run
from labkit.runs.record import SCHEMA, DataFacts, RecordConfig, RunRecord, RunSettings, Summary
from labkit.runs.run import Run
from labkit.runs.samples import write_samples
from labkit.runs.schema import NOTES, SPRITES, RunError
from labkit.runs.tracker import free_folder, now, without_nan
from labkit.runs.variant import Variant
from labkit.runs.workplace import take_places, workplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ROWS, MOST_COLUMNS, MOST_BYTES = 1_000_000, 4096, 4 * 2**30
MEASURED = 20_000  # items; of more, so many drawn evenly from all classes are measured: the time grows with the square
PICTURES = 16_000  # samples that get a picture; a sheet of more would take a page's memory
KS = (1, 2, 4, 8, 10, 16, 100, 1000)
IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp")
ARRAYS = ("embeddings", "labels", "ids", "images", "files")


@dataclass(frozen=True)
class Brought:
    """What a file holds, checked: float32 (n, d), labels 0 …, names of the classes, ids, images if it has some."""

    embeddings: NDArray[np.float32]
    labels: NDArray[np.int64]
    class_names: tuple[str, ...]
    ids: tuple[str, ...]
    images: torch.Tensor | Sequence[Path] | None


def bring(path: Path, root: Path, data: str = "", images: Path | None = None) -> Run:
    """Make a run of the embeddings in a .npz and put it into a runs root, with its metrics and its PCA.

    data: what the samples are called; files with the same name, ids and labels can be compared. images: a folder.
    """
    brought = read_npz(path, images)
    variant = Variant(plain_name(data or path.stem), plain_name(path.stem))
    with workplace(root) as folder:
        place = free_folder(root.resolve() / variant.run_id(0))
        write_run(folder / place.name, variant, brought, path)
        run = read_run(folder / place.name)
        if len(brought.ids) >= 3:
            project(run, ["pca"])
        take_places({place.name: place}, folder)
    return read_run(place)


def plain_name(text: str) -> str:
    """A name that can stand in a run's id: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")[:40] or "own"


def read_npz(path: Path, images: Path | None) -> Brought:
    """The arrays of a file, all checked."""
    arrays = read_arrays(path)
    embeddings = arrays["embeddings"]
    if embeddings.ndim != 2 or embeddings.dtype.kind not in "fiu" or not embeddings.size:
        raise RunError(f"embeddings must be numbers (N, D), got {embeddings.dtype} {embeddings.shape}")
    count, dim = embeddings.shape
    if count > MOST_ROWS or dim > MOST_COLUMNS:
        raise RunError(f"embeddings: at most {MOST_ROWS:,} × {MOST_COLUMNS:,}, got {count:,} × {dim:,}")
    embeddings = embeddings.astype(np.float32)
    if not np.isfinite(embeddings).all():
        row = int(np.flatnonzero(~np.isfinite(embeddings).all(axis=1))[0])
        raise RunError(f"embeddings: row {row} holds NaN, or a number too large for float32")
    for name in ("labels", "ids", "files"):
        if name in arrays and arrays[name].shape != (count,):
            raise RunError(f"{name} must have one entry for each of the {count:,} embeddings, got {arrays[name].shape}")
    if arrays["labels"].dtype.kind not in "iuUSb":
        raise RunError(f"labels must be whole numbers or names, got {arrays['labels'].dtype}")
    names, labels = np.unique(arrays["labels"], return_inverse=True)
    ids = tuple(map(as_name, arrays["ids"])) if "ids" in arrays else tuple(f"{i:06}" for i in range(count))
    if len(set(ids)) < count or not all(ids):
        raise RunError("ids must be texts or numbers, each of them once")
    classes = tuple(map(as_name, names)) if names.dtype.kind in "US" else tuple(f"class {name}" for name in names)
    return Brought(embeddings, labels.astype(np.int64), classes, ids, pictures(arrays, images, count))


def read_arrays(path: Path) -> dict[str, Any]:
    """The arrays of a .npz; pickled ones are refused, not opened."""
    if not path.is_file():
        raise RunError(f"no file {path}")
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(entry.file_size for entry in archive.infolist())
        if total > MOST_BYTES:
            raise RunError(f"{path.name} unpacks to {total / 2**30:.1f} GB, over the limit of {MOST_BYTES // 2**30}")
        with np.load(path, allow_pickle=False) as file:
            found = {name: read_array(file, name) for name in file.files if name in ARRAYS}
            held = ", ".join(file.files) or "nothing"
    except (zipfile.BadZipFile, EOFError, OSError) as error:
        raise RunError(f"{path.name} is not a whole .npz file: {error}") from None
    if missing := [name for name in ("embeddings", "labels") if name not in found]:
        raise RunError(f"{path.name} lacks the array {missing[0]}; it holds {held[:200]}")
    return found


def read_array(file: Any, name: str) -> Any:
    """One array; what is wrong with it is told with its name."""
    try:
        return file[name]
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        raise RunError(f"{name} cannot be read: {str(error)[:150]}; save plain numbers or texts, no objects") from None


def as_name(value: Any) -> str:
    """A text of an array, as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def pictures(arrays: dict[str, Any], folder: Path | None, count: int) -> torch.Tensor | Sequence[Path] | None:
    """The images (n, channels, height, width) of the file, or files of a folder: those named, else all in order."""
    if folder is not None:
        return picture_files(arrays.get("files"), folder, count)
    if "images" not in arrays:
        return None
    images = arrays["images"]
    gray = images.ndim == 3
    if (
        images.dtype != np.uint8
        or len(images) != count
        or not (gray or (images.ndim == 4 and images.shape[3] in (1, 3)))
    ):
        raise RunError(f"images must be uint8 (N, height, width) or (…, 3), got {images.dtype} {images.shape}")
    return torch.from_numpy(images[:, None] if gray else np.moveaxis(images, 3, 1).copy())


def picture_files(files: Any, folder: Path, count: int) -> list[Path]:
    """A picture for each row; names that lead out of the folder are refused."""
    if not folder.is_dir():
        raise RunError(f"--images {folder}: no such folder")
    root = folder.resolve()
    if files is None:
        found = sorted(path for path in root.rglob("*") if path.suffix.lower() in IMAGES and path.is_file())
        if len(found) != count:
            raise RunError(
                f"--images {folder} holds {len(found):,} pictures for {count:,} embeddings; name the picture of each "
                "row in an array `files`"
            )
        return found
    paths = [(root / as_name(name)).resolve() for name in files]
    for path in paths:
        if not path.is_relative_to(root) or not path.is_file():
            raise RunError(f"files: {str(path)[:200]} is no file in {folder}")
    return paths


def write_run(folder: Path, variant: Variant, brought: Brought, path: Path) -> None:
    """All files of the run but its projections."""
    count, dim = brought.embeddings.shape
    begun = now()
    rows = stratified(brought.labels, MEASURED, seed=0)
    found = metrics.evaluate(
        torch.from_numpy(brought.embeddings[rows]), torch.from_numpy(brought.labels[rows]), KS, progress=False
    )
    inputs = torch.zeros(count, 1) if brought.images is None else brought.images
    data = Dataset(SPRITES, inputs, torch.from_numpy(brought.labels), brought.class_names, brought.ids)
    write_safetensors(folder / "embeddings.safetensors", {"embeddings": torch.from_numpy(brought.embeddings)})
    write_samples(folder / "samples.parquet", {"test": data})
    if brought.images is not None:
        write_sprites(data.take(torch.from_numpy(stratified(brought.labels, PICTURES, seed=0))), folder, columns=128)
    digest = hashlib.sha256("\n".join((*brought.ids, *map(str, brought.labels))).encode()).hexdigest()
    facts = DataFacts(variant.preset, digest, test=count, test_classes=len(brought.class_names))
    if len(rows) < count:
        said = f"Metrics are of {len(rows):,} of the {count:,} items, drawn evenly from all classes."
        write_json(folder / NOTES, asdict(Notes(note=said)))
    settings = RunSettings(variant.preset, variant.loss, model={"dim": dim}, record=RecordConfig(points=count))
    record = RunRecord(
        schema=SCHEMA,
        id=folder.name,
        group=variant.name,
        preset=variant.preset,
        loss=variant.loss,
        seed=0,
        command=f"python -m labkit runs import {path.name} --data {variant.preset}",
        config=settings,
        versions=library_versions(),
        host=host(),
        device="elsewhere",
        device_name="imported",
        threads=torch.get_num_threads(),
        processes=1,
        data=facts,
        status="finished",
        started=begun,
        ended=now(),
        **code_version(),
    )
    write_json(folder / "summary.json", without_nan(asdict(Summary(SCHEMA, test=dict(found)))))
    write_json(folder / "run.json", asdict(record))
