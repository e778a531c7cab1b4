"""What the Modules share: the options of a function, bound, and parameters of random direction."""

import inspect
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from labkit.base.checks import check_count
from labkit.base.words import did_you_mean
from labkit.losses.class_similarity import ProxyParts
from labkit.losses.options import Others, bounds_of, signature_of
from labkit.losses.pair_loss import PairParts
from labkit.losses.ranking import RankingParts
from labkit.losses.softmax import SoftmaxParts

Result = Tensor | tuple[Tensor, RankingParts | PairParts | ProxyParts | SoftmaxParts]
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
# why a loss with vectors of classes does not take what others take
INSTEAD = dict.fromkeys(("ref_embeddings", "ref_labels"), "which compares with its class vectors; leave it out") | {
    "weights": 'whose options have reduction="none": multiply what that gives'
}


class Loss(nn.Module):
    """A function with its options: the function's signature says which there are, their defaults and their bounds."""

    function: ClassVar[Callable[..., Result]]
    takes_others: ClassVar[bool]  # references and weights: losses on pairs and ranks do, those with class vectors not

    def __init_subclass__(cls) -> None:
        """The signature that `help` shows: parameters of the class's own, then the options."""
        super().__init_subclass__()
        if hasattr(cls, "function"):
            _, *own = (p for p in inspect.signature(cls.__init__).parameters.values() if p.kind in NAMED)
            cls.__signature__ = signature_of(cls.function, own)  # type: ignore[attr-defined]
            kinds = [p.kind for p in inspect.signature(cls.function).parameters.values()]
            cls.takes_others = inspect.Parameter.VAR_KEYWORD in kinds

    def __init__(self, *given: Any, **options: Any) -> None:
        """Options of the function, by name or in its order."""
        super().__init__()
        known = signature_of(self.function)
        if unknown := [name for name in options if name not in known.parameters]:
            meant = did_you_mean(unknown[0], known.parameters)
            raise TypeError(
                f"{unknown[0]}: no option of {type(self).__name__}{meant} (there are: {', '.join(known.parameters)})"
            )
        found = known.bind(*given, **options)
        found.apply_defaults()
        self.options: dict[str, Any] = dict(found.arguments)
        for name, bound in bounds_of(self.function).items():
            bound.check(name, self.options[name])

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor,
        *more: object,
        return_parts: bool = False,
        indices_tuple: object = None,
        **others: Any,
    ) -> Result:
        """(B, D), (B,) -> scalar, or with its parts; all else by name: see `losses.options.Others`."""
        refuse_mined_pairs(more, indices_tuple)
        self.refuse_others(others)
        return self.function(embeddings, labels, return_parts=return_parts, **self.extras(), **self.options, **others)

    def refuse_others(self, others: dict[str, Any]) -> None:
        """What this loss cannot be called with is refused by name, with the way out."""
        for name, value in others.items():
            if name not in Others.__annotations__:
                close = did_you_mean(name, [*Others.__annotations__, "return_parts", "generator"])
                raise TypeError(f"{name}: not taken by {type(self).__name__}{close}")
            if value is not None and not self.takes_others:
                raise ValueError(f"{name}: not taken by {type(self).__name__}, {INSTEAD[name]}")

    def extras(self) -> dict[str, Any]:
        """What the function gets besides, such as what is learned."""
        return {}

    def extra_repr(self) -> str:
        """The options, as written in a call."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options.items())


def refuse_mined_pairs(more: tuple[object, ...], indices_tuple: object) -> None:
    """What pytorch-metric-learning's losses take from its miners; passed over in silence, it would be another loss."""
    if more:
        raise TypeError(
            "a loss takes two positional arguments, embeddings and labels; give all else by name. Pairs of a miner "
            "(indices_tuple) are not taken: labkit's losses use all pairs of the batch"
        )
    if indices_tuple is not None:
        raise ValueError(
            "indices_tuple: labkit's losses use all pairs of the batch and mine by themselves where their paper does "
            "(multi-similarity's epsilon); leave it out"
        )


def directions(*shape: int) -> nn.Parameter:
    """Random rows of expected norm 1."""
    for name, size in zip(("num_classes", "centers", "dim") if len(shape) == 3 else ("num_classes", "dim"), shape):
        check_count(name, size)
    return nn.Parameter(torch.randn(*shape) * shape[-1] ** -0.5)
