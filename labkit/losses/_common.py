"""Small pieces every loss uses: distances, reduction, log-sum-exp with an empty set."""

from typing import Any

import torch
from torch import Tensor


def safe_sqrt(x: Tensor) -> Tensor:
    """√x for x ≥ 0 with gradient 0 at x = 0, where the true one is infinite."""
    positive = x > 0
    return torch.where(positive, torch.where(positive, x, torch.ones_like(x)).sqrt(), torch.zeros_like(x))


def distances(x: Tensor, y: Tensor) -> Tensor:
    """Euclidean distances between rows, (n, m), true to fp32; 0 with gradient 0 where rows coincide up to rounding.

    ‖x‖² + ‖y‖² − 2x·y cancels for close rows: in fp32 a distance below 3e-4 would be noise, so the sums are in fp64.
    """
    a, b = (x, y) if x.device.type == "mps" else (x.double(), y.double())  # Apple GPUs have no fp64
    scale = a.square().sum(-1)[:, None] + b.square().sum(-1)[None]
    squared = scale - 2 * a @ b.T
    rounding = 2 * x.shape[-1] ** 0.5 * torch.finfo(a.dtype).eps * scale  # several times the largest error measured
    return safe_sqrt(torch.where(squared > rounding, squared, 0)).to(x.dtype)


def log1p_sum_exp(x: Tensor, mask: Tensor, dim: int) -> Tensor:
    """log(1 + Σ exp x) over the entries where mask is true: softplus of a log-sum-exp, 0 for an empty set."""
    masked = torch.where(mask, x, torch.full_like(x, -torch.inf))
    zero = torch.zeros_like(masked.select(dim, 0)).unsqueeze(dim)
    return torch.logsumexp(torch.cat([masked, zero], dim), dim)


def refuse_second_derivative(way_out: str = "") -> None:
    """Call in a hand-written backward: differentiated again, its result would be silently wrong.

    (`once_differentiable` stays silent when the upstream gradient is a constant, and under `torch.autograd.grad`.)
    """
    if torch.is_grad_enabled():
        raise RuntimeError(
            f"this loss has no second derivative (create_graph=True, which torch.func.grad sets, too){way_out}"
        )


class FixedWeights(torch.autograd.Function):
    """weight · x, whose gradient treats the weights as constants, and whose second derivative is that gradient's own.

    A plain `weight.detach() * x` has the same gradient, but autograd would take it for linear in x.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(weight: Tensor, x: Tensor) -> Tensor:
        """Two tensors of one shape."""
        return weight * x

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        """Backward needs the weights, with what they depend on."""
        ctx.save_for_backward(inputs[0])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, Tensor]:
        """Nothing goes to the weights."""
        (weight,) = ctx.saved_tensors
        return None, grad * weight


def with_fixed_weights(weight: Tensor, x: Tensor) -> Tensor:
    """weight · x with the weights as constants for the gradient."""
    if torch.compiler.is_compiling():  # which has no second derivatives
        return weight.detach() * x
    product: Tensor = FixedWeights.apply(weight, x)
    return product


def reduce(values: Tensor, reduction: str, count: Tensor | float | None = None) -> Tensor:
    """Mean (over `count` entries, all by default), sum, or the values as they are; a mean over none is 0."""
    if reduction == "none":
        return values
    if reduction == "sum":
        return values.sum()
    if isinstance(count, Tensor):  # not looked at: a GPU need not wait
        count = torch.where(count > 0, count, 1)
    return values.sum() / (values.numel() if count is None else count)
