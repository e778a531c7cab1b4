"""The soft edit distance against every alignment written out, against the exact distance, and by its gradient."""

import math
from functools import cache
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.metrics import edit_distance, edit_distances
from labkit.surrogates import END, encode_words, soft_edit_distance

LETTERS = "abc"
words = st.lists(st.tuples(st.text(LETTERS, max_size=5), st.text(LETTERS, max_size=5)), min_size=1, max_size=4)


def slots(texts, count=5):
    return encode_words(texts, LETTERS, count).double()


def random_slots(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).softmax(-1)


def alignment_costs(costs):
    """The cost of every alignment of L with M slots, one by one."""
    last = len(costs), len(costs[0]) if costs else 0

    def from_here(i, j):
        if (i, j) == last:
            yield 0.0
        if i < last[0]:
            yield from (1 + rest for rest in from_here(i + 1, j))
        if j < last[1]:
            yield from (1 + rest for rest in from_here(i, j + 1))
        if i < last[0] and j < last[1]:
            yield from (costs[i][j] + rest for rest in from_here(i + 1, j + 1))

    return list(from_here(0, 0))


@cache
def delannoy(m, n):
    return 1 if m == 0 or n == 0 else delannoy(m - 1, n) + delannoy(m, n - 1) + delannoy(m - 1, n - 1)


@pytest.mark.parametrize("temperature", [0.05, 0.5, 2.0])
def test_it_is_the_soft_minimum_over_all_alignments(temperature):
    p, q = random_slots(3, 3, 4), random_slots(3, 4, 4, seed=1)
    found = soft_edit_distance(p, q, temperature)
    for b in range(3):
        costs = [[1 - float(p[b, i] @ q[b, j]) for j in range(4)] for i in range(3)]
        every = torch.tensor(alignment_costs(costs), dtype=torch.float64)
        assert len(every) == delannoy(3, 4)
        assert found[b] == pytest.approx(float(-temperature * torch.logsumexp(-every / temperature, 0)), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(words)
def test_it_goes_to_the_exact_distance_and_stays_within_its_bound(pairs):
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    exact = torch.tensor(edit_distances(first, second))
    for temperature in (1.0, 0.1, 0.01, 1e-4):
        soft = soft_edit_distance(slots(first), slots(second), temperature, end=END)
        room = torch.tensor([math.log(delannoy(len(a), len(b))) for a, b in pairs])
        assert bool((soft <= exact + 1e-9).all())
        assert bool((soft >= exact - temperature * room - 1e-9).all())
    torch.testing.assert_close(soft, exact.double(), atol=1e-3, rtol=0)


def test_empty_words_words_that_fill_all_slots_and_unequal_slots():
    first, second = ["", "", "abc", "abcab"], ["", "abcab", "", "bcabc"]
    expected = [0.0, 5.0, 3.0, 2.0]
    soft = soft_edit_distance(slots(first), slots(second, 7), 1e-3, end=END)
    torch.testing.assert_close(soft, torch.tensor(expected).double(), atol=1e-2, rtol=0)


def test_without_an_end_words_fill_all_slots():
    p, q = slots(["abcab"])[..., 1:], slots(["bcabc"])[..., 1:]
    assert float(soft_edit_distance(p, q, 1e-3)) == pytest.approx(2.0, abs=1e-2)


def test_uncertain_ends_give_the_mean_over_lengths():
    """Slots whose letters are certain: only where the word ends is open, so the mean can be written out."""
    stops = torch.tensor([0.2, 0.7, 0.4], dtype=torch.float64)
    p = torch.zeros(1, 3, 4, dtype=torch.float64)
    p[0, :, END] = stops
    p[0, range(3), [1, 2, 3]] = 1 - stops
    chance, expected = 1.0, 0.0
    for length in range(4):
        stop = float(stops[length]) if length < 3 else 1.0
        expected += chance * stop * edit_distance("abc"[:length], "ac")
        chance *= 1 - stop
    assert float(soft_edit_distance(p, slots(["ac"]), 1e-4, end=END)) == pytest.approx(expected, abs=1e-3)


def test_one_uncertain_letter_costs_its_chance_of_being_wrong():
    p = slots(["abc"], 3)
    p[0, 1] = torch.tensor([0.0, 0.25, 0.75, 0.0])
    assert float(soft_edit_distance(p, slots(["abc"], 3), 1e-4, end=END)) == pytest.approx(0.25, abs=1e-3)


@pytest.mark.parametrize("end", [None, 0, 2])
@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_gradient(end, temperature):
    p, q = random_slots(2, 3, 4), random_slots(2, 4, 4, seed=1)
    p.requires_grad_(), q.requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: soft_edit_distance(a, b, temperature, end=end), (p, q))


