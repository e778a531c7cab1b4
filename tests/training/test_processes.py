"""Two processes train as one: same loss, same gradients, same weights, and torchrun makes a run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from same_run import results

from labkit.data import load
from labkit.training.config import load_config
from labkit.training.inputs import training_batches
from labkit.training.state import build_state
from labkit.training.step import train_step

ROOT = Path(__file__).parents[2]
SETTINGS = {
    "data.subset": "embedded",
    "data.per_class": "20",
    "model.name": "small-cnn",
    "model.dim": "8",
    "augment.degrees": "10.0",
    "sampler": "balanced",
    "classes": "5",
    "per_class": "3",
    "optimizer.name": "sgd",
    "lr": "0.05",
    "proxy_lr": "0.5",
}
STEPS = 4
LOSSES = ("pnp-dq", "recall-at-k-simix", "mpa", "sgsl")


def train(loss: str) -> tuple[list[float], dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Losses of a few steps, the first step's gradients, and the weights after all of them."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)  # else the sharp sigmoids make rounding look like an error
    config = load_config("fashion-mnist", loss, SETTINGS)
    splits = load(**config.data)
    built = build_state(config, splits.train.num_classes, 0, torch.device("cpu"))
    built.model.train()
    batches = training_batches(splits.train, config, 0, 0, built.device)
    values, gradients = [], {}
    for step in range(STEPS):
        values.append(float(train_step(built, next(batches), config)))
        built.progress.step += 1
        if step == 0:
            parts = {"model": built.module, "loss": built.loss}
            gradients = {
                f"{part}.{n}": p.grad.clone()
                for part, m in parts.items()
                for n, p in m.named_parameters()
                if p.grad is not None
            }
    return values, gradients, {n: t.clone() for n, t in built.module.state_dict().items()}


def worker(number: int, world: int, port: int, results) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    dist.init_process_group("gloo", rank=number, world_size=world)
    results[number] = {loss: train(loss) for loss in LOSSES}
    dist.barrier()
    dist.destroy_process_group()


def free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def two_processes():
    """What each of two processes computes, by loss."""
    with mp.Manager() as manager:
        results = manager.dict()
        mp.spawn(worker, (2, free_port(), results), nprocs=2)
        return dict(results)


@pytest.mark.parametrize("loss", LOSSES)
def test_two_processes_compute_what_one_does(two_processes, loss):
    """15 items in shares of 7 and 8; batch statistics, SiMix's draws and augmentation are those of the global batch."""
    try:
        alone = train(loss)
    finally:
        torch.set_default_dtype(torch.float32)
    for values, gradients, weights in (two_processes[0][loss], two_processes[1][loss]):
        assert values == pytest.approx(alone[0], abs=1e-8)
        for name, gradient in alone[1].items():
            torch.testing.assert_close(gradients[name], gradient, rtol=0, atol=1e-8, msg=name)
        for name, tensor in alone[2].items():
            torch.testing.assert_close(weights[name], tensor, rtol=0, atol=1e-8, msg=name)


def test_frozen_batch_norms_stay_frozen_with_several_processes(monkeypatch):
    from labkit.models import build
    from labkit.training import distributed

    monkeypatch.setattr(distributed, "is_distributed", lambda: True)
    monkeypatch.setattr(distributed, "DistributedDataParallel", lambda model, device_ids: model)
    model = build("efficientnet-lite0", 8, weights=None, freeze_bn=True, neck="bn")
    learning = sum(p.requires_grad for p in model.parameters())
    shared = distributed.data_parallel(model, torch.device("cpu")).train()
    kinds = [type(m).__name__ for m in shared.modules() if m.training and "BatchNorm" in type(m).__name__]
    assert kinds == ["GlobalBatchNorm"]  # the neck's
    assert sum(p.requires_grad for p in shared.parameters()) == learning


NEEDS_TORCHRUN = pytest.mark.skipif(sys.platform == "win32", reason="torchrun needs gloo over TCP")


def torchrun() -> list[str]:
    return [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(free_port())]


