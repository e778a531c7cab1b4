"""Lesson 10: the scores of words that were read, a distance between embeddings, and how long an uncertain word is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, one_hot

from labkit.lessons.draw import normal, seeded
from labkit.lessons.exercise import Answer, Case, Exercise, Mistake
from labkit.metrics import edit_distances

READ = ["hous", "rivers", "", "lamp", "xx"]
TRUTH = ["house", "river", "", "lamp", "oyster"]


def words_case(label: str, read: list[str], truth: list[str]) -> Case:
    """Words with their distances."""
    return Case(label, {"distances": torch.from_numpy(edit_distances(read, truth)), "read": read, "truth": truth})


def score_cases() -> list[Case]:
    """Too short, too long, right, wholly wrong, both empty."""
    return [
        words_case("a letter missing, a letter too many", READ[:2], TRUTH[:2]),
        words_case("all right", ["lamp", "oak"], ["lamp", "oak"]),
        words_case("nothing read", ["", "ash"], ["elm", "ash"]),
        words_case("more read than there was", ["basket", "inn"], ["bas", "in"]),
        words_case("no letter, and none to read", READ, TRUTH),
        words_case("one long word", ["wonnishultersock"], ["wwwshutterstockcom"]),
    ]


def lengths(words: Sequence[str]) -> Tensor:
    """The number of letters of each."""
    return torch.tensor([len(word) for word in words], dtype=torch.float64)


def scores(acc: Tensor, ned: Tensor, ted: Tensor) -> Tensor:
    """Three numbers in a row."""
    return torch.stack([part.double() for part in (acc, ned, ted)])


def word_scores(distances: Tensor, read: list[str], truth: list[str]) -> Tensor:
    """Acc, NED and TED of words, as the slides' tables have them."""
    longer = torch.maximum(lengths(read), lengths(truth)).clamp(min=1)
    return scores((distances == 0).double().mean(), (1 - distances / longer).mean(), distances.sum())


def other_ned(by: Callable[[Tensor, Tensor, Tensor], Tensor]) -> Answer:
    """A wrong answer whose NED is by(distances, letters read, letters true); Acc and TED are right."""

    def answer(distances: Tensor, read: list[str], truth: list[str]) -> Tensor:
        found = word_scores(distances, read, truth)
        return scores(found[0], by(distances, lengths(read), lengths(truth)), found[2])

    return answer


def other_end(change: Callable[[Tensor, int], Tensor]) -> Answer:
    """A wrong answer that changes the three right numbers; it is told how many words there are."""
    return lambda distances, read, truth: change(word_scores(distances, read, truth), len(read))


def longest(a: Tensor, b: Tensor) -> Tensor:
    """The longer of both, at least 1."""
    return torch.maximum(a, b).clamp(min=1)


WORD_SCORES = Exercise(
    "word_scores",
    "Acc, NED and TED of words that were read, from their edit distances: three numbers.",
    word_scores,
    score_cases,
    (
        Mistake(
            "by the true length",
            "NED divides by the length of the true word; the slides' convention is the longer of both.",
            other_ned(lambda d, a, b: (1 - d / b.clamp(min=1)).mean()),
        ),
        Mistake(
            "by the length read",
            "NED divides by the length of the word read; it must be the longer of both.",
            other_ned(lambda d, a, b: (1 - d / a.clamp(min=1)).mean()),
        ),
        Mistake(
            "by the shorter",
            "NED divides by the shorter word: then it can fall below 0. Take the longer.",
            other_ned(lambda d, a, b: (1 - d / torch.minimum(a, b).clamp(min=1)).mean()),
        ),
        Mistake(
            "not turned",
            "That NED is a distance, 0 for equal words; in the slides' tables it is 1 minus that: higher is better.",
            other_ned(lambda d, a, b: (d / longest(a, b)).mean()),
        ),
        Mistake(
            "ratio of sums",
            "NED divides the sum of distances by the sum of lengths; it is the mean over words of each one's ratio.",
            other_ned(lambda d, a, b: 1 - d.sum() / longest(a, b).sum()),
        ),
        Mistake(
            "by both lengths",
            "NED divides by the sum of both lengths; it must be the longer of both.",
            other_ned(lambda d, a, b: (1 - d / (a + b).clamp(min=1)).mean()),
        ),
        Mistake(
            "nothing by nothing",
            "Two empty words give 0/0: they are equal, so their NED is 1.",
            other_ned(lambda d, a, b: (1 - d / torch.maximum(a, b)).mean()),
        ),
        Mistake(
            "mean distance",
            "TED is the sum over all words, not the mean.",
            other_end(lambda found, n: found * torch.tensor([1.0, 1.0, 1 / n], dtype=found.dtype)),
        ),
        Mistake(
            "share wrong",
            "That is the share of wrong words; Acc counts the right ones.",
            other_end(lambda found, n: torch.cat((1 - found[:1], found[1:]))),
        ),
        Mistake(
            "in percent",
            "Acc is in percent; here it is a share, from 0 to 1.",
            other_end(lambda found, n: found * torch.tensor([100.0, 1.0, 1.0], dtype=found.dtype)),
        ),
    ),
)


