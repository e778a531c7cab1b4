"""Thin Modules around the functional losses: they hold options and, where a loss has them, its parameters.

Each is called as loss(embeddings, labels) and takes return_parts=True where its function does.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from labkit._validate import check_choice, check_ks, check_not_negative, check_positive
from labkit.losses import pairs, pnp, proxies, softmax
from labkit.losses._common import CONVENTIONS, check_reduction
from labkit.losses.derivative import Derivative, loss_and_derivative
from labkit.losses.ranking import METHODS, mean_over_positives, ranking_loss
from labkit.losses.recall_at_k import check_temperatures, recall_at_k
from labkit.losses.softcount import Rules


class Loss(nn.Module):
    """Keeps the options of a functional loss and shows them in its repr."""

    def __init__(self, **options: Any) -> None:
        """Options are checked where they are used; the ones all losses share are checked here."""
        super().__init__()
        if "reduction" in options:
            check_reduction(options["reduction"])
        if "convention" in options:
            check_choice("convention", options["convention"], CONVENTIONS)
        if "method" in options:
            check_choice("method", options["method"], METHODS)
        self.options = options

    def extra_repr(self) -> str:
        """The options, as written in a call."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())


class PNP(Loss):
    """PNP loss, variants O, Iu, Iu-exact, Ib, Ds, Dq: see `functional.pnp`."""

    def __init__(
        self,
        variant: str = "Dq",
        alpha: float = 1.0,
        b: float = 4.0,
        tau: float = 0.01,
        *,
        convention: str = "paper",
        reduction: str = "mean",
        method: str = "auto",
    ) -> None:
        """alpha = 1 trains from scratch; the paper's best released run, from ImageNet weights, uses 4."""
        pnp.check_variant(variant, alpha, b)
        check_positive("tau", tau)
        super().__init__(
            variant=variant, alpha=alpha, b=b, tau=tau, convention=convention, reduction=reduction, method=method
        )

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(B, D), (B,) -> scalar, or with its parts."""
        return pnp.pnp(embeddings, labels, return_parts=return_parts, **self.options)


class SmoothAP(Loss):
    """Smooth-AP loss: see `functional.smooth_ap`."""

    def __init__(
        self, tau: float = 0.01, *, convention: str = "paper", reduction: str = "mean", method: str = "auto"
    ) -> None:
        """Tau: temperature of the sigmoid."""
        check_positive("tau", tau)
        super().__init__(tau=tau, convention=convention, reduction=reduction, method=method)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(B, D), (B,) -> scalar, or with its parts."""
        return pnp.smooth_ap(embeddings, labels, return_parts=return_parts, **self.options)


class RecallAtK(Loss):
    """RS@k loss over a set of k, with or without SiMix: see `functional.recall_at_k`."""

    def __init__(
        self,
        ks: Sequence[int] = (1, 2, 4, 8, 16),
        tau_rank: float | Sequence[float] = 1.0,
        tau_sim: float = 0.01,
        simix: bool = False,
        *,
        convention: str = "paper",
        reduction: str = "mean",
        method: str = "auto",
    ) -> None:
        """tau_rank: outer temperature τ1, one or one for each k; tau_sim: inner temperature τ2."""
        ks = check_ks("ks", ks)
        check_temperatures(tau_rank, len(ks))
        check_positive("tau_sim", tau_sim)
        super().__init__(
            ks=ks, tau_rank=tau_rank, tau_sim=tau_sim, simix=simix,
            convention=convention, reduction=reduction, method=method,
        )  # fmt: skip

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        return_parts: bool = False,
        generator: torch.Generator | None = None,
    ) -> Any:
        """(B, D), (B,) -> scalar, or with its parts; generator: source of SiMix's mixing weights."""
        return recall_at_k(embeddings, labels, return_parts=return_parts, generator=generator, **self.options)


