"""Assignment 5 agrees with the library: the floor, SGSL's gradient, and the gated loss."""

import math

import pytest
import torch

from labkit.assignments.softmax.best_scale import best_scale, some_cosines
from labkit.assignments.softmax.gated_sgsl import gated_sgsl
from labkit.assignments.softmax.least_scale import least_scale
from labkit.assignments.softmax.sgsl_gradient import sgsl_gradient
from labkit.losses import functional
from labkit.losses.softmax import norm_softmax_floor


@pytest.mark.parametrize("classes", [2, 3, 10, 827, 11_318])
@pytest.mark.parametrize("loss", [1e-6, 0.01, 0.5])
def test_the_least_scale_brings_the_floor_to_the_loss(classes, loss):
    assert norm_softmax_floor(classes, least_scale(classes, loss)) == pytest.approx(loss, rel=1e-9)


def test_a_loss_worse_than_a_guess_needs_no_scale():
    assert least_scale(10, math.log(10) + 1e-9) == 0
    assert least_scale(10, math.log(10) - 1e-9) > 0


@pytest.mark.parametrize("seed", range(5))
def test_no_scale_is_better_than_the_best(seed):
    batch = some_cosines(torch.Generator().manual_seed(seed), 40, 5)
    best = best_scale(**batch, most=100.0)

    def loss(scale):
        return torch.nn.functional.cross_entropy(scale * batch["cosine"], batch["labels"])

    tried = torch.stack([loss(scale) for scale in torch.linspace(0, 100, 2001, dtype=torch.float64)])
    assert loss(best) <= tried.min()


def drawn(seed, N=7, C=5, D=4):
    generator = torch.Generator().manual_seed(seed)
    f = torch.randn(N, D, generator=generator, dtype=torch.float64)
    W = torch.randn(C, D, generator=generator, dtype=torch.float64)
    return f, torch.randint(C, (N,), generator=generator), W


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gamma", [1.0, 30.0])
def test_the_gradient_is_the_library_s(seed, gamma):
    f, y, W = drawn(seed)
    leaf = f.clone().requires_grad_()
    (expected,) = torch.autograd.grad(functional.sgsl(leaf, y, W, gamma=gamma), leaf)
    found = sgsl_gradient(f, y, W, gamma)
    assert torch.allclose(found, expected)
    assert torch.allclose((found * f).sum(1), torch.zeros(len(f), dtype=torch.float64), atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("gate", [0.5, 3.0, math.inf])
@pytest.mark.parametrize("was_open", [False, True])
def test_the_gated_loss_is_the_library_s_with_the_paper_s_gate(seed, gate, was_open):
    f, y, W = drawn(seed)
    found, expected = [], []
    for results, loss in (
        (found, lambda a, b: gated_sgsl(a, y, b, 30.0, 0.7, gate, 0.1, was_open)),
        (
            expected,
            lambda a, b: functional.softmax_sgsl(
                a, y, b, gamma=30.0, beta=0.7, gate=gate, gate_open=torch.tensor(was_open), label_smoothing=0.1
            ),
        ),
    ):
        a, b = f.clone().requires_grad_(), W.clone().requires_grad_()
        value = loss(a, b)
        results += [value, *torch.autograd.grad(value, (a, b))]
    assert all(torch.allclose(one, other) for one, other in zip(found, expected))
