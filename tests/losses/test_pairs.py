import math
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import normalize

from labkit import losses
from labkit.losses import pairs
from labkit.losses._common import distances
from labkit.losses.pair_loss import relations_of

NAMES = ("contrastive", "triplet", "soft_margin_triplet", "lifted_structure", "ranked_list", "multi_similarity")
LOSSES = {name: getattr(pairs, name) for name in NAMES}
all_losses = pytest.mark.parametrize("name", NAMES)

BATCHES = {
    "sorted": [0, 0, 0, 1, 1, 1, 2, 2, 2],
    "shuffled": [2, 0, 1, 1, 0, 2, 2, 1, 0, 0, 1, 2],
    "unequal": [5, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 2],
    "singletons": [9, 1, 1, 2, 3, 8, 3, 3, 4],
    "one class": [7] * 5,
    "two classes": [1, 0, 0, 1, 0, 0, 0],
    "one pair": [4, 4],
    "one pair and a stranger": [4, 0, 4],
    "negative and huge ids": [-(2**63), 2**63 - 1, -1, -1, -(2**63), 0, 2**63 - 1, 2**40],
}


# Each loss once more as nested loops over Python floats, from the formula: shares of the queries, number of terms.


def points(embeddings):
    rows = [[float(v) for v in row] for row in embeddings]
    norms = [math.sqrt(sum(v * v for v in row)) or 1.0 for row in rows]
    return [[v / norm for v in row] for row, norm in zip(rows, norms)]


def sets(labels, i):
    labels = labels.tolist()
    positives = [j for j in range(len(labels)) if j != i and labels[j] == labels[i]]
    return positives, [j for j in range(len(labels)) if labels[j] != labels[i]]


def naive_contrastive(e, labels, margin=0.5):
    n, shares, terms = len(e), [0.0] * len(e), 0
    for i in range(n):
        for j in range(i + 1, n):
            d = math.dist(e[i], e[j])
            value = d**2 / 2 if labels[i] == labels[j] else max(margin - d, 0) ** 2 / 2
            shares[i] += value / 2
            shares[j] += value / 2
            terms += 1
    return shares, terms


def naive_triplets(e, labels, penalty):
    shares, terms = [0.0] * len(e), 0
    for a in range(len(e)):
        positives, negatives = sets(labels, a)
        for p in positives:
            for n in negatives:
                shares[a] += penalty(math.dist(e[a], e[p]) - math.dist(e[a], e[n]))
                terms += 1
    return shares, terms


def naive_triplet(e, labels, margin=0.2):
    return naive_triplets(e, labels, lambda x: max(x + margin, 0))


def naive_soft_margin_triplet(e, labels, scale=1.0):
    return naive_triplets(e, labels, lambda x: math.log1p(math.exp(scale * x)) / scale)


def naive_lifted_structure(e, labels, margin=1.0):
    shares, terms = [0.0] * len(e), 0
    for i in range(len(e)):
        positives, negatives = sets(labels, i)
        for j in (j for j in positives if j > i):
            terms += 1
            total = sum(math.exp(margin - math.dist(e[i], e[k])) for k in negatives)
            total += sum(math.exp(margin - math.dist(e[j], e[k])) for k in negatives)
            if total > 0:
                value = max(math.log(total) + math.dist(e[i], e[j]), 0) ** 2 / 2
                shares[i] += value / 2
                shares[j] += value / 2
    return shares, terms


def naive_ranked_list(e, labels, margin=0.4, alpha=1.2, temperature=10.0, balance=1.0):
    shares, terms = [0.0] * len(e), 0
    for i in range(len(e)):
        positives, negatives = sets(labels, i)
        if not positives:
            continue
        terms += 1
        outside = [d - (alpha - margin) for d in (math.dist(e[i], e[j]) for j in positives) if d > alpha - margin]
        inside = [alpha - d for d in (math.dist(e[i], e[j]) for j in negatives) if d < alpha]
        weights = [math.exp(temperature * x) for x in inside]
        shares[i] += sum(outside) / len(outside) if outside else 0
        shares[i] += balance * sum(w * x for w, x in zip(weights, inside)) / sum(weights) if inside else 0
    return shares, terms


def naive_multi_similarity(e, labels, alpha=2.0, beta=50.0, base=0.5, epsilon=0.1):
    shares = []
    for i in range(len(e)):
        S = [sum(x * y for x, y in zip(e[i], other)) for other in e]
        positives, negatives = sets(labels, i)
        if epsilon is not None:
            least = min((S[k] for k in positives), default=math.inf)
            best = max((S[k] for k in negatives), default=-math.inf)
            positives = [k for k in positives if S[k] < best + epsilon]
            negatives = [k for k in negatives if S[k] > least - epsilon]
        pull = math.log(1 + sum(math.exp(-alpha * (S[k] - base)) for k in positives)) / alpha
        shares.append(pull + math.log(1 + sum(math.exp(beta * (S[k] - base)) for k in negatives)) / beta)
    return shares, len(e)


