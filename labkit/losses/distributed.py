"""A loss over the batches of all processes: ranks are counted against everybody's items, not only one's own.

Under DistributedDataParallel each process has a part of the batch. A loss of that part alone is another loss: its
queries meet fewer negatives. `distributed(loss)` gathers the embeddings of all processes first.
"""

from __future__ import annotations

import inspect
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from labkit.base.processes import gather_rows, is_distributed
from labkit.losses.modules.base import Result


class EverybodysRows(torch.autograd.Function):
    """Rows of all processes; the gradient of one's own is multiplied by the number of processes.

    Every process computes the same loss, so the gradient of its own rows is right as it is. But
    DistributedDataParallel divides what the processes found by their number, as if each had a loss of its own.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        """Rows (b, D) of this process -> (B, D) of all, in order of their ranks."""
        everyone, ctx.own = gather_rows(rows)
        return everyone

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """The part that belongs to this process."""
        return grad[ctx.own] * dist.get_world_size()


class Distributed(nn.Module):
    """A loss of the global batch, for models under DistributedDataParallel; in one process it is the loss itself."""

    def __init__(self, loss: nn.Module) -> None:
        """The loss, which may have parameters: they get the same gradient in every process."""
        super().__init__()
        self.loss = loss
        self.draws = "generator" in inspect.signature(loss.forward).parameters

    def forward(self, embeddings: Tensor, labels: Tensor, **how: Any) -> Result:
        """This process's (b, D), (b,) -> the loss of all processes' rows, the same in each."""
        if is_distributed():
            labels = gather_rows(labels.to(embeddings.device))[0]
            embeddings = EverybodysRows.apply(embeddings)
            if self.draws and how.get("generator") is None:
                how["generator"] = same_generator(embeddings.device)
        result: Result = self.loss(embeddings, labels, **how)
        return result


def same_generator(device: torch.device) -> torch.Generator:
    """Random numbers that are the same in every process: the first one draws where they start."""
    seed = torch.randint(2**62, (1,)).to(device)
    dist.broadcast(seed, 0)
    return torch.Generator().manual_seed(int(seed))


def distributed(loss: nn.Module) -> Distributed:
    """The loss of the batches of all processes: gathers embeddings and labels, and gives the global batch's gradient.

    Wrap the loss once: `loss = losses.distributed(losses.PNP(variant="Dq"))`; the model stays under plain
    DistributedDataParallel. Processes may hold different numbers of rows. Without torch.distributed it changes nothing.
    """
    if not isinstance(loss, nn.Module):
        shown = f"{loss.__name__}, a class: did you forget ()?" if isinstance(loss, type) else repr(loss)
        raise ValueError(f"loss must be a loss such as losses.SmoothAP(), got {shown}")
    return Distributed(loss)
