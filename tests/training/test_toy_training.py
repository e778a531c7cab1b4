"""Training the toy is repeatable, and leaves threads and random numbers as they were."""

import pytest
import torch

from labkit import losses, metrics
from labkit.data.toy import LAYOUTS
from labkit.training import toy


@pytest.mark.parametrize("layout", LAYOUTS)
def test_training_is_repeatable_and_leaves_threads_and_random_numbers_alone(layout):
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    first, second = (toy.train(losses.PNP(variant="Ds"), seed=2, layout=layout, steps=5) for _ in range(2))
    assert torch.equal(first.after, second.after)
    assert torch.equal(first.before, second.before)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_threads_are_restored_when_a_loss_fails():
    threads = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        toy.train(lambda e, labels: 1 / 0, steps=1)
    assert torch.get_num_threads() == threads


def test_the_recall_is_the_library_s():
    found = toy.train(losses.PNP(variant="Ds"), steps=3)
    for embeddings, recall in zip((found.before, found.after), found.recall):
        assert recall == metrics.evaluate(embeddings.double(), found.labels, ks=(1,), progress=False)["R@1"]
