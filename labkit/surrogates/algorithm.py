"""Algorithm 1 of the slides, "Training with LS (local-global approximation)"; comments give the line that each part is.

The filters (FEDS), the clipping and the loss that may be added in line 13 are not in Algorithm 1; left out, as they are
unless asked for, the algorithm is the printed one.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.optim import SGD, Adam, Optimizer

from labkit.base.checks import check_choice, check_count, check_not_negative, check_positive
from labkit.base.errors import LabkitError
from labkit.data.samplers import generator as random_numbers
from labkit.surrogates.embedding import Surrogate
from labkit.surrogates.filters import Filter
from labkit.surrogates.learning import surrogate_loss
from labkit.surrogates.objectives import Objective, descend, frozen
from labkit.surrogates.task import Task

Pairs = tuple[Tensor, Tensor]
Sampler = Callable[[int], Pairs]  # from the number of the step, so that a resumed run sees what it would have seen
FILTER_STREAM = 7  # keeps the filters' random numbers apart from those of samplers with the same seed


@dataclass(frozen=True)
class Settings:
    """The hyper-parameters of Algorithm 1, and what we add. Their values are ours: the slides give none.

    I_a, eta_a: steps an epoch and learning rate of the surrogate; I_b, eta_b: those of the model. lam: λ of Equation 6.
    optimizer: "sgd" steps as printed in lines 7 and 14. clip: largest norm of a gradient, 0 for no limit.
    learn_filter, tune_filter: FEDS; the surrogate learns from all pairs before epoch `filter_from`, because at first it
    is wrong on nearly all of them.
    """

    I_a: int
    I_b: int
    eta_a: float
    eta_b: float
    epochs: int
    lam: float
    optimizer: str = "sgd"
    clip: float = 0.0
    learn_filter: Filter | None = None
    tune_filter: Filter | None = None
    filter_from: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what could only fail later."""
        for name in ("I_a", "I_b", "epochs", "filter_from"):
            check_count(name, getattr(self, name))
        for name in ("eta_a", "eta_b"):
            check_positive(name, getattr(self, name))
        for name in ("lam", "clip"):
            check_not_negative(name, getattr(self, name))
        check_choice("optimizer", self.optimizer, ("sgd", "adam"))


@dataclass
class AlgorithmState:
    """What training changes: Θ is in the model, Φ in the surrogate; epoch counts those that are done."""

    model: nn.Module
    surrogate: Surrogate
    model_optimizer: Optimizer
    surrogate_optimizer: Optimizer
    epoch: int = 0

    @property
    def device(self) -> torch.device:
        """Where the model is; batches are brought there."""
        return next(self.model.parameters()).device


def begin(model: nn.Module, surrogate: Surrogate, settings: Settings) -> AlgorithmState:
    """Line 1: Θ as the model was trained before, Φ as the surrogate was drawn."""
    kind = SGD if settings.optimizer == "sgd" else Adam
    return AlgorithmState(
        model, surrogate, kind(model.parameters(), settings.eta_b), kind(surrogate.parameters(), settings.eta_a)
    )


@dataclass(frozen=True)
class Epoch:
    """Means over an epoch: Equation 6, |ê − e| and ‖∂ê/∂z‖ while learning, line 13 while tuning, and kept shares."""

    epoch: int
    learn_loss: float
    error: float
    gradient_norm: float
    learn_kept: float
    tune_loss: float
    tune_kept: float

    def row(self) -> dict[str, float]:
        """For a table or a log."""
        return asdict(self)


def train_with_surrogate(
    state: AlgorithmState,
    task: Task,
    data: Sampler,
    generator: Sampler | None,
    settings: Settings,
    *,
    add: Objective | None = None,
) -> Iterator[Epoch]:
    """Train a model on a metric through a surrogate that is learned beside it; gives one `Epoch` after each.

    Slides, Algorithm 1. data(step) is a batch (x, y) of P_D, generator(step) a batch (z_r, y_r) of P_R; without a
    generator the surrogate learns from the model's outputs alone. y, z_r and y_r have the shape of
    task.predict(model(x)). The step counts over all epochs and both loops. add: a second loss for line 13, such as
    `cross_entropy` (LS + CE).
    """
    per_epoch = settings.I_a + settings.I_b
    while state.epoch < settings.epochs:  # line 2
        first = state.epoch * per_epoch
        middle = first + settings.I_a
        learned, tuned = [], []
        for step in range(first, middle):  # line 3
            learned.append(learn_step(state, task, data, generator, settings, step))
        # line 8: end of the loop; line 9: Φ is what the last step left, and stays so while the model is tuned
        for step in range(middle, first + per_epoch):  # line 10
            tuned.append(tune_step(state, task, data, settings, step, add))
        # line 15: end of the loop; line 16: Θ is what the last step left
        state.epoch += 1
        yield Epoch(epoch=state.epoch, **means(state.epoch, learned), **means(state.epoch, tuned))
    # line 17: end of the loop


