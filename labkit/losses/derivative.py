"""PNP's own idea made a tool: say how much gradient a positive with R negatives before it gets, and have the loss.

The loss is F(R) = ∫₀ᴿ g(r) dr, so that dF/dR = g exactly; F is found by quadrature for a callable and in closed form
for points.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor

from labkit.losses.options import Count, Method, Others, Positive, Reduction, checked, needs_positives
from labkit.losses.ranking import CHUNK, RankingParts, mean_over_positives, ranking_loss
from labkit.losses.softcount import Rules

Derivative = Callable[[Tensor], Tensor]

PANELS, NODES = 8, 16


@dataclass(frozen=True)
class Antiderivative:
    """F with F(0) = 0 and F' = g, both for values and for autograd (backward multiplies by g itself).

    Gauss–Legendre in u = log(1 + r), where slowly varying and sharply peaked derivatives alike are smooth:
    F(R) = ∫₀^{log(1+R)} g(eᵘ − 1) eᵘ du, in 8 panels of 16 nodes. Kinks of g cost accuracy; give points instead.
    """

    g: Derivative

    def __call__(self, R: Tensor) -> Tensor:
        """F at each R."""
        integral: Tensor = Integral.apply(R, self.g)
        return integral


class Integral(torch.autograd.Function):
    """∫₀ᴿ g, elementwise, with g as its derivative."""

    generate_vmap_rule = True

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Derivative], output: Tensor) -> None:
        """Backward needs where g is to be taken."""
        ctx.save_for_backward(inputs[0])
        ctx.g = inputs[1]

    @staticmethod
    def forward(R: Tensor, g: Derivative) -> Tensor:
        """R ≥ 0 of any shape -> same shape."""
        node, weight = np.polynomial.legendre.leggauss(NODES)
        nodes = torch.tensor((node + 1) / 2, dtype=R.dtype, device=R.device)
        weights = torch.tensor(weight / 2, dtype=R.dtype, device=R.device)
        width = torch.log1p(R) / PANELS
        total = torch.zeros_like(R)
        for panel in range(PANELS):
            u = width[..., None] * (panel + nodes)
            total += (g(torch.expm1(u)) * torch.exp(u) * weights).sum(-1) * width
        return total

    @staticmethod
    def backward(ctx, upstream: Tensor) -> tuple[Tensor, None]:  # type: ignore[no-untyped-def]
        """g(R) times the upstream gradient."""
        (R,) = ctx.saved_tensors
        return upstream * ctx.g(R), None


@dataclass(frozen=True)
class Line:
    """g, linear between points (R, dL/dR) and constant outside, and the area under it; a class, so that it pickles."""

    x: np.ndarray
    y: np.ndarray

    def piece(self, R: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Of the piece that each R lies in: how far inside, g where it begins, the area before it, its slope."""
        area = np.concatenate([[0.0], np.cumsum(np.diff(self.x) * (self.y[1:] + self.y[:-1]) / 2)])
        slope = np.append(np.diff(self.y) / np.diff(self.x), 0.0)
        columns = [torch.as_tensor(c, dtype=R.dtype, device=R.device) for c in (self.x, self.y, area, slope)]
        k = (torch.searchsorted(columns[0], R.detach().contiguous(), right=True) - 1).clamp(0, len(self.x) - 1)
        start, value, before, rise = (c[k] for c in columns)
        return R - start, value, before, rise

    def __call__(self, R: Tensor) -> Tensor:
        """g at each R."""
        h, value, _, rise = self.piece(R)
        return value + rise * h

    def integral(self, R: Tensor) -> Tensor:
        """F at each R: exact, with F(0) = 0."""
        h, value, before, rise = self.piece(R)
        return before + value * h + rise * h * h / 2


def through_points(points: Sequence[tuple[float, float]]) -> Line:
    """The line through points (R, dL/dR)."""
    try:
        table = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("g must be a function of R or points (R, dL/dR), two numbers each") from None
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        raise ValueError(f"g: at least two points (R, dL/dR) are needed, got shape {table.shape}")
    if not np.isfinite(table).all() or (table[:, 0] < 0).any():
        raise ValueError("g: points must be finite, with R ≥ 0")
    if (np.diff(table[:, 0]) <= 0).any():
        raise ValueError("g: the points' R must be strictly increasing")
    if table[0, 0] > 0:
        table = np.vstack([[0.0, table[0, 1]], table])
    return Line(*np.ascontiguousarray(table.T))


def tried(g: Derivative) -> Derivative:
    """Try g once: it must map a tensor of R ≥ 0 to finite values of the same shape."""
    probe = torch.linspace(0, 10, 7, dtype=torch.float64)
    try:
        out = g(probe)
    except Exception as error:
        raise ValueError(f"g: could not be applied to a tensor of R values: {error}") from error
    if not isinstance(out, Tensor) or out.shape != probe.shape:
        raise ValueError("g must map a tensor of R values to a tensor of the same shape (use torch.ones_like for 1)")
    if not torch.isfinite(out).all():
        raise ValueError("g must be finite for R ≥ 0")
    return g


def loss_and_derivative(g: Derivative | Sequence[tuple[float, float]]) -> tuple[Derivative, Derivative]:
    """(F, g) from a callable or from points (R, dL/dR)."""
    if callable(g):
        return Antiderivative(tried(g)), g
    line = through_points(g)
    return line.integral, line


@checked
@needs_positives
def loss_of_value(
    embeddings: Tensor,
    labels: Tensor,
    value: Derivative,
    *,
    tau: Positive = 0.01,
    reduction: Reduction = "mean",
    return_parts: bool = False,
    method: Method = "auto",
    chunk: Count = CHUNK,
    **others: Unpack[Others],
) -> Tensor | tuple[Tensor, RankingParts]:
    """L = mean over queries of 1/|P| Σ_{i∈P} value(R(i, S_N)): embeddings (B, D), labels (B,) -> scalar or (B,)."""

    def head(R_neg: Tensor, R_pos: Tensor, is_target: Tensor) -> Tensor:
        return mean_over_positives(value(R_neg), is_target)

    rules = Rules(tau, needs_positives=return_parts)
    return ranking_loss(
        embeddings,
        labels,
        head,
        rules,
        reduction=reduction,
        return_parts=return_parts,
        method=method,
        chunk=chunk,
        **others,
    )