def test_gradient_by_finite_differences_through_a_softmax():
    logits = torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(3), dtype=torch.float64, requires_grad=True)
    q = slots(["bca"])

    def value(x):
        return float(soft_edit_distance(x.softmax(-1), q, 0.2, end=END))

    (gradient,) = torch.autograd.grad(soft_edit_distance(logits.softmax(-1), q, 0.2, end=END).sum(), logits)
    h = 1e-5
    for slot, symbol in product(range(3), range(4)):
        step = torch.zeros_like(logits)
        step[0, slot, symbol] = h
        difference = (value(logits.detach() + step) - value(logits.detach() - step)) / (2 * h)
        assert float(gradient[0, slot, symbol]) == pytest.approx(difference, abs=1e-8)


def test_following_the_gradient_reads_the_word():
    logits = torch.zeros(1, 5, 4, requires_grad=True)
    target = encode_words(["cab"], LETTERS, 5)
    with torch.no_grad():
        logits += 0.1 * torch.randn(logits.shape, generator=torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam([logits], lr=0.2)
    for _ in range(100):
        optimizer.zero_grad()
        soft_edit_distance(logits.softmax(-1), target, 0.1, end=END).sum().backward()
        optimizer.step()
    assert float(soft_edit_distance(logits.detach().softmax(-1), target, 1e-3, end=END)) < 0.1


@pytest.mark.parametrize("temperature", [1e-3, 1.0])
def test_certain_words_and_saturated_softmax_have_finite_gradients(temperature):
    certain = encode_words(["", "abc", "abcab"], LETTERS, 5)
    saturated = (torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0)) * 200).softmax(-1)
    for p in (certain, saturated):
        p = p.clone().requires_grad_()
        soft_edit_distance(p, encode_words(["ab", "cab", "b"], LETTERS, 5), temperature, end=END).sum().backward()
        assert bool(p.grad.isfinite().all())


def test_dtypes_and_devices():
    p, q = random_slots(2, 3, 4), random_slots(2, 3, 4, seed=1)
    exact = soft_edit_distance(p, q, 0.1, end=END)
    torch.testing.assert_close(soft_edit_distance(p.float(), q.float(), 0.1, end=END), exact.float())
    assert soft_edit_distance(p.bfloat16(), q.bfloat16(), 0.1, end=END).dtype == torch.float32
    nowhere = torch.empty(2, 3, 4, device="meta", requires_grad=True)
    found = soft_edit_distance(nowhere, nowhere.detach(), 0.1, end=END)
    found.sum().backward()
    assert found.shape == (2,)
    assert nowhere.grad.shape == (2, 3, 4)


def test_bad_input_names_the_argument():
    p = random_slots(2, 3, 4)
    for bad, why in (
        (None, "p must be a torch"),
        (p.long(), "floating"),
        (p[0], "p must be"),
        (p[:0], "p must be"),
        (p * 2, "p must hold"),
        (p - 1, "p must hold"),
        (p * torch.nan, "p contains NaN"),
    ):
        with pytest.raises(ValueError, match=why):
            soft_edit_distance(bad, p, 0.1)
    with pytest.raises(ValueError, match="agree"):
        soft_edit_distance(p, random_slots(2, 3, 5), 0.1)
    with pytest.raises(ValueError, match="end must be"):
        soft_edit_distance(p, p, 0.1, end=4)
    for temperature in (0, -1, math.nan):
        with pytest.raises(ValueError, match="temperature"):
            soft_edit_distance(p, p, temperature)
