"""What evaluate(memory_mb=…) really takes: the highest resident memory of a process of its own (Linux).

python -m benchmarks.evaluation_memory prints the table.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# one large class among small ones; many small classes; few large ones
CASES = {
    "large": "(torch.arange(n) >= n - 50) * (1 + torch.arange(n) % 25)",
    "small": "torch.arange(n) // 5",
    "few": "torch.arange(n) % 3",
}
CODE = """
import torch
from pathlib import Path
from labkit import metrics
torch.set_num_threads(1)
def status(name):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024
n, dim = {n}, {dim}
x, y = torch.randn(n, dim, generator=torch.Generator().manual_seed(0)), {labels}
how = dict(ks=(1, 10, 100), engine={engine!r}, progress=False)
metrics.evaluate(x[:200], torch.arange(200) // 4, **how)  # compiles
Path("/proc/self/clear_refs").write_text("5")  # the highest memory is counted from here
before = status("VmRSS")
metrics.evaluate(x, y, memory_mb={memory_mb}, **how)
print(status("VmHWM") - before - n * dim * 4 / 2**20 - 4 * len(y.unique()) * dim * 8 / 2**20)
"""


def taken(case: str, n: int, memory_mb: float, engine: str = "numba", dim: int = 64) -> float:
    """MB beside one copy of the embeddings and the class means.

    glibc keeps some of what was freed; told to give it back at once, the highest memory is what was held at one time.
    """
    code = CODE.format(n=n, dim=dim, labels=CASES[case], engine=engine, memory_mb=memory_mb)
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, "-c", code]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root, env=environment)
    return float(done.stdout)


if __name__ == "__main__":
    for case, n, memory_mb in (("large", 5050, 256), ("small", 20_000, 8), ("few", 4000, 64)):
        for engine in ("numba", "torch"):
            print(
                f"{case:6} {n:6} items, memory_mb={memory_mb:4}, {engine}: {taken(case, n, memory_mb, engine):6.1f} MB"
            )
