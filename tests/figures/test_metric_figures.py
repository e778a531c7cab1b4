"""Metrics against metrics: orders, correlations and arrangements say what they should."""

import numpy as np
import pandas as pd
import pytest

from labkit import metrics
from labkit.base.paths import RECORDED
from labkit.figures import metric_agreement, metric_shapes
from labkit.figures.metrics import recall_over_k
from labkit.figures.static import small_multiples
from labkit.runs import find_runs

FRAME = pd.DataFrame(
    {"R@1": [0.7, 0.6, 0.5, 0.4], "MAP@R": [0.4, 0.3, 0.1, 0.2], "CSC": [1.0, 2.0, 3.0, 4.0]},
    index=["pnp-dq", "mpa", "softmax", "contrastive"],
)


def test_rank_correlation_is_spearmans():
    found = metric_agreement.rank_correlation(FRAME)
    assert found.loc["R@1", "CSC"] == pytest.approx(-1)
    assert found.loc["R@1", "MAP@R"] == pytest.approx(0.8)
    pd.testing.assert_frame_equal(found, FRAME.corr("spearman"))


def test_the_heatmap_names_its_rows_and_columns_in_print_too():
    fig = metric_agreement.correlation_heatmap(FRAME)
    axes = small_multiples([fig]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(FRAME.columns)
    assert axes.texts[0].get_text() == "1.00"
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first row is on top, as in the live figure


@pytest.mark.parametrize(("first", "second"), [("R@1", "CSC"), ("CSC", "CSC"), ("MAP@R", "R@1")])
def test_every_loss_is_a_point(first, second):
    fig = metric_agreement.two_metrics(FRAME, first, second)
    assert sum(len(trace.x) for trace in fig.data) == len(FRAME)
    assert {trace.name for trace in fig.data} == {"ranking", "proxy", "softmax", "pair"}
    small_multiples([fig])


def test_recorded_losses_have_a_family_and_agree_with_themselves_over_seeds():
    runs = [run for run in find_runs(RECORDED) if run.preset == "omniglot" and run.group.count("_") == 1]
    means = metric_agreement.means(runs, ["R@1", "CSC"])
    assert all(metric_agreement.family_of(loss) for loss in means.index)
    correlation, count = metric_agreement.seeds_agreement(runs, "R@1")
    assert count >= 2
    assert correlation > 0.5
    assert np.isnan(metric_agreement.seeds_agreement(runs[:1], "R@1")[0])


@pytest.mark.parametrize("shape", metric_shapes.SHAPES)
@pytest.mark.parametrize("spread", [1.0, 15.0])
def test_arrangements_can_be_drawn(shape, spread):
    fig = metric_shapes.separability(shape, spread)
    assert sum(len(trace.x) for trace in fig.data) == metric_shapes.CLASSES * metric_shapes.A_CLASS
    small_multiples([fig])


def test_separability_and_retrieval_say_opposite_things():
    own, shared, torn = (
        metrics.evaluate(*metric_shapes.arrangement(shape, 2.0), ks=(1,), progress=False)
        for shape in metric_shapes.SHAPES
    )
    assert own["R@1"] == 1
    assert shared["R@1"] < 0.7
    assert shared["CSC"] > 100
    assert torn["R@1"] > 0.9
    assert torn["CSC"] < 0.01


def test_an_unknown_arrangement_is_refused():
    with pytest.raises(ValueError, match="shape"):
        metric_shapes.arrangement("a heap", 1.0)


def test_three_recalls_over_k():
    points, label = metric_shapes.arrangement(metric_shapes.SHAPES[0], 5.0)
    fig = recall_over_k(metrics.evaluate(points, label, ks=(1, 4, 16), progress=False), ks=(1, 4, 16))
    any_hit, capped, fraction = (np.array(trace.y) for trace in fig.data)
    assert (any_hit >= capped).all()
    assert (capped >= fraction).all()
    small_multiples([fig])
