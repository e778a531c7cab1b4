"""Floors, soft maxima, gate and sphere say what the losses say, at every end of their sliders."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from labkit.base.paths import RECORDED
from labkit.figures.lessons import sgsl
from labkit.figures.static import small_multiples
from labkit.losses import functional
from labkit.losses.softmax import norm_softmax_floor
from labkit.runs import open_run


@pytest.mark.parametrize("gamma", [1.0, 5.0, 30.0])
@pytest.mark.parametrize("classes", [2, 10, 100])
def test_the_floor_is_reached_by_a_simplex_and_by_nothing_less(classes, gamma):
    simplex = normalize(torch.eye(classes, dtype=torch.float64) - 1 / classes, dim=1)
    labels = torch.arange(classes)
    assert functional.sgsl(simplex, labels, simplex, gamma=gamma).item() == pytest.approx(sgsl.floor(classes, gamma))
    torch.manual_seed(0)
    for _ in range(5):
        W, f = torch.randn(2, classes, classes, dtype=torch.float64)
        assert functional.sgsl(W + 0.3 * f, labels, W, gamma=gamma) > sgsl.floor(classes, gamma)
    assert sgsl.floor(classes) == pytest.approx(norm_softmax_floor(classes))


@pytest.mark.parametrize("others", sgsl.OTHERS)
@pytest.mark.parametrize("gamma", [sgsl.GAMMAS[0], 30.0, sgsl.GAMMAS[-1]])
def test_the_soft_maximum_lies_between_maximum_and_bound(others, gamma):
    cosines = torch.tensor(sgsl.OTHERS[others], dtype=torch.float64)
    assert sgsl.lse(sgsl.OTHERS[others], gamma) == pytest.approx((torch.logsumexp(gamma * cosines, 0) / gamma).item())
    fig = sgsl.soft_maximum(others, gamma)
    upper, soft, largest, chosen = (np.asarray(trace.y) for trace in fig.data)
    assert (largest <= soft + 1e-12).all()
    assert (soft <= upper + 1e-12).all()
    low, high = fig.layout.yaxis.range
    assert low < chosen[0] < high
    share = np.asarray(sgsl.shares(others, gamma).data[0].y)
    np.testing.assert_allclose(share / 100, torch.softmax(gamma * cosines, 0)[:5].numpy(), rtol=1e-9)
    small_multiples([fig, sgsl.shares(others, gamma)])


def test_published_numbers_of_the_gate_and_the_softplus():
    gate = {trace.name: np.interp(0.4, trace.x, trace.y) for trace in sgsl.gate().data}
    assert gate["CUB, C = 100"] == pytest.approx(2.511, abs=1e-3)
    assert gate["SOP, C = 11,318"] == pytest.approx(4.41, abs=5e-3)
    soft, hinge = sgsl.softplus_and_hinge().data
    for x, value in ((-2, 0.127), (-1, 0.313), (0, 0.693), (1, 1.313)):
        assert np.interp(x, soft.x, soft.y) == pytest.approx(value, abs=1e-3)
        assert np.interp(x, hinge.x, hinge.y) == max(x, 0)
    floors = sgsl.floors()
    assert (np.asarray(floors.data[0].y) > np.asarray(floors.data[1].y)).all()


def test_recorded_losses_stay_above_the_floor():
    run = open_run("fashion-mnist-3d_norm-softmax_label_smoothing=0.0_scale=1.0_s0", RECORDED)
    fig = sgsl.against_floors([run], {run.group: "scale 1"}, {"floor": sgsl.floor(10)})
    curve, level = (trace for trace in fig.data if trace.showlegend is not False)
    assert curve.name == "scale 1"
    assert min(curve.y) > level.y[0]
    small_multiples([fig])


def fake(loss, csc, recall):
    return SimpleNamespace(
        loss=loss, group=loss, id=loss, status="finished", value=lambda metric: recall if metric == "R@1" else csc
    )


def test_separability_gives_the_rank_correlation_and_names_the_extremes():
    runs = [fake("softmax", 1.0, 0.9), fake("sgsl", 2.0, 0.8), fake("triplet", 3.0, 0.1), fake("pixels", 9.0, 0.9)]
    fig = sgsl.separability(runs)
    assert fig.layout.title.text == "3 runs, rank correlation -1.00"
    assert set(fig.data[-1].text) == {"softmax", "triplet"}
    assert {trace.name for trace in fig.data[:-1]} == {"softmax", "pair"}
    small_multiples([fig])
