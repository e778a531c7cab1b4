"""Files that are either whole or not there: written beside their place, flushed to disk, then renamed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the queue of runs writes JSON and needs no torch
    from torch import Tensor


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path to write to; it takes its place at the end, and vanishes if anything goes wrong before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        with temporary.open("r+b") as file:  # Windows flushes only what it may write
            os.fsync(file.fileno())
        take_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_new(path: Path, data: bytes) -> None:
    """Write bytes atomically where nothing is yet; of two processes at the same moment one gets a FileExistsError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise
        except OSError:  # a disk without links
            with path.open("xb") as file:
                file.write(data)
    finally:
        temporary.unlink(missing_ok=True)


def take_place(temporary: Path, path: Path) -> None:
    """Rename; on Windows a file that somebody is reading cannot be replaced at that moment, so try again."""
    for attempt in range(20):
        try:
            os.replace(temporary, path)
            return
        except PermissionError:
            if os.name != "nt" or attempt == 19:
                raise
            time.sleep(0.05)


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes atomically."""
    with atomic(path) as temporary:
        temporary.write_bytes(data)


def write_output(path: Path, data: bytes) -> None:
    """Write what a user asked for: a file is whole or not there, a terminal or pipe (/dev/stdout) gets the bytes."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
    else:
        write_bytes(path.resolve(), data)  # where a link points to, the link stays


def write_json(path: Path, value: Any) -> None:
    """Write JSON atomically, readable and with stable order; NaN is refused, since JSON has none."""
    write_bytes(path, json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """JSON as it is written."""
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def write_safetensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors atomically in the safetensors format, which holds numbers only and cannot run code."""
    from safetensors.torch import save

    # through bytes: the library's own file writing hides the reason of a failure, such as a full disk
    whole = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_bytes(path, same_order(save(whole, metadata)))


def same_order(content: bytes) -> bytes:
    """A safetensors file with its header in a fixed order: the library's own differs from process to process."""
    size = int.from_bytes(content[:8], "little")  # the format: length of the header, header as JSON, numbers
    header = json.loads(content[8 : 8 + size])
    facts = header.pop("__metadata__", None)
    header = {"__metadata__": dict(sorted(facts.items()))} | header if facts else header
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)  # numbers begin at a multiple of eight
    return len(text).to_bytes(8, "little") + text + content[8 + size :]
