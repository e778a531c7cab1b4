"""The layers of a surrogate as plain numbers, for a page that computes it without torch (web/maths/surrogate.js)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from labkit.explorers.packing import joined
from labkit.surrogates import Surrogate

Numbers = NDArray[np.floating[Any]]


def layers_of(surrogate: Surrogate) -> Iterator[tuple[dict[str, Any], dict[str, Numbers]]]:
    """Each layer's kind, number of outputs and whether a LeakyReLU follows; and its weight and bias, flat."""
    parts = [part for part in surrogate.h.modules() if isinstance(part, nn.Conv1d | nn.Linear | nn.LeakyReLU)]
    for part, following in zip(parts, [*parts[1:], None]):
        if isinstance(part, nn.LeakyReLU):
            continue
        kind = "conv" if isinstance(part, nn.Conv1d) else "linear"
        head = {"kind": kind, "outputs": len(part.weight), "leaky": isinstance(following, nn.LeakyReLU)}
        yield head, {name: value.detach().numpy().ravel() for name, value in part.named_parameters()}


def packed_layers(surrogate: Surrogate) -> bytes:
    """For `web/drag/layers.js`."""
    found = list(layers_of(surrogate))
    arrays = {f"{name}{at}": part for at, (_, parts) in enumerate(found) for name, part in parts.items()}
    return joined({"layers": [head for head, _ in found]}, arrays)
