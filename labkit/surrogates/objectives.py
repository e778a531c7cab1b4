"""What a model that reads words can be tuned on, and one step of it: the arms that a learned surrogate is held against.

An objective takes the model's outputs and the targets y (B, ...) and gives one loss an item, (B,).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from labkit.surrogates.soft_distance import soft_edit_distance
from labkit.surrogates.words import END, check_slots

Objective = Callable[[Tensor, Tensor], Tensor]


def cross_entropy(outputs: Tensor, y: Tensor) -> Tensor:
    """The proxy that readers are usually trained on: -log of the target's symbols, letter by letter.

    CE = -sum_i log softmax(outputs_i)(y_i), over the letters of the target and its end

    Slides, "Proxy Loss for Scene Text Recognition". outputs: logits (B, slots, symbols); y: one-hot, the same shape.
    What follows the end is not asked for.
    """
    check_slots("outputs", outputs)
    check_slots("y", y)
    within = (y[..., END].cumsum(-1) - y[..., END]) == 0  # no end before this slot
    return -((outputs.log_softmax(-1) * y).sum(-1) * within).sum(-1)


def soft_distance(temperature: float) -> Objective:
    """The soft edit distance of the model's distributions, as an objective."""
    return lambda outputs, y: soft_edit_distance(outputs.softmax(-1), y, temperature, end=END)


def objective_step(
    model: nn.Module, optimizer: Optimizer, objective: Objective, x: Tensor, y: Tensor, *, clip: float = 0.0
) -> Tensor:
    """Move the model once by the mean of an objective; returns that mean, without gradient."""
    value = objective(model.train()(x), y).mean()
    descend(optimizer, value, clip)
    return value.detach()


def descend(optimizer: Optimizer, loss: Tensor, clip: float = 0.0) -> None:
    """One step of the optimizer down a loss; a gradient longer than clip, if clip is not 0, is shortened to it."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if clip:
        clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], clip)
    optimizer.step()


@contextmanager
def frozen(module: nn.Module) -> Iterator[None]:
    """Gradients pass through the module, but its own weights ask for none."""
    asked = [parameter for parameter in module.parameters() if parameter.requires_grad]
    for parameter in asked:
        parameter.requires_grad_(False)
    try:
        yield
    finally:
        for parameter in asked:
            parameter.requires_grad_(True)
