"""Metrics against metrics: orders, correlations and arrangements say what they should."""

import numpy as np
import pandas as pd
import pytest

from labkit import metrics
from labkit.base.paths import RECORDED
from labkit.explorers.lessons import metrics_that_disagree as explorers
from labkit.figures.lessons import metrics_that_disagree as figures
from labkit.figures.static import small_multiples
from labkit.losses import CATALOG
from labkit.runs import find_runs, spread

FRAME = pd.DataFrame(
    {"R@1": [0.7, 0.6, 0.5, 0.4], "MAP@R": [0.4, 0.3, 0.1, 0.2], "CSC": [1.0, 2.0, 3.0, 4.0]},
    index=["pnp-dq", "mpa", "softmax", "contrastive"],
)


def test_rank_correlation_is_spearmans():
    found = spread.rank_correlation(FRAME)
    assert found.loc["R@1", "CSC"] == pytest.approx(-1)
    assert found.loc["R@1", "MAP@R"] == pytest.approx(0.8)
    pd.testing.assert_frame_equal(found, FRAME.corr("spearman"))


def test_the_heatmap_names_its_rows_and_columns_in_print_too():
    fig = figures.correlation_heatmap(FRAME)
    axes = small_multiples([fig]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(FRAME.columns)
    assert axes.texts[0].get_text() == "1.00"
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row is on top, as in the live figure


@pytest.mark.parametrize(("first", "second"), [("R@1", "CSC"), ("CSC", "CSC"), ("MAP@R", "R@1")])
def test_every_loss_is_a_point(first, second):
    fig = figures.two_metrics(FRAME, first, second)
    assert sum(len(trace.x) for trace in fig.data) == len(FRAME)
    assert {trace.name for trace in fig.data} == {"ranking", "proxy", "softmax", "pair"}
    small_multiples([fig])


def test_every_loss_has_a_family():
    for name, card in CATALOG.items():
        assert figures.family_of(name) == card.family
    assert figures.family_of("untrained") == figures.family_of("pixels") == "not trained"
    assert figures.family_of("mine.py:Mine") == "your own"
    assert {card.family for card in CATALOG.values()} < set(figures.FAMILIES)


def test_recorded_losses_agree_with_themselves_over_seeds():
    runs = [run for run in find_runs(RECORDED) if run.preset == "omniglot" and run.group.count("_") == 1]
    assert set(spread.means(runs, ["R@1", "CSC"]).index) == {run.loss for run in runs}
    correlation, count = spread.seeds_agreement(runs, "R@1")
    assert count >= 2
    assert correlation > 0.5
    assert np.isnan(spread.seeds_agreement(runs[:1], "R@1")[0])


@pytest.mark.parametrize("shape", explorers.SHAPES)
@pytest.mark.parametrize("degrees", [1.0, 15.0])
def test_arrangements_can_be_drawn(shape, degrees):
    fig = explorers.draw_arrangement(shape, degrees)
    assert sum(len(trace.x) for trace in fig.data) == explorers.CLASSES * explorers.A_CLASS
    small_multiples([fig])


def test_separability_and_retrieval_say_opposite_things():
    own, shared, torn = (
        metrics.evaluate(*explorers.arrangement(shape, 2.0), ks=(1,), progress=False) for shape in explorers.SHAPES
    )
    assert own["R@1"] == 1
    assert shared["R@1"] < 0.7
    assert shared["CSC"] > 100
    assert torn["R@1"] > 0.9
    assert torn["CSC"] < 0.01


def test_an_unknown_arrangement_is_refused():
    with pytest.raises(ValueError, match="shape"):
        explorers.arrangement("a heap", 1.0)


def test_three_recalls_over_k():
    points, label = explorers.arrangement(explorers.SHAPES[0], 5.0)
    fig = figures.recall_over_k(metrics.evaluate(points, label, ks=(1, 4, 16), progress=False), ks=(1, 4, 16))
    any_hit, capped, fraction = (np.array(trace.y) for trace in fig.data)
    assert (any_hit >= capped).all()
    assert (capped >= fraction).all()
    small_multiples([fig])
