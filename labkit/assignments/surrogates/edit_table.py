"""The table of the edit distance, where insertions, deletions and substitutions have prices of their own."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from labkit.assignments.assignment import Question
from labkit.lessons.draw import number, whole
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake

TASK = "The table (len(a) + 1, len(b) + 1) of the least cost of turning the beginnings of a into those of b."
ONE = {"insert": 1.0, "delete": 1.0, "change": 1.0}
Cell = Callable[[float, float, float, bool], float]  # from above, from the left, from the corner, whether letters match


def case(label: str, a: str, b: str, *, careful: bool = False, **prices: float) -> Case:
    """Two words; prices that are not named are 1."""
    return Case(label, {"a": a, "b": b} | ONE | prices, careful)


def public_cases() -> list[Case]:
    """The slides' words, unequal prices, a change dearer than deletion and insertion together, nothing to read."""
    return [
        case("sitting, kitten: all prices 1", "sitting", "kitten"),
        case("cart, care: a change costs 1.5", "cart", "care", change=1.5),
        case("tea, steak: insertions are cheap", "tea", "steak", insert=0.25, delete=2.0),
        case("abc, bcd: a change costs 5", "abc", "bcd", change=5.0),
        case("nothing was read", "", "ash", insert=0.5),
    ]


def word(rng: torch.Generator, low: int, high: int, letters: str = "abc") -> str:
    """A word of few letters, so that some match."""
    return "".join(letters[whole(rng, 0, len(letters) - 1)] for _ in range(whole(rng, low, high)))


def hidden_cases(rng: torch.Generator) -> list[Case]:
    """Drawn words with drawn prices; equal words, repeated letters, empty ones, free edits."""
    cases = []
    for at in range(5):
        prices = {name: number(rng, 0.2, 3.0) for name in ONE}
        label, a, b = f"drawn {at + 1}", word(rng, 2, 7), word(rng, 2, 7)
        cases.append(Case(label, {"a": a, "b": b} | prices))
    same = word(rng, 3, 6)
    return [
        *cases,
        case("drawn: one letter against many", word(rng, 1, 1), word(rng, 5, 7), insert=number(rng, 0.2, 2)),
        case("drawn: many letters against one", word(rng, 5, 7), word(rng, 1, 1), delete=number(rng, 0.2, 2)),
        case("equal words", same, same, careful=True, change=number(rng, 1, 2)),
        case("both empty", "", "", careful=True, insert=number(rng, 1, 2)),
        case("nothing to read", word(rng, 2, 4), "", careful=True, delete=number(rng, 0.2, 2)),
        case("changes are free", word(rng, 3, 5), word(rng, 3, 5, "xyz"), careful=True, change=0.0),
    ]


def table(a: str, b: str, first: Callable[[int], float], left: Callable[[int], float], cell: Cell) -> Tensor:
    """A table with its first row and column, and each other cell from its three neighbours."""
    D = torch.zeros(len(a) + 1, len(b) + 1, dtype=torch.float64)
    for j in range(len(b) + 1):
        D[0, j] = first(j)
    for i in range(len(a) + 1):
        D[i, 0] = left(i)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i, j] = cell(float(D[i - 1, j]), float(D[i, j - 1]), float(D[i - 1, j - 1]), a[i - 1] == b[j - 1])
    return D


def edit_table(a: str, b: str, insert: float, delete: float, change: float) -> Tensor:
    """D[i, j]: the least cost of turning a[:i] into b[:j]."""

    def cell(up: float, left: float, corner: float, match: bool) -> float:
        return min(up + delete, left + insert, corner + (0 if match else change))

    return table(a, b, lambda j: j * insert, lambda i: i * delete, cell)


def priced(cell: Callable[[float, float, float], Cell], border: Callable[[float], float] = lambda x: x) -> Answer:
    """A wrong answer with another rule for cells, made from the prices, or another border."""

    def answer(a: str, b: str, insert: float, delete: float, change: float) -> Tensor:
        rule = cell(insert, delete, change)
        return table(a, b, lambda j: border(j * insert), lambda i: border(i * delete), rule)

    return answer


def right_cell(insert: float, delete: float, change: float) -> Cell:
    """The rule of the reference."""
    return lambda up, left, corner, match: min(up + delete, left + insert, corner + (0 if match else change))


def shifted(a: str, b: str, insert: float, delete: float, change: float) -> Tensor:
    """Letters are compared one place too far on."""
    later = a[1:] + "\0", b[1:] + "\1"
    return edit_table(*later, insert, delete, change)


MISTAKES = (
    Mistake(
        "prices ignored",
        "Every edit costs 1 here: use insert, delete and change.",
        lambda a, b, insert, delete, change: edit_table(a, b, **ONE),
    ),
    Mistake(
        "insert and delete swapped",
        "Insertions and deletions are swapped: going down, a letter of a is dropped (delete); to the right, one of b "
        "is put in (insert).",
        lambda a, b, insert, delete, change: edit_table(a, b, delete, insert, change),
    ),
    Mistake(
        "border of zeros",
        "The first row and column are 0: turning j letters into nothing, or nothing into j letters, has its price.",
        priced(right_cell, lambda x: 0.0),
    ),
    Mistake(
        "border counts letters",
        "The first row and column count letters; they must cost insert and delete each.",
        lambda a, b, insert, delete, change: table(a, b, float, float, right_cell(insert, delete, change)),
    ),
    Mistake(
        "equal letters cost",
        "A change is paid for even where the letters are equal.",
        priced(lambda i, d, c: lambda up, left, corner, match: min(up + d, left + i, corner + c)),
    ),
    Mistake(
        "no change",
        "The corner is used for equal letters only: a change of one letter into another is an edit, too.",
        priced(lambda i, d, c: lambda up, left, corner, match: min(up + d, left + i, *([corner] if match else []))),
    ),
    Mistake(
        "change always best",
        "Where letters differ, only a change is tried; a deletion or an insertion may be cheaper.",
        priced(lambda i, d, c: lambda up, left, corner, match: corner if match else corner + c),
    ),
    Mistake(
        "most expensive",
        "It takes the dearest of the three ways; the distance is the cheapest.",
        priced(lambda i, d, c: lambda up, left, corner, match: max(up + d, left + i, corner + (0 if match else c))),
    ),
    Mistake(
        "transposed",
        "Rows and columns are swapped: row i belongs to the first i letters of a.",
        lambda a, b, insert, delete, change: edit_table(a, b, insert, delete, change).T,
    ),
    Mistake(
        "last cell only",
        "That is the last cell; the whole table is asked for.",
        lambda a, b, insert, delete, change: edit_table(a, b, insert, delete, change)[-1, -1],
    ),
    Mistake(
        "next letter",
        "Cell (i, j) compares the letters after the first i and j; the last of them are a[i − 1] and b[j − 1].",
        shifted,
    ),
    Mistake(
        "no border",
        "The table lacks its first row and column: there is a cell for the empty beginning, too.",
        lambda a, b, insert, delete, change: edit_table(a, b, insert, delete, change)[1:, 1:],
    ),
)

QUESTION = Question(
    Exercise("edit_table", TASK, edit_table, public_cases, MISTAKES),
    points=6,
    hidden=hidden_cases,
)
