"""Pictures of words: what the loaders of rendered and of real words give."""

from __future__ import annotations

import io
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from labkit.base.checks import check_choice

HEIGHT, WIDTH = 32, 100
LETTERS = string.ascii_lowercase
ALNUM = string.digits + string.ascii_lowercase
Picture = NDArray[np.uint8]


@dataclass(frozen=True)
class WordImages:
    """N pictures (N, 1, 32, 100) uint8 with the word that each shows, and an id that stays the same."""

    name: str
    images: Tensor
    words: tuple[str, ...]
    ids: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse parts that do not fit together."""
        if self.images.shape[1:] != (1, HEIGHT, WIDTH) or self.images.dtype != torch.uint8:
            raise ValueError(
                f"{self.name}: images must be (N, 1, {HEIGHT}, {WIDTH}) uint8, got {tuple(self.images.shape)} "
                f"{self.images.dtype}"
            )
        if not len(self.images) == len(self.words) == len(self.ids):
            sizes = len(self.images), len(self.words), len(self.ids)
            raise ValueError(f"{self.name}: images, words and ids have different lengths: {sizes}")

    def __len__(self) -> int:
        """Number of pictures."""
        return len(self.words)

    def folded(self, alphabet: str) -> WordImages:
        """The same pictures with words in lower case and without symbols that the alphabet lacks; some may be empty."""
        return replace(self, words=tuple(fold(word, alphabet) for word in self.words))

    def take(self, index: Sequence[int]) -> WordImages:
        """The pictures at index, in that order."""
        return replace(
            self,
            images=self.images[torch.tensor(list(index), dtype=torch.long)],
            words=tuple(self.words[i] for i in index),
            ids=tuple(self.ids[i] for i in index),
        )

    def degraded(self, kind: str) -> WordImages:
        """The same words, harder to read: "blur", "small" (a third of the size and back) or "jpeg" (quality 10)."""
        check_choice("kind", kind, tuple(DEGRADE))
        pictures = [DEGRADE[kind](picture) for picture in self.images[:, 0].numpy()]
        images = torch.from_numpy(np.stack(pictures))[:, None] if pictures else self.images
        return replace(self, name=f"{self.name}, {kind}", images=images)


def fold(word: str, alphabet: str) -> str:
    """Lower case, and only symbols of the alphabet: how readers of scene text are usually scored."""
    return "".join(letter for letter in word.lower() if letter in alphabet)


def _blur(picture: Picture) -> Picture:
    from PIL import Image, ImageFilter

    return np.asarray(Image.fromarray(picture).filter(ImageFilter.GaussianBlur(1.5)))


def _small(picture: Picture) -> Picture:
    from PIL import Image

    small = Image.fromarray(picture).resize((WIDTH // 3, HEIGHT // 3), Image.Resampling.BOX)
    return np.asarray(small.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC))


def _jpeg(picture: Picture) -> Picture:
    from PIL import Image

    packed = io.BytesIO()
    Image.fromarray(picture).save(packed, "JPEG", quality=10)
    return np.asarray(Image.open(packed))


DEGRADE: dict[str, Callable[[Picture], Picture]] = {"blur": _blur, "small": _small, "jpeg": _jpeg}
