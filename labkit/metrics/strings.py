"""Edit distance between strings or any sequences of hashable symbols, and the scores that text papers report.

The distance counts whole edits, so it is piecewise constant in whatever produced the string: it has no useful gradient.
"""

from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

Codes = NDArray[np.int64]


def _symbols(name: str, value: Sequence[Hashable]) -> list[Hashable]:
    """The sequence as a list, or a ValueError that names the argument."""
    if isinstance(value, Tensor):  # its elements hash by identity, so equal ones would never match
        raise ValueError(f"{name} must be a string or a sequence of hashable symbols, got a Tensor; use .tolist()")
    try:
        symbols = list(value)
        hash(tuple(symbols))
    except TypeError as error:
        raise ValueError(f"{name} must be a string or a sequence of hashable symbols: {error}") from None
    return symbols


def _codes(a: list[Hashable], b: list[Hashable]) -> tuple[Codes, Codes]:
    """Number the symbols, equal symbols alike, so that numpy can compare a whole row at once."""
    numbers: dict[Hashable, int] = {}
    first, second = ([numbers.setdefault(symbol, len(numbers)) for symbol in symbols] for symbols in (a, b))
    return np.array(first, dtype=np.int64), np.array(second, dtype=np.int64)


def _table_rows(a: list[Hashable], b: list[Hashable]) -> Iterator[NDArray[np.int64]]:
    """The rows of the table, D[0], D[1], ..., D[len(a)]."""
    a_codes, b_codes = _codes(a, b)
    columns = np.arange(len(b) + 1)
    row = columns
    yield row
    for i, code in enumerate(a_codes, start=1):
        best = np.empty_like(row)  # by substitution or deletion, before any insertion
        best[0] = i
        np.minimum(row[:-1] + (b_codes != code), row[1:] + 1, out=best[1:])
        # D[i, j] = min over k <= j of best[k] + (j - k): the insertions, which chain along the row, in one pass
        row = np.minimum.accumulate(best - columns) + columns
        yield row


def edit_distance_table(a: Sequence[Hashable], b: Sequence[Hashable]) -> NDArray[np.int64]:
    """Fill the dynamic-programming table of the edit distance: entry (i, j) is the distance between a[:i] and b[:j].

    D[i, 0] = i,  D[0, j] = j,
    D[i, j] = min(D[i-1, j] + 1, D[i, j-1] + 1, D[i-1, j-1] + 1{a_i != b_j})

    Levenshtein (1966), Wagner and Fischer (1974). The slides print the table of ("sitting", "kitten"). a labels the
    rows and b the columns; shape (len(a) + 1, len(b) + 1).
    """
    return np.stack(list(_table_rows(_symbols("a", a), _symbols("b", b))))


def edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Count the insertions, deletions and substitutions that turn a into b, as few as possible (Levenshtein).

    ED(a, b) = D[len(a), len(b)] of `edit_distance_table`; 0 if and only if a and b are equal.

    Slides, "Proxy Loss for Scene Text Recognition"; erratum E-SL-7: napasorn/napasozin is 2, printed as 3.
    """
    left, right = _symbols("a", a), _symbols("b", b)
    # A common beginning or end never needs an edit, and most of a good reading is common.
    start, shorter = 0, min(len(left), len(right))
    while start < shorter and left[start] == right[start]:
        start += 1
    end = 0
    while end < shorter - start and left[-1 - end] == right[-1 - end]:
        end += 1
    left, right = left[start : len(left) - end], right[start : len(right) - end]
    if len(left) > len(right):
        left, right = right, left  # fewer and longer rows
    *_, last = _table_rows(left, right)
    return int(last[-1])


def normalized_edit_distance(a: Sequence[Hashable], b: Sequence[Hashable]) -> float:
    """Score the likeness of a and b between 0 and 1: despite its name, higher is better and 1 means equal.

    NED(a, b) = 1 - ED(a, b) / max(len(a), len(b)); two empty sequences score 1.

    The convention of the slides' tables (NED with an upward arrow), not the distance ED / max(len) of other texts.
    """
    longer = max(len(_symbols("a", a)), len(_symbols("b", b)))
    return 1.0 - edit_distance(a, b) / longer if longer else 1.0


def _words(name: str, value: Sequence[str]) -> list[str]:
    """A list of strings, or a ValueError that names the argument."""
    if isinstance(value, str):  # a string is a sequence of strings too: one letter each
        raise ValueError(f"{name} must be a sequence of strings, got the single string {value!r}")
    try:
        words = list(value)
    except TypeError:
        raise ValueError(f"{name} must be a sequence of strings, got {type(value).__name__}") from None
    wrong = {kind.__name__ for kind in set(map(type, words)) if not issubclass(kind, str)}
    if wrong:
        raise ValueError(f"{name} must hold strings only, got {', '.join(sorted(wrong))}")
    return words


def _same_length(name: str, value: Sequence[object], other: str, reference: Sequence[object]) -> None:
    if len(value) != len(reference):
        raise ValueError(f"{name} must hold one entry for each of {other}: {len(reference)} expected, got {len(value)}")


def edit_distances(first: Sequence[str], second: Sequence[str]) -> Codes:
    """Count the edits between the n-th string of first and the n-th of second, for all n at once (Levenshtein).

    ED_n = `edit_distance(first[n], second[n])`, by rapidfuzz in C++: millions of short pairs a second.

    Both hold N strings; the result is (N,) int64. Only strings: rapidfuzz compares other symbols by their hash.
    """
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    left, right = _words("first", first), _words("second", second)
    _same_length("second", right, "first", left)
    distances: Codes = cpdist(left, right, scorer=Levenshtein.distance, dtype=np.int64)
    return distances


def total_edit_distance(predictions: Sequence[Sequence[Hashable]], targets: Sequence[Sequence[Hashable]]) -> int:
    """Add up the edit distances of all predictions to their targets; lower is better.

    TED = sum_n ED(prediction_n, target_n)

    Slides, tables of LS-ED and FEDS; erratum E-SL-7: the example's M1 total is 29, printed as 30. Both arguments hold
    N sequences.
    """
    for name, value in (("predictions", predictions), ("targets", targets)):
        if isinstance(value, str):  # a string is a sequence of strings too: one letter each
            raise ValueError(f"{name} must be a sequence of strings, got the single string {value!r}")
    _same_length("predictions", predictions, "targets", targets)
    return sum(edit_distance(prediction, target) for prediction, target in zip(predictions, targets))


def evaluate_words(predictions: Sequence[str], targets: Sequence[str]) -> dict[str, float]:
    """Measure how well words were read, as the slides' tables do: "Acc", "NED" and "TED".

    Acc = mean_n 1{prediction_n = target_n},  NED = mean_n `normalized_edit_distance`,  TED = `total_edit_distance`

    Slides, tables of LS-ED and FEDS, which print Acc in percent; here it is a share. Higher Acc and NED are better,
    lower TED. Errata E-SL-6 and E-SL-8: two of the tables' relative gains do not follow from their values. Both
    arguments hold N strings, N >= 1; letters count as they are, so fold their case before if it should not matter.
    """
    read, true = _words("predictions", predictions), _words("targets", targets)
    _same_length("predictions", read, "targets", true)
    if not true:
        raise ValueError("targets is empty: there is no word to average over")
    distances = edit_distances(read, true)
    longer = np.array([max(len(a), len(b), 1) for a, b in zip(read, true)])
    return {
        "Acc": float((distances == 0).mean()),
        "NED": float((1 - distances / longer).mean()),
        "TED": float(distances.sum()),
    }
