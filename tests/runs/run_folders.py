"""Run directories for tests, as training writes them."""

import json
import os
from pathlib import Path

import pandas as pd
import psutil
import torch
from safetensors.torch import save_file

CONFIG = {"preset": "toy", "loss": "pnp-dq", "optimizer": {"lr": 0.003, "name": "adamw"}, "train": {"steps": 200}}


def info_of(run_id, **changes):
    """The content of a good run.json; runs of one group differ in their seed, those of others in their loss, too."""
    group, _, seed = run_id.rpartition("-s")
    return {
        "schema": 1,
        "id": run_id,
        "group": f"toy_{group}",
        "preset": "toy",
        "loss": group,
        "seed": int(seed),
        "overrides": {},
        "config": CONFIG,
        "status": "finished",
        "error": None,
        "command": "train toy",
        "commit": "a" * 40,
        "dirty": False,
        "versions": {"labkit": "0.1.0", "python": "3.11", "torch": "2.13.0"},
        "host": {"system": "Linux", "machine": "x86_64"},
        "device": "cpu",
        "device_name": "CPU",
        "threads": 1,
        "processes": 1,
        "data": {
            "name": "toy",
            "sha256": "b" * 64,
            "train": 600,
            "validation": 600,
            "test": 600,
            "train_classes": 4,
            "test_classes": 4,
        },
        "pid": 1,
        "pid_started": 0.0,
        "started": "2025-01-01T00:00:00+00:00",
        "ended": "2025-01-01T00:01:00+00:00",
    } | changes


def summary_of(value=0.5, **changes):
    """The content of a good summary.json."""
    test = {"R@1": value, "MAP@R": value / 2, "intra": 0.9}
    return {
        "schema": 1,
        "steps": 200,
        "best_step": 100,
        "validation": {"R@1": value + 0.1},
        "test": test,
        "test_last": {"R@1": value - 0.1},
        "loss": 0.25,
        "wall_seconds": 61.0,
        "cpu_seconds": 60.0,
        "peak_memory_mb": 300.0,
    } | changes


def make_run(root, run_id="toy-pnp-s0", value=0.5, **changes):
    """A small run without arrays; returns its folder."""
    folder = Path(root) / run_id
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(info_of(run_id, **changes)))
    if changes.get("status", "finished") == "finished":
        (folder / "summary.json").write_text(json.dumps(summary_of(value)))
    rows = [
        {"step": step, "epoch": step / 50, "seconds": step / 10, "loss": 1 / (step + 1), "lr": 0.003}
        for step in range(0, 200, 20)
    ]
    rows += [{"step": step, "split": "validation", "R@1": step / 400} for step in (100, 200)]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def add_arrays(folder, n=40, d=8, classes=4, seed=0):
    """Embeddings, frames, samples and checkpoints, without projections."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(n) % classes
    rows = torch.randn(n, d, generator=generator) + 3 * torch.eye(classes, d)[labels]
    save_file({"embeddings": rows.half()}, folder / "embeddings.safetensors", {"of": str(n), "split": "test"})
    frames = {"frames": torch.stack([rows, rows]).half(), "steps": torch.tensor([0, 100])}
    save_file(frames, folder / "frames.safetensors")
    names = [f"sample-{i:03}" for i in range(n)]
    samples = pd.DataFrame({"id": names, "label": labels.tolist(), "class_name": [f"class {i}" for i in labels]})
    samples.assign(split="test", vendor="a").to_parquet(folder / "samples.parquet", index=False)
    (folder / "checkpoints").mkdir()
    for name in ("last", "best"):
        save_file({"model.weight": torch.zeros(300, 300)}, folder / "checkpoints" / f"{name}.safetensors")
    return folder


def own_process():
    """pid and start of a process that certainly runs: this one."""
    return {"pid": os.getpid(), "pid_started": psutil.Process().create_time()}


def bytes_of(folder):
    """Every file below a folder with its content."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
