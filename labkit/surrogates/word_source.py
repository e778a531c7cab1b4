"""Where a reader's words come from: its alphabet, its network, what it is trained on and what it is measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from labkit.data.rendered_words import LONGEST, rendered_words, words_of
from labkit.data.samplers import generator
from labkit.data.word_images import LETTERS, WordImages
from labkit.models.small_reader import SmallReader
from labkit.surrogates.task import Task
from labkit.surrogates.word_config import RENDERED, WordConfig
from labkit.surrogates.word_task import word_task
from labkit.surrogates.words import encode_words

POOL_STREAM = 23  # keeps the draws from a pool apart from those of samplers with the same seed


@dataclass(frozen=True)
class Part:
    """Words of one part: what the reader sees of each, the word, and an id that stays the same."""

    inputs: Tensor
    words: tuple[str, ...]
    ids: tuple[str, ...]

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)


@dataclass(frozen=True)
class Source:
    """All that differs between kinds of words. part: of a configuration and "train", "validation" or "test"."""

    alphabet: str
    slots: int
    reader: Callable[[WordConfig], nn.Module]
    words: Callable[[WordConfig], tuple[str, ...]]
    part: Callable[[WordConfig, str], Part]
    see: Callable[[Tensor], Tensor]

    @property
    def symbols(self) -> int:
        """The letters and the end."""
        return 1 + len(self.alphabet)

    @property
    def task(self) -> Task:
        """Reading, judged by the edit distance."""
        return word_task(self.alphabet)

    def encoded(self, words: tuple[str, ...]) -> Tensor:
        """Words as slots; one that is too long for them loses its end, which no reader of so many slots could say."""
        return encode_words([word[: self.slots] for word in words], self.alphabet, self.slots)

    def batch(self, config: WordConfig, seed: int, step: int) -> tuple[Tensor, Tensor]:
        """What is read and its words as slots; from a pool words come again, without one no picture comes twice."""
        size = config.batch.size
        if config.data["pool"]:
            pool = self.part(config, "train")
            rows = torch.randint(len(pool), (size,), generator=generator(seed, step, POOL_STREAM)).tolist()
            return self.see(pool.inputs[rows]), self.encoded(tuple(pool.words[row] for row in rows))
        data = rendered_words("train", size, first=step * size, seed=seed, distortion=config.data["distortion"])
        return self.see(data.images), self.encoded(data.words)


@cache
def drawn(split: str, count: int, distortion: float) -> Part:
    """Rendered once a process."""
    data: WordImages = rendered_words(split, count, distortion=distortion)
    return Part(data.images, data.words, data.ids)


def rendered_part(config: WordConfig, split: str) -> Part:
    """The pool, or what every run is measured on: they depend on their number and on the distortion alone."""
    return drawn(split, config.data["pool" if split == "train" else split], config.data["distortion"])


SOURCES = {
    RENDERED: Source(
        LETTERS,
        LONGEST + 1,  # the longest word's end is said, too
        lambda config: SmallReader(LONGEST + 1, 1 + len(LETTERS), width=config.model["width"]),
        lambda config: words_of("train"),
        rendered_part,
        lambda images: images / 255,
    )
}


def source_of(config: WordConfig) -> Source:
    """The source that a configuration names."""
    return SOURCES[config.data["name"]]
