"""Proxies stand for classes: the similarity of a sample to a class, and the regulariser on its centres.

Every proxy loss of the papers is a function of S(x, c) (N, C) alone; `proxies.py` holds those functions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from labkit.base.tensors import (
    autocast_off,
    check_class_ids,
    check_float_matrix,
    check_labels,
    is_traced,
    unit_rows,
    working_precision,
)
from labkit.losses._common import safe_sqrt
from labkit.losses.options import Positive, checked

SimilarityLoss = Callable[[Tensor, Tensor, str], Tensor]
"""(S (N, C), labels (N,), reduction) -> loss."""


@dataclass(frozen=True)
class ProxyParts:
    """What a proxy loss is made of, detached: S(x, c) (N, C), dL/dS (N, C), and the value of the regulariser."""

    similarity: Tensor
    dL_dS: Tensor
    regularizer: Tensor


@checked
def class_similarities(x: Tensor, w: Tensor, gamma: Positive = 0.1) -> Tensor:
    """S(x, c) = Σ_k softmax_k(x·w_ck / γ) x·w_ck, MPA Eq. 1; x (N, D), w (C, K, D), both unit rows -> (N, C)."""
    check_centers(w)
    classes, centers, dim = w.shape
    s = x @ w.reshape(classes * centers, dim).T
    if centers == 1:
        return s
    each = s.view(len(x), classes, centers)
    if is_traced(each):
        return (torch.softmax(each / gamma, -1) * each).sum(-1)
    soft_maximum: Tensor = SoftMaximum.apply(each, gamma)
    return soft_maximum


class SoftMaximum(torch.autograd.Function):
    """Σ_k p_k s_k with p = softmax(s/γ), over the last axis; dS/ds_k = p_k (1 + (s_k − S)/γ).

    Written out because autograd would keep four (N, C, K) arrays where two do.
    """

    @staticmethod
    def forward(ctx, s: Tensor, gamma: float) -> Tensor:  # type: ignore[no-untyped-def]
        """(N, C, K) -> (N, C)."""
        p = torch.softmax(s / gamma, -1)
        soft_max = torch.einsum("nck,nck->nc", p, s)
        ctx.save_for_backward(s, p, soft_max)
        ctx.gamma = gamma
        return soft_max

    @staticmethod
    def backward(ctx, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[no-untyped-def]
        """In place on one buffer; where a second derivative is asked for, in operations that have one."""
        s, p, soft_max = ctx.saved_tensors
        if torch.is_grad_enabled():
            p = torch.softmax(s / ctx.gamma, -1)
            return p * (1 + (s - (p * s).sum(-1, keepdim=True)) / ctx.gamma) * grad[..., None], None
        slope = (s - soft_max[..., None]).div_(ctx.gamma).add_(1).mul_(p)
        return slope.mul_(grad[..., None]), None


def proxy_regularizer(w: Tensor, *, epsilon: float = 0.0) -> Tensor:
    """Reg = Σ_j Σ_{t<s} √(2 − 2 w_js·w_jt) / (C K (K−1)), MPA Eq. 3; w (C, K, D) unit rows -> scalar.

    Half of the mean distance between centres of a class (E-MPA-2). 0 at K = 1; gradient 0 at coincident centres, where
    the formula's is infinite; the released SoftTriple has epsilon=1e-5 inside the root instead. One K×K product a
    class: no (CK)² matrix.
    """
    check_centers(w)
    classes, centers, _ = w.shape
    if centers == 1:
        return w.new_zeros(()) * w.sum()
    t, s = torch.triu_indices(centers, centers, offset=1, device=w.device)
    # 2 − 2 w·w is ‖w_s − w_t‖² for unit rows; taken from the class's mean it does not cancel for close centres
    centered = w - w.mean(1, keepdim=True)
    gram = torch.bmm(centered, centered.transpose(1, 2))
    norm = gram.diagonal(dim1=1, dim2=2)
    squared = (norm[:, t] + norm[:, s] - 2 * gram[:, t, s]).clamp_min(0) + epsilon
    return safe_sqrt(squared).sum() / (classes * centers * (centers - 1))


def proxy_loss(
    embeddings: Tensor,
    labels: Tensor,
    proxies: Tensor,
    loss: SimilarityLoss,
    *,
    gamma: float = 1.0,  # without effect where a class has one centre
    tau: float = 0.0,
    epsilon: float = 0.0,
    reduction: str,
    return_parts: bool,
) -> Tensor | tuple[Tensor, ProxyParts]:
    """loss(S, labels) + τ·Reg for embeddings (N, D), labels in 0..C−1 and proxies (C, K, D) or (C, D).

    With reduction="none" the regulariser, which belongs to no sample, is left out.
    """
    check_float_matrix("embeddings", embeddings)
    check_labels("labels", labels, embeddings.shape[0])
    check_proxies(proxies, embeddings.shape[1])
    check_class_ids("labels", labels, proxies.shape[0])
    with autocast_off(embeddings):
        x = unit_rows(working_precision(embeddings))
        w = unit_rows(proxies.to(x.dtype))
        w = w[:, None, :] if w.dim() == 2 else w
        y = labels.to(x.device, torch.int64)
        s = class_similarities(x, w, gamma)
        value = loss(s, y, reduction)
        regularized = tau > 0 and reduction != "none"
        regularizer = proxy_regularizer(w, epsilon=epsilon) if regularized or return_parts else w.new_zeros(())
        if regularized:
            value = value + tau * regularizer
        if not return_parts:
            return value
        with torch.enable_grad():
            free = s.detach().requires_grad_()
            (slope,) = torch.autograd.grad(loss(free, y, "mean"), free)
        return value, ProxyParts(s.detach(), slope, regularizer.detach())


def check_centers(w: Tensor) -> None:
    """(C, K, D)."""
    if not isinstance(w, Tensor) or w.dim() != 3:
        raise ValueError(f"w must be a tensor (C, K, D), got {getattr(w, 'shape', w)}")
    check_float_matrix("w", w.flatten(0, 1))


def check_one_center(proxies: Tensor) -> None:
    """(C, D) or (C, 1, D); `check_proxies` does the rest."""
    if isinstance(proxies, Tensor) and proxies.dim() == 3 and proxies.shape[1] != 1:
        raise ValueError(f"proxies: this loss has one proxy per class, got shape {tuple(proxies.shape)}")


def check_proxies(proxies: Tensor, dim: int) -> None:
    """(C, D) or (C, K, D), finite, with the embeddings' dimension."""
    if not isinstance(proxies, Tensor) or proxies.dim() not in (2, 3):
        raise ValueError(f"proxies must be a tensor (C, D) or (C, K, D), got {getattr(proxies, 'shape', proxies)}")
    if proxies.shape[-1] != dim:
        raise ValueError(f"proxies must have the embeddings' dimension {dim}, got shape {tuple(proxies.shape)}")
    check_float_matrix("proxies", proxies.flatten(0, -2) if proxies.dim() == 3 else proxies)
