"""Algorithm 1: line by line, what moves when, what it refuses, and that it trains."""

import copy
import inspect
import re
from dataclasses import replace

import pytest
import torch

from labkit.base.errors import LabkitError
from labkit.metrics import total_edit_distance
from labkit.surrogates import (
    BOX_FEATURES,
    Filter,
    SequenceEmbedding,
    Settings,
    Surrogate,
    VectorEmbedding,
    algorithm,
    begin,
    box_features,
    box_task,
    cross_entropy,
    encode_words,
    random_box_pairs,
    random_word_pairs,
    surrogate_loss,
    train_with_surrogate,
    word_task,
)

LETTERS, SLOTS = "abcd", 4
WORDS = ["ab", "abc", "dcba", "b", "", "cc"]
TASK = word_task(LETTERS)
GENERATOR = random_word_pairs(WORDS, LETTERS, SLOTS, 16, edits=3)
SETTINGS = Settings(I_a=2, I_b=3, eta_a=0.05, eta_b=0.1, epochs=2, lam=0.1)


def reader(seed=0):
    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(len(WORDS), SLOTS * 5), torch.nn.Unflatten(1, (SLOTS, 5)))


def surrogate(seed=1):
    torch.manual_seed(seed)
    return Surrogate(SequenceEmbedding(SLOTS, 5, width=16, layers=2, dim=16))


def data(step):
    """All words, each seen as a unit vector with some noise."""
    noise = 0.1 * torch.randn(len(WORDS), len(WORDS), generator=torch.Generator().manual_seed(step))
    return torch.eye(len(WORDS)) + noise, encode_words(WORDS, LETTERS, SLOTS)


def weights(module):
    return torch.cat([parameter.detach().flatten() for parameter in module.parameters()])


def train(settings=SETTINGS, *, data=data, generator=GENERATOR, task=TASK, add=None):
    state = begin(reader(), surrogate(), settings)
    return state, list(train_with_surrogate(state, task, data, generator, settings, add=add))


def test_every_line_of_the_printed_algorithm_is_in_the_code():
    source = inspect.getsource(algorithm)
    named = {int(number) for number in re.findall(r"line (\d+)", source, flags=re.IGNORECASE)}
    assert named == set(range(1, 18))


def test_the_first_epoch_by_hand():
    """Plain gradient descent, lines 3 to 16 written out, gives the same weights."""
    settings = replace(SETTINGS, epochs=1)
    f, s = reader(), surrogate()
    for step in range(2):
        (x, y), (z_r, y_r) = data(step), GENERATOR(step)
        z = f(x).detach().softmax(-1)
        loss = surrogate_loss(s, z, y, TASK.exact(z, y), lam=0.1).loss
        loss = loss + surrogate_loss(s, z_r, y_r, TASK.exact(z_r, y_r), lam=0.1).loss
        slopes = torch.autograd.grad(loss, list(s.parameters()), allow_unused=True)
        with torch.no_grad():
            for parameter, slope in zip(s.parameters(), slopes):
                if slope is not None:
                    parameter -= 0.05 * slope
    for step in range(2, 5):
        x, y = data(step)
        slopes = torch.autograd.grad(s(f(x).softmax(-1), y).mean(), list(f.parameters()))
        with torch.no_grad():
            for parameter, slope in zip(f.parameters(), slopes):
                parameter -= 0.1 * slope
    state, _ = train(settings)
    torch.testing.assert_close(weights(state.surrogate), weights(s))
    torch.testing.assert_close(weights(state.model), weights(f))


def test_each_loop_moves_its_own_weights_only():
    state = begin(reader(), surrogate(), SETTINGS)
    model, phi = weights(state.model), weights(state.surrogate)
    algorithm.learn_step(state, TASK, data, GENERATOR, SETTINGS, 0)
    assert torch.equal(weights(state.model), model)
    assert not torch.equal(weights(state.surrogate), phi)
    phi = weights(state.surrogate)
    algorithm.tune_step(state, TASK, data, SETTINGS, 1)
    assert torch.equal(weights(state.surrogate), phi)
    assert not torch.equal(weights(state.model), model)
    assert all(parameter.requires_grad for parameter in state.surrogate.parameters())


def test_steps_are_counted_over_both_loops_and_all_epochs():
    seen, drawn = [], []

    def watched(step):
        seen.append(step)
        return data(step)

    def generated(step):
        drawn.append(step)
        return GENERATOR(step)

    _, epochs = train(data=watched, generator=generated)
    assert seen == list(range(10))
    assert drawn == [0, 1, 5, 6]
    assert [epoch.epoch for epoch in epochs] == [1, 2]
    assert set(epochs[0].row()) == {
        "epoch",
        "learn_loss",
        "error",
        "gradient_norm",
        "learn_kept",
        "tune_loss",
        "tune_kept",
    }


def test_a_run_that_goes_on_is_the_run_that_went_through():
    through, _ = train()
    state = begin(reader(), surrogate(), SETTINGS)
    next(train_with_surrogate(state, TASK, data, GENERATOR, SETTINGS))
    state = copy.deepcopy(state)
    assert len(list(train_with_surrogate(state, TASK, data, GENERATOR, SETTINGS))) == 1
    assert torch.equal(weights(state.model), weights(through.model))
    assert torch.equal(weights(state.surrogate), weights(through.surrogate))


def test_without_a_generator_it_learns_from_outputs_alone():
    _, epochs = train(generator=None)
    assert len(epochs) == 2


