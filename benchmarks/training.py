"""Two-pass large batches, and what importing labkit costs."""

import copy
import statistics
import subprocess
import sys

import torch
from torch import nn

from benchmarks.measure import Row, extra_memory, median_times
from labkit.losses import PNP
from labkit.training import large_batch_step


def network(dtype: torch.dtype) -> nn.Module:
    """Twelve convolutions and dropout: as in any deep net, the activations take the memory."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Conv2d(1, 8, 3, 1, 1), nn.ReLU()]
    for _ in range(11):
        layers += [nn.Conv2d(8, 8, 3, 1, 1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Dropout(0.2), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(8 * 7 * 7, 64)).to(dtype)


def one_pass(model: nn.Module, images: torch.Tensor, labels: torch.Tensor, piece: int) -> None:
    """All activations at once; pieces only so that dropout draws the same numbers."""
    PNP(tau=0.05)(torch.cat([model(x) for x in images.split(piece)]), labels).backward()


def two_pass(quick: bool) -> list[Row]:
    """B = 4096 in micro-batches of 256."""
    size, piece = (256, 32) if quick else (4096, 256)
    images, labels = torch.randn(size, 1, 28, 28), torch.arange(size) // 4
    model = network(torch.float32)
    run = {
        "one": lambda: one_pass(model, images, labels, piece),
        "two": lambda: large_batch_step(model, (images, labels), PNP(tau=0.05), piece),
    }
    memory = {name: extra_memory(f) for name, f in run.items()}
    times = median_times(run)
    used = f"{memory['two']:.0f} MB against {memory['one']:.0f} MB"
    return [
        Row(
            "two-pass-memory",
            f"two passes, B={size}: share of the memory",
            memory["two"] / memory["one"],
            "",
            1 / 8,
            detail=used,
        ),
        Row(
            "two-pass-time",
            f"two passes, B={size}: × the time",
            times["two"] / times["one"],
            "×",
            1.6,
            detail=f"{times['two']:.1f} s against {times['one']:.1f} s",
        ),
        Row(
            "two-pass-gradient",
            f"two passes, B={size}, float64: largest difference of the gradient, relative",
            gradient_difference(size, piece),
            "",
            1e-10,
        ),
    ]


def gradient_difference(size: int, piece: int) -> float:
    """Largest |difference| over largest |gradient|, all parameters, in float64, dropout on."""
    images, labels = torch.randn(size, 1, 28, 28, dtype=torch.float64), torch.arange(size) // 4
    first = network(torch.float64)
    second = copy.deepcopy(first)
    torch.manual_seed(1)
    one_pass(first, images, labels, piece)
    torch.manual_seed(1)
    large_batch_step(second, (images, labels), PNP(tau=0.05), piece)
    pairs = [(a.grad, b.grad) for a, b in zip(first.parameters(), second.parameters())]
    return float(max((a - b).abs().max() for a, b in pairs) / max(a.abs().max() for a, _ in pairs))


IMPORT = """
import time, sys
import torch
before = time.process_time()
import labkit.losses
print(time.process_time() - before)
heavy = {"streamlit", "plotly", "matplotlib", "umap", "sklearn"} & set(sys.modules)
assert not heavy, heavy
"""


def import_time(quick: bool) -> list[Row]:
    """CPU time of `import labkit.losses` after `import torch`, in fresh processes."""
    seconds = [
        float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)
        for _ in range(3 if quick else 7)
    ]
    return [Row("import", "import labkit.losses, over import torch", statistics.median(seconds) * 1e3, "ms", 150)]
