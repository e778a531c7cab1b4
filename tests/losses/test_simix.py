"""SiMix: both of its forms against explicitly mixed batches, and the released code's inconsistency as a lemma."""

import dataclasses
import functools
import itertools
import math

import pytest
import torch
from ranking_oracles import BATCHES, KS, TAUS, cosines, random_rows, recall_at_k_losses, reduced, soft_steps

from labkit.losses import functional
from labkit.losses.simix import draw_pairs, mix_embeddings, mix_similarities

MIXABLE = {
    **{f"{m} of each class": list(range(3)) * m for m in (2, 3, 4, 5, 6)},
    "unequal": BATCHES["unequal"],
    "singletons": BATCHES["singletons"],
    "one class": BATCHES["one class"],
    "one pair": BATCHES["one pair"],
    "negative and huge ids": BATCHES["negative and huge ids"],
}
all_batches = pytest.mark.parametrize("batch", MIXABLE)
both_conventions = pytest.mark.parametrize("convention", ["paper", "official"])


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def simix_loss(rows, labels, seed=0, tau=0.1, **how):
    options = {"ks": KS, "tau_rank": TAUS, "tau_sim": tau, "simix": True, "generator": seeded(seed)}
    return functional.recall_at_k(rows, labels, **options | how)


def pairs_of(labels, seed=0, dtype=torch.float64):
    return draw_pairs(labels, seeded(seed), torch.device("cpu"), dtype)


@all_batches
def test_every_same_class_pair_is_mixed_once(batch):
    names = MIXABLE[batch]
    pairs = pairs_of(torch.tensor(names))
    drawn = [frozenset(pair) for pair in zip(pairs.first.tolist(), pairs.second.tolist())]
    expected = {frozenset((i, j)) for i, j in itertools.combinations(range(len(names)), 2) if names[i] == names[j]}
    assert set(drawn) == expected
    assert len(drawn) == len(expected) == sum(math.comb(names.count(name), 2) for name in set(names))
    assert ((pairs.a >= 0) & (pairs.a < 1)).all()
    extended = pairs.extend_labels(torch.tensor(names)).tolist()
    assert extended == names + [names[int(i)] for i in pairs.first]
    assert extended == names + [names[int(i)] for i in pairs.second]


@pytest.mark.parametrize("m", [2, 3, 4, 5, 6])
def test_m_images_become_m_plus_m_over_two(m):
    labels = torch.arange(7).repeat(m)
    assert len(pairs_of(labels).extend_labels(labels)) == 7 * (m + math.comb(m, 2))


def test_4096_samples_become_10240():
    labels = torch.arange(1024).repeat_interleave(4)
    assert len(pairs_of(labels).extend_labels(labels)) == 10240


def test_weights_are_uniform_and_follow_the_generator():
    labels = torch.arange(1024).repeat_interleave(4)
    a = pairs_of(labels).a.sort().values
    steps = (torch.arange(len(a), dtype=torch.float64) + 0.5) / len(a)
    assert float((a - steps).abs().max()) < 1.95 / len(a) ** 0.5  # Kolmogorov–Smirnov at the 0.1 % level
    assert torch.equal(pairs_of(labels, 3).a, pairs_of(labels, 3).a)
    assert not torch.equal(pairs_of(labels, 3).a, pairs_of(labels, 4).a)
    torch.manual_seed(5)
    one = functional.recall_at_k(random_rows(12), torch.tensor(BATCHES["unequal"]), simix=True)
    torch.manual_seed(5)
    other = functional.recall_at_k(random_rows(12), torch.tensor(BATCHES["unequal"]), simix=True)
    assert one == other  # without a generator, the global one


@all_batches
def test_similarities_follow_from_the_real_ones(batch):
    labels = torch.tensor(MIXABLE[batch])
    e = torch.nn.functional.normalize(random_rows(len(labels), 5))
    pairs, n = pairs_of(labels), len(labels)
    s = e @ e.T
    mixed = mix_similarities(s, pairs)
    explicit = mix_embeddings(e, pairs)
    torch.testing.assert_close(mixed, explicit @ explicit.T, rtol=0, atol=1e-15)
    torch.testing.assert_close(mixed[:n, :n], s, rtol=0, atol=0)
    for v, (x, z, a1) in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), pairs.a.tolist())):
        torch.testing.assert_close(explicit[n + v], a1 * e[x] + (1 - a1) * e[z], rtol=0, atol=1e-15)
        torch.testing.assert_close(mixed[:n, n + v], a1 * s[:, x] + (1 - a1) * s[:, z], rtol=0, atol=1e-15)
        torch.testing.assert_close(mixed[n + v, :n], mixed[:n, n + v], rtol=0, atol=1e-15)
        for w, (y, u, a2) in enumerate(zip(pairs.first.tolist(), pairs.second.tolist(), pairs.a.tolist())):
            printed = a1 * a2 * s[x, y] + (1 - a1) * (1 - a2) * s[z, u]
            printed = printed + a1 * (1 - a2) * s[x, u] + (1 - a1) * a2 * s[z, y]
            assert float(mixed[n + v, n + w]) == pytest.approx(float(printed), rel=0, abs=1e-15)


