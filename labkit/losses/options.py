"""The options of a loss are stated once, in its function's signature: name, default, and what it may be.

`tau: Positive = 0.01` is a number above 0, and 0.01 unless given. The function checks what it is called with
(`@checked`), its Module what it is built with, and the catalogue reads the defaults: nobody repeats them.
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypedDict, TypeVar, get_type_hints

import torch
from torch import Tensor

from labkit.base.checks import check_choice, check_count, check_ks, check_not_negative, check_positive
from labkit.base.tensors import unchecked, working_precision

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Bound:
    """What an option may be, in words, and the check that refuses all else with a ValueError."""

    words: str
    check: Callable[[str, Any], object]

    def __repr__(self) -> str:
        """As `help` shows it in a signature."""
        return self.words


def one_of(*choices: str) -> Bound:
    """One of these words."""
    return Bound(f"one of {', '.join(choices)}", lambda name, value: check_choice(name, value, choices))


def check_learned(name: str, value: Any) -> None:
    """A tensor, which is learned, or a number above 0."""
    if not isinstance(value, Tensor):
        check_positive(name, value)


def check_unless_none(name: str, value: Any) -> None:
    """None, or a number that is 0 or above."""
    if value is not None:
        check_not_negative(name, value)


def check_switch(name: str, value: Any) -> None:
    """On or off."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")


def check_number(name: str, value: Any) -> None:
    """A number, which may be infinite."""
    if not isinstance(value, int | float) or isinstance(value, bool) or math.isnan(value):
        raise ValueError(f"{name} must be a number, got {value!r}")


def check_temperatures(name: str, value: Any) -> None:
    """A number above 0, or several; how many there must be, the function knows."""
    for one in value if isinstance(value, Sequence) and not isinstance(value, str) else (value,):
        check_positive(name, one)


Positive = Annotated[float, Bound("above 0", check_positive)]
PositiveOrLearned = Annotated[float | Tensor, Bound("above 0", check_learned)]
NotNegative = Annotated[float, Bound("0 or above", check_not_negative)]
NotNegativeOrNone = Annotated[float | None, Bound("0 or above, or None", check_unless_none)]
Gate = Annotated[float, Bound("any number", check_number)]
Switch = Annotated[bool, Bound("on or off", check_switch)]
Ks = Annotated[Sequence[int], Bound("each 1 or above", check_ks)]
Temperatures = Annotated[float | Sequence[float], Bound("above 0, one or several", check_temperatures)]
Count = Annotated[int, Bound("1 or above", check_count)]
PnpVariant = Annotated[str, one_of("O", "Iu", "Iu-exact", "Ib", "Ds", "Dq")]
ContrastiveForm = Annotated[str, one_of("squared", "linear")]
RankWeight = Annotated[str, one_of("log", "loglog")]
Negatives = Annotated[str, one_of("all", "pairs")]
Space = Annotated[str, one_of("embedding", "similarity")]
Convention = Annotated[str, one_of("paper", "official")]
Reduction = Annotated[str, one_of("mean", "sum", "none")]
Empty = Annotated[str, one_of("error", "zero")]
Validate = Annotated[bool, Bound("on or off", check_switch)]
Method = Annotated[str, one_of("auto", "plain", "streamed", "dense")]
# what says how to compute, not what: a Module takes it by name only
BY_NAME = (Empty, Validate, ContrastiveForm, RankWeight, Negatives, Space, Convention, Reduction, Method, Count)


class Others(TypedDict, total=False):
    """What a loss on pairs or ranks may be called with besides its options.

    ref_embeddings (M, D), ref_labels (M,): the rows of embeddings are queries, compared with these only, not with each
    other. weights (B,), 0 or above: factor on each query's share of the loss; what the mean divides by stays.
    """

    ref_embeddings: Tensor | None
    ref_labels: Tensor | None
    weights: Tensor | None


def bounds_of(function: Callable[..., object]) -> dict[str, Bound]:
    """The options of a function: those of its parameters that have a bound."""
    hints = get_type_hints(function, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if hasattr(hint, "__metadata__")}


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which first checks the options it is called with; its defaults are trusted.

    It has one option more, `validate`: False skips the checks that look at values of tensors, for which a GPU waits.
    """
    validate = Validate.__metadata__[0]  # type: ignore[attr-defined]
    bounds, names = bounds_of(function) | {"validate": validate}, tuple(inspect.signature(function).parameters)
    known = {*names, *Others.__annotations__, "validate"}

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        for name, value in (*zip(names, args), *options.items()):
            if name in bounds:
                bounds[name].check(name, value)
            elif name not in known:  # **others would take it without a word
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}")
        if options.pop("validate", True) is False and not torch.compiler.is_compiling():
            with unchecked():
                return function(*args, **options)
        if options.get("return_parts") and torch.is_inference_mode_enabled():
            return outside_inference_mode(function, *args, **options)
        return function(*args, **options)

    return with_option(call, function, "validate", Validate, True)


class NoPositives(ValueError):
    """No query of a batch has a positive."""


def needs_positives(function: Callable[P, Tensor | tuple[Tensor, R]]) -> Callable[P, Tensor | tuple[Tensor, R]]:
    """The function with one option more, `empty`: a batch in which no query has a positive is an error, or loss 0.

    The 0 has a graph, so that a training loop goes on: its gradient is 0 everywhere. It has no parts.
    """

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> Tensor | tuple[Tensor, R]:
        empty = options.pop("empty", "error")
        try:
            return function(*args, **options)
        except NoPositives:
            if empty == "error" or options.get("return_parts"):
                raise
            embeddings = args[0] if args else options["embeddings"]
            assert isinstance(embeddings, Tensor)
            nothing = 0 * working_precision(embeddings).sum(1)
            return nothing if options.get("reduction") == "none" else nothing.sum()

    return with_option(call, function, "empty", Empty, "error")


def with_option(call: Callable[P, R], function: Callable[P, R], name: str, hint: Any, default: Any) -> Callable[P, R]:
    """The call, which shows the function's signature with one option more."""
    known = list(inspect.signature(function).parameters.values())
    others = [known.pop()] if known and known[-1].kind == inspect.Parameter.VAR_KEYWORD else []
    option = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)
    call.__signature__ = inspect.Signature([*known, option, *others])  # type: ignore[attr-defined]
    call.__annotations__ = function.__annotations__ | {name: hint}
    return call


def outside_inference_mode(function: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
    """Call the function where autograd works, with copies of what autograd could not read: parts are derivatives."""

    def readable(value: Any) -> Any:
        return value.clone() if isinstance(value, Tensor) and value.is_inference() else value

    with torch.inference_mode(False), torch.no_grad():
        return function(*map(readable, args), **{name: readable(value) for name, value in options.items()})


def signature_of(function: Callable[..., object], own: Sequence[inspect.Parameter] = ()) -> inspect.Signature:
    """What a Module is built with: parameters of its own, then the function's options."""
    hints = get_type_hints(function, include_extras=True)
    options = [
        p.replace(kind=p.KEYWORD_ONLY if hints[name] in BY_NAME else p.POSITIONAL_OR_KEYWORD, annotation=hints[name])
        for name, p in inspect.signature(function).parameters.items()
        if hasattr(hints.get(name), "__metadata__")
    ]
    by_kind = sorted([*own, *options], key=lambda p: p.kind)  # a stable sort: own ones stay in front
    return inspect.Signature(by_kind)