def distance_cases() -> list[Case]:
    """Random embeddings, equal ones among them, one pair, one number, far apart."""
    rng = seeded(10)
    equal = normal(rng, 4, 3)
    some = equal.clone()
    some[1:3] += normal(rng, 2, 3)
    return [
        Case("five pairs in 4-D", {"h_z": normal(rng, 5, 4), "h_y": normal(rng, 5, 4)}),
        Case("as many pairs as numbers", {"h_z": normal(rng, 3, 3), "h_y": normal(rng, 3, 3)}),
        Case("two of four pairs are equal", {"h_z": some, "h_y": equal}),
        Case("one pair", {"h_z": normal(rng, 1, 6), "h_y": normal(rng, 1, 6)}),
        Case("one number each", {"h_z": normal(rng, 4, 1), "h_y": normal(rng, 4, 1)}),
        Case("far apart", {"h_z": 1000 * normal(rng, 2, 5), "h_y": normal(rng, 2, 5)}),
    ]


def surrogate_distance(h_z: Tensor, h_y: Tensor) -> Tensor:
    """‖h(z) − h(y)‖ of every pair; the small number keeps the derivative at 0 finite."""
    return ((h_z - h_y).square().sum(1) + 1e-18).sqrt()


SURROGATE_DISTANCE = Exercise(
    "surrogate_distance",
    "ê = ‖h(z) − h(y)‖₂ of every pair, with a gradient that is a number where both are equal, too.",
    surrogate_distance,
    distance_cases,
    (
        Mistake(
            "NaN at 0",
            "The value is right, but where z and y are equal the derivative of the root is 1/0 · 0 = NaN. Add a tiny "
            "number under the root, or use torch.linalg.vector_norm.",
            lambda h_z, h_y: (h_z - h_y).square().sum(1).sqrt(),
        ),
        Mistake(
            "squared",
            "The root is missing: that is the squared distance.",
            lambda h_z, h_y: (h_z - h_y).square().sum(1),
        ),
        Mistake(
            "sum of amounts",
            "That adds up |differences| (L1); ‖·‖₂ is the root of the sum of squares.",
            lambda h_z, h_y: (h_z - h_y).abs().sum(1),
        ),
        Mistake(
            "largest",
            "That is the largest difference; ‖·‖₂ is the root of the sum of squares.",
            lambda h_z, h_y: (h_z - h_y).abs().amax(1),
        ),
        Mistake(
            "mean under the root",
            "Under the root stands the sum of the squares, not their mean.",
            lambda h_z, h_y: ((h_z - h_y).square().mean(1) + 1e-18).sqrt(),
        ),
        Mistake(
            "along the batch",
            "The sum runs over the pairs (dim 0); it must run over the embedding's numbers (dim 1).",
            lambda h_z, h_y: ((h_z - h_y).square().sum(0) + 1e-18).sqrt(),
        ),
        Mistake(
            "one number",
            "It gives the mean of the batch; each pair needs its own distance.",
            lambda h_z, h_y: surrogate_distance(h_z, h_y).mean(),
        ),
        Mistake(
            "cosine",
            "That is a cosine distance; the surrogate is Euclidean, so it can be as large as the metric.",
            lambda h_z, h_y: 1 - cosine_similarity(h_z, h_y),
        ),
        Mistake(
            "target stopped",
            "The value is right, but h(y) gets no gradient: h has the same weights for y as for z.",
            lambda h_z, h_y: surrogate_distance(h_z, h_y.detach()),
        ),
        Mistake(
            "epsilon too large",
            "The number under the root is so large that it shows: equal pairs must be at 0 (to 5 digits).",
            lambda h_z, h_y: ((h_z - h_y).square().sum(1) + 1e-2).sqrt(),
            also=(
                lambda h_z, h_y: ((h_z - h_y).square().sum(1) + 1e-4).sqrt(),
                lambda h_z, h_y: ((h_z - h_y).square().sum(1) + 1e-6).sqrt(),
                lambda h_z, h_y: ((h_z - h_y).square().sum(1) + 1e-8).sqrt(),
            ),
        ),
    ),
    gradient=("h_z", "h_y"),
)