NAIVE = {name: globals()[f"naive_{name}"] for name in NAMES}
OPTIONS = {
    "contrastive": [{}, {"margin": 1.3}],
    "triplet": [{}, {"margin": 1.0}],
    "soft_margin_triplet": [{}, {"scale": 12.0}],
    "lifted_structure": [{}, {"margin": 0.1}],
    "ranked_list": [{}, {"margin": 1.0, "alpha": 1.4, "temperature": 0.0, "balance": 0.5}],
    "multi_similarity": [{}, {"epsilon": None}, {"alpha": 4.0, "beta": 10.0, "base": 1.0, "epsilon": 0.4}],
}
with_options = pytest.mark.parametrize(("name", "options"), [(n, o) for n in NAMES for o in OPTIONS[n]])


def random_rows(n, dim=3, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, dim, generator=generator, dtype=torch.float64).to(dtype)


def assert_as_naive(name, embeddings, labels, options, tolerance=1e-11):
    shares, terms = NAIVE[name](points(embeddings), labels, **options)
    values = {r: LOSSES[name](embeddings, labels, reduction=r, **options) for r in ("mean", "sum", "none")}
    assert values["none"].tolist() == pytest.approx(shares, rel=tolerance, abs=tolerance)
    assert float(values["sum"]) == pytest.approx(sum(shares), rel=tolerance, abs=tolerance)
    assert float(values["mean"]) == pytest.approx(sum(shares) / max(terms, 1), rel=tolerance, abs=tolerance)


@pytest.mark.parametrize("batch", BATCHES)
@with_options
def test_equals_the_formula_written_as_loops(name, options, batch):
    labels = torch.tensor(BATCHES[batch])
    for seed, dim in enumerate((1, 2, 8)):
        assert_as_naive(name, random_rows(len(labels), dim, seed), labels, options)


@pytest.mark.parametrize("batch", BATCHES)
@with_options
def test_equals_the_formula_with_duplicates_and_zero_rows(name, options, batch):
    labels = torch.tensor(BATCHES[batch])
    rows = random_rows(2, 4)[torch.arange(len(labels)) % 2]  # two points shared by all classes
    assert_as_naive(name, rows, labels, options)
    rows[0] = 0
    assert_as_naive(name, rows, labels, options)


def test_ranked_list_weights_are_constants_for_the_gradient():
    labels = torch.tensor(BATCHES["unequal"])
    x, total = random_rows(12).requires_grad_(), 0.0
    e = normalize(x)
    for i in range(12):
        positives, negatives = sets(labels, i)
        outside = [d - 0.8 for d in (torch.dist(e[i], e[j]) for j in positives) if d > 0.8]
        inside = [1.2 - d for d in (torch.dist(e[i], e[j]) for j in negatives) if d < 1.2]
        weights = [math.exp(10 * v.item()) for v in inside]
        total = total + (sum(outside) / len(outside) if outside else 0)
        total = total + (sum(w * v for w, v in zip(weights, inside)) / sum(weights) if inside else 0)
    (expected,) = torch.autograd.grad(total / 12, x)
    (actual,) = torch.autograd.grad(pairs.ranked_list(x, labels), x)
    torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-12)


@all_losses
def test_extreme_options_do_not_overflow(name):
    options = {
        "contrastive": {"margin": 1e6},
        "triplet": {"margin": 1e6},
        "soft_margin_triplet": {"scale": 1e6},
        "lifted_structure": {"margin": 1e4},
        "ranked_list": {"temperature": 1e6},
        "multi_similarity": {"alpha": 1e6, "beta": 1e6, "epsilon": None},
    }[name]
    rows = random_rows(12, dtype=torch.float32).requires_grad_()
    loss = LOSSES[name](rows, torch.tensor(BATCHES["shuffled"]), **options)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(rows.grad).all()


@pytest.mark.parametrize("name", ["triplet", "soft_margin_triplet", "lifted_structure"])
def test_one_class_gives_zero_and_no_gradient(name):
    rows = random_rows(5).requires_grad_()
    loss = LOSSES[name](rows, torch.zeros(5, dtype=torch.int64))
    loss.backward()
    assert loss == 0
    assert (rows.grad == 0).all()


