"""Two small surrogates that come with labkit, and how they learned: what lessons show without training first.

`data/surrogates/make.py` trains them, from words and boxes that are drawn on the fly; `data/surrogates/README.md` says
with what settings and how well they came out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import load_file

from labkit.data.files import File, locate
from labkit.data.rendered_words import LONGEST
from labkit.data.word_images import LETTERS
from labkit.surrogates.boxes import BOX_FEATURES, box_features
from labkit.surrogates.embedding import SequenceEmbedding, Surrogate, VectorEmbedding

SLOTS, SYMBOLS = LONGEST + 1, 1 + len(LETTERS)
WORDS = File(
    "words.safetensors", "surrogates", "5db341679286a10746125f225640a11d5d5e402185d332ae91daf8272f034e58", shipped=True
)
BOXES = File(
    "boxes.safetensors", "surrogates", "62226e1587fa8cb6f679d393df351d0ca1ee38f74d9ae508582e6f4715050607", shipped=True
)
LEARNING = File(
    "learning.npz", "surrogates", "e6f6b569a73ef01b1d7a1e6edd18c9a43237f07e1d006e21c280519c0cd18e27", shipped=True
)


def new_word_surrogate() -> Surrogate:
    """Of the edit distance, untrained: small enough for a web page (27 thousand weights)."""
    return Surrogate(SequenceEmbedding(SLOTS, SYMBOLS, width=32, layers=3, dim=48))


def new_box_surrogate() -> Surrogate:
    """Of 1 − IoU of rotated boxes, untrained (11 thousand weights)."""
    return Surrogate(VectorEmbedding(BOX_FEATURES, width=64, layers=3, dim=32, features=box_features))


def word_surrogate() -> Surrogate:
    """The trained surrogate of the edit distance, for words of at most `SLOTS` letters a–z."""
    return filled(new_word_surrogate(), WORDS)


def box_surrogate() -> Surrogate:
    """The trained surrogate of 1 − IoU, for boxes about the unit square."""
    return filled(new_box_surrogate(), BOXES)


def filled(surrogate: Surrogate, file: File) -> Surrogate:
    """With the weights of a file."""
    surrogate.load_state_dict(load_file(locate(file)))
    return surrogate.eval()


@dataclass(frozen=True)
class Learning:
    """How a surrogate of the edit distance learned, once with λ and once without: frame by frame, on held-out pairs.

    exact: (P,), the true distances; lams: (M,); steps: (F,); estimates, norms: (M, F, P), ê and ‖∂ê/∂z‖.
    """

    exact: NDArray[np.uint8]
    lams: NDArray[np.float32]
    steps: NDArray[np.int32]
    estimates: NDArray[np.float32]
    norms: NDArray[np.float32]


@cache
def learning() -> Learning:
    """The recorded film."""
    with np.load(locate(LEARNING), allow_pickle=False) as arrays:
        return Learning(
            arrays["exact"],
            arrays["lams"],
            arrays["steps"],
            arrays["estimates"].astype(np.float32),
            arrays["norms"].astype(np.float32),
        )
