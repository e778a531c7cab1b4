"""Losses on the circle: arrows are minus the gradient, at every end of the sliders, and labelled with its size."""

import math

import pytest
import torch

from labkit.figures.circle import PAIRS, descent, loss_arrows, scene
from labkit.losses import CATALOG

OTHERS = [name for name, card in CATALOG.items() if card.family != "proxy"]


@pytest.mark.parametrize("name", OTHERS)
def test_it_is_drawn_at_every_end_of_the_sliders(name):
    for angle, other, length in ((0, 0, 0.2), (355, 355, 2.0), (90, 90, 1.0)):
        fig = loss_arrows(name, angle, other, length)
        assert "L = " in fig.layout.title.text
        assert "nan" not in fig.to_json().lower()


@pytest.mark.parametrize("name", ["contrastive", "softmax", "smooth-ap", "multi-similarity", "ring"])
def test_arrows_are_minus_the_gradient(name):
    options = {"tau": 0.2} if name == "smooth-ap" else {}
    x, labels = scene(name, 40.0, 200.0, 0.7)
    _, step = descent(name, x, labels, **options)
    for place in ((0, 0), (0, 1), (1, 0)):
        moved = [x.clone(), x.clone()]
        moved[0][place] += 1e-6
        moved[1][place] -= 1e-6
        up, down = (descent(name, one, labels, **options)[0] for one in moved)
        assert step[place].item() == pytest.approx(-(up - down) / 2e-6, abs=1e-6)


def test_both_points_of_a_pair_loss_are_where_the_sliders_say():
    x, labels = scene("triplet", 30.0, 120.0, 1.0)
    assert labels.tolist() == [label for _, label in PAIRS]
    angles = [math.degrees(math.atan2(b, a)) for a, b in x[:2].tolist()]
    assert angles == pytest.approx([30.0, 120.0])


def test_the_random_state_is_left_alone():
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    loss_arrows("recall-at-k-simix")
    assert torch.equal(torch.random.get_rng_state(), before)


def test_without_a_gradient_it_says_so():
    fig = loss_arrows("triplet", 90.0, 270.0)  # every negative is farther than the margin asks
    assert "no sample has a gradient" in fig.layout.title.text
