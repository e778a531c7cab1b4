"""Modules of the proxy losses; their proxies are parameters and want a learning rate of their own."""

from typing import Any

from labkit.losses import proxies
from labkit.losses.modules.base import Loss, directions


class OneProxy(Loss):
    """One proxy per class."""

    def __init__(self, num_classes: int, dim: int, *given: Any, **options: Any) -> None:
        """Proxies (C, D)."""
        super().__init__(*given, **options)
        self.proxies = directions(num_classes, dim)

    def extras(self) -> dict[str, Any]:
        """The proxies."""
        return {"proxies": self.proxies}


class ProxyNCA(OneProxy):
    """ProxyNCA with one proxy per class: see `functional.proxy_nca`."""

    function = staticmethod(proxies.proxy_nca)


class ProxyAnchor(OneProxy):
    """ProxyAnchor with one proxy per class: see `functional.proxy_anchor`."""

    function = staticmethod(proxies.proxy_anchor)


class SeveralProxies(Loss):
    """Several proxies per class."""

    def __init__(self, num_classes: int, dim: int, centers: int = 10, *given: Any, **options: Any) -> None:
        """Proxies (C, K, D), K = centers."""
        super().__init__(*given, **options)
        self.proxies = directions(num_classes, centers, dim)

    def extras(self) -> dict[str, Any]:
        """The proxies."""
        return {"proxies": self.proxies}


class SoftTriple(SeveralProxies):
    """SoftTriple with several centres per class: see `functional.soft_triple`."""

    function = staticmethod(proxies.soft_triple)


class MPA(SeveralProxies):
    """MPA, class-wise: see `functional.mpa`."""

    function = staticmethod(proxies.mpa)


class MPADataWise(SeveralProxies):
    """MPA-DW: see `functional.mpa_data_wise`."""

    function = staticmethod(proxies.mpa_data_wise)


class MPAAllPairs(SeveralProxies):
    """MPA-AP: see `functional.mpa_all_pairs`."""

    function = staticmethod(proxies.mpa_all_pairs)
