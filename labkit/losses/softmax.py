"""Classification losses used for retrieval: softmax, NormSoftmax, SGSL, Center and Ring loss.

Features are not normalised unless the formula says so; the classifier has no bias (SGSL paper, "Method").
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from labkit.base.checks import check_not_negative, check_positive
from labkit.base.tensors import (
    autocast_off,
    check_class_ids,
    check_float_matrix,
    check_labels,
    is_batched,
    unit_rows,
    working_precision,
)
from labkit.losses._common import reduce
from labkit.losses.options import Convention, Gate, NotNegative, Positive, PositiveOrLearned, Reduction, checked
from labkit.losses.proxies import softplus, without_own


@dataclass(frozen=True)
class SoftmaxParts:
    """What a softmax-type loss is made of, detached.

    cosine: cos(W_c, f) (N, C); dL_dcos: derivative of the mean SGSL or NormSoftmax term with respect to it (zeros for
    the plain softmax, which does not see cosines); softmax, sgsl: values of the two terms; gate_open: whether SGSL
    takes part.
    """

    cosine: Tensor
    dL_dcos: Tensor
    softmax: Tensor
    sgsl: Tensor
    gate_open: Tensor


Result = Tensor | tuple[Tensor, SoftmaxParts]


def prepare(embeddings: Tensor, labels: Tensor, weight: Tensor, name: str = "weight") -> tuple[Tensor, Tensor, Tensor]:
    """Checked features, labels and class vectors in working precision."""
    check_float_matrix("embeddings", embeddings)
    check_labels("labels", labels, embeddings.shape[0])
    check_float_matrix(name, weight, columns=embeddings.shape[1])
    check_class_ids("labels", labels, weight.shape[0])
    f = working_precision(embeddings)
    return f, labels.to(f.device, torch.int64), weight.to(f.dtype)


def smoothed_cross_entropy(logits: Tensor, y: Tensor, label_smoothing: float, reduction: str) -> Tensor:
    """Cross-entropy with target 1−ε and ε/(C−1) for each other class, as the papers' base code has it.

    torch spreads ε over all C classes; its ε' = ε·C/(C−1) is the same thing.
    """
    classes = logits.shape[1]
    check_smoothing(label_smoothing, classes)
    epsilon = label_smoothing * classes / (classes - 1) if classes > 1 else 0.0
    return F.cross_entropy(logits, y, label_smoothing=epsilon, reduction=reduction)


def check_smoothing(label_smoothing: float, classes: int) -> None:
    """0 ≤ ε ≤ (C−1)/C: beyond that the own class would be the least likely."""
    check_not_negative("label_smoothing", label_smoothing)
    if classes > 1 and label_smoothing > (classes - 1) / classes:
        raise ValueError(f"label_smoothing must be at most (C-1)/C = {(classes - 1) / classes:.4g}")


def smoothed_floor(label_smoothing: float, num_classes: int) -> float:
    """Least value of the smoothed cross-entropy: −(1−ε) ln(1−ε) − ε ln(ε/(C−1))."""
    check_smoothing(label_smoothing, num_classes)
    e = label_smoothing
    return 0.0 if e == 0 or num_classes < 2 else -(1 - e) * math.log(1 - e) - e * math.log(e / (num_classes - 1))


def norm_softmax_floor(num_classes: int, scale: float = 1.0) -> float:
    """Least value of NormSoftmax: log(1 + (C−1) e^{−scale·C/(C−1)}), class vectors at a regular simplex."""
    check_positive("scale", scale)
    if num_classes < 2:
        return 0.0
    return math.log1p((num_classes - 1) * math.exp(-scale * num_classes / (num_classes - 1)))


@checked
def softmax(
    embeddings: Tensor,
    labels: Tensor,
    weight: Tensor,
    *,
    label_smoothing: NotNegative = 0.0,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """Softmax cross-entropy without bias, −log e^{W_y·f} / Σ_j e^{W_j·f}: SGSL Eqs 3, 5 (E-SG-1).

    embeddings (N, D), labels (N,), weight (C, D) -> scalar or (N,).
    """
    f, y, w = prepare(embeddings, labels, weight)
    with autocast_off(f):
        loss = smoothed_cross_entropy(f @ w.T, y, label_smoothing, reduction)
        if not return_parts:
            return loss
        cosine = (unit_rows(f) @ unit_rows(w).T).detach()
        value = loss.detach().mean() if reduction != "sum" else loss.detach() / len(y)
        closed = torch.zeros((), dtype=torch.bool, device=f.device)
        return loss, SoftmaxParts(cosine, torch.zeros_like(cosine), value, torch.zeros_like(value), closed)


@checked
def norm_softmax(
    embeddings: Tensor,
    labels: Tensor,
    weight: Tensor,
    *,
    scale: PositiveOrLearned = 16.0,
    label_smoothing: NotNegative = 0.0,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """NormSoftmax: cross-entropy on scale·cos(W_j, f); scale=1 is the "softmax + L2-Norm" that stalls at its floor.

    Wang et al. 2017 (NormFace); Zhai and Wu 2019. embeddings (N, D), labels (N,), weight (C, D) -> scalar or (N,).
    scale may be a learned tensor.
    """
    f, y, w = prepare(embeddings, labels, weight)
    with autocast_off(f):
        cosine = unit_rows(f) @ unit_rows(w).T
        loss = smoothed_cross_entropy(scale * cosine, y, label_smoothing, reduction)
        if not return_parts:
            return loss
        with torch.enable_grad():
            free = cosine.detach().requires_grad_()
            factor = scale.detach() if isinstance(scale, Tensor) else scale
            value = smoothed_cross_entropy(factor * free, y, label_smoothing, "mean")
            (slope,) = torch.autograd.grad(value, free)
        closed = torch.zeros((), dtype=torch.bool, device=f.device)
        return loss, SoftmaxParts(free.detach(), slope, value.detach(), torch.zeros_like(value.detach()), closed)


def sgsl_of_cosines(cosine: Tensor, y: Tensor, gamma: float) -> Tensor:
    """Softplus(LSE^γ_{j≠y}(cos_j) − cos_y) of each sample, LSE^γ = 1/γ log Σ e^{γ·}: (N, C) -> (N,)."""
    if cosine.shape[1] < 2:
        return 0 * cosine.sum(1)  # one class: nothing to be closer to than the own one
    own = cosine.gather(1, y[:, None]).squeeze(1)
    nearest_other = torch.logsumexp(without_own(gamma * cosine, y), 1) / gamma
    return softplus(nearest_other - own)


@checked
def sgsl(
    embeddings: Tensor,
    labels: Tensor,
    weight: Tensor,
    *,
    gamma: Positive = 30.0,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """SGSL alone: mean Softplus(LSE^γ_{j≠y} cos(sg(W_j), f) − cos(sg(W_y), f)), no gradient through W.

    Yang et al. 2023, Eq. 6 (E-SG-1, E-SG-3, E-SG-4). embeddings (N, D), labels (N,), weight (C, D) -> scalar or (N,).
    """
    f, y, w = prepare(embeddings, labels, weight)
    with autocast_off(f):
        cosine = unit_rows(f) @ unit_rows(w.detach()).T
        each = sgsl_of_cosines(cosine, y, gamma)
        loss = reduce(each, reduction)
        if not return_parts:
            return loss
        with torch.enable_grad():
            free = cosine.detach().requires_grad_()
            (slope,) = torch.autograd.grad(sgsl_of_cosines(free, y, gamma).mean(), free)
        value = each.detach().mean()
        is_open = torch.ones((), dtype=torch.bool, device=f.device)
        return loss, SoftmaxParts(free.detach(), slope, torch.zeros_like(value), value, is_open)


@checked
def softmax_sgsl(
    embeddings: Tensor,
    labels: Tensor,
    weight: Tensor,
    *,
    gamma: Positive = 30.0,
    beta: NotNegative = 1.0,
    gate: Gate = 3.0,
    gate_open: Tensor | None = None,
    label_smoothing: NotNegative = 0.1,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """Softmax + β·SGSL, SGSL joining once the softmax loss is below the gate: Yang et al. 2023, Eqs 7, 10.

    Label smoothing acts on the softmax only. The gate: "paper" opens for good the first time the mean softmax loss is
    below it (`gate_open`, a bool scalar that this call updates in place); "official", as released, asks anew at each
    call and is open at the gate itself, and its mean softmax loss is over the samples whose loss is not 0 (E-SGSL-A).
    Without `gate_open` both ask once. embeddings (N, D), labels (N,), weight (C, D) -> scalar or (N,).
    """
    official = convention == "official"
    each = softmax(embeddings, labels, weight, label_smoothing=label_smoothing, reduction="none")
    assert isinstance(each, Tensor)
    counted = (each.detach() != 0).sum().clamp_min(1) if official else len(each)
    mean = each.detach().sum() / counted
    is_open = mean <= gate if official else mean < gate
    if not official and gate_open is not None:
        if not torch.compiler.is_compiling() and is_batched(is_open):
            raise ValueError(
                "gate_open: several batches at once (vmap) cannot open one gate one after another; "
                'call the loss for each, or use convention="official", which asks anew each time'
            )
        is_open = gate_open.logical_or_(is_open).clone()
    metric = sgsl(embeddings, labels, weight, gamma=gamma, reduction="none", return_parts=return_parts)
    extra, parts = metric if isinstance(metric, tuple) else (metric, None)
    # where, not a product: nothing of a closed SGSL, not even a NaN, reaches the features
    joined = beta * torch.where(is_open, extra, torch.zeros_like(extra))
    loss = reduce(each, reduction, counted) + reduce(joined, reduction)
    if parts is None:
        return loss
    return loss, SoftmaxParts(parts.cosine, parts.dL_dcos, mean, parts.sgsl, is_open)


@checked
def center(embeddings: Tensor, labels: Tensor, centers: Tensor, *, reduction: Reduction = "mean") -> Tensor:
    """Center loss ½‖x − c_y‖²: Wen et al. 2016, as SGSL Eq. 1; embeddings (N, D), labels (N,), centers (C, D)."""
    x, y, c = prepare(embeddings, labels, centers, "centers")
    with autocast_off(x):
        return reduce((x - c.index_select(0, y)).square().sum(1) / 2, reduction)


@checked
def ring(embeddings: Tensor, radius: PositiveOrLearned, *, reduction: Reduction = "mean") -> Tensor:
    """Ring loss ½(‖x‖ − R)², weight λ left to the caller: Zheng et al. 2018, as SGSL Eq. 4; embeddings (N, D)."""
    check_float_matrix("embeddings", embeddings)
    with autocast_off(embeddings):
        norm = torch.linalg.vector_norm(working_precision(embeddings), dim=1)
        return reduce((norm - radius).square() / 2, reduction)


@checked
def softmax_center(
    embeddings: Tensor,
    labels: Tensor,
    classifier: Tensor,
    centers: Tensor,
    *,
    weight: NotNegative = 0.003,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """Softmax + λ · Center loss, λ = weight: Wen et al. 2016; classifier, centers (C, D) -> scalar or (N,)."""
    extra = weight * center(embeddings, labels, centers, reduction=reduction)
    result = softmax(embeddings, labels, classifier, reduction=reduction, return_parts=return_parts)
    return plus(result, extra)


@checked
def softmax_ring(
    embeddings: Tensor,
    labels: Tensor,
    classifier: Tensor,
    radius: float | Tensor,
    *,
    weight: NotNegative = 0.01,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """Softmax + λ · Ring loss, λ = weight: Zheng et al. 2018; classifier (C, D) -> scalar or (N,)."""
    extra = weight * ring(embeddings, radius, reduction=reduction)
    result = softmax(embeddings, labels, classifier, reduction=reduction, return_parts=return_parts)
    return plus(result, extra)


def plus(result: Result, extra: Tensor) -> Result:
    """A second term beside a loss; the parts stay those of the first."""
    return (result[0] + extra, result[1]) if isinstance(result, tuple) else result + extra