def learn_step(
    state: AlgorithmState, task: Task, data: Sampler, generator: Sampler | None, settings: Settings, step: int
) -> dict[str, Tensor]:
    """Lines 4 to 7: the surrogate moves once, by a batch of the model's outputs and one of random pairs."""
    x, y = batch_of("data", data, step, state.device)  # line 4
    drawn = [] if generator is None else [batch_of("generator", generator, step, state.device)]  # line 4
    if step == 0:
        task.check(y)
    with torch.no_grad():
        z = task.predict(state.model.eval()(x))  # line 5
    pairs = [(z, y), *drawn]
    keep = settings.learn_filter if state.epoch + 1 >= settings.filter_from else None
    rng = random_numbers(settings.seed, step, FILTER_STREAM)
    exact = [task.exact(*pair) for pair in pairs]
    found = [
        surrogate_loss(state.surrogate, *pair, e, lam=settings.lam, keep=keep, rng=rng) for pair, e in zip(pairs, exact)
    ]
    loss = torch.stack([part.loss for part in found]).sum()  # line 6
    descend(state.surrogate_optimizer, loss, settings.clip)  # line 7
    return {
        "learn_loss": loss.detach(),
        "error": torch.cat([part.estimate - e for part, e in zip(found, exact)]).abs().mean(),
        "gradient_norm": torch.cat([part.gradient_norm for part in found]).mean(),
        "learn_kept": torch.cat([part.weights for part in found]).mean(),
    }


def tune_step(
    state: AlgorithmState,
    task: Task,
    data: Sampler,
    settings: Settings,
    step: int,
    add: Objective | None = None,
) -> dict[str, Tensor]:
    """Lines 11 to 14: the model moves once, by the surrogate of its outputs."""
    x, y = batch_of("data", data, step, state.device)  # line 11
    outputs = state.model.train()(x)
    z = task.predict(outputs)  # line 12
    with frozen(state.surrogate):
        losses = state.surrogate(z, y)  # line 13
        weights = torch.ones_like(losses)
        if settings.tune_filter is not None:
            rng = random_numbers(settings.seed, step, FILTER_STREAM)
            weights = settings.tune_filter.weights(losses, task.exact(z, y), rng)
        losses = weights * losses
        if add is not None:
            losses = losses + add(outputs, y)
        descend(state.model_optimizer, losses.mean(), settings.clip)  # line 14
    return {"tune_loss": losses.detach().mean(), "tune_kept": weights.mean()}


def batch_of(name: str, sampler: Sampler, step: int, device: torch.device) -> Pairs:
    """A sampler's pairs for a step, brought to the device; a LabkitError if there are none."""
    pairs = sampler(step)
    try:
        first, second = pairs
        size = len(first), len(second)
    except (TypeError, ValueError):
        raise LabkitError(f"{name}(step) must give two tensors, a batch of pairs; got {type(pairs).__name__}") from None
    if 0 in size or size[0] != size[1]:
        without = "; None instead of a generator learns from the model's outputs alone" if name == "generator" else ""
        raise LabkitError(
            f"{name}({step}) must give as many of both, at least one; got {size[0]} and {size[1]}{without}"
        )
    return first.to(device), second.to(device)


def means(epoch: int, steps: list[dict[str, Tensor]]) -> dict[str, float]:
    """The mean of each quantity over an epoch's steps; a loss that is not finite ends the training."""
    found = {name: float(torch.stack([step[name] for step in steps]).mean()) for name in steps[0]}
    for name, value in found.items():
        if not math.isfinite(value):
            raise FloatingPointError(f"{name} is {value} in epoch {epoch}: lower eta_a or eta_b, or clip")
    return found
