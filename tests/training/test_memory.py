"""What a step keeps for its backward pass is counted to the byte, and counting changes nothing."""

import torch

from labkit.training.memory import kept_megabytes, kept_over_time


def test_kept_memory_is_counted_to_the_byte():
    x = torch.ones(2**18, requires_grad=True)  # 1 MB
    assert kept_megabytes(lambda: x.exp()) == 1  # exp keeps its result
    assert kept_megabytes(lambda: x.exp().exp()) == 2
    assert kept_megabytes(lambda: x * x) == 1  # one storage, kept twice
    assert kept_megabytes(lambda: x * x, ignore=[x]) == 0
    assert kept_megabytes(lambda: [x.exp().sum().backward() for _ in range(3)]) == 1  # let go in between
    assert kept_megabytes(torch.exp, x) == 1


def test_the_gradient_is_not_changed_by_counting():
    x = torch.randn(5, requires_grad=True)
    kept_megabytes(lambda: x.exp().sum().backward())
    torch.testing.assert_close(x.grad, x.detach().exp())


def test_kept_memory_over_time_rises_with_the_layers_and_falls_to_nothing():
    x = torch.ones(2**18, requires_grad=True)
    assert kept_over_time(lambda: x.exp().exp().sum().backward()) == [0, 1, 2, 1, 0]
    assert kept_over_time(lambda: x * x, ignore=[x]) == [0]
