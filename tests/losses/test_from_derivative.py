"""Losses made from a derivative: the published ones come out of it, and points give piecewise quadratics."""

import math

import numpy as np
import pytest
import torch
from ranking_oracles import BATCHES, VARIANTS, cosines, negatives, positives, random_rows, soft_steps, total

from labkit import losses
from labkit.losses import functional
from labkit.losses.derivative import Antiderivative, loss_and_derivative, through_points
from labkit.losses.pnp import pnp_derivative, pnp_value

OPTIONS = [(variant, 1.0, 4.0) for variant in VARIANTS] + [("Dq", 4.0, 4.0), ("Dq", 0.5, 4.0), ("Ib", 1.0, 0.5)]
published = pytest.mark.parametrize(("variant", "alpha", "b"), OPTIONS)
R_RANGE = torch.cat([torch.zeros(1), torch.logspace(-6, math.log10(5000), 150), torch.linspace(0, 5000, 150)]).double()

PRINTED = {  # Eqs 6, 8, 10, 11, and the true derivative of Eq. 7 (E-PNP-1)
    "O": lambda R, alpha, b: torch.ones_like(R),
    "Iu": lambda R, alpha, b: torch.log(1 + R) + 1,
    "Iu-exact": lambda R, alpha, b: torch.log(1 + R),
    "Ib": lambda R, alpha, b: R / (1 + b * R),
    "Ds": lambda R, alpha, b: 1 / (1 + R),
    "Dq": lambda R, alpha, b: alpha / (1 + R) ** (alpha + 1),
}


@published
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 5e-6)])
def test_published_variants_come_out_of_their_derivatives(variant, alpha, b, dtype, tolerance):
    value, derivative = loss_and_derivative(lambda R: PRINTED[variant](R, alpha, b))
    R = R_RANGE.to(dtype).requires_grad_()
    expected = pnp_value(R.detach().double(), variant, alpha, b)
    actual = value(R)
    assert actual.dtype == dtype
    torch.testing.assert_close(actual.double(), expected, rtol=tolerance, atol=tolerance)
    (grad,) = torch.autograd.grad(actual.sum(), R)
    assert torch.equal(grad, derivative(R.detach()))
    slope = pnp_derivative(R.detach().double(), variant, alpha, b)
    torch.testing.assert_close(grad.double(), slope, rtol=max(tolerance, 1e-9), atol=1e-7)


@published
@pytest.mark.parametrize("batch", BATCHES)
def test_published_variants_as_losses_of_a_batch(variant, alpha, b, batch):
    labels = torch.tensor(BATCHES[batch])
    x = random_rows(len(labels)).requires_grad_()
    for reduction in ("mean", "none"):
        loss = losses.from_derivative(lambda R: PRINTED[variant](R, alpha, b), tau=0.1, reduction=reduction)
        expected = functional.pnp(x, labels, variant=variant, alpha=alpha, b=b, tau=0.1, reduction=reduction)
        actual = loss(x, labels)
        torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-10)
        torch.testing.assert_close(
            *(torch.autograd.grad(y.sum(), x)[0] for y in (actual, expected)), rtol=1e-9, atol=1e-10
        )


POINTS = [(0.0, 1.0), (1.0, 3.0), (1.5, 3.0), (4.0, 0.0), (10.0, -2.0)]


def straight_lines(points, R):
    """The value of g at R, read off the polyline."""
    for (x, y), (x2, y2) in zip(points, points[1:]):
        if x <= R <= x2:
            return y + (y2 - y) * (R - x) / (x2 - x)
    return points[0][1] if points[0][0] > R else points[-1][1]


def area(points, R):
    """∫₀ᴿ g: trapezia between the corners of the polyline."""
    corners = [0.0, *(x for x, _ in points if 0 < x < R), R]
    return sum(
        (v - u) * (straight_lines(points, u) + straight_lines(points, v)) / 2 for u, v in zip(corners, corners[1:])
    )


