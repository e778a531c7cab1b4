"""What a run directory may hold, checked in sentences that a person can act on."""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from labkit.base.errors import LabkitError

SCHEMA = 1
STATUSES = ("running", "finished", "interrupted", "failed")
PROJECTIONS = ("pca", "umap")
FILES = (
    "run.json",
    "metrics.jsonl",
    "summary.json",
    "embeddings.safetensors",
    "frames.safetensors",
    "samples.parquet",
    *(f"projections/{name}.parquet" for name in PROJECTIONS),
    "checkpoints/last.safetensors",
    "checkpoints/best.safetensors",
)
RUN_ID = re.compile(r"[A-Za-z0-9_=+,-][A-Za-z0-9._=+,-]{0,119}")
MAX_JSON = 16 * 2**20  # bytes; a real run.json has a few thousand


class RunError(LabkitError, ValueError):
    """Something about a run that the user can put right; the message says what and how."""


KINDS: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "a whole number": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "a number": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value),
    "true or false": lambda value: isinstance(value, bool),
    "an object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}
Fields = dict[str, tuple[str, ...]]
INFO: Fields = {
    **dict.fromkeys(("id", "group", "preset", "loss", "status", "command", "device", "device_name"), ("text",)),
    **dict.fromkeys(("seed", "threads", "processes", "pid"), ("a whole number",)),
    **dict.fromkeys(("overrides", "config", "versions", "host", "data"), ("an object",)),
    **dict.fromkeys(("error", "commit", "ended"), ("text", "null")),
    "started": ("text",),
    "dirty": ("true or false", "null"),
    "pid_started": ("a number", "null"),
}
DATA: Fields = {
    **dict.fromkeys(("name", "sha256"), ("text",)),
    **dict.fromkeys(("train", "validation", "test", "train_classes", "test_classes"), ("a whole number",)),
}
SUMMARY: Fields = {
    **dict.fromkeys(("steps", "best_step"), ("a whole number", "null")),
    **dict.fromkeys(("validation", "test", "test_last"), ("an object", "null")),
    **dict.fromkeys(("loss", "wall_seconds", "cpu_seconds", "peak_memory_mb"), ("a number", "null")),
}


def is_run_id(name: str) -> bool:
    """Letters, digits and -_.=+, only, at most 120 of them, no dot in front."""
    return RUN_ID.fullmatch(name) is not None


def check_info(info: object) -> list[str]:
    """What is wrong with the content of run.json; an empty list if nothing is."""
    if not isinstance(info, dict):
        return ["run.json must hold an object"]
    if wrong := check_schema("run.json", info):
        return wrong
    wrong = check_fields("run.json", info, INFO, needed=True)
    if isinstance(info.get("data"), dict):
        wrong += check_fields("run.json: data", info["data"], DATA, needed=True)
    for name in ("id", "group"):
        if isinstance(info.get(name), str) and not is_run_id(info[name]):
            wrong.append(f"run.json: {name} may hold at most 120 letters, digits and -_.=+, (no dot in front)")
    if isinstance(info.get("status"), str) and info["status"] not in STATUSES:
        wrong.append(f"run.json: status must be one of {', '.join(STATUSES)}; got {info['status'][:40]!r}")
    for name in ("started", "ended"):
        if isinstance(info.get(name), str) and not is_time(info[name]):
            wrong.append(f"run.json: {name} must be a time such as 2025-01-31T12:00:00+00:00, got {info[name][:40]!r}")
    return wrong


def check_summary(summary: object) -> list[str]:
    """What is wrong with the content of summary.json; an empty list if nothing is."""
    if not isinstance(summary, dict):
        return ["summary.json must hold an object"]
    if wrong := check_schema("summary.json", summary):
        return wrong
    wrong = check_fields("summary.json", summary, SUMMARY, needed=False)
    for split in ("validation", "test", "test_last"):
        if isinstance(metrics := summary.get(split), dict):
            wrong += check_fields(f"summary.json: {split}", metrics, dict.fromkeys(metrics, ("a number", "null")), True)
    return wrong


def check_schema(file: str, content: dict[str, Any]) -> list[str]:
    """A schema this version of labkit knows."""
    schema = content.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        return [f"{file}: schema must be a whole number, 1 or above"]
    if schema > SCHEMA:
        return [f"{file} has schema {schema}, this labkit knows {SCHEMA}: update labkit to read it in full"]
    return []


def check_fields(where: str, content: dict[str, Any], fields: Fields, needed: bool) -> list[str]:
    """One sentence for each field that is missing (if needed) or of the wrong kind."""
    wrong = []
    for name, kinds in fields.items():
        if name not in content:
            wrong += [f"{where}: {name} is missing"] if needed else []
        elif not any(KINDS[kind](content[name]) for kind in kinds):
            wrong.append(f"{where}: {name[:40]} must be {' or '.join(kinds)}, got {type(content[name]).__name__}")
    return wrong


def is_time(text: str) -> bool:
    """A date and time in ISO form."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def run_file(folder: Path, name: str) -> Path:
    """The path of an ordinary file of a run: a link could lead anywhere, a pipe would never end."""
    path = folder / name
    try:
        if path.parent != folder and stat.S_ISLNK(os.lstat(path.parent).st_mode):
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
        if path.stat().st_size > MAX_JSON:
            raise RunError(f"{name} is larger than {MAX_JSON // 2**20} MB, so it is not a file labkit wrote")
        return json.loads(path.read_bytes(), parse_constant=refuse_constant)
    except OSError as error:
        raise RunError(f"{name} cannot be read: {error.strerror}") from None
    except RunError:
        raise
    except (ValueError, RecursionError) as error:
        raise RunError(f"{name} is not whole JSON (half-written or damaged): {str(error)[:100]}") from None


def refuse_constant(name: str) -> None:
    """NaN and infinity are no JSON, though Python's reader takes them."""
    raise ValueError(f"{name} is not a JSON number")
