"""Assignment 6 agrees with the comparisons that the project itself uses."""

import math

import numpy as np
import pytest
import torch

from labkit.assignments.study.class_bootstrap import class_bootstrap
from labkit.assignments.study.difference_by_seed import T, difference_by_seed
from labkit.base.paths import RECORDED
from labkit.runs import compare, find_runs


@pytest.mark.parametrize("seed", range(5))
def test_the_interval_is_the_project_s_t_interval(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(60, 5, 6), rng.normal(58, 5, 6)
    order = rng.permutation(6)
    mean, low, high, verdict = difference_by_seed(a.tolist(), list(range(6)), b[order].tolist(), order.tolist(), T)
    assert (low, high) == pytest.approx(compare.t_interval(a - b))
    assert mean == pytest.approx((a - b).mean())
    assert verdict == (1 if low > 0 else -1 if high < 0 else 0)


@pytest.mark.parametrize("layout", ["ring", "random"])
def test_recorded_runs_are_compared_as_everywhere_else(layout):
    groups = [f"toy_{loss}_layout={layout}" for loss in ("pnp-ds", "pnp-o")]
    runs = [run for run in find_runs(RECORDED) if run.group in groups]
    found = compare.paired_difference(runs, *groups)
    ours, baseline = ({run.seed: run.value("R@1") for run in reversed(runs) if run.group == group} for group in groups)
    mine = difference_by_seed(list(ours.values()), list(ours), list(baseline.values()), list(baseline), T)
    assert mine[:3] == pytest.approx((found.mean, found.low, found.high))


@pytest.mark.parametrize("seed", range(3))
def test_with_classes_of_one_query_it_is_the_project_s_bootstrap(seed):
    values = np.random.default_rng(seed).normal(size=12)
    draws = np.random.default_rng(compare.BOOTSTRAP_SEED).integers(12, size=(compare.RESAMPLES, 12))
    found = class_bootstrap(torch.from_numpy(values), torch.arange(12), torch.from_numpy(draws), 0.95)
    assert found == pytest.approx(compare.bootstrap_interval(values))


def test_one_seed_has_no_interval():
    mean, low, high, verdict = difference_by_seed([3.0], [0], [1.0], [0], T)
    assert (mean, verdict) == (2.0, 0)
    assert math.isnan(low)
    assert math.isnan(high)
