"""The global batch: every process sees all embeddings, so that ranks are counted against everybody's items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from labkit.base.processes import is_distributed


def rank() -> int:
    """Number of this process; the first writes the run."""
    return dist.get_rank() if is_distributed() else 0


def world_size() -> int:
    """How many processes train together."""
    return dist.get_world_size() if is_distributed() else 1


def own_share(count: int) -> slice:
    """The rows of a global batch that this process works on."""
    if not is_distributed():
        return slice(0, count)
    bounds = [count * r // dist.get_world_size() for r in (dist.get_rank(), dist.get_rank() + 1)]
    return slice(*bounds)


def data_parallel(model: nn.Module, device: torch.device) -> nn.Module:
    """The model for several processes, with batch statistics of the global batch."""
    if not is_distributed():
        return model
    on_gpu = device.type == "cuda"
    for parent in list(model.modules()):
        for name, child in parent.named_children():
            if isinstance(child, _BatchNorm) and child.training:  # frozen ones have no batch statistics to share
                shared = nn.SyncBatchNorm.convert_sync_batchnorm(child) if on_gpu else GlobalBatchNorm.of(child)
                setattr(parent, name, shared)
    return DistributedDataParallel(model, device_ids=[device] if on_gpu else None)


def average_gradients(part: nn.Module) -> None:
    """Make the gradients of a loss's own vectors equal everywhere: rounding may differ between processes."""
    if is_distributed():
        for parameter in part.parameters():
            if parameter.grad is not None:
                dist.all_reduce(parameter.grad)
                parameter.grad /= dist.get_world_size()


def read_everywhere(path: Path) -> bytes | None:
    """A file's content as the first process sees it, None if it has no such file: disks need not be shared."""
    content = path.read_bytes() if rank() == 0 and path.exists() else None
    if not is_distributed():
        return content
    device = torch.device("cuda", torch.cuda.current_device()) if dist.get_backend() == "nccl" else torch.device("cpu")
    size = torch.tensor(-1 if content is None else len(content), device=device)
    dist.broadcast(size, 0)
    if int(size) < 0:
        return None
    rows = torch.zeros(int(size), dtype=torch.uint8, device=device)
    if content is not None:
        rows.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
    dist.broadcast(rows, 0)
    return rows.cpu().numpy().tobytes()


class SumOverProcesses(torch.autograd.Function):
    """The sum of all processes' tensors; its gradient is the sum of all processes' gradients."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        """The sum over all processes."""
        total = values.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """Each process's tensor is part of everybody's sum."""
        total = gradient.contiguous().clone()
        dist.all_reduce(total)
        return total


class GlobalBatchNorm(_BatchNorm):
    """Batch normalisation over all processes, for CPUs, where torch's SyncBatchNorm does not run."""

    @classmethod
    def of(cls, other: _BatchNorm) -> GlobalBatchNorm:
        """Take over another BatchNorm's parameters and statistics."""
        new = cls(other.num_features, other.eps, other.momentum, other.affine, other.track_running_stats)
        new.load_state_dict(other.state_dict())
        return new.train(other.training)

    def _check_input_dim(self, input: Tensor) -> None:
        """Any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, …): normalised by the mean and variance over all processes' items."""
        if not self.training or not is_distributed():
            return super().forward(input)
        over = [d for d in range(input.dim()) if d != 1]
        shape = [1, -1, *[1] * (input.dim() - 2)]
        items = SumOverProcesses.apply(input.new_tensor(input.numel() / input.shape[1]))
        mean = SumOverProcesses.apply(input.sum(over)) / items
        centred = input - mean.view(shape)
        variance = SumOverProcesses.apply(centred.square().sum(over)) / items
        with torch.no_grad():
            momentum = self.momentum or 0.1
            assert self.running_mean is not None
            assert self.running_var is not None
            assert self.num_batches_tracked is not None
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, momentum)
            self.running_var.lerp_(variance * items / (items - 1), momentum)
        normal: Tensor = centred * (variance + self.eps).rsqrt().view(shape)
        return normal * self.weight.view(shape) + self.bias.view(shape) if self.affine else normal
