"""Modules of the proxy losses; their proxies are parameters and want a learning rate of their own."""

from typing import Any

from torch import Tensor

from labkit.base.checks import check_not_negative, check_positive
from labkit.losses import proxies
from labkit.losses.modules.base import Loss, directions


class ProxyNCA(Loss):
    """ProxyNCA with one proxy a class: see `functional.proxy_nca`."""

    def __init__(
        self, num_classes: int, dim: int, scale: float = 9.0, *, convention: str = "paper", reduction: str = "mean"
    ) -> None:
        """Scale = 1/T on squared distances of unit vectors."""
        check_positive("scale", scale)
        super().__init__(scale=scale, convention=convention, reduction=reduction)
        self.proxies = directions(num_classes, dim)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return proxies.proxy_nca(embeddings, labels, self.proxies, return_parts=return_parts, **self.options)


class ProxyAnchor(Loss):
    """ProxyAnchor with one proxy a class: see `functional.proxy_anchor`."""

    def __init__(
        self, num_classes: int, dim: int, alpha: float = 32.0, delta: float = 0.1, *, reduction: str = "mean"
    ) -> None:
        """Alpha: scale; delta: margin."""
        check_positive("alpha", alpha)
        check_not_negative("delta", delta)
        super().__init__(alpha=alpha, delta=delta, reduction=reduction)
        self.proxies = directions(num_classes, dim)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return proxies.proxy_anchor(embeddings, labels, self.proxies, return_parts=return_parts, **self.options)


class SoftTriple(Loss):
    """SoftTriple with several centres a class: see `functional.soft_triple`."""

    def __init__(
        self,
        num_classes: int,
        dim: int,
        centers: int = 10,
        lam: float = 20.0,
        delta: float = 0.01,
        gamma: float = 0.1,
        tau: float = 0.2,
        *,
        convention: str = "paper",
        reduction: str = "mean",
    ) -> None:
        """Centers: K; lam: scale λ; delta: margin; gamma: softness over centres; tau: weight of the regulariser."""
        check_positive("lam", lam)
        check_not_negative("delta", delta)
        check_positive("gamma", gamma)
        check_not_negative("tau", tau)
        super().__init__(lam=lam, delta=delta, gamma=gamma, tau=tau, convention=convention, reduction=reduction)
        self.proxies = directions(num_classes, centers, dim)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return proxies.soft_triple(embeddings, labels, self.proxies, return_parts=return_parts, **self.options)


class MPA(Loss):
    """MPA, class-wise: see `functional.mpa`."""

    function = staticmethod(proxies.mpa)

    def __init__(
        self,
        num_classes: int,
        dim: int,
        centers: int = 10,
        alpha: float = 32.0,
        delta: float = 0.1,
        gamma: float = 0.1,
        tau: float = 0.2,
        *,
        reduction: str = "mean",
    ) -> None:
        """Centers: K; alpha: scale (not given in the paper); delta: margin; gamma, tau as in SoftTriple."""
        check_positive("alpha", alpha)
        check_not_negative("delta", delta)
        check_positive("gamma", gamma)
        check_not_negative("tau", tau)
        super().__init__(alpha=alpha, delta=delta, gamma=gamma, tau=tau, reduction=reduction)
        self.proxies = directions(num_classes, centers, dim)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return self.function(embeddings, labels, self.proxies, return_parts=return_parts, **self.options)


class MPADataWise(MPA):
    """MPA-DW: see `functional.mpa_data_wise`."""

    function = staticmethod(proxies.mpa_data_wise)


class MPAAllPairs(MPA):
    """MPA-AP: see `functional.mpa_all_pairs`."""

    function = staticmethod(proxies.mpa_all_pairs)
