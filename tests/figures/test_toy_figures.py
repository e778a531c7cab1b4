"""The toy: training is repeatable, pictures are small and say what the embeddings say, recorded frames can be drawn."""

import numpy as np
import pytest
import torch

from labkit import losses, metrics
from labkit.base.paths import RECORDED
from labkit.data.toy import LAYOUTS
from labkit.figures import toy, toy_frames
from labkit.figures.lessons.design_a_loss import gradient_share
from labkit.figures.lessons.many_centres import drops
from labkit.figures.static import small_multiples
from labkit.runs import find_runs
from labkit.training.pairs import counts_of_run

CENTRES = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, -1.0]])
LABELS = torch.arange(4).repeat_interleave(10)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_training_is_repeatable_and_leaves_threads_and_random_numbers_alone(layout):
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    first, second = (toy.train(losses.PNP(variant="Ds"), seed=2, layout=layout, steps=5) for _ in range(2))
    assert torch.equal(first.after, second.after)
    assert torch.equal(first.before, second.before)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.get_rng_state(), state)


def test_threads_are_restored_when_a_loss_fails():
    threads = torch.get_num_threads()
    with pytest.raises(ZeroDivisionError):
        toy.train(lambda e, labels: 1 / 0, steps=1)
    assert torch.get_num_threads() == threads


def test_the_quick_recall_is_the_library_s():
    embeddings = torch.randn(80, 2, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(80) % 4
    assert toy.nearest_is_same(embeddings, labels) == pytest.approx(
        metrics.evaluate(embeddings, labels, ks=(1,))["R@1"]
    )


def test_circular_variance_at_its_ends():
    assert toy.circular_variance(torch.tensor([[2.0, 0.0], [5.0, 0.0]])) == pytest.approx(0)
    assert toy.circular_variance(torch.tensor([[2.0, 0.0], [-1.0, 0.0]])) == pytest.approx(1)
    both = torch.cat([CENTRES[:1].repeat(10, 1), torch.tensor([[1.0, 0.0], [-1.0, 0.0]]).repeat(5, 1)])
    assert toy.class_variance(both, LABELS[:20]) == pytest.approx(0.5)


def test_points_lie_at_the_angles_of_their_embeddings():
    embeddings = CENTRES.repeat_interleave(10, 0)
    fig = toy.on_circles((embeddings, LABELS), (embeddings, LABELS), "words", "title")
    marks = [trace for trace in fig.data if trace.mode == "markers"]
    assert len(marks) == 8
    for trace, centre in zip(marks, torch.cat([CENTRES, CENTRES])):
        angle = np.arctan2(trace.y, trace.x)
        np.testing.assert_allclose(np.cos(angle - np.arctan2(*centre.flip(0).tolist())), 1, atol=1e-4)
    radius = [np.hypot(trace.x, trace.y).mean() for trace in marks]
    assert max(radius[:4]) < 0.75 < 0.9 < min(radius[4:])
    assert len({(trace.marker.color, trace.marker.symbol) for trace in marks}) == 4
    assert [trace.showlegend for trace in marks] == [False] * 4 + [True] * 4
    small_multiples([fig])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_can_be_drawn(layout):
    fig = toy.layout_figure(layout)
    assert len(fig.data) == 8
    assert len(fig.to_json()) < 20_000
    small_multiples([fig])


@pytest.mark.parametrize("layout", ["ring", "random"])
@pytest.mark.parametrize("loss", toy_frames.NAMES)
def test_recorded_frames_are_drawn_at_their_ends_and_between(loss, layout):
    found = toy_frames.frames_of(loss, layout)
    assert found.steps[0] == 0
    for step in (0, found.steps[5] + 1, found.steps[-1]):
        fig = toy_frames.frame_figure(loss, layout, step)
        assert sum(len(trace.x) for trace in fig.data if trace.mode == "markers") <= 150
        assert len(fig.to_json()) < 10_000
    assert f"step {found.steps[-1]}" in fig.layout.title.text


@pytest.mark.parametrize(("of", "most"), [("variance", 1), ("recall", 100)])
def test_curves_of_training_stay_in_their_range(of, most):
    fig = toy_frames.during_training(of, ("pnp-ib", "pnp-dq"), "ring")
    for trace in fig.data:
        assert len(trace.x) == len(trace.y)
        assert all(0 <= y <= most for y in trace.y)


def test_drops_are_merged_minus_plain_and_missing_losses_are_left_out():
    runs = [run for run in find_runs(RECORDED) if run.preset in ("omniglot", "omniglot-merged")]
    fig = drops(runs, ["pnp-dq", "pnp-ib", "not-there"], {"pnp-dq": "D", "pnp-ib": "I"})
    assert set(fig.data[1].y) == {"D", "I"}
    value = {(run.preset, run.loss): run.value("R@1") for run in runs if run.seed == 0}
    expected = 100 * (value["omniglot-merged", "pnp-dq"] - value["omniglot", "pnp-dq"])
    assert any(np.isclose(x, expected) for x, y in zip(fig.data[0].x, fig.data[0].y) if y == "D")
    assert not drops([], ["pnp-dq"], {}).data[1].y


def test_gradient_shares_end_at_all_and_d_rises_first():
    R = counts_of_run("omniglot_untrained_s0", batches=2)
    assert len(R) == 2 * 32 * 4 * 3
    shares = {trace.name: trace.y for trace in gradient_share(R).data}
    assert all(y[-1] == pytest.approx(100) for y in shares.values())
    assert all((np.diff(y) >= -1e-9).all() for y in shares.values())
    assert shares["D_q, α = 4"][30] > shares["D_q, α = 1"][30] > shares["D_s"][30] > shares["O"][30] > shares["I_b"][30]
