"""Figures of results: every seed is shown, the interval is the table's; what few seeds can show agrees with theory."""

import numpy as np
import pytest

from labkit.figures.lessons import reading_a_results_table as figures
from labkit.figures.results import results, training_curves
from labkit.figures.static import small_multiples
from labkit.lessons.experiment import claims, experiment
from labkit.runs import spread, table


@pytest.fixture(scope="module")
def toy():
    return experiment("toy", ["pnp-dq", "untrained"], seeds=range(10), **{"data.layout": "ring"})


def test_results_show_every_seed_and_the_tables_interval(toy):
    fig = results(toy, "R@1", {"toy_untrained_layout=ring": "nothing"})
    points, means = fig.data
    frame = table(toy, "R@1").sort_values("mean")
    assert len(points.x) == 20
    assert list(means.y) == ["nothing", "PNP-D_q"]
    np.testing.assert_allclose(means.x, 100 * frame["mean"])
    np.testing.assert_allclose(means.error_x.array, 100 * (frame["high"] - frame["mean"]))
    assert small_multiples([fig]).axes


def test_one_seed_has_a_point_but_no_interval(toy):
    fig = results([run for run in toy if run.seed == 0])
    assert set(fig.data[1].error_x.array) == {0.0}


def test_training_curves_draw_each_seed_and_the_mean(toy):
    trained = [run for run in toy if run.loss == "pnp-dq"]
    fig = training_curves(trained)
    assert len(fig.data) == 11
    np.testing.assert_allclose(fig.data[-1].y, np.mean([trace.y for trace in fig.data[:-1]], axis=0))


def test_missing_runs_are_named(capsys):
    assert experiment("toy", ["sgsl"], seeds=(0,)) == []
    assert "Softmax + SGSL, seed 0" in capsys.readouterr().out


def test_claims_show_verdicts_and_refuse_what_does_not_exist(capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("labkit.lessons.experiment.display_html", shown.append)
    claims("pnp", "Fig. 6")
    assert shown[0].count("<tr>") == 4
    assert "✓ held" in shown[0]
    with pytest.raises(ValueError, match="no claim of 'pnp'"):
        claims("pnp", "Fig. 99")


@pytest.mark.parametrize(("difference", "sd", "n"), [(0.5, 1.0, 1), (0.5, 1.0, 3), (2.0, 0.3, 10)])
def test_the_chance_of_a_wrong_winner_is_that_of_simulation(difference, sd, n):
    rng = np.random.default_rng(0)
    drawn = rng.normal(difference, sd, (200_000, n)).mean(1) < rng.normal(0, sd, (200_000, n)).mean(1)
    assert spread.chance_of_wrong_winner(difference, sd, n) == pytest.approx(drawn.mean(), abs=0.005)
    assert figures.wrong_winner(difference, sd, n).data


def test_only_the_t_interval_keeps_its_promise():
    found = spread.coverage((3, 10), trials=4000)
    student, bootstrap, error = (trace.y for trace in figures.coverage(found, (3, 10)).data)
    np.testing.assert_allclose(student, 95, atol=1.5)
    assert bootstrap[0] < 80
    assert max(error) < 70


def test_picking_the_best_look_never_loses(toy):
    gain = spread.gain_of_picking(toy)
    assert (gain["mean"] >= 0).all()
    assert (gain["max"] >= gain["mean"]).all()