def length_cases() -> list[Case]:
    """Uncertain slots, another end symbol, a word that fills its slots, one that ends at once, one slot."""
    rng = seeded(3)
    sure = one_hot(torch.tensor([2, 1, 0, 2]), 3).double()
    return [
        Case("four slots", {"p": normal(rng, 4, 5).softmax(1), "end": 0}),
        Case("the end is the last symbol", {"p": normal(rng, 3, 4).softmax(1), "end": 3}),
        Case("certain: two letters, then the end", {"p": sure, "end": 0}),
        Case("never ends", {"p": torch.tensor([[0.0, 0.4, 0.6], [0.0, 1.0, 0.0]], dtype=torch.float64), "end": 0}),
        Case("ends at once", {"p": one_hot(torch.tensor([0, 1, 1]), 2).double(), "end": 0}),
        Case("one slot", {"p": torch.tensor([[0.3, 0.7]], dtype=torch.float64), "end": 1}),
    ]


def length_distribution(p: Tensor, end: int) -> Tensor:
    """P(the word has m letters), m = 0 … slots."""
    stops = p[:, end]
    reached = torch.cat((torch.ones_like(stops[:1]), (1 - stops).cumprod(0)))
    return torch.cat((reached[:-1] * stops, reached[-1:]))


def of_stops(make: Callable[[Tensor], Tensor]) -> Answer:
    """A wrong answer made from the chances to end, slot by slot."""
    return lambda p, end: make(p[:, end])


def with_rest(first: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """The right last entry after wrong first ones."""
    return lambda stops: torch.cat((first(stops), (1 - stops).prod(0, keepdim=True)))


LENGTHS = Exercise(
    "length_distribution",
    "The distribution of a word's length from its slots (slots, symbols): P(0), …, P(slots).",
    length_distribution,
    length_cases,
    (
        Mistake(
            "only here",
            "That is the chance of an end in this slot; the word must also have gone on in all slots before it.",
            of_stops(with_rest(lambda stops: stops)),
        ),
        Mistake(
            "must not end here either",
            "The product includes the slot itself: it must go on before slot m, and end in it.",
            of_stops(with_rest(lambda stops: (1 - stops).cumprod(0) * stops)),
        ),
        Mistake(
            "ends everywhere",
            "It multiplies the chances to end; before slot m the word goes on, with the chance 1 − p(end).",
            of_stops(with_rest(lambda stops: stops.cumprod(0))),
        ),
        Mistake(
            "no full word",
            "The last entry is missing: a word may fill all slots and have no end. There are slots + 1 lengths.",
            lambda p, end: length_distribution(p, end)[:-1],
        ),
        Mistake(
            "full words left out",
            "The last entry is 0; a word that never ends has as many letters as there are slots.",
            lambda p, end: torch.cat((length_distribution(p, end)[:-1], torch.zeros_like(p[:1, end]))),
        ),
        Mistake(
            "at most",
            "That is the chance of m letters or fewer; asked is the chance of exactly m.",
            lambda p, end: length_distribution(p, end).cumsum(0),
        ),
        Mistake(
            "at least",
            "That is the chance of m letters or more; asked is the chance of exactly m.",
            of_stops(lambda stops: torch.cat((torch.ones_like(stops[:1]), (1 - stops).cumprod(0)))),
        ),
        Mistake(
            "first symbol",
            "It takes symbol 0 for the end; here `end` says which symbol it is.",
            lambda p, end: length_distribution(p, 0),
        ),
        Mistake(
            "decoded",
            "That is the length of the decoded word, with certainty: it has no gradient.",
            lambda p, end: one_hot(
                torch.cat(((p.argmax(1) == end).long(), torch.ones(1, dtype=torch.long))).argmax(), len(p) + 1
            ).double(),
        ),
        Mistake(
            "shared out",
            "It divides by the sum. The right chances add up to 1 by themselves.",
            of_stops(
                lambda stops: (
                    torch.cat((stops, (1 - stops).prod(0, keepdim=True))) / (stops.sum() + (1 - stops).prod(0))
                )
            ),
        ),
    ),
    gradient="p",
)

EXERCISES = (WORD_SCORES, SURROGATE_DISTANCE, LENGTHS)
