"""Words as slots of distributions: (B, slots, 1 + letters), where symbol 0 is the end and the letters follow.

A word ends before its first slot whose symbol is the end; a word that fills all slots has no end. What stands after the
end means nothing.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from labkit.base.checks import check_count

END = 0  # the index of the end symbol


def check_alphabet(alphabet: str) -> None:
    """At least one letter, none twice."""
    if not isinstance(alphabet, str) or not alphabet or len(set(alphabet)) != len(alphabet):
        raise ValueError(f"alphabet must be a string of different letters, got {alphabet!r}")


def check_slots(name: str, value: Tensor) -> None:
    """A floating-point tensor (B, slots, symbols), none of them 0."""
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a torch.Tensor, got {type(value).__name__}")
    if not value.is_floating_point():
        raise ValueError(f"{name} must have a floating-point dtype, got {value.dtype}")
    if value.dim() != 3 or 0 in value.shape:
        raise ValueError(f"{name} must be (B, slots, symbols), none of them 0; got shape {tuple(value.shape)}")


def word_symbols(words: Sequence[str], alphabet: str, slots: int) -> Tensor:
    """The symbols of words, filled up with the end: (B, slots) integers."""
    check_alphabet(alphabet)
    check_count("slots", slots)
    if isinstance(words, str):
        raise ValueError(f"words must be a sequence of strings, got the single string {words!r}")
    number = {letter: index for index, letter in enumerate(alphabet, start=END + 1)}
    rows = []
    for word in words:
        if len(word) > slots:
            raise ValueError(f"words: {word!r} has {len(word)} letters, but there are {slots} slots")
        if unknown := sorted(set(word) - set(alphabet)):
            raise ValueError(f"words: {word!r} has {''.join(unknown)!r}, which is not in the alphabet {alphabet!r}")
        rows.append([number[letter] for letter in word] + [END] * (slots - len(word)))
    return torch.tensor(rows, dtype=torch.long).reshape(len(rows), slots)


def encode_words(words: Sequence[str], alphabet: str, slots: int) -> Tensor:
    """Turn words into certain distributions (B, slots, 1 + len(alphabet)): one-hot, the end in all slots left over.

    A word with more letters than slots, or with a letter that the alphabet lacks, is a ValueError: the caller knows
    whether to leave it out, to cut it or to fold its case.
    """
    symbols = word_symbols(words, alphabet, slots)
    return torch.nn.functional.one_hot(symbols, 1 + len(alphabet)).to(torch.get_default_dtype())


def decode_words(distributions: Tensor, alphabet: str) -> list[str]:
    """Read the most likely symbol of every slot, up to the first end; the inverse of `encode_words`.

    distributions: (B, slots, 1 + len(alphabet)), probabilities or logits. Slots with NaN are a ValueError.
    """
    check_alphabet(alphabet)
    check_slots("distributions", distributions)
    if distributions.shape[-1] != 1 + len(alphabet):
        raise ValueError(
            f"distributions must have {1 + len(alphabet)} symbols, the end and the alphabet's letters; "
            f"got shape {tuple(distributions.shape)}"
        )
    if bool(distributions.isnan().any()):
        raise ValueError("distributions contains NaN")
    letters = "\0" + alphabet  # a placeholder where the end is; nothing is read from there on
    words = []
    for row in distributions.argmax(-1).tolist():
        length = row.index(END) if END in row else len(row)
        words.append("".join(letters[symbol] for symbol in row[:length]))
    return words
