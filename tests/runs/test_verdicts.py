"""Verdicts follow from the interval and the margin alone; p values and their correction are scipy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from labkit.runs.verdicts import margin_of, p_value, smallest_shown, survivors, verdict_of, weakest


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.005, 0.03, "held"),
        (-0.03, -0.002, "contradicted"),
        (-0.009, 0.009, "equal"),
        (0.002, 0.009, "equal"),  # shown, but too small to matter
        (-0.01, 0.01, "equal"),
        (-0.02, 0.009, "not resolved"),
        (-0.005, 0.04, "not resolved"),
        (-0.5, 0.5, "not resolved"),
        (0.0, 0.02, "not resolved"),
    ],
)
def test_the_verdict_of_an_interval(low, high, expected):
    assert verdict_of(low, high, margin=0.01) == expected


@given(st.floats(-1, 1), st.floats(0, 1), st.floats(0.001, 0.1))
def test_a_turned_claim_has_the_turned_verdict(low, width, margin):
    turned = {"held": "contradicted", "contradicted": "held"}
    there, back = verdict_of(low, low + width, margin), verdict_of(-(low + width), -low, margin)
    assert back == turned.get(there, there)


def test_a_claim_of_several_things_is_as_good_as_its_weakest():
    assert weakest(["held", "held"]) == "held"
    assert weakest(["held", "equal"]) == "equal"
    assert weakest(["held", "not resolved", "equal"]) == "not resolved"
    assert weakest(["held", "not resolved", "contradicted"]) == "contradicted"


def test_margins_are_those_of_the_protocol():
    assert margin_of("icons", "R@1") == margin_of("omniglot-merged", "MAP@R") == 0.01
    assert margin_of("emoji", "R@1") == margin_of("emoji-pretrained", "nDCG@10") == 0.02
    assert margin_of("omniglot", "intra") == 0.01
    assert margin_of("omniglot", "CSC-raw") == 0.05


def test_half_the_interval_is_the_smallest_difference_that_would_have_been_shown():
    assert smallest_shown(-0.01, 0.03) == pytest.approx(0.02)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12).filter(lambda v: np.std(v) > 1e-6))
def test_p_values_are_scipys(differences):
    assert p_value(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=1e-12)


def test_p_values_without_spread():
    assert p_value([0.1]) == 1.0
    assert p_value([0.1, 0.1, 0.1]) == 0.0
    assert p_value([0.0, 0.0]) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_survivors_are_those_of_benjamini_and_hochberg(p_values):
    adjusted = stats.false_discovery_control(p_values)
    clear = abs(adjusted - 0.05) > 1e-12
    assert (np.array(survivors(p_values)) == (adjusted <= 0.05))[clear].all()
