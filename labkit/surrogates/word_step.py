"""One step of training a reader of words, by whichever of the ways; all that is random depends on (seed, step)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from labkit.base.files import write_safetensors
from labkit.data.samplers import generator
from labkit.surrogates import algorithm
from labkit.surrogates.embedding import SequenceEmbedding, Surrogate
from labkit.surrogates.filters import Filter
from labkit.surrogates.objectives import Objective, cross_entropy, objective_step, soft_distance
from labkit.surrogates.reinforce import reinforce
from labkit.surrogates.shipped import weights_of
from labkit.surrogates.word_config import WordConfig
from labkit.surrogates.word_source import source_of
from labkit.surrogates.word_task import random_word_pairs
from labkit.training.state import State, build_optimizer

DRAWS = 21  # the stream of random numbers that words are drawn by


def build_state(config: WordConfig, seed: int, device: torch.device) -> State:
    """Reader, surrogate if the loss has one, and one optimizer with a learning rate for each.

    A step of one leaves the other alone: weights without a gradient do not move.
    """
    torch.manual_seed(seed)
    source = source_of(config)
    reader = source.reader(config)
    surrogate = Surrogate(SequenceEmbedding(source.slots, source.symbols)) if has_surrogate(config) else nn.Identity()
    for name, part, module in (("reader", "model", reader), ("surrogate", "loss", surrogate)):
        if config.data[name] and any(True for _ in module.parameters()):
            module.load_state_dict(begun_from(config, name, part))
    reader, surrogate = reader.to(device), surrogate.to(device)
    rates = replace(config.optimizer, proxy_lr=config.loss_options.get("eta_a", config.optimizer.lr))
    return State(reader, reader, surrogate, build_optimizer(reader, surrogate, rates, device), None, device)


def begun_from(config: WordConfig, name: str, part: str) -> dict[str, Tensor]:
    """The weights that a setting names."""
    try:
        return weights_of(config.data[name], part)
    except ValueError as error:
        raise ValueError(f"data.{name}: {error}") from None


def keep_weights(path: Path, state: State, facts: dict[str, str]) -> None:
    """The reader's weights alone, in half precision, with what a later reader should know of them in the header."""
    tensors = {f"model.{name}": tensor.half() for name, tensor in state.module.state_dict().items()}
    write_safetensors(path, tensors, facts)


def has_surrogate(config: WordConfig) -> bool:
    """Whether the loss is learned."""
    return "I_a" in config.loss_options


def train_step(state: State, config: WordConfig, seed: int) -> dict[str, Tensor]:
    """Change the reader's weights once, and before that the surrogate's I_a times where its turn has come."""
    step = state.progress.step
    data = partial(source_of(config).batch, config, seed)
    if not has_surrogate(config):
        x, y = data(step)
        loss = objective_step(
            state.model,
            state.optimizer,
            objective_of(config, seed, step),
            x.to(state.device),
            y.to(state.device),
            clip=config.optimizer.clip,
        )
        return {"loss": loss}
    return surrogate_step(state, config, seed, step, data)


def objective_of(config: WordConfig, seed: int, step: int) -> Objective:
    """What the reader is trained on, where nothing is learned beside it."""
    if config.loss == "soft-edit-distance":
        return soft_distance(config.loss_options["temperature"])
    if config.loss == "reinforce":
        return reinforce(source_of(config).task, config.loss_options["samples"], generator(seed, step, DRAWS))
    return cross_entropy


def surrogate_step(
    state: State, config: WordConfig, seed: int, step: int, data: algorithm.Sampler
) -> dict[str, Tensor]:
    """The reader's step of this number within Algorithm 1; the first of an epoch comes after the surrogate's."""
    assert isinstance(state.loss, Surrogate)
    options, settings, source = config.loss_options, algorithm_settings(config, seed), source_of(config)
    epoch, within = divmod(step, settings.I_b)
    both = algorithm.AlgorithmState(state.model, state.loss, state.optimizer, state.optimizer, epoch)
    first = epoch * (settings.I_a + settings.I_b)
    pairs = random_word_pairs(
        source.words(config), source.alphabet, source.slots, options["pairs"], edits=options["edits"], seed=seed
    )
    found: dict[str, Tensor] = {}
    if within == 0:
        learned = [
            algorithm.learn_step(both, source.task, data, pairs if options["generator"] else None, settings, first + i)
            for i in range(settings.I_a)
        ]
        found = {name: torch.stack([part[name] for part in learned]).mean() for name in learned[0]}
    add = partial(weighted_cross_entropy, options["ce"]) if options["ce"] else None
    tuned = algorithm.tune_step(both, source.task, data, settings, first + settings.I_a + within, add)
    return found | {"loss": tuned["tune_loss"], "tune_kept": tuned["tune_kept"]}


def algorithm_settings(config: WordConfig, seed: int) -> algorithm.Settings:
    """The hyper-parameters of Algorithm 1 that a configuration names."""
    options = config.loss_options
    keep = Filter(options["filter"], options["epsilon"], options["shuffled"]) if "filter" in options else None
    return algorithm.Settings(
        I_a=options["I_a"],
        I_b=options["I_b"],
        eta_a=options["eta_a"],
        eta_b=config.optimizer.lr,
        epochs=-(-config.train.steps // options["I_b"]),
        lam=options["lam"],
        clip=config.optimizer.clip,
        learn_filter=keep,
        tune_filter=keep,
        filter_from=options.get("filter_from", 1),
        seed=seed,
    )


def weighted_cross_entropy(weight: float, outputs: Tensor, y: Tensor) -> Tensor:
    """For LS + CE."""
    return weight * cross_entropy(outputs, y)
