"""One step of training a reader of words, by whichever of the ways; all that is random depends on (seed, step)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from labkit.base.files import write_safetensors
from labkit.data.rendered_words import LONGEST, rendered_words, words_of
from labkit.data.samplers import generator
from labkit.data.word_images import LETTERS
from labkit.models.small_reader import SmallReader
from labkit.surrogates import algorithm
from labkit.surrogates.embedding import SequenceEmbedding, Surrogate
from labkit.surrogates.filters import Filter
from labkit.surrogates.objectives import Objective, cross_entropy, objective_step, soft_distance
from labkit.surrogates.reinforce import reinforce
from labkit.surrogates.word_config import WordConfig
from labkit.surrogates.word_task import random_word_pairs, word_task
from labkit.surrogates.words import encode_words
from labkit.training.state import State, build_optimizer, read_checkpoint

SLOTS, SYMBOLS = LONGEST + 1, 1 + len(LETTERS)  # the longest word's end is said, too
TASK = word_task(LETTERS)
DRAWS = 21  # the stream of random numbers that words are drawn by


def build_state(config: WordConfig, seed: int, device: torch.device) -> State:
    """Reader, surrogate if the loss has one, and one optimizer with a learning rate for each.

    A step of one leaves the other alone: weights without a gradient do not move.
    """
    torch.manual_seed(seed)
    reader: nn.Module = SmallReader(SLOTS, SYMBOLS, width=config.model["width"])
    surrogate = Surrogate(SequenceEmbedding(SLOTS, SYMBOLS)) if has_surrogate(config) else nn.Identity()
    if config.data["reader"]:
        reader.load_state_dict(reader_weights(Path(config.data["reader"])))
    reader, surrogate = reader.to(device), surrogate.to(device)
    rates = replace(config.optimizer, proxy_lr=config.loss_options.get("eta_a", config.optimizer.lr))
    return State(reader, reader, surrogate, build_optimizer(reader, surrogate, rates, device), None, device)


def reader_weights(where: Path) -> dict[str, Tensor]:
    """The weights of the reader that a run trained, given its folder or a file of weights that `keep_weights` wrote."""
    path = where if where.suffix == ".safetensors" else where / "checkpoints" / "last.safetensors"
    if not path.is_file():
        raise ValueError(f"data.reader: {where} holds no trained reader (there is no file {path.name})")
    tensors, _ = read_checkpoint(path.read_bytes(), where)
    model = {name.removeprefix("model."): tensor for name, tensor in tensors.items() if name.startswith("model.")}
    return {name: tensor.float() for name, tensor in model.items()}


def keep_weights(path: Path, state: State, facts: dict[str, str]) -> None:
    """The reader's weights alone, in half precision, with what a later reader should know of them in the header."""
    tensors = {f"model.{name}": tensor.half() for name, tensor in state.module.state_dict().items()}
    write_safetensors(path, tensors, facts)


def has_surrogate(config: WordConfig) -> bool:
    """Whether the loss is learned."""
    return config.loss in ("ls-ed", "feds")


def training_batch(config: WordConfig, seed: int, step: int) -> tuple[Tensor, Tensor]:
    """Pictures (B, 1, 32, 100) in 0…1 and their words as slots; no picture comes twice."""
    size = config.batch.size
    data = rendered_words("train", size, first=step * size, seed=seed, distortion=config.data["distortion"])
    return data.images / 255, encode_words(data.words, LETTERS, SLOTS)


def train_step(state: State, config: WordConfig, seed: int) -> dict[str, Tensor]:
    """Change the reader's weights once, and before that the surrogate's I_a times where its turn has come."""
    step = state.progress.step
    data = partial(training_batch, config, seed)
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
        return reinforce(TASK, config.loss_options["samples"], generator(seed, step, DRAWS))
    return cross_entropy


def surrogate_step(
    state: State, config: WordConfig, seed: int, step: int, data: algorithm.Sampler
) -> dict[str, Tensor]:
    """The reader's step of this number within Algorithm 1; the first of an epoch comes after the surrogate's."""
    assert isinstance(state.loss, Surrogate)
    options, settings = config.loss_options, algorithm_settings(config, seed)
    epoch, within = divmod(step, settings.I_b)
    both = algorithm.AlgorithmState(state.model, state.loss, state.optimizer, state.optimizer, epoch)
    first = epoch * (settings.I_a + settings.I_b)
    pairs = random_word_pairs(words_of("train"), LETTERS, SLOTS, options["pairs"], edits=options["edits"], seed=seed)
    found: dict[str, Tensor] = {}
    if within == 0:
        learned = [
            algorithm.learn_step(both, TASK, data, pairs if options["generator"] else None, settings, first + i)
            for i in range(settings.I_a)
        ]
        found = {name: torch.stack([part[name] for part in learned]).mean() for name in learned[0]}
    add = partial(weighted_cross_entropy, options["ce"]) if options["ce"] else None
    tuned = algorithm.tune_step(both, TASK, data, settings, first + settings.I_a + within, add)
    return found | {"loss": tuned["tune_loss"], "tune_kept": tuned["tune_kept"]}


def algorithm_settings(config: WordConfig, seed: int) -> algorithm.Settings:
    """The hyper-parameters of Algorithm 1 that a configuration names."""
    options = config.loss_options
    keep = Filter(options["filter"], options["epsilon"], options["shuffled"]) if config.loss == "feds" else None
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
