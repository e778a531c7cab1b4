"""Reading words as a task, and the random pairs that a surrogate of a distance between words learns from."""

import random
from collections.abc import Callable, Sequence

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from labkit.base.checks import check_count
from labkit.data.samplers import generator, key
from labkit.metrics import edit_distances
from labkit.surrogates.task import Task
from labkit.surrogates.words import check_alphabet, decode_words, encode_words

WordMetric = Callable[[list[str], list[str]], ArrayLike]


def word_task(alphabet: str, metric: WordMetric = edit_distances) -> Task:
    """Read words of an alphabet: outputs are logits (B, slots, 1 + letters), predictions their softmax.

    metric: from N words read and N true words to N numbers, 0 for equal words; the edit distance (LS-ED) by default.
    """
    check_alphabet(alphabet)
    return Task(metric, decode=lambda z: decode_words(z, alphabet), predict=lambda outputs: outputs.softmax(-1))


def random_word_pairs(
    words: Sequence[str], alphabet: str, slots: int, batch: int, *, edits: int = 6, seed: int = 0
) -> Callable[[int], tuple[Tensor, Tensor]]:
    """The random data generator R of Algorithm 1 for words: from a step to (z_r, y_r), each (batch, slots, symbols).

    y_r is one of the words that fit into the slots; z_r is it after 0 to `edits` random insertions, deletions and
    substitutions, blurred: each slot keeps its symbol with a random weight in 0.5…1 and shares the rest out at random.
    So z_r is decoded to the edited word, and is as uncertain as a reader's output. The slides say of R only that it is
    random; this one is ours.
    """
    check_alphabet(alphabet)
    check_count("batch", batch)
    usable = [word for word in words if len(word) <= slots]
    if not usable:
        raise ValueError(f"words has none of {slots} letters or fewer: there is nothing to draw pairs from")
    encode_words(usable, alphabet, slots)  # refuses letters that the alphabet lacks, before training

    def pairs(step: int) -> tuple[Tensor, Tensor]:
        rng = random.Random(key(seed, step, 11))  # noqa: S311 (pairs that a seed draws again)
        chosen = rng.choices(usable, k=batch)
        changed = [edited(word, rng.randint(0, edits), alphabet, slots, rng) for word in chosen]
        z, y = encode_words(changed, alphabet, slots), encode_words(chosen, alphabet, slots)
        return blurred(z, generator(seed, step, 12)), y

    return pairs


def edited(word: str, count: int, alphabet: str, slots: int, rng: random.Random) -> str:
    """A word after so many random edits, cut to the slots; edits may cancel, so its distance is at most `count`."""
    letters = list(word)
    for _ in range(count):
        kind = rng.choice(("insert", "delete", "substitute")) if letters else "insert"
        if kind == "insert":
            letters.insert(rng.randint(0, len(letters)), rng.choice(alphabet))
        elif kind == "delete":
            del letters[rng.randrange(len(letters))]
        else:
            letters[rng.randrange(len(letters))] = rng.choice(alphabet)
    return "".join(letters)[:slots]


def blurred(z: Tensor, rng: torch.Generator) -> Tensor:
    """Certain slots made uncertain, their most likely symbol kept."""
    weight = 0.5 + 0.5 * torch.rand(*z.shape[:-1], 1, generator=rng)
    rest = torch.rand(z.shape, generator=rng) ** 4  # a few symbols get most of it
    return weight * z + (1 - weight) * rest / rest.sum(-1, keepdim=True)
