"""One training step: embed the batch, compute the loss, update the weights; on one device or several."""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from labkit.base.processes import gather_rows
from labkit.base.tensors import autocast_off
from labkit.data.samplers import key
from labkit.training.config import Config
from labkit.training.devices import autocast, seed_random
from labkit.training.distributed import average_gradients, rank, world_size
from labkit.training.inputs import Batch
from labkit.training.large_batch import large_batch_step
from labkit.training.state import State


def train_step(state: State, batch: Batch, config: Config, seed: int = 0) -> Tensor:
    """Change the weights once; returns the loss of the global batch, still on its device."""
    step = state.progress.step
    state.optimizer.zero_grad(set_to_none=True)
    seed_random(key(seed, step, 2 + rank()), state.device)  # dropout: another draw in each process
    inputs = batch.inputs
    if state.device.type == "cuda" and inputs.dim() == 4:
        inputs = inputs.to(memory_format=torch.channels_last)
    if config.batch.micro:
        with autocast(state.device):
            value = large_batch_step(
                state.model,
                (inputs, batch.labels),
                partial(seeded_loss, state, seed),
                config.batch.micro,
                batch_norm=config.batch.batch_norm,
                scaler=state.scaler,
            )
    else:
        value = one_pass(state, inputs, batch.labels, seed)
    average_gradients(state.loss)
    learn(state, config)
    return value.detach()


def one_pass(state: State, inputs: Tensor, labels: Tensor, seed: int) -> Tensor:
    """The gradient of the loss of the global batch, added to all parameters; returns the loss.

    The loss's own gradient is taken first and in full precision, then passed back through the model, whose products
    may be in mixed precision.
    """
    with autocast(state.device):
        embeddings = state.model(inputs)
    embeddings = embeddings.to(torch.get_default_dtype())
    everyone, own = gather_rows(embeddings)
    everyone = everyone.detach().requires_grad_()
    value = seeded_loss(state, seed, everyone, gather_rows(labels)[0])
    with autocast_off(everyone):
        (value if state.scaler is None else state.scaler.scale(value)).backward()
    assert everyone.grad is not None
    # DistributedDataParallel averages over processes, but each holds only its share of the global gradient's sum
    torch.autograd.backward(embeddings, everyone.grad[own] * world_size())
    return value


def seeded_loss(state: State, seed: int, embeddings: Tensor, labels: Tensor) -> Tensor:
    """The loss, with the same random numbers in every process (SiMix draws some)."""
    seed_random(key(seed, state.progress.step, 0), state.device)
    value: Tensor = state.loss(embeddings, labels)
    return value


def learn(state: State, config: Config) -> None:
    """Clip, if asked, and let the optimizer move the weights."""
    if config.optimizer.clip:
        if state.scaler is not None:
            state.scaler.unscale_(state.optimizer)
        clip_grad_norm_([*parameters(state.module), *parameters(state.loss)], config.optimizer.clip)
    if state.scaler is None:
        state.optimizer.step()
    else:
        state.scaler.step(state.optimizer)
        state.scaler.update()


def parameters(part: nn.Module) -> list[nn.Parameter]:
    """The parameters that learn: frozen ones are left out."""
    return [p for p in part.parameters() if p.requires_grad]
