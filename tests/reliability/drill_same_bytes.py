"""The same run gives the same bytes of embeddings.safetensors, in every process."""

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.reliability.table import Row

TRAIN = ["-m", "labkit", "train", "toy", "--set", "steps=20", "evaluate_every=20", "nmi=false", "--threads", "1"]


def run(full: bool) -> list[Row]:
    import torch

    from labkit.base.files import write_safetensors

    count, found = 300 if full else 40, set()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "embeddings.safetensors"
        for _ in range(count):
            facts = {"of": "600", "split": "test", "progress": "{}", "scaler": "{}"}
            write_safetensors(path, {"embeddings": torch.arange(12.0).reshape(4, 3), "b": torch.ones(2)}, facts)
            found.add(path.read_bytes())
    rows = [Row("same bytes, written again", count, count + 1 - len(found), len(found) - 1)]
    return rows + ([trained_again(3)] if full else [])


def trained_again(count: int) -> Row:
    """Whole trainings, each in a process of its own."""
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            root = Path(folder) / str(number)
            environment = os.environ | {"PYTHONHASHSEED": str(number), "OMP_NUM_THREADS": "1"}
            command = [sys.executable, *TRAIN, "--runs", str(root)]
            subprocess.run(command, cwd=Path(__file__).parents[2], env=environment, check=True, capture_output=True)
            (path,) = root.glob("*/embeddings.safetensors")
            found.add(hashlib.sha256(path.read_bytes()).hexdigest())
    return Row("same bytes, trained again", count, count + 1 - len(found), len(found) - 1, "toy, 20 steps")
