"""Batches: balanced, without replacement, every class seen, and the same after a resume."""

from itertools import islice

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.data.samplers import BalancedBatches, RandomBatches, batches_from, generator, key

sizes = st.lists(st.integers(1, 12), min_size=2, max_size=15)


def shuffled_labels(counts: list[int]) -> torch.Tensor:
    labels = torch.repeat_interleave(torch.arange(len(counts)) * 3, torch.tensor(counts))
    return labels[torch.randperm(len(labels), generator=generator(0))]


@settings(max_examples=150, deadline=None)
@given(sizes, st.integers(2, 15), st.integers(1, 6), st.integers(0, 3), st.integers(0, 3))
def test_no_sample_comes_twice_no_class_twice_in_a_batch_and_every_class_is_seen(counts, classes, m, seed, epoch):
    labels = shuffled_labels(counts)
    classes = min(classes, len(counts))
    batches = BalancedBatches(labels, classes, m, seed).epoch(epoch)
    everything = torch.cat(batches)
    assert len(everything.unique()) == len(everything)
    assert set(labels[everything].tolist()) == set(labels.tolist())
    for number, batch in enumerate(batches):
        found, in_batch = labels[batch].unique(return_counts=True)
        assert len(found) >= 2
        assert len(found) == classes or number == len(batches) - 1
        full = torch.tensor([min(m, counts[int(c) // 3]) for c in found])
        assert torch.equal(in_batch, full)


@given(st.integers(0, 40), st.integers(0, 1))
@settings(max_examples=40, deadline=None)
def test_a_resumed_sampler_goes_on_with_the_same_batches(step, balanced):
    labels = shuffled_labels([5, 7, 3, 9, 4])
    sampler = BalancedBatches(labels, 3, 2, 1) if balanced else RandomBatches(labels, 6, 1)
    whole = list(islice(batches_from(sampler, 0), step + 5))
    resumed = list(islice(batches_from(sampler, step), 5))
    for (epoch, a), (other, b) in zip(whole[step:], resumed, strict=True):
        assert epoch == other
        assert torch.equal(a, b)


def test_epochs_and_seeds_differ():
    labels = torch.arange(40) // 4
    epochs = [torch.cat(BalancedBatches(labels, 5, 2, seed).epoch(e)) for seed in (0, 1) for e in (0, 1)]
    assert len({tuple(e.tolist()) for e in epochs}) == 4


def test_all_leftovers_get_their_turn():
    labels = torch.arange(14) // 7  # 7 samples a class, groups of 3: one is left over in each epoch
    seen = torch.cat([torch.cat(BalancedBatches(labels, 2, 3).epoch(e)) for e in range(20)])
    assert len(seen.unique()) == 14


def test_a_random_epoch_holds_each_sample_at_most_once():
    batches = RandomBatches(torch.zeros(25, dtype=torch.long), 8, 0).epoch(0)
    assert [len(b) for b in batches] == [8, 8, 8]
    assert len(torch.cat(batches).unique()) == 24


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda y: BalancedBatches(y, 6, 2), "classes must lie between 2 and the 5"),
        (lambda y: BalancedBatches(y, 1, 2), "classes must lie between 2"),
        (lambda y: BalancedBatches(y, 2, 0), "per_class"),
        (lambda y: BalancedBatches(y.float(), 2, 2), "labels"),
        (lambda y: RandomBatches(y, 11), "size must lie between 1 and the 10"),
    ],
)
def test_sizes_that_cannot_be_filled_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make(torch.arange(10) // 2)


def test_keys_of_neighbours_have_nothing_in_common():
    keys = [key(seed, step, use) for seed in range(5) for step in range(200) for use in range(3)]
    assert len(set(keys)) == len(keys)
    draws = torch.stack([torch.rand(50, generator=generator(0, step)) for step in range(40)])
    correlation = torch.corrcoef(draws) - torch.eye(40)
    assert correlation.abs().max() < 0.65  # 780 pairs of 50 independent draws: 6e-7 for any pair to exceed


def test_large_classes_are_spread_over_the_whole_epoch():
    """Dealt in rounds, the last batches of an epoch would hold the large classes only, and the loss would swing."""
    labels = torch.cat([torch.arange(60).repeat_interleave(4), torch.arange(60, 66).repeat_interleave(40)])
    share = torch.zeros(2)
    for number in range(20):
        batches = BalancedBatches(labels, classes=6, per_class=4, seed=1).epoch(number)
        half = len(batches) // 2
        for part, chosen in enumerate((batches[:half], batches[half : 2 * half])):
            share[part] += (labels[torch.cat(chosen)] >= 60).double().mean().float() / 20
    assert abs(share[0] - share[1]) < 0.12, share
