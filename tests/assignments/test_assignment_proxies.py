"""Assignment 4 agrees with the library: S, ∂L/∂S, and which second derivatives are zero."""

import pytest
import torch

from labkit.assignments.proxies.enters_gradient import LOSSES, enters_gradient
from labkit.assignments.proxies.mpa_weights import mpa_weights
from labkit.assignments.proxies.proxy_shares import proxy_shares
from labkit.assignments.proxies.ragged_similarity import ragged_similarity
from labkit.figures.lessons.proxies import with_similarities
from labkit.losses import functional
from labkit.losses.class_similarity import class_similarities

SCALE = {"proxy-nca": {"scale": 2.0}, "soft-triple": {"lam": 4.0}, "mpa": {"alpha": 4.0}}
SCALE |= {"mpa-dw": {"alpha": 4.0}, "mpa-ap": {"alpha": 4.0}}
FUNCTION = {
    "proxy-nca": functional.proxy_nca,
    "soft-triple": functional.soft_triple,
    "mpa": functional.mpa,
    "mpa-dw": functional.mpa_data_wise,
    "mpa-ap": functional.mpa_all_pairs,
}


def drawn(seed, N, C, K, D=6):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(N, D, generator=generator, dtype=torch.float64)
    v = torch.randn(C, K, D, generator=generator, dtype=torch.float64)
    return x, v, torch.randint(C, (N,), generator=generator)


@pytest.mark.parametrize("seed", range(5))
def test_classes_with_all_proxies_have_the_library_s_similarity(seed):
    x, v, _ = drawn(seed, 7, 4, 3)
    unit = torch.nn.functional.normalize
    ours = ragged_similarity(x, v, torch.ones(4, 3, dtype=torch.bool), 0.2)
    assert torch.allclose(ours, class_similarities(unit(x, dim=1), unit(v, dim=2), 0.2))


@pytest.mark.parametrize("seed", range(5))
def test_a_class_does_not_see_places_without_a_proxy(seed):
    x, v, _ = drawn(seed, 7, 4, 3)
    exists = torch.ones(4, 3, dtype=torch.bool)
    exists[:, seed % 3] = False
    left = [k for k in range(3) if k != seed % 3]
    ours = ragged_similarity(x, v, exists, 0.2)
    assert torch.allclose(ours, ragged_similarity(x, v[:, left], exists[:, left], 0.2))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [4.0, 32.0])
def test_weights_are_those_of_the_library(seed, alpha):
    x, v, y = drawn(seed, 9, 5, 2)
    _, parts = functional.mpa(x, y, v, alpha=alpha, tau=0.0, return_parts=True)
    assert torch.allclose(mpa_weights(parts.similarity, y, alpha, 0.1), parts.dL_dS)


@pytest.mark.parametrize("seed", range(5))
def test_shares_come_from_the_library_s_gradient(seed):
    x, v, y = drawn(seed, 8, 3, 4)
    unit = torch.nn.functional.normalize
    s = torch.einsum("nd,ckd->nck", unit(x, dim=1), unit(v, dim=2)).requires_grad_()
    _, parts = functional.mpa(x, y, v, alpha=4.0, tau=0.0, gamma=0.3, return_parts=True)
    S = (torch.softmax(s / 0.3, 2) * s).sum(2)
    (slope,) = torch.autograd.grad(S, s, parts.dL_dS)
    size = slope.abs().sum(0)
    assert torch.allclose(proxy_shares(s.detach(), y, 4.0, 0.1, 0.3), size / size.sum(1, keepdim=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_who_enters_whose_gradient_is_what_the_second_derivatives_say(loss, classes, seed):
    generator = torch.Generator().manual_seed(seed)
    y = torch.randint(classes, (4,), generator=generator)
    S = 0.4 * torch.rand(4, classes, generator=generator, dtype=torch.float64) - 0.2

    def value(flat):
        x, w = with_similarities(flat.view_as(S))
        more = {} if loss == "proxy-nca" else {"tau": 0.0}
        return FUNCTION[loss](x, y, w, **SCALE[loss], **more)

    second = torch.autograd.functional.hessian(value, S.flatten())
    assert torch.equal(second.abs() > 1e-12, enters_gradient(y, classes, loss))
