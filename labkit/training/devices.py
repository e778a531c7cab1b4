"""Where training runs: devices, mixed precision, and several processes started by torchrun."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import torch
import torch.distributed as dist


def choose_device(name: str = "auto") -> torch.device:
    """auto is CUDA, then MPS, then CPU; under torchrun each process takes the GPU of its local rank."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"device must be auto, cpu, cuda, cuda:N or mps; got {name!r}") from None
    if device.type != "cuda":
        return device
    if not torch.cuda.is_available():
        raise ValueError("device: this machine or this build of torch has no CUDA; use auto or cpu")
    return device if device.index is not None else torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))


def present_devices() -> list[str]:
    """What can be chosen on this machine: auto, cpu, and what else there is."""
    gpus = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    return [
        "auto",
        "cpu",
        *(gpus if len(gpus) > 1 else ["cuda"] * len(gpus)),
        *["mps"] * torch.backends.mps.is_available(),
    ]


def device_name(device: torch.device) -> str:
    """What the hardware calls itself."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def prepare(device: torch.device) -> None:
    """TF32 for the model's products on CUDA; losses and metrics switch it off for themselves."""
    if device.type == "cuda":
        torch.cuda.set_device(device)
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.benchmark = True


def seed_random(seed: int, device: torch.device) -> None:
    """Seed the CPU's and this device's random numbers; torch.manual_seed, for all kinds, takes milliseconds."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        torch.cuda.manual_seed(seed)
    elif device.type == "mps":
        torch.mps.manual_seed(seed)


def autocast(device: torch.device) -> AbstractContextManager[object]:
    """Mixed precision on CUDA only: bf16 where the GPU has it, else fp16 (which needs a GradScaler)."""
    if device.type != "cuda":
        return nullcontext()
    return torch.autocast("cuda", torch.bfloat16 if has_bf16() else torch.float16)


def has_bf16() -> bool:
    """Whether the GPU computes in bf16 itself; emulation would be slower than fp32."""
    return bool(torch.cuda.is_bf16_supported(including_emulation=False))


def grad_scaler(device: torch.device) -> torch.amp.GradScaler | None:
    """For fp16 only: bf16 has the range of fp32."""
    return torch.amp.GradScaler("cuda") if device.type == "cuda" and not has_bf16() else None


def peak_memory_mb(device: torch.device) -> float:
    """Largest memory so far: of the GPU's allocator, or of this process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if platform.system() == "Darwin" else 2**10)


@contextmanager
def process_group(device: torch.device) -> Iterator[None]:
    """Join the processes that torchrun started: NCCL on GPUs, gloo else. Alone, do nothing."""
    if int(os.environ.get("WORLD_SIZE", 1)) == 1 or dist.is_initialized():
        yield
        return
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()