@pytest.mark.parametrize("spread", [1e-2, 1e-4, 1e-6])
def test_fp32_distances_of_close_rows_are_exact(spread):
    x = normalize(random_rows(1, 64) + spread * random_rows(20, 64, seed=1)).float().requires_grad_()
    wide = x.detach().double().requires_grad_()
    D, exact = distances(x, x), (wide[:, None] - wide[None]).square().sum(-1).sqrt()
    torch.testing.assert_close(D.double(), exact, rtol=1e-6, atol=3e-8)
    weight = torch.rand(20, 20).triu(1)
    (D * weight).sum().backward()
    (torch.where(weight > 0, (wide[:, None] - wide[None]).square().sum(-1), 1).sqrt() * weight).sum().backward()
    torch.testing.assert_close(x.grad.double(), wide.grad, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("dim", [1, 3, 64, 2048])
def test_distances_of_equal_rows_are_zero_with_zero_gradient(dtype, dim):
    x = normalize(random_rows(5, dim, dtype=dtype)).repeat(3, 1).requires_grad_()
    D = distances(x, x)
    same = torch.eye(5, dtype=torch.bool).repeat(3, 3)
    assert (D[same] == 0).all()
    (grad,) = torch.autograd.grad(D[same].sum(), x)
    assert (grad == 0).all()


@with_options
@pytest.mark.parametrize("batch", BATCHES)
def test_parts_tell_value_and_gradient(name, options, batch):
    labels = torch.tensor(BATCHES[batch])
    n = len(labels)
    rows = random_rows(n, 4, seed=1)
    rows[-1] = rows[0]  # one coincident pair
    rows.requires_grad_()
    loss, parts = LOSSES[name](rows, labels, return_parts=True, **options)
    (expected,) = torch.autograd.grad(loss, rows)
    norm = rows.detach().norm(dim=1, keepdim=True)
    e = rows.detach() / norm
    pairs_in_order = [(i, j) for i in range(n) for j in range(n) if i != j]
    assert list(zip(parts.query.tolist(), parts.other.tolist())) == pairs_in_order
    assert parts.same.tolist() == [labels[i].item() == labels[j].item() for i, j in pairs_in_order]
    torch.testing.assert_close(parts.similarity, (e[parts.query] * e[parts.other]).sum(1))
    assert (parts.dL_dS[parts.same] <= 0).all()
    assert (parts.dL_dS[~parts.same] >= 0).all()
    slope = torch.zeros(n, n, dtype=torch.float64).index_put((parts.query, parts.other), parts.dL_dS)
    along = (slope + slope.T) @ e
    tangent = along - (along * e).sum(1, keepdim=True) * e
    torch.testing.assert_close(tangent / norm, expected, rtol=1e-7, atol=1e-8)
    torch.testing.assert_close(parts.per_query, LOSSES[name](rows.detach(), labels, reduction="none", **options))
    alone = sum(BATCHES[batch].count(label) == 1 for label in BATCHES[batch])
    assert parts.skipped == (0 if name in ("contrastive", "multi_similarity") else alone)
    assert not any(value.requires_grad for value in vars(parts).values() if isinstance(value, torch.Tensor))


def test_triplets_of_a_balanced_batch_do_not_form_a_cube():
    rows = random_rows(2048, 8, dtype=torch.float32).requires_grad_()  # the cube would take 34 GB
    pairs.triplet(rows, torch.arange(2048) // 2).backward()
    assert torch.isfinite(rows.grad).all()


def test_masked_form_equals_the_gathered_one():
    labels, rows = torch.tensor(BATCHES["unequal"]), random_rows(12)
    known = relations_of(labels, rows.device)
    unknown = replace(known, batch=None)
    D = distances(normalize(rows), normalize(rows))
    for one, other in zip(*(pairs.triplet_shares(D, r, torch.nn.functional.softplus) for r in (known, unknown))):
        torch.testing.assert_close(one, other)


def test_the_radius_of_ranked_lists_must_be_positive():
    for call in (
        lambda: losses.RankedList(margin=1.2),
        lambda: pairs.ranked_list(random_rows(2), torch.zeros(2).long(), margin=1.2),
    ):
        with pytest.raises(ValueError, match="^margin must be below alpha"):
            call()


def peer(name):
    """The same loss from pytorch-metric-learning, as a function of embeddings and labels."""
    pml = pytest.importorskip("pytorch_metric_learning")
    from pytorch_metric_learning import distances, losses, miners, reducers

    assert pml
    euclidean, mean = distances.LpDistance(p=2, power=1, normalize_embeddings=True), reducers.MeanReducer()
    if name == "contrastive":  # theirs is a plain hinge on each ordered pair: square, halve and average it here
        loss = losses.ContrastiveLoss(neg_margin=0.5, distance=euclidean, reducer=reducers.DoNothingReducer())

        def mean_of_halved_squares(x, labels):
            terms = [part["losses"] for part in loss(x, labels).values()]
            return torch.cat([t for t in terms if torch.is_tensor(t)]).square().mean() / 2

        return mean_of_halved_squares
    if name == "triplet":
        return losses.TripletMarginLoss(margin=0.2, distance=euclidean, reducer=mean)
    if name == "soft_margin_triplet":
        return losses.TripletMarginLoss(margin=0, smooth_loss=True, distance=euclidean, reducer=mean)
    if name == "lifted_structure":
        return losses.LiftedStructureLoss(neg_margin=1, distance=euclidean, reducer=mean)
    loss, miner = losses.MultiSimilarityLoss(alpha=2, beta=50, base=0.5), miners.MultiSimilarityMiner(epsilon=0.1)
    return lambda x, labels: loss(x, labels, miner(x, labels))


@pytest.mark.peer
@pytest.mark.parametrize("name", [name for name in NAMES if name != "ranked_list"])
@pytest.mark.parametrize("batch", ["sorted", "shuffled", "unequal", "singletons", "two classes"])
def test_equals_pytorch_metric_learning(name, batch):
    labels = torch.tensor(BATCHES[batch])
    other = peer(name)
    for seed in range(3):
        x = random_rows(len(labels), 5, seed).requires_grad_()
        ours, theirs = LOSSES[name](x, labels), other(x, labels)
        assert ours.item() == pytest.approx(theirs.item(), rel=1e-9)
        torch.testing.assert_close(*(torch.autograd.grad(loss, x)[0] for loss in (ours, theirs)), rtol=1e-7, atol=1e-9)


@pytest.mark.peer
def test_multi_similarity_without_mining_equals_pytorch_metric_learning():
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    labels, x = torch.tensor(BATCHES["singletons"]), random_rows(9, 5)
    theirs = losses.MultiSimilarityLoss(alpha=2, beta=50, base=0.5)(x, labels)
    assert float(pairs.multi_similarity(x, labels, epsilon=None)) == pytest.approx(float(theirs), rel=1e-9)


@pytest.mark.peer
@pytest.mark.parametrize("batch", ["sorted", "shuffled", "unequal", "two classes"])
def test_ranked_list_equals_pytorch_metric_learning(batch):
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    labels = torch.tensor(BATCHES[batch])
    x = random_rows(len(labels), 5)
    theirs = losses.RankedListLoss(margin=0.4, alpha=1.2, Tn=4, imbalance=0.5)(x, labels)  # the mean of L_P and L_N
    ours = pairs.ranked_list(x, labels, temperature=4.0)
    assert float(ours) == pytest.approx(2 * float(theirs), rel=1e-3)  # they add B·1e-5 to each sum of weights


def naive_linear_contrastive(e, labels, margin):
    pull, push = [], []
    for i in range(len(e)):
        for j in range(len(e)):
            d = math.dist(e[i], e[j])
            if i != j and labels[i] == labels[j] and d > 0:
                pull.append(d)
            if labels[i] != labels[j] and d < margin:
                push.append(margin - d)
    return sum(pull) / max(1, len(pull)) + sum(push) / max(1, len(push))


@pytest.mark.parametrize("margin", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("batch", BATCHES)
def test_the_linear_contrastive_form_is_the_mean_over_active_pairs(batch, margin):
    labels = torch.tensor(BATCHES[batch])
    embeddings = torch.randn(len(labels), 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    expected = naive_linear_contrastive(points(embeddings), labels.tolist(), margin)
    found = pairs.contrastive(embeddings, labels, margin=margin, form="linear")
    assert float(found) == pytest.approx(expected, rel=1e-12)
    shares = pairs.contrastive(embeddings, labels, margin=margin, form="linear", reduction="none")
    assert float(shares.sum()) == pytest.approx(expected, rel=1e-12)
    embeddings.requires_grad_()
    assert torch.autograd.gradcheck(lambda e: pairs.contrastive(e, labels, margin=margin, form="linear"), embeddings)


@pytest.mark.peer
@pytest.mark.parametrize("margin", [0.3, 1.0])
def test_the_linear_contrastive_form_is_pytorch_metric_learnings(margin):
    from pytorch_metric_learning.losses import ContrastiveLoss

    labels = torch.tensor(BATCHES["unequal"])
    embeddings = torch.randn(len(labels), 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    expected = ContrastiveLoss(pos_margin=0, neg_margin=margin)(embeddings, labels)
    assert float(pairs.contrastive(embeddings, labels, margin=margin, form="linear")) == pytest.approx(float(expected))
