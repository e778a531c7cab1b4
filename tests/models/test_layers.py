import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from labkit.models.layers import AvgMaxPool, GeM, Normalise, embedding, pooling

maps = st.tuples(*[st.integers(1, 4)] * 4, st.integers(0, 10_000)).map(
    lambda t: torch.rand(t[:4], generator=torch.Generator().manual_seed(t[4]), dtype=torch.float64) * 5 + 0.01
)


@given(maps)
@settings(max_examples=50, deadline=None)
def test_gem_with_p_1_is_the_mean(features):
    assert torch.allclose(GeM(p=1).double()(features), features.mean((2, 3)), rtol=1e-12)


@given(maps)
@settings(max_examples=50, deadline=None)
def test_gem_tends_to_the_maximum(features):
    """(mean xᵖ)^(1/p) lies between max · n^(-1/p) and max."""
    pooled, highest = GeM(p=1e4).double()(features), features.amax((2, 3))
    count = features.shape[2] * features.shape[3]
    assert bool((pooled <= highest * (1 + 1e-9)).all())
    assert bool((pooled >= highest * count**-1e-4 * (1 - 1e-9)).all())


@given(maps, st.floats(0.1, 20), st.floats(0.1, 20))
@settings(max_examples=50, deadline=None)
def test_gem_grows_with_p(features, p, q):
    lower, upper = sorted((p, q))
    assert bool((GeM(p=lower).double()(features) <= GeM(p=upper).double()(features) * (1 + 1e-6)).all())


@given(maps, st.floats(0.2, 10))
@settings(max_examples=50, deadline=None)
def test_gem_is_its_formula(features, p):
    gem = GeM(p=p).double()
    power = gem.p.detach()
    assert torch.allclose(gem(features), features.pow(power).mean((2, 3)).pow(1 / power), rtol=1e-9)


def test_gem_counts_what_is_below_eps_as_eps():
    features = torch.tensor([[-3.0, 2.0], [0.0, 1.0]]).view(1, 1, 2, 2)
    clamped = features.clamp(min=0.5)
    assert torch.allclose(GeM(eps=0.5)(features), GeM()(clamped))
    assert bool(GeM()(torch.full((1, 1, 2, 2), -1.0)).isfinite().all())


def test_gem_does_not_overflow_and_its_gradient_stays_finite():
    features = (torch.rand(2, 3, 4, 4) * 1000).requires_grad_()
    gem = GeM(p=50)
    gem(features).sum().backward()
    assert bool(features.grad.isfinite().all())
    assert bool(gem.p.grad.isfinite().all())
    zeros = torch.zeros(2, 3, 4, 4, requires_grad=True)
    gem(zeros).sum().backward()
    assert bool(zeros.grad.isfinite().all())


def test_gem_gradients_match_differences():
    features = (torch.rand(2, 3, 2, 2, dtype=torch.float64) + 0.1).requires_grad_()
    gem = GeM().double()
    assert torch.autograd.gradcheck(lambda x, p: torch.func.functional_call(gem, {"p": p}, x), (features, gem.p))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_gem_of_half_precision_is_computed_in_float32(dtype):
    features = torch.rand(2, 3, 4, 4).to(dtype)
    assert torch.equal(GeM()(features), GeM()(features.float()))


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), "3"])
def test_gem_refuses_a_power_that_is_not_above_zero(value):
    with pytest.raises(ValueError, match="p must be a finite number above 0"):
        GeM(p=value)


def test_poolings_by_name():
    features = torch.randn(2, 3, 4, 5)
    assert torch.allclose(pooling("avg")(features), features.mean((2, 3)), atol=1e-6)
    both = pooling("avg+max")
    assert isinstance(both, AvgMaxPool)
    assert torch.allclose(both(features), features.mean((2, 3)) + features.flatten(2).max(2).values, atol=1e-6)
    assert isinstance(pooling("gem"), GeM)


def test_normalise_leaves_nothing_in_the_state_dict():
    layer = Normalise((0.1, 0.2), (0.5, 2.0))
    x = torch.rand(2, 2, 3, 3)
    assert torch.allclose(layer(x)[:, 1], (x[:, 1] - 0.2) / 2.0)
    assert layer.state_dict() == {}
    assert layer.double().mean.dtype == torch.float64


def test_a_batch_norm_neck_comes_last_and_has_no_scale_and_shift():
    torch.manual_seed(0)
    layers = embedding(6, 4, neck="bn", head=True)
    assert [name for name, _ in layers.named_children()] == ["head", "neck"]
    assert [name for name, _ in layers.named_parameters()] == ["head.weight"]
    out = layers(torch.randn(64, 6))
    assert torch.allclose(out.mean(0), torch.zeros(4), atol=1e-5)
    assert torch.allclose(out.std(0, unbiased=False), torch.ones(4), atol=1e-3)


def test_a_layer_norm_neck_comes_before_the_head_and_without_one_is_the_embedding():
    assert [name for name, _ in embedding(6, 4, neck="ln", head=True).named_children()] == ["neck", "head"]
    out = embedding(6, 6, neck="ln", head=False)(torch.randn(5, 6))
    assert torch.allclose(out.mean(1), torch.zeros(5), atol=1e-5)
    assert torch.allclose(out.norm(dim=1), torch.full((5,), 6**0.5), atol=1e-3)


def test_no_neck_and_no_head_leave_the_features_alone():
    features = torch.randn(5, 6)
    assert torch.equal(embedding(6, 6, neck="none", head=False)(features), features)


def test_the_extra_bn_relu_comes_first():
    layers = embedding(6, 6, neck="bn", head=False, extra=True)
    assert [type(m) for m in layers[0]] == [nn.BatchNorm1d, nn.ReLU]
    assert [name for name, _ in layers.named_children()] == ["extra", "neck"]
    assert float(layers[0](torch.randn(8, 6)).detach().min()) == 0


def test_batch_norm_before_the_head_centres_what_a_relu_made_positive():
    features = torch.rand(256, 20, generator=torch.Generator().manual_seed(0))

    def mean_norm(neck: str) -> float:
        torch.manual_seed(1)
        rows = torch.nn.functional.normalize(embedding(20, 8, neck=neck, head=True)(features))
        return float(rows.detach().mean(0).norm())

    assert mean_norm("none") > 0.8
    assert mean_norm("prebn") < 0.35
