"""How things are measured: CPU time of interleaved runs, and the rise of the process's peak memory."""

import ctypes
import gc
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

REPEATS = 5
MMAP_THRESHOLD = -3  # glibc's M_MMAP_THRESHOLD


@dataclass(frozen=True)
class Row:
    """One line of the table: a measured value, what it must reach, and whether it does."""

    name: str
    what: str
    value: float
    unit: str
    target: float
    at_least: bool = False
    detail: str = ""

    @property
    def reached(self) -> bool:
        return self.value >= self.target if self.at_least else self.value <= self.target

    def as_dict(self) -> dict:
        return asdict(self) | {"reached": self.reached}


def median_times(cases: dict[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Median CPU seconds of each case; the cases take turns, so that a busy moment hits all alike."""
    for run in cases.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(repeats):
        for name, run in cases.items():
            gc.collect()
            before = time.process_time()
            run()
            seconds[name].append(time.process_time() - before)
    return {name: statistics.median(values) for name, values in seconds.items()}


def extra_memory(run: Callable[[], object]) -> float:
    """Megabytes by which the peak resident memory rises above what was there before, after one warming run.

    Freed memory is given back first, and large blocks come fresh from the system, or a heap left over from an earlier
    run would hide what this one needs. Measure memory before time: timed runs leave a fragmented heap behind.
    """
    libc = ctypes.CDLL("libc.so.6")
    libc.mallopt(MMAP_THRESHOLD, 2**18)
    run()
    gc.collect()
    libc.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to the present
    before = status("VmRSS")
    run()
    peak = status("VmHWM")
    libc.mallopt(MMAP_THRESHOLD, 2**25)
    return (peak - before) / 1024


def record(curves: dict, runs: list[dict[str, Callable[[], object]]]) -> None:
    """Memory first, case by case (a large one leaves traces in the heap of those after it), then times, interleaved."""
    for name, values in curves["memory"].items():
        for run in runs:
            if name in run:
                values.append(max(extra_memory(run[name]), 0.25))  # below a quarter MB is page noise
    for run in runs:
        for name, seconds in median_times(run).items():
            curves["seconds"][name].append(seconds)


def status(field: str) -> int:
    """A value of /proc/self/status, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1])


def exponent(sizes: list[int], values: list[float]) -> float:
    """Slope of log value against log size, over the larger half of the sizes."""
    half = len(sizes) // 2 if len(sizes) > 3 else 0
    x, y = (torch.tensor(v[half:], dtype=torch.float64).log() for v in (sizes, values))
    return float(((x - x.mean()) * (y - y.mean())).sum() / (x - x.mean()).square().sum())


def machine() -> str:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown CPU")
    return (
        f"{model}, one thread, no GPU, torch {torch.__version__}, Python {platform.python_version()}, "
        f"{platform.system()}"
    )
