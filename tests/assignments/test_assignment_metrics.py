"""Assignment 1: its references agree with labkit's metrics, and with the mean over all orders."""

import itertools

import pytest
import torch

from labkit.assignments.metrics.expected_ndcg import expected_ndcg
from labkit.assignments.metrics.mean_ap import mean_ap
from labkit.assignments.metrics.ranked_relevance import ranked_relevance
from labkit.metrics import average_precision_at_k, map_at_r, ndcg_at_k, per_query_metrics
from labkit.metrics.ties import expected_metrics


@pytest.mark.parametrize("seed", range(3))
def test_lists_and_average_precision_agree_with_labkit(seed):
    rng = torch.Generator().manual_seed(seed)
    embeddings = torch.randn(20, 4, generator=rng, dtype=torch.float64)
    labels = torch.randint(0, 6, (20,), generator=rng)
    unit = torch.nn.functional.normalize(embeddings, dim=1)
    lists = ranked_relevance(unit @ unit.T, labels)
    query, measured = per_query_metrics(embeddings, labels, (3, 8), progress=False)
    assert torch.equal(query, (lists.sum(1) > 0).nonzero().flatten())
    R = lists.sum(1)[query]
    assert mean_ap(lists, 5, "R") == pytest.approx(measured["MAP@R"].mean().item())
    assert mean_ap(lists, 5, "R") == pytest.approx(map_at_r(lists[query], R).mean().item())
    for k in (3, 8):
        for rule in ("k", "relevant", "min", "hits"):
            expected = average_precision_at_k(lists[query], k, R, rule).mean().item()
            assert mean_ap(lists, k, rule) == pytest.approx(expected)
            assert measured[f"MAP@{k}/{rule}"].mean().item() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(3))
def test_lists_count_ties_against_the_query_as_labkit_does(seed):
    rng = torch.Generator().manual_seed(seed)
    codes = torch.randint(0, 2, (16, 3), generator=rng).double() * 2 - 1
    labels = torch.randint(0, 4, (16,), generator=rng)
    lists = ranked_relevance(codes @ codes.T / 3, labels)
    query, measured = per_query_metrics(codes, labels, (2, 5), ties="pessimistic", progress=False)
    for k in (2, 5):
        torch.testing.assert_close((lists[query, :k].sum(1) > 0).double(), measured[f"R@{k}"])


@pytest.mark.parametrize("seed", range(3))
def test_expected_ndcg_is_the_mean_over_all_orders_and_labkits(seed):
    rng = torch.Generator().manual_seed(seed)
    similarity = torch.randint(0, 3, (7,), generator=rng).double()
    grade = torch.randint(0, 4, (7,), generator=rng).double()
    grade[0] = 2
    for k in (1, 3, 9):
        found = []
        for permutation in itertools.permutations(range(7)):
            p = torch.tensor(permutation)
            found.append(grade[p][similarity[p].sort(descending=True, stable=True).indices])
        mean = ndcg_at_k(torch.stack(found), k).mean().item()
        assert expected_ndcg(similarity, grade, k) == pytest.approx(mean)
        binary = (grade > 1).double()
        by_labkit = expected_metrics(similarity[None], binary[None] > 0, (k,))[f"nDCG@{k}"].item()
        assert expected_ndcg(similarity, binary, k) == pytest.approx(by_labkit)