class FromDerivative(Loss):
    """The PNP-type loss whose derivative with respect to R is g: see `from_derivative`."""

    def __init__(
        self,
        g: Derivative | Sequence[tuple[float, float]],
        tau: float = 0.01,
        *,
        reduction: str = "mean",
        method: str = "auto",
    ) -> None:
        """`value(R)` and `derivative(R)` are the two curves."""
        check_positive("tau", tau)
        super().__init__(tau=tau, reduction=reduction, method=method)
        self.value, self.derivative = loss_and_derivative(g)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(B, D), (B,) -> scalar, or with its parts."""

        def head(R_neg: Tensor, R_pos: Tensor, is_target: Tensor) -> Tensor:
            return mean_over_positives(self.value(R_neg), is_target)

        rules = Rules(self.options["tau"], needs_positives=return_parts)
        how = {"reduction": self.options["reduction"], "method": self.options["method"]}
        return ranking_loss(embeddings, labels, head, rules, return_parts=return_parts, **how)


def from_derivative(
    g: Derivative | Sequence[tuple[float, float]], tau: float = 0.01, *, reduction: str = "mean", method: str = "auto"
) -> FromDerivative:
    """The loss L = 1/|P| Σ F(R(i, S_N)) with F(0) = 0 and F' = g: PNP's way of designing losses (Eqs 6–13) as a tool.

    g: a function of a tensor R ≥ 0, e.g. `lambda R: 1 / (1 + R)` for PNP-Ds, or points [(R, dL/dR), …] that are joined
    by straight lines and continued as constants.
    """
    return FromDerivative(g, tau, reduction=reduction, method=method)


def directions(*shape: int) -> nn.Parameter:
    """Random rows of expected norm 1."""
    for name, size in zip(("num_classes", "centers", "dim") if len(shape) == 3 else ("num_classes", "dim"), shape):
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"{name} must be a whole number, 1 or above; got {size!r}")
    return nn.Parameter(torch.randn(*shape) * shape[-1] ** -0.5)


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


class Softmax(Loss):
    """Softmax cross-entropy without bias: see `functional.softmax`."""

    def __init__(self, num_classes: int, dim: int, label_smoothing: float = 0.0, *, reduction: str = "mean") -> None:
        """label_smoothing: ε, spread over the other classes."""
        super().__init__(label_smoothing=label_smoothing, reduction=reduction)
        self.weight = directions(num_classes, dim)
        softmax.check_smoothing(label_smoothing, num_classes)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return softmax.softmax(embeddings, labels, self.weight, return_parts=return_parts, **self.options)


class NormSoftmax(Loss):
    """Softmax on scaled cosines, the scale fixed or learned (NormFace): see `functional.norm_softmax`."""

    def __init__(
        self,
        num_classes: int,
        dim: int,
        scale: float = 16.0,
        learn_scale: bool = False,
        label_smoothing: float = 0.0,
        *,
        reduction: str = "mean",
    ) -> None:
        """Scale: factor on the cosines; scale=1, not learned, is the unscaled softmax that stalls."""
        check_positive("scale", scale)
        super().__init__(label_smoothing=label_smoothing, reduction=reduction)
        self.weight = directions(num_classes, dim)
        softmax.check_smoothing(label_smoothing, num_classes)
        self.scale = nn.Parameter(torch.tensor(float(scale)), requires_grad=learn_scale)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return softmax.norm_softmax(
            embeddings, labels, self.weight, scale=self.scale, return_parts=return_parts, **self.options
        )


class SGSLAlone(Loss):
    """SGSL without the softmax; its class vectors never move: see `functional.sgsl`."""

    def __init__(self, num_classes: int, dim: int, gamma: float = 30.0, *, reduction: str = "mean") -> None:
        """Gamma: hardness of the soft maximum."""
        check_positive("gamma", gamma)
        super().__init__(gamma=gamma, reduction=reduction)
        self.weight = nn.Parameter(directions(num_classes, dim).detach(), requires_grad=False)

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts."""
        return softmax.sgsl(embeddings, labels, self.weight, return_parts=return_parts, **self.options)


class SGSL(Loss):
    """Softmax + β·SGSL behind a gate: see `functional.softmax_sgsl`."""

    gate_open: Tensor

    def __init__(
        self,
        num_classes: int,
        dim: int,
        gamma: float = 30.0,
        beta: float = 1.0,
        gate: float = 3.0,
        label_smoothing: float = 0.1,
        *,
        convention: str = "paper",
        reduction: str = "mean",
    ) -> None:
        """Gate: SGSL joins when the softmax loss is below; label_smoothing: on the softmax only."""
        check_positive("gamma", gamma)
        check_not_negative("beta", beta)
        super().__init__(
            gamma=gamma, beta=beta, gate=gate, label_smoothing=label_smoothing,
            convention=convention, reduction=reduction,
        )  # fmt: skip
        self.weight = directions(num_classes, dim)
        softmax.check_smoothing(label_smoothing, num_classes)
        self.register_buffer("gate_open", torch.zeros((), dtype=torch.bool))
        floor = softmax.smoothed_floor(label_smoothing, num_classes)
        if floor >= gate:
            warnings.warn(
                f"with {num_classes} classes and label_smoothing={label_smoothing} the softmax loss cannot fall below "
                f"{floor:.2f}, so gate={gate} never opens and SGSL never joins; lower label_smoothing or raise gate",
                stacklevel=2,
            )

    def forward(self, embeddings: Tensor, labels: Tensor, return_parts: bool = False) -> Any:
        """(N, D), (N,) -> scalar, or with its parts. Evaluation (`.eval()`) does not open the gate."""
        gate_open = self.gate_open if self.training else self.gate_open.clone()
        return softmax.softmax_sgsl(
            embeddings, labels, self.weight, gate_open=gate_open, return_parts=return_parts, **self.options
        )


class CenterLoss(Loss):
    """Softmax + weight · Center loss, as it is used: see `functional.softmax` and `functional.center`."""

    def __init__(self, num_classes: int, dim: int, weight: float = 0.003, *, reduction: str = "mean") -> None:
        """Weight: λ of Wen et al. 2016; the centres learn by gradient."""
        check_not_negative("weight", weight)
        super().__init__(weight=weight, reduction=reduction)
        self.classifier = directions(num_classes, dim)
        self.centers = directions(num_classes, dim)

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """(N, D), (N,) -> scalar."""
        how = self.options["reduction"]
        base = softmax.softmax(embeddings, labels, self.classifier, reduction=how)
        assert isinstance(base, Tensor)
        return base + self.options["weight"] * softmax.center(embeddings, labels, self.centers, reduction=how)


class RingLoss(Loss):
    """Softmax + weight · Ring loss with a learned radius: see `functional.softmax` and `functional.ring`."""

    def __init__(
        self, num_classes: int, dim: int, weight: float = 0.01, radius: float = 1.0, *, reduction: str = "mean"
    ) -> None:
        """Weight: λ; radius: where R starts."""
        check_not_negative("weight", weight)
        check_positive("radius", radius)
        super().__init__(weight=weight, reduction=reduction)
        self.classifier = directions(num_classes, dim)
        self.radius = nn.Parameter(torch.tensor(float(radius)))

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """(N, D), (N,) -> scalar."""
        how = self.options["reduction"]
        base = softmax.softmax(embeddings, labels, self.classifier, reduction=how)
        assert isinstance(base, Tensor)
        return base + self.options["weight"] * softmax.ring(embeddings, self.radius, reduction=how)
