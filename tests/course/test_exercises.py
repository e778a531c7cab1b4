"""Every wrong answer of every zoo fails with its own hint; right answers in different styles pass."""

import html
import math

import numpy as np
import pytest
import torch

from labkit.course.check import comparison, feedback
from labkit.course.exercise import Case, Exercise, Mistake, judge, same
from labkit.course.exercises import EXERCISES

ZOO = [(exercise, mistake) for exercise in EXERCISES.values() for mistake in exercise.mistakes]


@pytest.mark.parametrize(("exercise", "mistake"), ZOO, ids=lambda x: x.name)
def test_each_wrong_answer_fails_with_its_own_hint(exercise, mistake):
    result = judge(exercise, mistake.answer)
    assert not result.passed
    assert result.mistake == mistake.name
    assert result.hint == mistake.hint
    text = feedback(result)
    assert "NOT YET" in text
    assert html.escape(mistake.hint) in text
    assert comparison(result).axes


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda x: x.name)
def test_the_reference_passes_and_there_are_enough_mistakes(exercise):
    result = judge(exercise, exercise.reference)
    assert result.passed
    assert "PASS" in feedback(result)
    assert len(exercise.mistakes) >= 8
    assert len({m.name for m in exercise.mistakes}) == len(exercise.mistakes)
    assert len(exercise.cases()) >= 5


TINY = Exercise(
    "double",
    "Twice x.",
    lambda x: 2 * x,
    lambda: [Case("ones", {"x": torch.ones(3)}), Case("steps", {"x": torch.arange(3.0)})],
    (Mistake("square", "That is x squared.", lambda x: x * x),),
    gradient="x",
)


def broken(x):
    raise RuntimeError("oops <b>")


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (lambda x: x * x, "x squared"),
        (broken, "stops with RuntimeError"),
        (lambda x: None, "returns nothing"),
        (lambda x: (2 * x)[:2], "shape is"),
        (lambda x: 2 * x / 0 * 0, "NaN"),
        (lambda x: (2 * x).detach(), "carries no gradient"),
        (lambda x: 2 * x.detach() + (x - x.detach()), "gradient is not"),
        (lambda x: 3 * x, "see the case"),
        (3.0, "function itself"),
    ],
)
def test_other_mistakes_get_a_hint_that_says_what_is_wrong(answer, hint):
    result = judge(TINY, answer)
    assert not result.passed
    assert hint in result.hint
    assert "<b>oops" not in feedback(result)


def test_an_answer_that_is_not_written_yet_says_so():
    def stub(x):
        raise NotImplementedError

    assert "Not written yet" in judge(TINY, stub).hint


def test_an_answer_that_changes_its_arguments_is_told():
    def sort(x):
        x.sort()
        return x

    spoilt = Exercise("spoilt", "Sort.", lambda x: sorted(x), lambda: [Case("three", {"x": [3, 1, 2]})], ())
    assert "changes its arguments" in judge(spoilt, sort).hint


def test_numbers_tensors_and_lists_are_compared_by_value():
    assert same(1, torch.tensor(1.0), 0)
    assert same([1.0, float("nan")], (1, float("nan")), 0)
    assert not same([1, 2], [1, 2, 3], 0)
    assert not same(torch.zeros(2), torch.zeros(3), 1)
    assert not same("a", 1, 1)


def recall_loop(relevance, k, num_relevant):
    for place in range(min(k, len(relevance))):
        if relevance[place]:
            return 1.0
    return 0.0


def precision_then_mean(relevance, k, num_relevant):
    hits, total = 0, 0.0
    for rank, relevant in enumerate(relevance[:k], 1):
        hits += relevant
        total += relevant * hits / rank
    return total / min(k, num_relevant)


def dcg_with_numpy(relevance, k, num_relevant):
    discount = 1 / np.log2(np.arange(2, 2 + len(relevance)))
    best = discount[: min(k, num_relevant)].sum()
    return float((np.array(relevance[:k]) * discount[: len(relevance[:k])]).sum() / best)


