"""ProxyNCA, ProxyAnchor, SoftTriple and the MPA family, each a function of the class similarities S(x, c)."""

import torch
from torch import Tensor
from torch.nn import functional as F

from labkit.losses._common import reduce
from labkit.losses.class_similarity import ProxyParts, check_one_center, proxy_loss
from labkit.losses.options import Convention, NotNegative, Positive, Reduction, checked

Result = Tensor | tuple[Tensor, ProxyParts]


@checked
def proxy_nca(
    embeddings: Tensor,
    labels: Tensor,
    proxies: Tensor,
    *,
    scale: Positive = 9.0,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """ProxyNCA: L = −log( e^{−scale·d²(x, p_y)} / Σ_{c≠y} e^{−scale·d²(x, p_c)} ), d² = 2 − 2 x·p on unit vectors.

    Movshovitz-Attias et al. 2017, Eq. 4: the positive is not in the denominator, so the loss has no floor at 0.
    convention="official": log-softmax over all proxies, as the released ProxyNCA++ does. scale = 1/T, T = 1/9 there.
    embeddings (N, D), labels (N,), proxies (C, D) -> scalar or (N,).
    """
    check_one_center(proxies)

    def loss(s: Tensor, y: Tensor, how: str) -> Tensor:
        if s.shape[1] < 2 and convention == "paper":
            raise ValueError("proxies: ProxyNCA needs at least two classes, its denominator runs over the others")
        logits = 2 * scale * s  # −scale·d² up to a constant that the quotient drops
        own = logits.gather(1, y[:, None]).squeeze(1)
        rest = logits if convention == "official" else without_own(logits, y)
        return reduce(torch.logsumexp(rest, 1) - own, how)

    return proxy_loss(embeddings, labels, proxies, loss, reduction=reduction, return_parts=return_parts)


@checked
def soft_triple(
    embeddings: Tensor,
    labels: Tensor,
    proxies: Tensor,
    *,
    lam: Positive = 20.0,
    delta: NotNegative = 0.01,
    gamma: Positive = 0.1,
    tau: NotNegative = 0.2,
    convention: Convention = "paper",
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """SoftTriple: −log[ e^{λ(S_y−δ)} / (e^{λ(S_y−δ)} + Σ_{c≠y} e^{λS_c}) ] + τ·Reg, MPA Eqs 1–4.

    Qian et al. 2019. Eq. 4 sums over samples (reduction="sum"); the SoftTriple paper and code average (E-MPA-3).
    convention="official" adds 1e-5 inside the regulariser's root, as the released code does (E-MPA-2).
    embeddings (N, D), labels (N,), proxies (C, K, D) -> scalar or (N,).
    """

    def loss(s: Tensor, y: Tensor, how: str) -> Tensor:
        margin = torch.zeros_like(s).scatter(1, y[:, None], delta)
        return F.cross_entropy(lam * (s - margin), y, reduction=how)

    epsilon = 1e-5 if convention == "official" else 0.0
    return proxy_loss(
        embeddings,
        labels,
        proxies,
        loss,
        gamma=gamma,
        tau=tau,
        epsilon=epsilon,
        reduction=reduction,
        return_parts=return_parts,
    )


@checked
def proxy_anchor(
    embeddings: Tensor,
    labels: Tensor,
    proxies: Tensor,
    *,
    alpha: Positive = 32.0,
    delta: NotNegative = 0.1,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """ProxyAnchor: MPA with one proxy per class and no regulariser (Kim et al. 2020, Eq. 4; E-MPA-16).

    embeddings (N, D), labels (N,), proxies (C, D) -> scalar; see `mpa` for the reductions.
    """
    check_one_center(proxies)
    return mpa(
        embeddings,
        labels,
        proxies,
        alpha=alpha,
        delta=delta,
        tau=0.0,
        reduction=reduction,
        return_parts=return_parts,
    )


@checked
def mpa(
    embeddings: Tensor,
    labels: Tensor,
    proxies: Tensor,
    *,
    alpha: Positive = 32.0,
    delta: NotNegative = 0.1,
    gamma: Positive = 0.1,
    tau: NotNegative = 0.2,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """MPA: 1/|C⁺| Σ_{c∈C⁺} log(1 + Σ_{x∈X_c⁺} e^{−α(S−δ)}) + 1/|C⁻| Σ_c log(1 + Σ_{x∈X_c⁻} e^{α(S+δ)}) + τ·Reg.

    Saeki et al. 2023, Eqs 6, 7. C⁺: classes in the batch; C⁻: all classes, as in ProxyAnchor (E-MPA-4). Its terms
    belong to classes, not to samples: reduction="none" gives (C,) sums of both terms, "sum" their total.
    embeddings (N, D), labels (N,), proxies (C, K, D) -> scalar or (C,).
    """

    def loss(s: Tensor, y: Tensor, how: str) -> Tensor:
        own = s.gather(1, y[:, None]).squeeze(1)
        positive = segment_log1p_sum_exp(-alpha * (own - delta), y, s.shape[1])
        negative = softplus(torch.logsumexp(without_own(alpha * (s + delta), y), 0))
        if how != "mean":
            return reduce(positive + negative, how)
        present = torch.zeros_like(positive).index_fill_(0, y, 1)
        return positive.sum() / present.sum() + negative.mean()

    return proxy_loss(
        embeddings, labels, proxies, loss, gamma=gamma, tau=tau, reduction=reduction, return_parts=return_parts
    )


@checked
def mpa_data_wise(
    embeddings: Tensor,
    labels: Tensor,
    proxies: Tensor,
    *,
    alpha: Positive = 32.0,
    delta: NotNegative = 0.1,
    gamma: Positive = 0.1,
    tau: NotNegative = 0.2,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """MPA-DW: 1/N Σ_i [ log(1 + e^{−α(S(x_i,c_i)−δ)}) + log(1 + Σ_{c≠c_i} e^{α(S(x_i,c)+δ)}) ] + τ·Reg.

    Saeki et al. 2023, Eqs 12, 13; its gradient is Eq. 14 corrected (E-MPA-5).
    embeddings (N, D), labels (N,), proxies (C, K, D) -> scalar or (N,).
    """

    def loss(s: Tensor, y: Tensor, how: str) -> Tensor:
        own = s.gather(1, y[:, None]).squeeze(1)
        others = softplus(torch.logsumexp(without_own(alpha * (s + delta), y), 1))
        return reduce(softplus(-alpha * (own - delta)) + others, how)

    return proxy_loss(
        embeddings, labels, proxies, loss, gamma=gamma, tau=tau, reduction=reduction, return_parts=return_parts
    )


@checked
def mpa_all_pairs(
    embeddings: Tensor,
    labels: Tensor,
    proxies: Tensor,
    *,
    alpha: Positive = 32.0,
    delta: NotNegative = 0.1,
    gamma: Positive = 0.1,
    tau: NotNegative = 0.2,
    reduction: Reduction = "mean",
    return_parts: bool = False,
) -> Result:
    """MPA-AP: 1/N Σ_i log(1 + Σ_c e^{αS'}) + τ·Reg, S' = δ − S for the own class and S + δ for the others.

    Saeki et al. 2023, Eqs 15–17; its positive-negative relation is a sum, not a difference (E-MPA-6).
    embeddings (N, D), labels (N,), proxies (C, K, D) -> scalar or (N,).
    """

    def loss(s: Tensor, y: Tensor, how: str) -> Tensor:
        sign = torch.ones_like(s).scatter(1, y[:, None], -1)
        return reduce(softplus(torch.logsumexp(alpha * (sign * s + delta), 1)), how)

    return proxy_loss(
        embeddings, labels, proxies, loss, gamma=gamma, tau=tau, reduction=reduction, return_parts=return_parts
    )


def without_own(scores: Tensor, y: Tensor) -> Tensor:
    """The scores (N, C) with each sample's own class masked out (never subtract it from a sum: NaN on trained data).

    The mask is far below any score but finite, so that a log-sum over masked entries alone has a gradient, 0.
    """
    return scores.scatter(1, y[:, None], torch.finfo(scores.dtype).min / 4)


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x), exact in fp64 as well: torch's default drops e^−x beyond 20, an error of 2e-9."""
    return F.softplus(x, threshold=50.0)


def segment_log1p_sum_exp(values: Tensor, y: Tensor, classes: int) -> Tensor:
    """log(1 + Σ_{i: y_i = c} e^{values_i}) for each class, (N,) -> (C,); 0 for a class without samples."""
    top = torch.zeros(classes, dtype=values.dtype, device=values.device)
    top = top.scatter_reduce(0, y, values.detach(), "amax")  # includes the 0 of the "1 +"
    total = torch.exp(-top).index_add(0, y, torch.exp(values - top[y]))
    return top + torch.log(total)
