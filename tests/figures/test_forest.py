"""The forest plot shows every difference with its interval and verdict; fewer seeds widen it."""

from dataclasses import replace

import numpy as np
import pytest

from labkit.figures.forest import forest
from labkit.figures.static import panel_for, small_multiples
from labkit.runs.claims import Finding, judged, limited
from labkit.runs.compare import difference_of
from labkit.runs.paper_claims import Claim, Comparison
from labkit.runs.variant import Variant

A, B = Variant("omniglot", "pnp-dq"), Variant("omniglot", "smooth-ap")


def finding(values, statement="better", metric="R@1"):
    difference = difference_of(A, B, metric, tuple(range(len(values))), np.array(values))
    return Finding(Claim("pnp", "Table 1", statement, (Comparison(A, B, metric),)), (difference,), (), "held")


HELD, AGAINST = finding([0.03, 0.032, 0.031]), finding([-0.05, -0.06, -0.05], "worse")
FAR, VAGUE, NEAR = finding([0.6, 0.62, 0.61], "far"), finding([0.05, -0.03, 0.02]), finding([0.001, -0.001, 0.002])


def test_every_difference_stands_in_its_verdicts_trace_on_its_own_line():
    fig = forest([HELD, AGAINST, VAGUE, NEAR])
    band, *verdicts = fig.data
    assert [trace.name for trace in verdicts] == ["✓ held", "✗ contradicted", "= equal", "? not resolved"]
    assert [list(trace.y) for trace in verdicts] == [[0], [-1], [-3], [-2]]
    (difference,) = HELD.differences
    assert verdicts[0].x[0] == pytest.approx(100 * difference.mean)
    assert verdicts[0].x[0] + verdicts[0].error_x.array[0] == pytest.approx(100 * difference.high)
    assert verdicts[0].x[0] - verdicts[0].error_x.arrayminus[0] == pytest.approx(100 * difference.low)
    assert list(band.x[:2]) == [-1, 1]


def test_what_lies_far_out_stands_at_the_edge_with_its_number():
    fig = forest([FAR, HELD], reach=15)
    assert max(fig.data[1].x) == 15
    assert [note.text for note in fig.layout.annotations] == ["+61.00"]


def test_other_units_and_single_seeds_are_left_to_the_table():
    fig = forest([finding([0.1, 0.2, 0.15], metric="intra"), finding([0.1])])
    assert not any(len(trace.x) for trace in fig.data)


def test_the_still_picture_is_tall_enough_for_its_lines():
    fig = forest([HELD, AGAINST] * 20)
    assert panel_for(fig)[1] > 8
    assert small_multiples([fig], panel=panel_for(fig)).axes


def test_fewer_seeds_resolve_less():
    many = finding([0.03, 0.032, 0.031, 0.03, 0.05, -0.01])
    two = limited(many, 2)
    assert [len(d.seeds) for d in two.differences] == [2]
    assert two.verdict == judged(two.differences[0])
    assert limited(replace(many, verdict="not testable here", differences=()), 2).verdict == "not testable here"
