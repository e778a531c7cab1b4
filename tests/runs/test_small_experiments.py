"""Results of experiments of seconds: means with intervals over seeds, drawn with every seed."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from labkit.base.paths import RECORDED
from labkit.figures.outcomes import outcomes_figure
from labkit.runs.small_experiments import MEASURED, outcomes


@pytest.mark.parametrize("name", MEASURED)
def test_means_and_intervals_are_those_of_the_recorded_rows(name):
    found, rows = outcomes(name), pd.read_csv(RECORDED / f"{name}.csv")
    assert found["n"].sum() == len(rows)
    for row in found[found["n"] > 1].to_dict("records"):
        here = rows[(rows["loss"] == row["loss"]) & (rows.get("start", "") == row["start"])][MEASURED[name]]
        sem = stats.sem(here)
        low, high = stats.t.interval(0.95, len(here) - 1, here.mean(), sem) if sem else (here.mean(),) * 2
        assert np.allclose([row["mean"], row["low"], row["high"]], [here.mean(), low, high])


def test_the_figure_has_a_line_for_each_loss_and_a_look_for_each_start():
    fig = outcomes_figure(outcomes("boxes"), "mean IoU")
    assert fig.layout.yaxis.ticktext[0] == "as it is"
    named = [trace for trace in fig.data if trace.showlegend is not False]
    assert [trace.name for trace in named] == ["overlapping", "apart"]
    assert len({trace.marker.symbol for trace in named}) == 2


def test_a_table_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="name must be one of"):
        outcomes("songs")
