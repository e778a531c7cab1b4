"""What losses and training both need to know of other processes that work on the same batch."""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import Tensor


def is_distributed() -> bool:
    """Whether several processes train together."""
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def gather_rows(rows: Tensor) -> tuple[Tensor, slice]:
    """Rows of all processes in order of their ranks, without gradient, and where this process's own rows are.

    Processes may hold different numbers of rows.
    """
    if not is_distributed():
        return rows, slice(0, len(rows))
    counts = [torch.zeros(1, dtype=torch.int64, device=rows.device) for _ in range(dist.get_world_size())]
    dist.all_gather(counts, torch.tensor([len(rows)], device=rows.device))
    sizes = [int(count) for count in counts]
    padded = rows.new_zeros(max(sizes), *rows.shape[1:])
    padded[: len(rows)] = rows.detach()
    parts = [torch.empty_like(padded) for _ in sizes]
    dist.all_gather(parts, padded)
    first = sum(sizes[: dist.get_rank()])
    return torch.cat([part[:size] for part, size in zip(parts, sizes)]), slice(first, first + len(rows))