@pytest.mark.parametrize(
    "points",
    [POINTS, POINTS[1:], [(0, 1), (5, 1)], [(2.0, 7.0), (3.0, -1.0)], np.array(POINTS), torch.tensor(POINTS)],
)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 1e-5)])
def test_points_give_a_piecewise_quadratic(points, dtype, tolerance):
    plain = [(float(x), float(y)) for x, y in points]
    value, derivative = loss_and_derivative(points)
    R = torch.tensor([0, 0.3, 0.999, 1, 1.2, 1.5, 2, 2.5, 3, 4, 4.1, 9.9, 10, 11, 1000], dtype=dtype)
    R.requires_grad_()
    g = torch.tensor([straight_lines(plain, r) for r in R.tolist()], dtype=dtype)
    F = torch.tensor([area(plain, r) for r in R.tolist()], dtype=dtype)
    assert value(R).dtype == dtype
    torch.testing.assert_close(derivative(R.detach()), g, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(value(R), F, rtol=tolerance, atol=tolerance)
    (grad,) = torch.autograd.grad(value(R).sum(), R)
    torch.testing.assert_close(grad, g, rtol=tolerance, atol=tolerance)
    assert value(R)[0] == 0


def test_points_continue_as_constants():
    line = through_points([(2.0, 5.0), (4.0, 1.0)])
    g, F = line, line.integral
    R = torch.tensor([0.0, 1.0, 2.0, 4.0, 5.0, 14.0], dtype=torch.float64)
    assert g(R).tolist() == [5, 5, 5, 1, 1, 1]
    assert F(R).tolist() == pytest.approx([0, 5, 10, 16, 17, 26])


def test_many_points_approach_the_curve():
    """Points on PNP-Ds's derivative: the error of straight lines falls with the square of their length."""
    R = torch.linspace(0, 20, 101, dtype=torch.float64)
    errors = []
    for count in (101, 201, 401):
        x = np.linspace(0, 20, count)
        value, _ = loss_and_derivative(list(zip(x, 1 / (1 + x))))
        errors.append(float((value(R) - torch.log1p(R)).abs().max()))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4, rel=0.1)


G_OF_EACH_KIND = {
    "function": lambda R: torch.exp(-R / 3) * (1 + torch.sin(R)),
    "points": POINTS,
    "tensor function": torch.log1p,
}
each_kind = pytest.mark.parametrize("kind", G_OF_EACH_KIND)


@each_kind
@pytest.mark.parametrize("method", ["plain", "streamed", "dense"])
def test_equals_the_loops(kind, method):
    """1/|P| Σ F(R), F by a fine trapezium rule over g."""
    names = BATCHES["unequal"]
    rows = random_rows(len(names))
    loss = losses.from_derivative(G_OF_EACH_KIND[kind], tau=0.1, reduction="none", method=method, chunk=60)
    G = soft_steps(cosines(rows), names, 0.1)
    for q, actual in enumerate(loss(rows, torch.tensor(names)).tolist()):
        areas = []
        for i in positives(names, q):
            R = total(G[q][i][j] for j in negatives(names, q))
            r = torch.linspace(0, 1, 20001, dtype=torch.float64) * R
            areas.append(float(torch.trapezoid(loss.derivative(r), r)))
        assert actual == pytest.approx(sum(areas) / len(areas), rel=1e-6, abs=1e-9)


@each_kind
@pytest.mark.parametrize("method", ["plain", "streamed", "dense"])
def test_gradcheck(kind, method):
    labels = torch.tensor([1, 0, 0, 7, 1, 1])
    x = random_rows(6, 3, seed=3).requires_grad_()
    for reduction in ("mean", "none"):
        loss = losses.from_derivative(G_OF_EACH_KIND[kind], tau=0.2, reduction=reduction, method=method)
        assert torch.autograd.gradcheck(lambda x, loss=loss: loss(x, labels), x)


def test_the_integral_can_be_differentiated_twice():
    R = torch.tensor([0.0, 0.5, 3.0], dtype=torch.float64, requires_grad=True)
    F = Antiderivative(lambda R: 1 / (1 + R))
    assert torch.autograd.gradcheck(F, R + 1)
    assert torch.autograd.gradgradcheck(F, R + 1)


