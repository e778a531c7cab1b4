"""One training step: embed, lose, learn; on one device or several, in one pass or two."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from labkit.data.samplers import key
from labkit.training.config import Config
from labkit.training.devices import autocast, seed_random
from labkit.training.distributed import gather_rows, global_embeddings, rank
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
    with autocast(state.device):
        if config.batch.micro:
            value = large_batch_step(
                state.model, (inputs, batch.labels), state.loss, config.batch.micro,
                batch_norm=config.batch.batch_norm, scaler=state.scaler,
            )  # fmt: skip
        else:
            embeddings = global_embeddings(state.model(inputs))
            labels, _ = gather_rows(batch.labels)
            seed_random(key(seed, step, 0), state.device)  # SiMix: the same draw in each process
            value = state.loss(embeddings, labels)
            (value if state.scaler is None else state.scaler.scale(value)).backward()
    learn(state, config)
    return value.detach()


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
    """Those that learn."""
    return [p for p in part.parameters() if p.requires_grad]