@pytest.mark.parametrize("nothing", [None, (), (torch.zeros(0, 4, 5), torch.zeros(0, 4, 5)), 3])
def test_a_generator_that_yields_nothing_is_an_error_that_names_it(nothing):
    with pytest.raises(LabkitError, match="^generator"):
        train(generator=lambda step: nothing)
    with pytest.raises(LabkitError, match="^data"):
        train(data=lambda step: nothing)


def test_a_metric_that_returns_nan_or_is_a_score_is_an_error():
    with pytest.raises(ValueError, match="metric must give finite numbers"):
        train(task=word_task(LETTERS, lambda read, true: [float("nan")] * len(read)))
    with pytest.raises(ValueError, match="metric must be 0 for a target against itself"):
        train(task=word_task(LETTERS, lambda read, true: [float(a == b) for a, b in zip(read, true)]))


def test_training_that_blows_up_says_so():
    with pytest.raises(FloatingPointError, match="lower eta_a or eta_b, or clip"):
        train(replace(SETTINGS, I_a=20, eta_a=1e6))


@pytest.mark.parametrize(
    "change",
    [{"I_a": 0}, {"I_b": 0}, {"epochs": 0}, {"eta_a": 0.0}, {"eta_b": -1.0}, {"lam": -1.0}, {"clip": -1.0}]
    + [{"optimizer": "lbfgs"}, {"filter_from": 0}],
)
def test_bad_settings_name_themselves(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        replace(SETTINGS, **change)


def test_filters_hold_in_learning_from_their_epoch_on_and_in_tuning():
    hard = Filter("hard", 2.0)
    _, epochs = train(replace(SETTINGS, learn_filter=hard, tune_filter=hard, filter_from=2))
    assert epochs[0].learn_kept == 1
    assert 0 < epochs[1].learn_kept < 1
    assert all(0 < epoch.tune_kept < 1 for epoch in epochs)
    never, _ = train(replace(SETTINGS, tune_filter=Filter("hard", 1e-9)))
    assert torch.equal(weights(never.model), weights(reader()))  # nothing is kept, so nothing is tuned
    control, same = train(replace(SETTINGS, tune_filter=replace(hard, shuffled=True)))
    plain, kept = train(replace(SETTINGS, tune_filter=hard))
    assert same[0].tune_kept == pytest.approx(kept[0].tune_kept, abs=0.4)  # of other batches, once the weights differ
    assert not torch.equal(weights(control.model), weights(plain.model))


def test_an_added_loss_counts():
    plain, _ = train()
    added, _ = train(add=cross_entropy)
    assert not torch.equal(weights(plain.model), weights(added.model))


def test_it_learns_to_read():
    """From a reader that knows little, the exact distance falls, and the surrogate learns to predict it."""
    settings = Settings(I_a=30, I_b=30, eta_a=3e-3, eta_b=0.03, epochs=5, lam=0.1, optimizer="adam", clip=5.0)
    before = total_edit_distance(TASK.decode(reader()(data(0)[0])), WORDS)
    state, epochs = train(settings)
    after = total_edit_distance(TASK.decode(state.model(data(0)[0])), WORDS)
    assert epochs[-1].error < epochs[0].error / 1.5
    assert after <= before / 3


def test_boxes_that_start_apart_are_brought_together():
    """Where exact IoU has gradient 0, the surrogate has learned from random pairs which way is home."""
    task, target = box_task(), torch.tensor([[0.3, 0.4, 0.4, 0.2, 0.5]])
    torch.manual_seed(0)
    h = VectorEmbedding(BOX_FEATURES, width=64, dim=32, features=box_features)
    settings = Settings(I_a=80, I_b=60, eta_a=3e-3, eta_b=0.03, epochs=4, lam=0.01, optimizer="adam", clip=5.0)
    model = torch.nn.Linear(1, 5)
    with torch.no_grad():
        model.weight.zero_()
        model.bias.copy_(torch.tensor([0.9, 0.9, -1.0, -1.0, 0.0]))
    start = task.predict(model(torch.ones(1, 1)))
    assert task.exact(start, target).tolist() == [1]
    state = begin(model, Surrogate(h), settings)
    list(train_with_surrogate(state, task, lambda step: (torch.ones(1, 1), target), random_box_pairs(128), settings))
    assert float(task.exact(task.predict(model(torch.ones(1, 1))), target)) < 0.6


@pytest.mark.parametrize("task", ["words", "boxes"])
def test_a_step_on_the_meta_device(task):
    keep = Filter("ramp", 1.0, shuffled=True)
    settings = replace(SETTINGS, learn_filter=keep, tune_filter=keep, filter_from=1, clip=1.0)
    with torch.device("meta"):
        if task == "words":
            model, h, measured, generator = reader(), surrogate(), TASK, GENERATOR
        else:
            model, measured, generator = torch.nn.Linear(6, 5), box_task(), random_box_pairs(16)
            h = Surrogate(VectorEmbedding(BOX_FEATURES, features=box_features))
    state = begin(model, h, settings)

    def batch(step):
        x, y = data(step)
        return x, y if task == "words" else torch.rand(len(x), 5)

    learned = algorithm.learn_step(state, measured, batch, generator, settings, 0)
    tuned = algorithm.tune_step(state, measured, batch, settings, 1)
    assert {value.device.type for value in (learned | tuned).values()} == {"meta"}
