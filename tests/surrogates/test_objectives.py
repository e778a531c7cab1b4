"""The other ways: cross-entropy by its definition, and REINFORCE against every outcome written out."""

from itertools import product

import pytest
import torch

from labkit.metrics import edit_distance
from labkit.surrogates import cross_entropy, encode_words, objective_step, reinforce, soft_distance, word_task
from labkit.surrogates.reinforce import draw, estimate

LETTERS = "ab"
SLOTS, SYMBOLS = 2, 3
TARGET = "ba"
OUTCOMES = torch.tensor(list(product(range(SYMBOLS), repeat=SLOTS)))  # every filling of the slots


def logits(seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(1, SLOTS, SYMBOLS, generator=generator, dtype=torch.float64, requires_grad=True)


def word_of(symbols):
    word = ""
    for symbol in symbols:
        if symbol == 0:
            break
        word += LETTERS[symbol - 1]
    return word


def chances(x):
    """The chance of every outcome, (9,)."""
    p = x.softmax(-1)[0]
    return torch.stack([p[range(SLOTS), outcome].prod() for outcome in OUTCOMES])


DISTANCES = torch.tensor([edit_distance(word_of(outcome.tolist()), TARGET) for outcome in OUTCOMES]).double()


def test_the_estimate_is_unbiased():
    """The mean of the estimated gradient over all draws of two words, weighted by their chances, is the gradient."""
    x = logits()
    expected = (chances(x) * DISTANCES).sum()
    (exact,) = torch.autograd.grad(expected, x)
    weight = chances(x).detach()
    mean, value = torch.zeros_like(exact), 0.0
    for i, j in product(range(len(OUTCOMES)), repeat=2):
        symbols = OUTCOMES[[i, j]][:, None]
        found = estimate(x, symbols, DISTANCES[[i, j]][:, None])
        (gradient,) = torch.autograd.grad(found.sum(), x)
        mean += weight[i] * weight[j] * gradient
        value += float(weight[i] * weight[j] * found.detach())
    torch.testing.assert_close(mean, exact, rtol=0, atol=1e-12)
    assert value == pytest.approx(float(expected.detach()), abs=1e-12)


def test_the_baseline_lowers_the_variance():
    x = logits(1)
    weight = chances(x).detach()
    spread = []
    for shift in (0.0, 10.0):  # a constant added to the metric moves nothing: the baseline takes it away
        total = 0.0
        for i, j in product(range(len(OUTCOMES)), repeat=2):
            found = estimate(x, OUTCOMES[[i, j]][:, None], DISTANCES[[i, j]][:, None] + shift)
            (gradient,) = torch.autograd.grad(found.sum(), x)
            total += float(weight[i] * weight[j] * gradient.square().sum())
        spread.append(total)
    assert spread[0] == pytest.approx(spread[1])


def test_words_are_drawn_as_often_as_they_are_likely():
    x = logits(2).detach()
    symbols = draw(x, 20_000, torch.Generator().manual_seed(0))[:, 0]
    found = torch.stack([(symbols == outcome).all(-1).double().mean() for outcome in OUTCOMES])
    torch.testing.assert_close(found, chances(x), rtol=0, atol=0.012)  # more than three standard errors


def test_the_objective_agrees_with_its_parts():
    x = logits(3)
    y = encode_words([TARGET], LETTERS, SLOTS).double()
    found = reinforce(word_task(LETTERS), 4000, torch.Generator().manual_seed(0))(x, y)
    expected = (chances(x) * DISTANCES).sum()
    (gradient,), (exact,) = torch.autograd.grad(found.sum(), x), torch.autograd.grad(expected, x)
    assert float(found.detach()) == pytest.approx(float(expected.detach()), abs=0.05)
    torch.testing.assert_close(gradient, exact, rtol=0, atol=0.05)


def test_it_needs_two_samples():
    for samples in (0, 1):
        with pytest.raises(ValueError, match="samples"):
            reinforce(word_task(LETTERS), samples, torch.Generator())


def test_cross_entropy_asks_for_the_letters_and_the_end_only():
    x = torch.randn(3, 3, SYMBOLS, generator=torch.Generator().manual_seed(0))
    y = encode_words(["", "a", "bab"], LETTERS, 3)
    logs = x.log_softmax(-1)
    expected = [-logs[0, 0, 0], -(logs[1, 0, 1] + logs[1, 1, 0]), -(logs[2, 0, 2] + logs[2, 1, 1] + logs[2, 2, 2])]
    torch.testing.assert_close(cross_entropy(x, y), torch.stack(expected))


@pytest.mark.parametrize("name", ["cross-entropy", "soft", "reinforce"])
def test_every_objective_teaches_a_table_of_logits_the_words(name):
    words = ["ab", "b", "", "aba"]
    y = encode_words(words, LETTERS, 3)
    task = word_task(LETTERS)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 9), torch.nn.Unflatten(1, (3, 3)))
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    objective = {
        "cross-entropy": cross_entropy,
        "soft": soft_distance(0.1),
        "reinforce": reinforce(task, 16, torch.Generator().manual_seed(0)),
    }[name]
    for _ in range(150):
        objective_step(model, optimizer, objective, torch.eye(4), y, clip=5.0)
    assert task.decode(model(torch.eye(4))) == words


def test_a_step_of_each_on_the_meta_device():
    with torch.device("meta"):
        model = torch.nn.Sequential(torch.nn.Linear(4, 9), torch.nn.Unflatten(1, (3, 3)))
        x, y = torch.empty(5, 4), torch.empty(5, 3, 3)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for objective in (cross_entropy, soft_distance(0.1), reinforce(word_task(LETTERS), 2, torch.Generator())):
        assert objective_step(model, optimizer, objective, x, y).device.type == "meta"
