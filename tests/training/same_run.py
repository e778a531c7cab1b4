"""What must come out the same of a run that was killed and resumed as of one that was not."""

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file

from labkit.training import loop
from labkit.training.loop import resume, start


def rows(folder: Path) -> list[dict]:
    """The metrics, without the clock."""
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]


def results(folder: Path) -> dict:
    """Everything that must come out the same."""
    summary = json.loads((folder / "summary.json").read_text())
    kept = {name: summary[name] for name in ("steps", "best_step", "validation", "test", "test_last", "loss")}
    tensors = {f: load_file(folder / f) for f in ("embeddings.safetensors", "frames.safetensors")}
    return kept | {"rows": rows(folder), "tensors": {k: v.tolist() for f in tensors.values() for k, v in f.items()}}


class Killed(BaseException):
    """Stands for a process that ends without a word."""


def killed_and_resumed(config, seed: int, folder: Path, last_step: int) -> Path:
    """A run that is killed before a step, and then resumed."""
    real_step = loop.train_step

    def step(run_state, *rest):
        if run_state.progress.step == last_step:
            raise Killed
        return real_step(run_state, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "train_step", step)
        patch.setattr(loop, "report_failure", lambda *_: None)  # a killed process writes nothing
        with pytest.raises(Killed):
            start(config, seed, folder, device="cpu")
    assert json.loads((folder / "run.json").read_text())["status"] == "running"
    resume(folder, device="cpu")
    return folder
