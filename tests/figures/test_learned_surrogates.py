"""Figures of lesson 10: they draw what the library computes."""

import numpy as np
import pytest
import torch

from labkit.figures.lessons import learned_surrogates as figures
from labkit.metrics import rotated_iou
from labkit.surrogates import random_box_pairs
from labkit.surrogates.pocket import box_surrogate, learning


def test_e_jumps_once_and_the_others_slide():
    exact, learned, soft = figures.one_slot("hause", "house", 1).data
    assert set(np.diff(exact.y)) == {0, -1}
    assert exact.y[0] == 1
    assert exact.y[-1] == 0
    for curve in (learned, soft):
        assert (np.abs(np.diff(curve.y)) < 0.1).all()
        assert curve.y[-1] < curve.y[0]


@pytest.mark.parametrize(("film", "frame"), [(0, 0), (1, -1)])
def test_predicted_distances_are_those_of_the_film(film, frame):
    dots, means, line = figures.predicted(learning(), film, frame).data
    recorded = learning()
    assert list(dots.y) == recorded.estimates[film, frame].tolist()
    assert means.y[3] == pytest.approx(recorded.estimates[film, frame][recorded.exact == 3].mean())
    assert list(line.x) == list(line.y)


def test_the_slope_of_iou_is_gone_where_the_boxes_part():
    found = figures.apart([0.1, 0.3, 0.9])
    assert found["exact"][2] == 1
    assert found["exact slope"][2] == 0
    assert (found["estimate slope"] > 0.2).all()
    near = torch.tensor([figures.TARGET[0] + 0.1, *figures.TARGET[1:4], figures.TURNED], dtype=torch.float64)
    there = torch.tensor(figures.TARGET, dtype=torch.float64)
    assert found["exact"][0] == pytest.approx(1 - rotated_iou(near, there).item())
    assert [len(figures.leaving(what).data) for what in ("value", "slope")] == [2, 2]


def test_angles_to_the_way_home_are_those_between_two_vectors():
    z, y = random_box_pairs(40)(0)
    angles = figures.pulled_home(box_surrogate(), z, y)
    first = z[:1].clone().requires_grad_()
    (gradient,) = torch.autograd.grad(box_surrogate()(first, y[:1]).sum(), first)
    step, home = -gradient[0, :2], (y - z)[0, :2]
    assert angles[0] == pytest.approx(np.degrees(np.arccos(float(step @ home / step.norm() / home.norm()))), abs=1e-2)
    assert np.median(angles) < 45
