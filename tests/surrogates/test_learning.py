"""The surrogate and Equation 6, against the equation written out with finite differences."""

import pytest
import torch

from labkit.surrogates import (
    BOX_FEATURES,
    Filter,
    SequenceEmbedding,
    Surrogate,
    VectorEmbedding,
    box_features,
    encode_words,
    random_box_pairs,
    random_word_pairs,
    surrogate_loss,
    word_task,
)

LETTERS = "abc"


def words(batch=6):
    return random_word_pairs(["abc", "ca", "", "bb"], LETTERS, 4, batch)(0)


def word_surrogate(seed=0):
    torch.manual_seed(seed)
    return Surrogate(SequenceEmbedding(4, 4, width=8, layers=2, dim=6))


def test_it_is_a_distance():
    surrogate, (z, y) = word_surrogate(), words()
    found = surrogate(z, y)
    assert found.shape == (6,)
    torch.testing.assert_close(found, surrogate(y, z))
    torch.testing.assert_close(surrogate(y, y), torch.full((6,), 1e-6))
    middle = words()[0].flip(0)
    assert bool((found <= surrogate(z, middle) + surrogate(middle, y) + 1e-6).all())
    torch.testing.assert_close(found, (surrogate.h(z) - surrogate.h(y)).norm(dim=1))


def test_boxes_turned_by_half_a_circle_are_the_same_box_to_it():
    torch.manual_seed(0)
    surrogate = Surrogate(VectorEmbedding(BOX_FEATURES, features=box_features))
    z, y = random_box_pairs(5)(0)
    half = torch.tensor([0, 0, 0, 0, torch.pi])
    torch.testing.assert_close(surrogate(z + half, y), surrogate(z, y), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("lam", [0.0, 0.7])
def test_loss_is_equation_6(lam):
    surrogate, (z, y) = word_surrogate().double(), [part.double() for part in words()]
    exact = word_task(LETTERS).exact(z, y)
    found = surrogate_loss(surrogate, z, y, exact, lam=lam)
    expected, h = [], 1e-6
    for item in range(len(z)):
        one, other = z[item : item + 1], y[item : item + 1]
        slopes = []
        for at in range(one.numel()):
            step = torch.zeros(one.numel(), dtype=torch.float64)
            step[at] = h
            step = step.reshape(one.shape)
            slopes.append((surrogate(one + step, other) - surrogate(one - step, other)).detach() / (2 * h))
        norm = torch.cat(slopes).norm()
        value = (surrogate(one, other) - exact[item]) ** 2 + lam * (norm - 1) ** 2
        expected.append(float(value.detach()))
        assert float(found.gradient_norm[item]) == pytest.approx(float(norm), abs=1e-6)
    assert float(found.loss.detach()) == pytest.approx(sum(expected) / len(expected), abs=1e-6)


def test_gradient_of_equation_6_by_finite_differences():
    surrogate, (z, y) = word_surrogate().double(), [part.double() for part in words()]
    exact = word_task(LETTERS).exact(z, y)
    weights = list(surrogate.parameters())
    generator = torch.Generator().manual_seed(0)
    direction = [torch.randn(weight.shape, generator=generator, dtype=torch.float64) for weight in weights]
    gradient = torch.autograd.grad(surrogate_loss(surrogate, z, y, exact, lam=0.7).loss, weights, allow_unused=True)
    along = sum(float((g * d).sum()) for g, d in zip(gradient, direction) if g is not None)
    values = []
    for h in (1e-6, -2e-6):
        with torch.no_grad():
            for weight, d in zip(weights, direction):
                weight += h * d
        values.append(float(surrogate_loss(surrogate, z, y, exact, lam=0.7).loss.detach()))
    assert along == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-5)


def test_equal_pairs_have_finite_gradients():
    surrogate, (_, y) = word_surrogate(), words()
    surrogate_loss(surrogate, y, y, torch.zeros(6), lam=1.0).loss.backward()
    assert all(weight.grad is None or bool(weight.grad.isfinite().all()) for weight in surrogate.parameters())


def test_filtered_pairs_do_not_count():
    surrogate, (z, y) = word_surrogate(), words()
    exact = word_task(LETTERS).exact(z, y)
    off = (surrogate(z, y).detach() - exact).abs()
    epsilon = float(off.median())
    found = surrogate_loss(surrogate, z, y, exact, lam=0.5, keep=Filter("hard", epsilon))
    kept = off <= epsilon
    assert 0 < int(kept.sum()) < 6
    assert found.weights.tolist() == kept.tolist()
    part = surrogate_loss(surrogate, z[kept], y[kept], exact[kept], lam=0.5).loss
    torch.testing.assert_close(found.loss, part * kept.float().mean())
    nothing = surrogate_loss(surrogate, z, y, exact + 100, lam=0.5, keep=Filter("hard", epsilon))
    nothing.loss.backward()
    assert all(float(weight.grad.abs().sum()) == 0 for weight in surrogate.parameters() if weight.grad is not None)


def test_filters_as_written_down():
    estimate, exact = torch.tensor([1.0, 2.0, 3.0, 0.0]), torch.tensor([1.0, 1.5, 2.0, 3.0])
    assert Filter("ramp", 2.0).weights(estimate, exact).tolist() == [1, 0.75, 0.5, 0]
    assert Filter("hard", 0.5).weights(estimate, exact).tolist() == [1, 1, 0, 0]
    for bad in (("soft", 1.0), ("ramp", 0.0), ("hard", float("nan"))):
        with pytest.raises(ValueError, match="kind|epsilon"):
            Filter(*bad)


@pytest.mark.parametrize("kind", ["ramp", "hard"])
def test_the_control_keeps_as_much_but_not_the_same(kind):
    generator = torch.Generator().manual_seed(0)
    estimate, exact = torch.rand(200, generator=generator), torch.rand(200, generator=generator)
    weights = Filter(kind, 0.4).weights(estimate, exact)
    control = Filter(kind, 0.4, shuffled=True)
    dealt = control.weights(estimate, exact, torch.Generator().manual_seed(1))
    assert sorted(dealt.tolist()) == sorted(weights.tolist())
    assert not torch.equal(dealt, weights)
    off = (estimate - exact).abs()
    assert float(torch.corrcoef(torch.stack((off, weights)))[0, 1]) < -0.7
    assert abs(float(torch.corrcoef(torch.stack((off, dealt)))[0, 1])) < 0.2
    with pytest.raises(ValueError, match="rng"):
        control.weights(estimate, exact)


def test_bad_input_names_the_argument():
    surrogate, (z, y) = word_surrogate(), words()
    with pytest.raises(ValueError, match="lam"):
        surrogate_loss(surrogate, z, y, torch.zeros(6), lam=-1.0)
    with pytest.raises(ValueError, match="exact must be"):
        surrogate_loss(surrogate, z, y, torch.zeros(6, 1), lam=1.0)
    with pytest.raises(ValueError, match=r"z must be \(B, 4, 4\)"):
        surrogate(encode_words(["a"], "abcd", 4), encode_words(["a"], "abcd", 4))
    with pytest.raises(ValueError, match="z must give 5 numbers"):
        Surrogate(VectorEmbedding(5))(torch.zeros(2, 4), torch.zeros(2, 4))
    with pytest.raises(ValueError, match="layers"):
        SequenceEmbedding(4, 4, layers=0)
