"""The expected metric by sampling (REINFORCE): exact distances, no surrogate, a gradient that is right on average."""

import torch
from torch import Tensor

from labkit.base.checks import check_count
from labkit.surrogates.objectives import Objective
from labkit.surrogates.task import Task
from labkit.surrogates.words import END, check_slots


def reinforce(task: Task, samples: int, rng: torch.Generator) -> Objective:
    """An objective whose gradient estimates that of the expected metric, E over words w ~ softmax(outputs) of e(w, y).

    ∇ E[e] = E[(e(w, y) − b) ∇ log P(w)],  b of a sample = the mean of e over the other samples of the same item

    Williams (1992); leaving the sample itself out of its baseline keeps the estimate unbiased (Kool et al. 2019). Its
    value is the mean distance of the samples. samples: words drawn an item, at least 2. rng: on the CPU, so that draws
    are the same on every device. Not in the slides: ours, as a control.
    """
    check_count("samples", samples)
    if samples < 2:
        raise ValueError("samples must be 2 or above: the baseline of a sample is the mean of the others")

    def objective(outputs: Tensor, y: Tensor) -> Tensor:
        check_slots("outputs", outputs)
        symbols = draw(outputs.detach(), samples, rng)
        certain = torch.zeros(samples, *outputs.shape, device=outputs.device, dtype=outputs.dtype)
        certain.scatter_(-1, symbols[..., None], 1.0)
        exact = task.exact(certain.flatten(0, 1), y.repeat(samples, 1, 1)).reshape(samples, -1)
        return estimate(outputs, symbols, exact)

    return objective


def draw(logits: Tensor, samples: int, rng: torch.Generator) -> Tensor:
    """Symbols (samples, B, slots) of words drawn from softmax(logits), each slot for itself (Gumbel's way)."""
    uniform = torch.rand(samples, *logits.shape, generator=rng, dtype=torch.float64).clamp(min=1e-300)
    return (logits - (-uniform.log()).log().to(logits)).argmax(-1)


def estimate(logits: Tensor, symbols: Tensor, exact: Tensor) -> Tensor:
    """The mean distance (B,), with the estimated gradient as its gradient.

    logits: (B, slots, A); symbols: (K, B, slots) drawn from them; exact: their distances (K, B).
    """
    count = len(symbols)
    baseline = (exact.sum(0) - exact) / (count - 1)
    picked = logits.log_softmax(-1).expand(count, *logits.shape).gather(-1, symbols[..., None])[..., 0]
    ends = symbols == END
    within = (ends.cumsum(-1) - ends.to(torch.long)) == 0  # what follows the end is no part of the word
    score = ((exact - baseline) * (picked * within).sum(-1)).mean(0)
    return exact.mean(0) + score - score.detach()
