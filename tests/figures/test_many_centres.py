"""Lesson 7: layouts, curves of training and drops say what the data, the films and the runs say."""

import numpy as np
import pytest

from labkit.base.paths import RECORDED
from labkit.data.toy import LAYOUTS
from labkit.explorers.lessons.many_centres import draw_layout, draw_training, toy_film
from labkit.figures.lessons.many_centres import drops
from labkit.figures.static import small_multiples
from labkit.runs import find_runs


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_can_be_drawn(layout):
    fig = draw_layout(layout)
    assert len(fig.data) == 8
    assert len(fig.to_json()) < 20_000
    small_multiples([fig])


@pytest.mark.parametrize("of", ["variance", "recall"])
def test_curves_of_training_are_those_of_the_film(of):
    fig = draw_training(of, ("pnp-ib", "pnp-dq"), "ring")
    film = toy_film("pnp-dq", "ring")
    found = [film.variance(k) if of == "variance" else 100 * film.recall(k) for k in range(len(film.steps))]
    assert fig.data[1].name == "PNP-D_q"
    assert tuple(fig.data[1].x) == film.steps
    np.testing.assert_allclose(fig.data[1].y, found, atol=6e-4)


def test_drops_are_merged_minus_plain_and_missing_losses_are_left_out():
    runs = [run for run in find_runs(RECORDED) if run.preset in ("omniglot", "omniglot-merged")]
    fig = drops(runs, ["pnp-dq", "pnp-ib", "not-there"], {"pnp-dq": "D", "pnp-ib": "I"})
    assert set(fig.data[1].y) == {"D", "I"}
    value = {(run.preset, run.loss): run.value("R@1") for run in runs if run.seed == 0}
    expected = 100 * (value["omniglot-merged", "pnp-dq"] - value["omniglot", "pnp-dq"])
    assert any(np.isclose(x, expected) for x, y in zip(fig.data[0].x, fig.data[0].y) if y == "D")
    assert not drops([], ["pnp-dq"], {}).data[1].y