def test_E_SL_5_virtual_samples_are_shorter_than_one():
    labels = torch.arange(8).repeat(6)
    e = torch.nn.functional.normalize(random_rows(48, 5))
    pairs = pairs_of(labels)
    virtual = mix_embeddings(e, pairs)[48:]
    length = virtual.norm(dim=1)
    a, s = pairs.a, (e[pairs.first] * e[pairs.second]).sum(1)
    torch.testing.assert_close(length**2, 1 - 2 * a * (1 - a) * (1 - s))
    assert (length < 1).all()


def test_one_parent_always_outranks_the_virtual_query_itself():
    labels = torch.arange(8).repeat(6)
    e = torch.nn.functional.normalize(random_rows(48, 5))
    pairs = pairs_of(labels)
    S = mix_similarities(e @ e.T, pairs)
    v, x, z, a = torch.arange(48, 48 + len(pairs.a)), pairs.first, pairs.second, pairs.a
    lead = (1 - a) * (2 * a - 1) * (1 - S[x, z])
    torch.testing.assert_close(S[v, x] - S[v, v], lead, rtol=0, atol=1e-15)
    assert (lead[a > 0.5] > 0).all()
    assert (torch.maximum(S[v, x], S[v, z]) > S[v, v]).all()


SMALL = {
    "m = 2": [0, 1, 2] * 2,
    "m = 3": [0, 1] * 3,
    "m = 4": [0, 0, 1, 0, 1, 0],
    "m = 5": [1, 0, 0, 0, 1, 0, 0],
    "m = 6": [0] * 5 + [1, 0],
    "singletons": [9, 1, 1, 3, 8, 3, 3],
    "one pair": [4, 4],
}


@functools.lru_cache(maxsize=2)
def explicitly_mixed(batch):
    """Embeddings, labels and soft steps of real and virtual samples, one number at a time."""
    labels = torch.tensor(SMALL[batch])
    pairs = pairs_of(labels)
    x = random_rows(len(labels), 3, seed=1).requires_grad_()
    names = SMALL[batch] + [SMALL[batch][i] for i in pairs.first.tolist()]
    e = [row / row.norm() for row in x]
    mixed = [*e, *(a * e[i] + (1 - a) * e[j] for i, j, a in zip(pairs.first, pairs.second, pairs.a))]
    s = [[(v * w).sum() for w in mixed] for v in mixed]
    return x, names, soft_steps(s, names, 0.1)


@functools.lru_cache(maxsize=2)
def naive_value_and_gradient(batch, convention):
    x, names, G = explicitly_mixed(batch)
    each = reduced(recall_at_k_losses(G, names, KS, TAUS, convention, real=len(SMALL[batch])), "none")
    weight = random_rows(len(names), 1, seed=2)[:, 0]
    return x, weight, each.detach(), torch.autograd.grad(each @ weight, x, retain_graph=True)[0]


@pytest.mark.parametrize("form", ["plain", "streamed", "dense", "similarity"])
@both_conventions
@pytest.mark.parametrize("batch", SMALL)
def test_equals_the_loops_over_an_explicitly_mixed_batch(batch, convention, form):
    """Virtual samples are queries, positives and negatives; a query is left out by its index, not by its similarity."""
    x, weight, expected, expected_grad = naive_value_and_gradient(batch, convention)
    how = {"simix_space": "similarity"} if form == "similarity" else {"method": form, "chunk": 500}
    actual = simix_loss(x, torch.tensor(SMALL[batch]), convention=convention, reduction="none", **how)
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(torch.autograd.grad(actual @ weight, x)[0], expected_grad, rtol=1e-9, atol=1e-10)


