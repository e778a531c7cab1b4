"""Where a reader's words come from: its alphabet, its network, what it is trained on and what it is measured on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from labkit.data.ocr_features import features, head
from labkit.data.rendered_words import LONGEST, rendered_words, words_of
from labkit.data.samplers import generator
from labkit.data.scene_text import PARTS, scene_text
from labkit.data.word_images import ALNUM, LETTERS, WordImages
from labkit.models.ctc_reader import CTCReader
from labkit.models.small_reader import SmallReader
from labkit.surrogates.task import Task
from labkit.surrogates.word_config import RENDERED, SCENE, WordConfig
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


SCENE_SLOTS = 16  # longer words are rare; what of them does not fit counts as not read
DEGRADED = ("blur", "small", "jpeg")


def scene_part(config: WordConfig, split: str) -> Part:
    """Real words, each once as it is and once blurred, small or packed hard, in turn; see `seen`."""
    counts = {name: config.data[name] for name in ("pool", "validation", "test")}
    return seen(split, counts["pool"], counts["validation"], counts["test"])


@cache
def seen(split: str, pool: int, validation: int, test: int) -> Part:
    """Features of the words of a part: of IIIT5K's training words, or of the first so many of each test set."""
    sets = [scene_text(name) for name in PARTS] if split == "test" else [scene_text("IIIT5K train")]
    sets = [words.folded(ALNUM) for words in (sets[1:] if split == "test" else sets)]
    rows = {"train": range(pool), "validation": range(pool, pool + validation), "test": range(test)}[split]
    inputs: list[Tensor] = []
    words: list[str] = []
    ids: list[str] = []
    for whole in sets:
        if rows.stop > len(whole):
            raise ValueError(f"data.{split}: {whole.name} has {len(whole):,} words, {rows.stop:,} are asked for")
        clean = whole.take([row for row in rows if whole.words[row]])  # without letters and digits, nothing is read
        kinds = {kind: clean.take(range(place, len(clean), 3)).degraded(kind) for place, kind in enumerate(DEGRADED)}
        for kind, part in ({"clean": clean} | kinds).items():
            if not len(part):
                continue
            inputs.append(features(part))
            words += part.words
            ids += [f"{word_id}/{kind}" for word_id in part.ids]
    return Part(torch.cat(inputs), tuple(words), tuple(ids))


def scene_reader(config: WordConfig) -> nn.Module:
    """The converged reader, with an adapter that adds nothing yet."""
    last = head()
    return CTCReader(SCENE_SLOTS, 1 + len(ALNUM), last.weight, last.bias, last.same, width=config.model["width"])


SOURCES = {
    RENDERED: Source(
        LETTERS,
        LONGEST + 1,  # the longest word's end is said, too
        lambda config: SmallReader(LONGEST + 1, 1 + len(LETTERS), width=config.model["width"]),
        lambda config: words_of("train"),
        rendered_part,
        lambda images: images / 255,
    ),
    SCENE: Source(
        ALNUM,
        SCENE_SLOTS,
        scene_reader,
        lambda config: tuple(sorted(set(scene_part(config, "train").words))),
        scene_part,
        lambda inputs: inputs.float(),
    ),
}


def source_of(config: WordConfig) -> Source:
    """The source that a configuration names."""
    return SOURCES[config.data["name"]]
