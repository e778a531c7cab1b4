"""Retrieval among other groups only, held to a loop over queries and to `evaluate` where they must agree."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from labkit import metrics


def one_by_one(e, labels, groups):
    """R@1 and MAP@R of every query that has a positive elsewhere, from its sorted list."""
    e = torch.nn.functional.normalize(e.double(), dim=1)
    hits, precisions = [], []
    for q in range(len(e)):
        elsewhere = (groups != groups[q]).nonzero().flatten()
        relevant = labels[elsewhere] == labels[q]
        if not relevant.any():
            continue
        order = (e[elsewhere] @ e[q]).argsort(descending=True, stable=True)
        found = relevant[order].double()
        count = int(relevant.sum())
        precision = found.cumsum(0) / torch.arange(1, len(found) + 1)
        hits.append(float(found[0]))
        precisions.append(float((precision * found)[:count].sum()) / count)
    return hits, precisions


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 5), st.integers(12, 60))
def test_it_is_what_a_loop_over_queries_finds(seed, classes, designers, n):
    rng = torch.Generator().manual_seed(seed)
    e = torch.randn(n, 5, dtype=torch.float64, generator=rng)
    labels = torch.randint(classes, (n,), generator=rng)
    groups = torch.randint(designers, (n,), generator=rng) * 7 - 3
    hits, precisions = one_by_one(e, labels, groups)
    if not hits:
        with pytest.raises(ValueError, match="groups"):
            metrics.evaluate_across(e, labels, groups)
        return
    found = metrics.evaluate_across(e, labels, groups, (1, 3))
    assert found["R@1"] == pytest.approx(sum(hits) / len(hits), abs=1e-12)
    assert found["MAP@R"] == pytest.approx(sum(precisions) / len(precisions), abs=1e-12)
    assert (found["queries"], found["skipped"]) == (len(hits), n - len(hits))


def test_where_everyone_has_a_group_of_their_own_it_is_evaluate():
    rng = torch.Generator().manual_seed(3)
    e, labels = torch.randn(40, 6, generator=rng), torch.randint(5, (40,), generator=rng)
    across, plain = metrics.evaluate_across(e, labels, torch.arange(40)), metrics.evaluate(e, labels)
    for name in across:
        assert across[name] == pytest.approx(plain[name], abs=1e-9), name


def test_a_style_that_gives_the_designer_away_counts_for_nothing():
    labels = torch.tensor([0, 0, 1, 1])
    designers = torch.tensor([0, 0, 1, 1])
    with pytest.raises(ValueError, match="another group"):
        metrics.evaluate_across(torch.randn(4, 2), labels, designers)


def test_groups_of_another_length_are_refused():
    with pytest.raises(ValueError, match="groups"):
        metrics.evaluate_across(torch.randn(4, 2), torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1]))