@both_conventions
@all_batches
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_both_forms_are_equal(batch, convention, reduction):
    labels = torch.tensor(MIXABLE[batch])
    x = random_rows(len(labels), 4).requires_grad_()
    one = simix_loss(x, labels, convention=convention, reduction=reduction, simix_space="similarity")
    weight = random_rows(one.numel(), 1, seed=2)[:, 0]
    (grad,) = torch.autograd.grad((one.reshape(-1) * weight).sum(), x)
    for method, chunk in (("plain", 1), ("streamed", 1), ("streamed", 3000), ("auto", 1)):
        other = simix_loss(x, labels, convention=convention, reduction=reduction, method=method, chunk=chunk)
        torch.testing.assert_close(other, one, rtol=1e-12, atol=1e-13)
        (same,) = torch.autograd.grad((other.reshape(-1) * weight).sum(), x)
        torch.testing.assert_close(same, grad, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("space", ["embedding", "similarity"])
def test_gradcheck(space):
    labels = torch.tensor([0, 1, 0, 1, 0, 5])
    x = random_rows(6, 3, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: simix_loss(x, labels, tau=0.2, simix_space=space), x)


def test_length_of_the_embeddings_does_not_matter():
    labels, x = torch.tensor(BATCHES["unequal"]), random_rows(12)
    lengths = torch.logspace(-3, 3, 12, dtype=torch.float64)[:, None]
    torch.testing.assert_close(simix_loss(x * lengths, labels), simix_loss(x, labels), rtol=1e-10, atol=1e-12)


def test_a_singleton_is_skipped_but_stays_in_the_gallery():
    labels, x = torch.tensor([3, 3, 8]), random_rows(3)
    each, parts = simix_loss(x, labels, reduction="none", return_parts=True)
    assert each.shape == (4,)  # two, one between them, and the singleton
    assert each[2] == 0
    assert parts.skipped == 1
    assert sorted(set(parts.query.tolist())) == [0, 1, 3]
    assert simix_loss(x, labels) != simix_loss(x[:2], labels[:2])


@pytest.mark.parametrize("space", ["embedding", "similarity"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_low_precision_and_autocast(space, dtype):
    labels = torch.tensor(BATCHES["unequal"])
    pairs = pairs_of(labels, dtype=torch.float32)
    rows = random_rows(12, 16, dtype=dtype).requires_grad_()
    loss = simix_loss(rows, labels, tau=0.01, simix_space=space)
    loss.backward()
    assert loss.dtype == torch.float32
    assert rows.grad.dtype == dtype
    assert torch.isfinite(rows.grad).all()
    with torch.autocast("cpu", torch.bfloat16):
        assert simix_loss(rows, labels, tau=0.01, simix_space=space) == loss
    # the same weights in fp64 come from another stream, so the wide batch is mixed by hand
    e = torch.nn.functional.normalize(rows.detach().double())
    wide = dataclasses.replace(pairs, a=pairs.a.double())
    mixed = mix_embeddings(e, wide)
    names = wide.extend_labels(labels).tolist()
    s = (mixed @ mixed.T).tolist()
    G = soft_steps([[torch.tensor(v, dtype=torch.float64) for v in row] for row in s], names, 0.01)
    exact = reduced(recall_at_k_losses(G, names, KS, TAUS), "mean")
    assert loss.item() == pytest.approx(exact.item(), rel=5e-5)


def test_finite_at_collapse_and_zero():
    labels = torch.tensor(BATCHES["unequal"])
    for rows in (torch.ones(12, 4), torch.zeros(12, 4), torch.eye(4)[labels % 4]):
        for space in ("embedding", "similarity"):
            x = rows.clone().requires_grad_()
            loss = simix_loss(x, labels, tau=0.01, simix_space=space)
            loss.backward()
            assert torch.isfinite(loss)
            assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize("how", [{"method": "plain"}, {"method": "streamed"}, {"simix_space": "similarity"}])
def test_meta_device(how):
    rows = torch.empty(9, 4, device="meta", requires_grad=True)
    simix_loss(rows, torch.tensor(BATCHES["singletons"]), **how).backward()
    assert rows.grad.shape == rows.shape
    with pytest.raises(ValueError, match="labels"):  # how many samples there are depends on the labels' values
        simix_loss(rows, torch.tensor(BATCHES["singletons"], device="meta"), **how)


def test_nothing_to_mix_is_an_error():
    for space in ("embedding", "similarity"):
        with pytest.raises(ValueError, match="labels"):
            simix_loss(random_rows(4), torch.arange(4), simix_space=space)


def test_similarity_space_has_one_method_and_no_parts():
    labels = torch.tensor([0, 0, 1, 1])
    bad = [
        {"method": "streamed"},
        {"return_parts": True},
    ]
    for how in bad:
        with pytest.raises(ValueError, match="^simix_space"):
            simix_loss(random_rows(4), labels, simix_space="similarity", **how)


def test_cosines_of_the_oracle_are_cosines():
    x = random_rows(4)
    expected = torch.nn.functional.cosine_similarity(x[:, None], x[None], dim=-1)
    torch.testing.assert_close(torch.tensor(cosines(x), dtype=torch.float64), expected)


def test_released_cap_of_k_is_the_batch_before_mixing():
    rows, labels = torch.randn(6, 4, generator=seeded()).double(), torch.tensor([0, 0, 0, 0, 0, 1])
    capped, same = (simix_loss(rows, labels, ks=(k,), tau_rank=1.0, convention="official") for k in (100, 6))
    torch.testing.assert_close(capped, same, rtol=0, atol=0)
    assert simix_loss(rows, labels, ks=(5,), tau_rank=1.0, convention="official") != same
