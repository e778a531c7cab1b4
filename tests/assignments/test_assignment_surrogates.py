"""Assignment 7 agrees with the library: the edit distance, the surrogate's loss and its filter."""

import pytest
import torch

from labkit.assignments.surrogates.edit_table import edit_table
from labkit.assignments.surrogates.filter_weights import filter_weights
from labkit.assignments.surrogates.surrogate_objective import batch, surrogate_objective
from labkit.metrics import edit_distance_table
from labkit.surrogates import Filter, Surrogate, surrogate_loss


@pytest.mark.parametrize(("a", "b"), [("sitting", "kitten"), ("", "ash"), ("wonnishultersock", "wwwshutterstockcom")])
def test_with_prices_of_1_the_table_is_the_library_s(a, b):
    assert edit_table(a, b, 1.0, 1.0, 1.0).tolist() == edit_distance_table(a, b).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_and_its_gradient_are_the_library_s(seed):
    given = batch(torch.Generator().manual_seed(seed), 6, 4, 3)
    h = torch.nn.Sequential(torch.nn.Linear(4, 3, bias=False, dtype=torch.float64), torch.nn.Tanh())
    h[0].weight.data.copy_(given["A"])
    library = surrogate_loss(Surrogate(h), given["z"], given["y"], given["exact"], lam=0.7).loss
    A = given["A"].clone().requires_grad_()
    ours = surrogate_objective(A, given["z"], given["y"], given["exact"], 0.7)
    assert torch.allclose(ours, library)
    assert torch.allclose(*torch.autograd.grad(ours, A), *torch.autograd.grad(library, h[0].weight))


def test_the_weights_are_the_library_s():
    rng = torch.Generator().manual_seed(0)
    exact, estimate = 5 * torch.rand(2, 40, generator=rng, dtype=torch.float64)
    order = torch.randperm(40, generator=torch.Generator().manual_seed(3))
    found = filter_weights(estimate, exact, 1.5, order)
    for row, keep in zip(found, (Filter("ramp", 1.5), Filter("hard", 1.5), Filter("ramp", 1.5, shuffled=True))):
        assert torch.equal(row, keep.weights(estimate, exact, torch.Generator().manual_seed(3)))
