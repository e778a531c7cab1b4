"""Curves say what the formulas say, at every end of their sliders."""

import numpy as np
import pytest
import torch

from labkit.data.papers import table
from labkit.figures.lessons import design_a_loss as pnp
from labkit.figures.lessons import smoothing_a_rank as sigmoids
from labkit.figures.lessons.metrics_that_disagree import OF_A_LIST, metrics_of_a_list, ranking_metrics
from labkit.figures.static import small_multiples
from labkit.training.pairs import counts_of_run


def finite(fig):
    for trace in fig.data:
        y = np.asarray(trace.y if trace.orientation != "h" else trace.x, dtype=float)
        assert np.isfinite(y).all(), trace.name
    small_multiples([fig])
    return fig


@pytest.mark.parametrize("tau", [1e-4, 0.01, 0.1, 1.0, 100.0])
def test_the_sigmoid_is_torchs_and_its_slope_is_its_derivative(tau):
    x = np.linspace(-0.5, 0.5, 101)
    expected = torch.sigmoid(torch.from_numpy(x) / tau).numpy()
    np.testing.assert_allclose(sigmoids.sigmoid(x, tau), expected, atol=1e-12)
    leaf = torch.from_numpy(x).requires_grad_()
    torch.sigmoid(leaf / tau).sum().backward()
    np.testing.assert_allclose(sigmoids.slope(x, tau), leaf.grad.numpy(), rtol=1e-6, atol=1e-9)
    finite(sigmoids.smoothed_step(tau))
    finite(sigmoids.smoothed_step_slope(tau))
    finite(sigmoids.smoothed_cutoff(tau))


def test_small_temperatures_count_better_and_pass_less_gradient():
    differences = np.random.default_rng(0).normal(0, 0.2, 5000)
    taus = [0.001, 0.01, 0.1, 1.0]
    share, error = (trace.y for trace in finite(sigmoids.gradient_density(differences, taus)).data)
    assert list(share) == sorted(share)
    assert list(error) == sorted(error)


@pytest.mark.parametrize("alpha", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("b", [0.1, 4.0, 100.0])
def test_gradient_assignment_rises_for_i_and_falls_for_d(alpha, b):
    found = {trace.name: np.diff(trace.y) for trace in finite(pnp.gradient_assignment(alpha, b)).data}
    assert (found["I_b"] >= 0).all()
    assert (found["I_u (Eq. 7)"] >= 0).all()
    assert (found["D_s"] <= 0).all()
    assert (found["D_q"] <= 0).all()
    assert (found["O"] == 0).all()


def test_ap_with_no_positive_before_is_dq_with_alpha_one():
    traces = finite(pnp.ap_against_pnp(alpha=1.0)).data
    np.testing.assert_allclose(traces[0].y, traces[-1].y, rtol=1e-12)


def test_values_integrate_the_derivatives():
    value = pnp.curves("value", ("Ds", "Dq", "Ib"), 2.0, 4.0, 5.0)
    slope = pnp.curves("derivative", ("Ds", "Dq", "Ib"), 2.0, 4.0, 5.0)
    for v, s in zip(value.data, slope.data):
        np.testing.assert_allclose(np.gradient(v.y, v.x)[1:-1], s.y[1:-1], atol=2e-3)


def test_the_lists_of_mpa_table_3_are_reproduced_to_the_digit():
    from labkit.explorers.lessons.metrics_that_disagree import LISTS

    names = {"R": "recall@k, any hit", "P": "precision@k", "MAP@R": "MAP@R", "MAP": "AP@k / k", "nDCG": "nDCG@k"}
    printed = table("mpa", "3")
    assert {"".join(map(str, relevance)) for relevance in LISTS.values()} == set(printed["method"])
    for method, metric, value in zip(printed["method"], printed["metric"], printed["value"]):
        found = metrics_of_a_list(tuple(map(int, method)), 10, 4)[names[metric]]
        assert abs(100 * found - value) <= 0.05 + 1e-9, (method, metric)


@pytest.mark.parametrize("k", [1, 5, 10])
@pytest.mark.parametrize("relevance", [(0,) * 10, (1,) * 4 + (0,) * 6, (0,) * 9 + (1,)])
def test_a_ranking_can_be_drawn_at_any_cut_off(relevance, k):
    fig = finite(ranking_metrics(relevance, k, 4))
    assert set(fig.data[0].y) == set(OF_A_LIST)


def test_gradient_shares_end_at_all_and_d_rises_first():
    R = counts_of_run("omniglot_untrained_s0", batches=2)
    assert len(R) == 2 * 32 * 4 * 3
    shares = {trace.name: trace.y for trace in pnp.gradient_share(R).data}
    assert all(y[-1] == pytest.approx(100) for y in shares.values())
    assert all((np.diff(y) >= -1e-9).all() for y in shares.values())
    assert shares["D_q, α = 4"][30] > shares["D_q, α = 1"][30] > shares["D_s"][30] > shares["O"][30] > shares["I_b"][30]
