"""The files of a run: their names, and reading them so that links, pipes and half-written ones do no harm."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

from labkit.base.errors import LabkitError

PROJECTIONS = ("pca", "umap")
NOTES = "notes.json"
SPRITES = "sprites"  # pictures of the run's own samples, where the data set has none
FILES = (
    "run.json",
    "metrics.jsonl",
    "summary.json",
    "embeddings.safetensors",
    "frames.safetensors",
    "samples.parquet",
    "approximation.parquet",
    *(f"projections/{name}.parquet" for name in PROJECTIONS),
    "checkpoints/last.safetensors",
    "checkpoints/best.safetensors",
    NOTES,
    f"{SPRITES}.json",
    f"{SPRITES}.webp",
)
PACK = "runs.parquet"  # of a topic: many runs in one file
RUN_ID = re.compile(r"[A-Za-z0-9_=+,-][A-Za-z0-9._=+,-]{0,119}")
MAX_JSON = 16 * 2**20  # bytes; a real run.json has a few thousand


class RunError(LabkitError, ValueError):
    """Something about a run that the user can put right; the message says what and how."""


def is_run_id(name: str) -> bool:
    """Letters, digits and -_.=+, only, at most 120 of them, no dot in front."""
    return RUN_ID.fullmatch(name) is not None


def run_file(folder: Path, name: str) -> Path:
    """The path of an ordinary file of a run: a link could lead anywhere, a pipe would never end."""
    path = folder / name
    try:
        if "/" in name and stat.S_ISLNK(os.lstat(path.parent).st_mode):
            raise RunError(f"{name} lies behind a link, which is not followed: put a copy in its place")
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise RunError(f"{name} is not an ordinary file: links and devices are not followed, put a copy there")
    except FileNotFoundError:
        raise RunError(f"{name} is missing") from None
    except OSError as error:
        raise RunError(f"{name} cannot be read: {error.strerror}") from None
    return path


def read_json(folder: Path, name: str) -> Any:
    """The content of a JSON file of a run, or a RunError that says why there is none."""
    path = run_file(folder, name)
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size > MAX_JSON:
                raise RunError(f"{name} is larger than {MAX_JSON // 2**20} MB, so it is not a file labkit wrote")
            content = file.read()
    except OSError as error:
        raise RunError(f"{name} cannot be read: {error.strerror}") from None
    return parse_json(content, name)


def parse_json(content: bytes, name: str) -> Any:
    """What a JSON file of this name holds, or a RunError that says why it is none."""
    try:
        return json.loads(content, parse_constant=refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{name} is not whole JSON (half-written or damaged): {str(error)[:100]}") from None


def refuse_constant(name: str) -> None:
    """NaN and infinity are no JSON, though Python's reader takes them."""
    raise ValueError(f"{name} is not a JSON number")
