"""Losses for rotated boxes: equal, apart, degenerate; gradients where there should be some and where there are none."""

import pytest
import torch

from labkit.metrics import rotated_iou
from labkit.surrogates.box_losses import BOX_LOSSES, giou_like_loss, upright_bounds

TARGET = torch.tensor([[0.0, 0.0, 2.0, 1.0, 0.3]], dtype=torch.float64)
NEAR = torch.tensor([[0.2, 0.1, 1.8, 1.1, 0.5]], dtype=torch.float64)
APART = torch.tensor([[9.0, 4.0, 2.0, 1.0, 0.0]], dtype=torch.float64)
POINT = torch.tensor([[0.1, 0.0, 0.0, 0.0, 0.0]], dtype=torch.float64)


@pytest.mark.parametrize("name", BOX_LOSSES)
def test_a_better_box_costs_less_and_the_gradient_is_right(name):
    loss = BOX_LOSSES[name]
    assert float(loss(TARGET, TARGET)) < float(loss(NEAR, TARGET)) < float(loss(APART, TARGET))
    assert torch.autograd.gradcheck(lambda boxes: loss(boxes, TARGET), (NEAR.clone().requires_grad_(),))
    for boxes in (APART, POINT):
        assert bool(loss(boxes, TARGET).isfinite().all())


def test_boxes_that_do_not_meet_have_no_gradient_of_iou_but_one_of_the_others():
    pulls = {}
    for name, loss in BOX_LOSSES.items():
        boxes = APART.clone().requires_grad_()
        (pull,) = torch.autograd.grad(loss(boxes, TARGET).sum(), boxes)
        pulls[name] = float(pull[0, :2].norm())
    assert pulls["exact IoU"] == pulls["upright IoU"] == 0
    assert pulls["GIoU-like"] > 0
    assert pulls["smooth-L1"] > 0


def test_the_hull_is_the_upright_box_round_both():
    bounds = upright_bounds(torch.tensor([[0.0, 0.0, 2.0, 2.0, torch.pi / 4]], dtype=torch.float64))
    torch.testing.assert_close(bounds, torch.tensor([[-1.0, -1.0, 1.0, 1.0]], dtype=torch.float64) * 2**0.5)
    upright = torch.tensor([[0.0, 0.0, 1.0, 1.0, 0.0], [3.0, 0.0, 1.0, 1.0, 0.0]], dtype=torch.float64)
    found = giou_like_loss(upright[:1], upright[1:])
    assert float(rotated_iou(upright[:1], upright[1:])) == 0
    assert float(found) == pytest.approx(1 + (4 - 2) / 4)
