"""Training on image files in the benchmarks' own folders: workers read ahead, and a resume changes nothing."""

import miniatures
import numpy as np
import pytest
from PIL import Image
from same_run import killed_and_resumed, results

from labkit.training.config import load_config
from labkit.training.loop import start

SETTINGS = {
    "data.check": "false",
    "data.validation": "0.34",
    "model.name": "small-cnn",
    "model.dim": "8",
    "model.in_channels": "3",
    "model.size": "16",
    "images.resize": "20",
    "images.crop": "16",
    "sampler": "balanced",
    "classes": "2",
    "per_class": "2",
    "steps": "9",
    "evaluate_every": "3",
    "checkpoint_every": "3",
    "log_every": "1",
    "points": "6",
    "frames": "3",
    "nmi": "false",
}


@pytest.fixture(params=["cub", "in-shop"])
def config(request, tmp_path):
    """Images that differ, in one list of images and in lists of queries and gallery."""
    folder = miniatures.BUILDERS[request.param](tmp_path / "data")
    rng = np.random.default_rng(0)
    for file in sorted(p for p in folder.rglob("*") if p.suffix.lower() == ".jpg"):
        Image.fromarray(rng.integers(0, 256, (24, 30, 3), dtype=np.uint8)).save(file)

    def configure(workers: int):
        changes = {"data.root": str(tmp_path / "data"), "images.workers": str(workers)}
        return load_config(request.param, "pnp-dq", SETTINGS | changes)

    return configure


@pytest.mark.parametrize("last_step", [1, 5])
def test_resumed_training_on_files_is_the_same_training(config, tmp_path, last_step):
    """Killed while worker processes hold images of later steps; and the number of workers does not matter."""
    start(config(workers=0), 0, tmp_path / "whole", device="cpu")
    expected = results(tmp_path / "whole")
    losses = [row["loss"] for row in expected["rows"] if "loss" in row]
    assert len(set(losses)) > 5  # every step had its own images
    assert results(killed_and_resumed(config(workers=2), 0, tmp_path / "killed", last_step)) == expected