@each_kind
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_methods_agree(kind, reduction):
    labels = torch.tensor(BATCHES["unequal"])
    weight = random_rows(12, 1, seed=2)[:, 0] if reduction == "none" else torch.tensor(3.0)
    results = []
    for method, chunk in (("plain", 1), ("dense", 1), ("streamed", 1), ("streamed", 200)):
        how = {"reduction": reduction, "method": method, "chunk": chunk}
        x = random_rows(12).requires_grad_()
        loss = losses.from_derivative(G_OF_EACH_KIND[kind], tau=0.1, **how)(x, labels)
        results.append((loss, torch.autograd.grad((loss * weight).sum(), x)[0]))
    for loss, grad in results[1:]:
        torch.testing.assert_close(loss, results[0][0], rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(grad, results[0][1], rtol=1e-10, atol=1e-11)


@each_kind
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_low_precision_and_autocast(kind, dtype):
    labels = torch.tensor(BATCHES["unequal"])
    loss = losses.from_derivative(G_OF_EACH_KIND[kind])
    rows = random_rows(12, 16, dtype=dtype).requires_grad_()
    wide = rows.detach().double().requires_grad_()
    value, exact = loss(rows, labels), loss(wide, labels)
    value.backward()
    exact.backward()
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(exact.item(), rel=2e-5, abs=1e-7)
    step = max(2e-5, torch.finfo(dtype).eps)
    torch.testing.assert_close(
        rows.grad.double(), wide.grad, rtol=2 * step, atol=2 * step * float(wide.grad.abs().max())
    )
    with torch.autocast("cpu", torch.bfloat16):
        assert loss(rows, labels) == value


@each_kind
def test_special_batches(kind):
    loss = losses.from_derivative(G_OF_EACH_KIND[kind])
    rows = random_rows(5).requires_grad_()
    value = loss(rows, torch.zeros(5, dtype=torch.int64))
    value.backward()
    assert value == 0
    assert (rows.grad == 0).all()
    for rows in (torch.ones(12, 3), torch.zeros(12, 3)):
        rows.requires_grad_()
        value = loss(rows, torch.tensor(BATCHES["unequal"]))
        value.backward()
        assert torch.isfinite(value)
        assert torch.isfinite(rows.grad).all()


@each_kind
@pytest.mark.parametrize("method", ["plain", "streamed", "dense"])
@pytest.mark.parametrize("labels_device", ["cpu", "meta"])
def test_meta_device(kind, method, labels_device):
    rows = torch.empty(9, 4, device="meta", requires_grad=True)
    labels = torch.tensor(BATCHES["singletons"], device=labels_device)
    losses.from_derivative(G_OF_EACH_KIND[kind], method=method)(rows, labels).backward()
    assert rows.grad.shape == rows.shape


@each_kind
def test_parts_carry_the_derivative(kind):
    labels = torch.tensor(BATCHES["unequal"])
    loss = losses.from_derivative(G_OF_EACH_KIND[kind], tau=0.1)
    value, parts = loss(random_rows(12), labels, return_parts=True)
    P = torch.tensor([len(positives(BATCHES["unequal"], q)) for q in parts.query.tolist()])
    torch.testing.assert_close(parts.dL_dR * P, loss.derivative(parts.R_neg), rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(parts.per_query.mean(), value)


def raising(R):
    raise KeyError("no such R")


BAD_G = {
    "R not increasing": [(0, 1), (2, 1), (2, 3)],
    "R falling": [(3, 1), (2, 1)],
    "NaN": [(0, 1), (1, math.nan)],
    "infinite": [(0, 1), (math.inf, 1)],
    "negative R": [(-1, 1), (1, 1)],
    "one point": [(0, 1)],
    "no point": [],
    "triples": [(0, 1, 2), (1, 2, 3)],
    "ragged": [(0, 1), (2,)],
    "numbers": [0, 1, 2],
    "text": "1/(1+R)",
    "a number": 1.0,
    "None": None,
    "a dictionary": {0: 1},
    "raises": raising,
    "returns a number": lambda R: 1.0,
    "returns a scalar tensor": lambda R: torch.tensor(1.0),
    "returns another shape": lambda R: R[:1],
    "returns NaN": lambda R: R / R,
    "returns inf": lambda R: 1 / R,
}


@pytest.mark.parametrize("kind", BAD_G)
def test_bad_derivatives_are_named(kind):
    with pytest.raises(ValueError, match=r"^g\b"):
        losses.from_derivative(BAD_G[kind])