@NEEDS_TORCHRUN
@pytest.mark.parametrize("micro", [[], ["micro=5", "model.norm=group"]], ids=["whole", "micro-batches"])
def test_torchrun_makes_a_run_like_any_other(small_arguments, tmp_path, micro):
    arguments = ["train", "fashion-mnist", "--loss", "pnp-dq", "--seed", "0", "1", "--threads", "1"]
    arguments += [*small_arguments(log_every=1), *micro]
    done = subprocess.run(
        [*torchrun(), "-m", "labkit", *arguments, "--runs", str(tmp_path / "two")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    subprocess.run([sys.executable, "-m", "labkit", *arguments, "--runs", str(tmp_path / "one")], cwd=ROOT, check=True)
    pairs = list(zip(*(sorted((tmp_path / name).iterdir()) for name in ("two", "one"))))
    assert len(pairs) == 2
    for two, one in pairs:
        assert json.loads((two / "run.json").read_text())["processes"] == 2
        # rounding grows with every step: the first loss agrees closely, the second shows that the gradients did
        for step, close in ((0, 1e-5), (1, 1e-3)):
            logged = (json.loads((f / "metrics.jsonl").read_text().splitlines()[step])["loss"] for f in (two, one))
            assert next(logged) == pytest.approx(next(logged), abs=close)
        found, expected = (json.loads((f / "summary.json").read_text())["test"]["R@1"] for f in (two, one))
        assert found == pytest.approx(expected, abs=0.05)


@NEEDS_TORCHRUN
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_on_torchrun_leaves_a_run_to_resume(small_arguments, tmp_path, number):
    arguments = ["train", "fashion-mnist", "--loss", "pnp-dq", "--threads", "1", "--runs", str(tmp_path)]
    child = subprocess.Popen(
        [*torchrun(), "-m", "labkit", *arguments, *small_arguments(steps=100000, frames=0)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 100
    while not list(tmp_path.glob("*/checkpoints/last.safetensors")) and time.monotonic() < deadline:
        time.sleep(0.1)
    child.send_signal(number)
    child.wait(90)
    (folder,) = tmp_path.iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == "interrupted"
    assert (folder / "checkpoints" / "last.safetensors").exists()


@NEEDS_TORCHRUN
def test_two_machines_with_disks_of_their_own_make_and_resume_one_run(small_arguments, tmp_path):
    """Two torchrun commands, as typed on two machines; only the first one's disk holds the run."""
    command = [
        "train",
        "fashion-mnist",
        "--loss",
        "pnp-dq",
        "--threads",
        "1",
        *small_arguments(checkpoint_every=1, steps=80),
    ]

    def on_machine(number: int, port: int, arguments: list[str]) -> subprocess.Popen:
        group = ["--nnodes", "2", "--node-rank", str(number), "--master-addr", "127.0.0.1", "--master-port", str(port)]
        return subprocess.Popen(
            [sys.executable, "-m", "torch.distributed.run", *group, "-m", "labkit", *arguments],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def on_both(arguments: list[str], where: str) -> list[subprocess.Popen]:
        port = free_port()
        return [on_machine(m, port, [*arguments, "--runs", str(tmp_path / where / str(m))]) for m in (0, 1)]

    assert [machine.wait(100) for machine in on_both(command, "whole")] == [0, 0]
    stopped = on_both(command, "stopped")
    while not list(tmp_path.glob("stopped/0/*/checkpoints/last.safetensors")) and stopped[0].poll() is None:
        time.sleep(0.01)
    stopped[0].send_signal(signal.SIGINT)
    for machine in stopped:
        machine.wait(90)
    (folder,) = (tmp_path / "stopped" / "0").iterdir()
    assert json.loads((folder / "run.json").read_text())["status"] == "interrupted"
    assert [machine.wait(100) for machine in on_both(["train", "--resume", folder.name], "stopped")] == [0, 0]
    (whole,) = (tmp_path / "whole" / "0").iterdir()
    assert results(folder) == results(whole)
    assert not (tmp_path / "whole" / "1").exists()
    assert not (tmp_path / "stopped" / "1").exists()
