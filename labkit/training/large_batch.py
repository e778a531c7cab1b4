"""Large batches in two passes: the loss sees the whole batch, the model's activations only ever a micro-batch.

The slides' five steps: (1) embed the batch piece by piece, keep embeddings only; (2) loss of all embeddings; (3) its
gradient with respect to them; (4) embed each piece again, now backpropagating its rows of that gradient; (5) update
the weights, which is left to the caller. The gradient is that of the whole batch, exactly, as long as both passes
compute the same thing: hence the care about random numbers and batch normalisation.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from labkit.base.checks import check_choice
from labkit.base.processes import gather_rows, is_distributed
from labkit.base.tensors import autocast_off, has_values
from labkit.training.distributed import world_size

BATCH_NORM = ("refuse", "freeze", "micro")


def large_batch_step(
    model: nn.Module,
    batch: tuple[Tensor, Tensor],
    loss: Callable[[Tensor, Tensor], Tensor],
    micro_batch: int,
    *,
    batch_norm: str = "refuse",
    scaler: torch.amp.GradScaler | None = None,
) -> Tensor:
    """Add the gradient of loss(model(inputs), labels) to all parameters, micro_batch items at a time; returns the loss.

    batch = (inputs (B, …), labels (B,)). Zero the gradients before and step the optimizer after, as with backward().
    Dropout is exact: each piece sees the same random numbers in both passes. BatchNorm in training mode would mix the
    pieces' statistics: it is refused, or run with its stored statistics for this step (batch_norm="freeze"), or told to
    normalise each micro-batch by itself, in both passes alike (batch_norm="micro"): exact for that network, and the
    statistics do not change with the size of the batch.
    Several processes: the loss is that of the global batch; wrap the model in DistributedDataParallel and start the
    loss's own parameters equal everywhere (same seed): each process gets their whole gradient. Mixed precision: call
    under torch.autocast and, with fp16, give the GradScaler.
    """
    inputs, labels = batch
    if not isinstance(micro_batch, int) or isinstance(micro_batch, bool) or micro_batch < 1:
        raise ValueError(f"micro_batch must be a whole number, 1 or above; got {micro_batch!r}")
    if len(inputs) != len(labels) or len(inputs) == 0:
        raise ValueError(
            f"batch: {len(inputs)} inputs and {len(labels)} labels; there must be as many of both, and at least one"
        )
    check_choice("batch_norm", batch_norm, BATCH_NORM)
    if is_distributed() and not isinstance(model, DistributedDataParallel):
        raise ValueError("model must be wrapped in DistributedDataParallel when several processes train together")
    with settled_batch_norm(model, batch_norm) as unmoved:
        pieces = inputs.split(micro_batch)
        states, kept = [], []
        with torch.no_grad(), unmoved():
            for piece in pieces:
                states.append(random_states(model, inputs))
                kept.append(model(piece))
        embeddings = torch.cat(kept)
        everyone, own = gather_rows(embeddings)
        all_labels, _ = gather_rows(labels.to(embeddings.device) if is_distributed() else labels)
        everyone.requires_grad_()
        with same_random_numbers(embeddings.device):
            value = loss(everyone, all_labels)
        with autocast_off(everyone):
            (value if scaler is None else scaler.scale(value)).backward()
        gradient = everyone.grad
        assert gradient is not None
        warn_if_zero(gradient)
        # DistributedDataParallel averages over processes, but each holds only its share of the global gradient's sum
        share = gradient[own] * world_size()
        after_loss = random_states(model, inputs)
        for number, (piece, state, rows) in enumerate(zip(pieces, states, share.split(micro_batch)), 1):
            set_random_states(state)
            with synchronized(model, last=number == len(pieces)):
                again = model(piece)
                with without_autocast(again):
                    torch.autograd.backward(again, rows)
        set_random_states(after_loss)
    return value.detach()


@contextmanager
def settled_batch_norm(model: nn.Module, how: str) -> Iterator[Callable[[], AbstractContextManager[object]]]:
    """Refuse BatchNorm in training mode, freeze it for a while, or let it work; gives what the first pass runs in."""
    active = [(name, m) for name, m in model.named_modules() if isinstance(m, _BatchNorm) and m.training]
    if active and how == "refuse":
        raise ValueError(
            f"model has BatchNorm in training mode ({active[0][0] or 'the model itself'}): its statistics would differ "
            'between micro-batches and the whole batch; pass batch_norm="freeze" to use the stored ones, "micro" to '
            "normalise each micro-batch by itself, or replace it by GroupNorm or LayerNorm"
        )
    modules = [module for _, module in active]
    if how == "micro":
        yield lambda: unmoved_statistics(modules)
        return
    for name, module in active:
        if module.running_mean is None:
            raise ValueError(f"model: {name} keeps no running statistics, so it cannot be frozen")
    for module in modules:
        module.eval()
    try:
        yield nullcontext
    finally:
        for module in modules:
            module.train()


@contextmanager
def unmoved_statistics(modules: list[_BatchNorm]) -> Iterator[None]:
    """Each micro-batch passes twice, but must move the running statistics once: not in the first pass."""
    kept = [(module, module.momentum, module.num_batches_tracked) for module in modules]
    for module, _, counted in kept:
        module.momentum = 0.0
        module.num_batches_tracked = None if counted is None else counted.clone()
    try:
        yield
    finally:
        for module, momentum, counted in kept:
            module.momentum, module.num_batches_tracked = momentum, counted


def random_states(model: nn.Module, inputs: Tensor) -> dict[torch.device, Tensor]:
    """State of the random numbers on every device that a forward pass may draw from."""
    devices = {torch.device("cpu"), inputs.device, *(p.device for p in model.parameters())}
    read = {"cpu": lambda _: torch.get_rng_state(), "cuda": torch.cuda.get_rng_state}
    read["mps"] = lambda _: torch.mps.get_rng_state()
    return {device: read[device.type](device) for device in devices if device.type in read}


def set_random_states(states: dict[torch.device, Tensor]) -> None:
    """Go back to an earlier state."""
    for device, state in states.items():
        if device.type == "cuda":
            torch.cuda.set_rng_state(state, device)
        elif device.type == "mps":
            torch.mps.set_rng_state(state)
        else:
            torch.set_rng_state(state)


@contextmanager
def same_random_numbers(device: torch.device) -> Any:
    """Processes that compute one loss together must draw the same numbers for it (SiMix's weights)."""
    if not is_distributed():
        yield
        return
    seed = torch.randint(2**62, (1,)).to(device)
    torch.distributed.broadcast(seed, src=0)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(int(seed))
        yield


def synchronized(model: nn.Module, last: bool) -> AbstractContextManager[Any]:
    """Processes exchange gradients once, with the last piece."""
    return model.no_sync() if isinstance(model, DistributedDataParallel) and not last else nullcontext()


def without_autocast(x: Tensor) -> AbstractContextManager[object]:
    """Backward passes follow the types of the forward pass by themselves; under autocast, plain products would not."""
    kind = x.device.type
    return torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else nullcontext()


def warn_if_zero(gradient: Tensor) -> None:
    """Saturated sigmoids pass nothing: RS@k on a large batch of an untrained model has an exactly zero gradient."""
    if has_values(gradient) and not bool(gradient.any()):
        warnings.warn(
            "the loss has an exactly zero gradient on this batch, so nothing is learnt: raise the temperature, use a "
            "smaller batch, or start with a loss that does not saturate",
            stacklevel=3,
        )