def rank_loop(similarity, tau):
    ranks = []
    for i in range(len(similarity)):
        others = [j for j in range(len(similarity)) if j != i]
        ranks.append(1 + sum((torch.sigmoid((similarity[j] - similarity[i]) / tau) for j in others), torch.zeros(())))
    return torch.stack(ranks)


def rank_with_mask(similarity, tau):
    d = similarity.unsqueeze(0) - similarity.unsqueeze(1)
    mask = 1 - torch.eye(len(similarity), dtype=similarity.dtype)
    return 1 + (mask / (1 + torch.exp(-d / tau))).sum(dim=1)


def rank_minus_half(similarity, tau):
    return torch.special.expit((similarity[None] - similarity[:, None]) / tau).sum(1) + 0.5


def ap_loop(similarity, positive, tau):
    total = torch.zeros((), dtype=similarity.dtype)
    for i in positive.nonzero().flatten():
        soft = torch.sigmoid((similarity - similarity[i]) / tau)
        keep = torch.arange(len(similarity)) != i
        r_pos, r_neg = soft[keep & positive].sum(), soft[keep & ~positive].sum()
        total = total + r_neg / (1 + r_pos + r_neg)
    return total / positive.sum()


def ap_by_ranks(similarity, positive, tau):
    d = torch.sigmoid((similarity[None] - similarity[:, None]) / tau) * (1 - torch.eye(len(similarity)))
    return 1 - ((1 + (d * positive).sum(1)) / (1 + d.sum(1)))[positive].mean()


def ap_with_masked_fill(similarity, positive, tau):
    itself = torch.eye(len(similarity), dtype=torch.bool)
    r = torch.sigmoid((similarity[None] - similarity[:, None]) / tau).masked_fill(itself, 0)
    return 1 - torch.mean((1 + r[:, positive].sum(1)[positive]) / (1 + r.sum(1)[positive]))


def any_with_torch(relevance, k, num_relevant):
    return torch.tensor(relevance[:k]).any().float()


def ap_cumulative(relevance, k, num_relevant):
    rel = np.array(relevance[:k], dtype=float)
    return float((rel * rel.cumsum() / np.arange(1, len(rel) + 1)).sum() / min(k, num_relevant))


def ap_from_hit_ranks(relevance, k, num_relevant):
    ranks = [rank for rank, relevant in enumerate(relevance[:k], 1) if relevant]
    return sum(number / rank for number, rank in enumerate(ranks, 1)) / min(k, num_relevant)


def ndcg_loop(relevance, k, num_relevant):
    gain = sum(1 / math.log2(rank + 1) for rank, relevant in enumerate(relevance[:k], 1) if relevant)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, num_relevant) + 1))


def ndcg_with_exponential_gain(relevance, k, num_relevant):
    top, best = torch.tensor(relevance[:k]).double(), torch.ones(min(k, num_relevant)).double()
    gains = [((2**x - 1) / torch.log2(torch.arange(len(x)) + 2.0)).sum() for x in (top, best)]
    return gains[0] / gains[1]


RIGHT = {
    "recall_at_k": [recall_loop, any_with_torch, lambda relevance, k, num_relevant: int(sum(relevance[:k]) > 0)],
    "average_precision_at_k": [precision_then_mean, ap_cumulative, ap_from_hit_ranks],
    "ndcg_at_k": [dcg_with_numpy, ndcg_loop, ndcg_with_exponential_gain],
    "soft_rank": [rank_loop, rank_with_mask, rank_minus_half],
    "smooth_ap": [ap_loop, ap_by_ranks, ap_with_masked_fill],
}


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, answers in RIGHT.items() for a in answers])
def test_right_answers_in_other_styles_pass(name, answer):
    assert len(RIGHT[name]) >= 3
    result = judge(EXERCISES[name], answer)
    assert result.passed, result.hint
