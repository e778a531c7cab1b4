"""Toys: where the clusters lie, how many samples they have, and that a seed says everything."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit.data.toy import CLASSES, LAYOUTS, SEPARATION, grid, ring, scattered, toy

layouts = st.sampled_from(LAYOUTS)
seeds = st.integers(0, 2**31)


@settings(max_examples=30, deadline=None)
@given(layouts, seeds, st.integers(1, 40))
def test_every_class_has_its_samples_spread_evenly_over_its_clusters(layout, seed, samples):
    splits = toy(layout, seed, samples)
    for data in (splits.train, splits.validation, splits.test):
        assert data.inputs.shape == (CLASSES * samples, 2)
        assert data.inputs.dtype == torch.float32
        assert torch.bincount(data.labels).tolist() == [samples] * CLASSES
        assert len(set(data.ids)) == len(data)
        for label in range(CLASSES):
            cluster = [int(c) for c, own in zip(data.columns["cluster"], data.labels.tolist()) if own == label]
            assert {c % CLASSES for c in cluster} == {label}
            sizes = np.bincount(cluster)[label::CLASSES]
            assert sizes.max() - min(sizes.tolist() + [0] * (samples < 2)) <= 1


@settings(max_examples=20, deadline=None)
@given(layouts, seeds)
def test_a_seed_says_everything(layout, seed):
    first, again, other = toy(layout, seed, 10), toy(layout, seed, 10), toy(layout, seed + 1, 10)
    assert first.train.fingerprint() == again.train.fingerprint()
    assert first.test.fingerprint() == again.test.fingerprint()
    assert first.train.fingerprint() != other.train.fingerprint()


def test_validation_has_the_test_classes_but_other_samples():
    splits = toy(noise=0.12)
    assert splits.validation.class_names == splits.test.class_names
    assert not torch.isin(splits.validation.inputs, splits.test.inputs).all(1).any()
    difference = splits.validation.inputs.reshape(CLASSES, -1, 2).mean(1) - splits.test.inputs.reshape(
        CLASSES, -1, 2
    ).mean(1)
    assert difference.abs().max() < 0.06


def test_unseen_classes_share_no_name_or_id_with_training():
    splits = toy()
    assert not set(splits.train.class_names) & set(splits.test.class_names)
    assert not set(splits.train.ids) & (set(splits.test.ids) | set(splits.validation.ids))
    assert splits.train.ids[2 * 150 + 17] == "train-2-017"


def test_the_ring_is_a_circle_of_16_and_unseen_blobs_lie_between_neighbours():
    train, unseen = ring()
    assert np.allclose(np.hypot(*train.T), 2)
    assert len(train) == 16
    for k, blob in zip((0, 4, 8, 12), unseen):
        assert np.isclose(np.linalg.norm(blob - train[k]), np.linalg.norm(blob - train[k + 1]))
        nearest = np.argsort(np.linalg.norm(train - blob, axis=1))[:2]
        assert set(nearest) == {k, k + 1}


def test_the_spread_of_a_cluster_is_the_noise():
    data = toy(samples=4000, noise=0.12).test
    residual = data.inputs.reshape(CLASSES, -1, 2) - torch.tensor(ring()[1], dtype=torch.float32)[:, None]
    assert residual.std() == pytest.approx(0.12, rel=0.03)
    assert toy(noise=0).test.inputs[0].tolist() == pytest.approx(ring()[1][0].tolist())


def test_grid_neighbours_have_other_classes_and_unseen_blobs_touch_all_four():
    train, unseen = grid()
    step = 4 / 3
    distance = np.abs(train[:, None] - train[None]).max(-1)
    one, other = np.nonzero((distance > 0) & (distance < 1.01 * step))
    assert len(one) == 2 * 42  # 24 pairs side by side and 18 across a corner
    assert (one % CLASSES != other % CLASSES).all()
    for blob in unseen:
        near = np.abs(train - blob).max(1) < 0.51 * step
        assert sorted(np.nonzero(near)[0] % CLASSES) == [0, 1, 2, 3]


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_random_clusters_keep_their_distance(seed):
    train, unseen = scattered(seed)
    assert (train.shape, unseen.shape) == ((12, 2), (4, 2))
    points = np.concatenate([train, unseen])
    distance = np.linalg.norm(points[:, None] - points[None], axis=-1) + 9 * np.eye(16)
    assert distance.min() >= SEPARATION
    assert np.abs(points).max() <= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "star"}, "layout must be one of 'ring', 'grid', 'random'; got 'star'"),
        ({"samples": 0}, "samples must be a whole number, 1 or above; got 0"),
        ({"samples": 1.5}, "samples must be"),
        ({"seed": -1}, "seed must be a whole number, 0 or above; got -1"),
        ({"noise": -0.1}, "noise must be a finite number, 0 or above"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        toy(**options)
