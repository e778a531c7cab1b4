"""PNP, Smooth-AP and RS@k against their printed formulas, each other's forms, the errata and an independent library."""

import functools
import math

import pytest
import sympy
import torch
from ranking_oracles import (
    ALPHA,
    BATCHES,
    NAMES,
    VARIANTS,
    B,
    cosines,
    labkit_loss,
    naive_losses,
    negatives,
    positives,
    random_rows,
    recall_at_k_losses,
    reduced,
    soft_steps,
    total,
)

from labkit.losses import functional, ranking
from labkit.losses.pnp import pnp_derivative, pnp_value, smooth_ap_head
from labkit.losses.ranking import mean_over_positives, ranking_loss_from_similarities
from labkit.losses.recall_at_k import paper_head
from labkit.losses.softcount import Rules

METHODS = ("plain", "streamed", "dense")
all_losses = pytest.mark.parametrize("name", NAMES)
both_conventions = pytest.mark.parametrize("convention", ["paper", "official"])
all_batches = pytest.mark.parametrize("batch", BATCHES)


def rows_of(kind, n):
    if kind == "random":
        return random_rows(n, 3, seed=n)
    rows = random_rows(2, 4)[torch.arange(n) % 2]  # two points shared by all classes: ties everywhere
    if kind == "ties and a zero row":
        rows[n // 2] = 0
    return rows


@functools.lru_cache(maxsize=4)
def steps_of(kind, batch, tau):
    rows = rows_of(kind, len(BATCHES[batch])).requires_grad_()
    return rows, soft_steps(cosines(rows), BATCHES[batch], tau)


def assert_as_naive(name, convention, kind, batch, tau):
    labels = torch.tensor(BATCHES[batch])
    rows, G = steps_of(kind, batch, tau)
    weight = random_rows(len(labels), 1, seed=1)[:, 0]
    expected = (
        reduced(naive_losses(name, G, BATCHES[batch], convention), "none") + 0 * rows.sum()
    )  # one class: constant
    # one weight for each query: the gradient of every query is told apart
    (expected_grad,) = torch.autograd.grad(expected @ weight, rows, retain_graph=True)
    for method, chunk in (("plain", None), ("dense", None), ("streamed", 1), ("streamed", 2 * len(labels) * 4)):
        how = {"method": method} | ({} if chunk is None else {"chunk": chunk})  # one query at a time; a few of them
        x = rows.detach().clone().requires_grad_()
        actual = labkit_loss(name, x, labels, tau=tau, convention=convention, reduction="none", **how)
        (grad,) = torch.autograd.grad(actual @ weight, x)
        torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(grad, expected_grad, rtol=1e-9, atol=1e-10)


# Outermost the batch: its loops are then run once and kept for all losses.
@all_losses
@both_conventions
@pytest.mark.parametrize("kind", ["random", "ties and a zero row"])
@all_batches
def test_equals_the_formula_written_as_loops(batch, kind, convention, name):
    assert_as_naive(name, convention, kind, batch, 0.1)


@all_losses
@both_conventions
@pytest.mark.parametrize("batch", ["unequal", "singletons"])
def test_equals_the_formula_at_the_default_temperature(batch, convention, name):
    assert_as_naive(name, convention, "random", batch, 0.01)


@all_losses
@both_conventions
@pytest.mark.parametrize("chunk", [1, 60, 500])
@pytest.mark.parametrize("batch", ["unequal", "singletons"])
def test_methods_and_reductions_agree(name, convention, chunk, batch):
    labels = torch.tensor(BATCHES[batch])
    counted = sum(BATCHES[batch].count(label) > 1 for label in BATCHES[batch])
    x = random_rows(len(labels), 4, seed=2).requires_grad_()
    each = labkit_loss(name, x, labels, convention=convention, method="dense", reduction="none")
    expected = {"sum": each.sum(), "mean": each.sum() / counted}
    for method in METHODS:
        for reduction, value in expected.items():
            how = {"convention": convention, "method": method, "reduction": reduction, "chunk": chunk}
            actual = labkit_loss(name, x, labels, **how)
            torch.testing.assert_close(actual, value, rtol=1e-12, atol=1e-13)
            grads = [torch.autograd.grad(3 * loss, x, retain_graph=True)[0] for loss in (actual, value)]
            torch.testing.assert_close(*grads, rtol=1e-10, atol=1e-11)
        alone = labkit_loss(name, x, labels, convention=convention, method=method, reduction="none", chunk=chunk)
        torch.testing.assert_close(alone, each, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", ["pnp-Dq", "smooth-ap", "rs@k"])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_streaming_in_many_chunks_of_unequal_classes(name, reduction):
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 60, (300,), generator=generator) ** 2 // 30
    weight = torch.rand(300, generator=generator, dtype=torch.float64)
    x = random_rows(300, 16).requires_grad_()
    one = labkit_loss(name, x, labels, tau=0.05, method="plain", reduction=reduction)
    other = labkit_loss(name, x, labels, tau=0.05, method="streamed", reduction=reduction, chunk=5000)
    torch.testing.assert_close(other, one, rtol=1e-12, atol=1e-13)
    grads = [torch.autograd.grad((loss * weight).sum(), x)[0] for loss in (one, other)]
    torch.testing.assert_close(*grads, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_auto_streams_above_two_chunks(reduction, monkeypatch):
    walks = []
    walk = ranking.stream
    monkeypatch.setattr(ranking, "stream", lambda *args, **kwargs: walks.append(1) or walk(*args, **kwargs))
    labels, x = torch.tensor(BATCHES["unequal"]), random_rows(12)
    size = (2 * 2 + 2 * 2 + 3 * 3 + 5 * 5) * 12  # (query, member of its class, item)
    below = functional.pnp(x, labels, reduction=reduction, chunk=size // 2)
    assert not walks
    above = functional.pnp(x, labels, reduction=reduction, chunk=size // 2 - 1)
    assert walks
    torch.testing.assert_close(above, below, rtol=1e-12, atol=1e-13)


@all_losses
def test_second_derivative_is_right_or_refused(name):
    labels = torch.tensor([0, 1, 0, 1, 1])
    x = random_rows(5, 2).requires_grad_()
    dense = functools.partial(labkit_loss, name, labels=labels, tau=0.3, method="dense")
    assert torch.autograd.gradgradcheck(lambda x: dense(rows=x), x)
    for method in ("plain", "streamed"):
        for reduction in ("sum", "none"):
            loss = labkit_loss(name, x, labels, method=method, reduction=reduction).sum()
            with pytest.raises(RuntimeError, match="second derivative"):
                torch.autograd.grad(loss, x, create_graph=True)


def test_from_similarities_equals_from_embeddings():
    labels = torch.tensor(BATCHES["unequal"])
    x = random_rows(12).requires_grad_()
    e = torch.nn.functional.normalize(x)
    for reduction in ("mean", "sum", "none"):
        one = functional.smooth_ap(x, labels, tau=0.1, reduction=reduction)
        other = ranking_loss_from_similarities(e @ e.T, labels, smooth_ap_head, Rules(0.1), reduction=reduction)
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(
            *(torch.autograd.grad(loss.sum(), x, retain_graph=True)[0] for loss in (one, other)),
            rtol=1e-10,
            atol=1e-12,
        )


# return_parts


@pytest.mark.parametrize("name", ["pnp-Dq", "smooth-ap", "rs@k"])
@both_conventions
@all_batches
def test_parts_are_the_counts_of_the_loops(batch, convention, name):
    names = BATCHES[batch]
    rows, G = steps_of("random", batch, 0.1)
    how = {"tau": 0.1, "convention": convention, "return_parts": True, "chunk": 200}
    loss, parts = labkit_loss(name, rows, torch.tensor(names), **how)
    query_is_target = convention == "official" and name != "rs@k"
    query_in_ranking = convention == "official" and not name.startswith("pnp")
    pairs, R_neg, R_pos = [], [], []
    for q in range(len(names)):
        P = positives(names, q)
        for i in sorted([*P, q] if query_is_target and P else P):
            pairs.append((q, i))
            R_neg.append(total(G[q][i][j] for j in negatives(names, q)).item())
            R_pos.append(total(G[q][i][j] for j in (P + [q] * query_in_ranking) if j != i).item())
    assert list(zip(parts.query.tolist(), parts.positive.tolist())) == pairs
    assert parts.R_neg.tolist() == pytest.approx(R_neg, rel=1e-12, abs=1e-12)
    assert parts.R_pos.tolist() == pytest.approx(R_pos, rel=1e-12, abs=1e-12)
    s = cosines(rows.detach())
    assert parts.similarity.tolist() == pytest.approx([float(s[q][i]) for q, i in pairs], rel=1e-12, abs=1e-12)
    assert parts.skipped == sum(names.count(label) == 1 for label in names)
    torch.testing.assert_close(parts.per_query.sum() / (len(names) - parts.skipped), loss.detach())
    assert not any(value.requires_grad for value in vars(parts).values() if isinstance(value, torch.Tensor))


@pytest.mark.parametrize("variant", VARIANTS)
@both_conventions
def test_parts_tell_the_gradient(variant, convention):
    labels, tau = torch.tensor(BATCHES["unequal"]), 0.1
    x = random_rows(12).requires_grad_()
    e = torch.nn.functional.normalize(x)
    S = e @ e.T
    loss, parts = functional.pnp(x, labels, variant=variant, tau=tau, convention=convention, return_parts=True)
    q, i = parts.query, parts.positive
    other_class = labels[q][:, None] != labels[None, :]
    R = (torch.sigmoid((S[q] - S[q, i][:, None]) / tau) * other_class).sum(1)
    torch.testing.assert_close(
        *(torch.autograd.grad(y, x, retain_graph=True)[0] for y in (loss, (R * parts.dL_dR).sum() / 12)),
        rtol=1e-9,
        atol=1e-11,
    )


@pytest.mark.parametrize("context", [torch.no_grad, torch.inference_mode, torch.enable_grad])
@pytest.mark.parametrize("method", METHODS)
def test_parts_do_not_depend_on_grad_mode_or_method(context, method):
    labels, rows = torch.tensor(BATCHES["unequal"]), random_rows(12)
    loss, parts = functional.smooth_ap(rows, labels, tau=0.1, return_parts=True)
    with context():
        other, again = functional.smooth_ap(rows, labels, tau=0.1, return_parts=True, method=method)
    torch.testing.assert_close(other, loss)
    assert torch.equal(again.dL_dR, parts.dL_dR)


# The published derivatives, and the errata


def sizes(labels, query):
    """|P| of each (query, positive) pair."""
    return torch.tensor([len(positives(labels.tolist(), int(q))) for q in query], dtype=torch.float64)


PRINTED_DERIVATIVES = {
    "O": lambda R: torch.ones_like(R),
    "Iu-exact": lambda R: torch.log(1 + R),  # Eq. 6
    "Ib": lambda R: R / (1 + B * R),  # Eq. 8
    "Ds": lambda R: 1 / (1 + R),  # Eq. 10
    "Dq": lambda R: ALPHA / (1 + R) ** (ALPHA + 1),  # Eq. 11
}


@pytest.mark.parametrize("variant", PRINTED_DERIVATIVES)
def test_E_PNP_2_printed_derivatives_lack_one_over_P(variant):
    labels = torch.tensor(BATCHES["unequal"])
    _, parts = functional.pnp(random_rows(12), labels, variant=variant, alpha=ALPHA, b=B, tau=0.1, return_parts=True)
    P = sizes(labels, parts.query)
    assert set(P.tolist()) == {1.0, 2.0, 4.0}
    torch.testing.assert_close(parts.dL_dR * P, PRINTED_DERIVATIVES[variant](parts.R_neg), rtol=1e-12, atol=1e-14)


def test_E_PNP_2_printed_derivative_of_ap_lacks_one_over_P():
    labels = torch.tensor(BATCHES["unequal"])
    _, parts = functional.smooth_ap(random_rows(12), labels, tau=0.1, return_parts=True)
    eq14 = (1 + parts.R_pos) / (1 + parts.R_pos + parts.R_neg) ** 2
    torch.testing.assert_close(parts.dL_dR * sizes(labels, parts.query), eq14, rtol=1e-12, atol=1e-14)


R_, b_, alpha_, t_ = sympy.symbols("R b alpha t", positive=True)
SYMBOLS = {  # value, printed derivative
    "O": (R_, sympy.Integer(1)),
    "Iu": ((1 + R_) * sympy.log(1 + R_), sympy.log(1 + R_)),
    "Iu-exact": ((1 + R_) * sympy.log(1 + R_) - R_, sympy.log(1 + R_)),
    "Ib": ((b_ * R_ - sympy.log(1 + b_ * R_)) / b_**2, R_ / (1 + b_ * R_)),
    "Ds": (sympy.log(1 + R_), 1 / (1 + R_)),
    "Dq": (1 - (1 + R_) ** -alpha_, alpha_ / (1 + R_) ** (alpha_ + 1)),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_E_PNP_1_only_the_published_Iu_is_not_the_integral_of_its_derivative(variant):
    value, derivative = SYMBOLS[variant]
    assert value.subs(R_, 0) == 0
    assert sympy.simplify(sympy.diff(value, R_) - derivative) == (1 if variant == "Iu" else 0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_value_and_derivative_are_the_symbolic_ones(variant):
    R = torch.tensor([0.0, 1e-9, 1e-3, 0.5, 1, 3, 100, 5000], dtype=torch.float64, requires_grad=True)
    value = SYMBOLS[variant][0]
    for alpha, b in ((1.0, 1.0), (4.0, 2.0), (0.5, 0.25)):
        chosen = value.subs({b_: sympy.Rational(b), alpha_: sympy.Rational(alpha)})
        points = [sympy.Float(r, 40) for r in R.tolist()]
        expected = torch.tensor([float(chosen.subs(R_, r).evalf(40)) for r in points], dtype=torch.float64)
        slopes = torch.tensor([float(sympy.diff(chosen, R_).subs(R_, r).evalf(40)) for r in points])
        actual = pnp_value(R, variant, alpha, b)
        # the difference of two near-equal numbers loses relative, not absolute accuracy at small R
        torch.testing.assert_close(actual, expected, rtol=1e-13, atol=1e-15)
        derivative = pnp_derivative(R, variant, alpha, b)
        torch.testing.assert_close(derivative, slopes.double(), rtol=1e-6, atol=1e-12)
        (grad,) = torch.autograd.grad(actual.sum(), R)
        torch.testing.assert_close(grad, derivative, rtol=1e-12, atol=1e-15)


def test_E_PNP_1_published_Iu_has_the_slope_of_O_where_the_loss_is_zero():
    zero = torch.zeros(1, dtype=torch.float64)
    assert pnp_derivative(zero, "Iu") == pnp_derivative(zero, "O") == 1
    assert pnp_derivative(zero, "Iu-exact") == 0


def ap_slopes(R_P, R_N):
    R_P, R_N = (torch.as_tensor(R, dtype=torch.float64)[:, None].requires_grad_() for R in (R_P, R_N))
    loss = smooth_ap_head(R_N, R_P, torch.ones_like(R_N, dtype=torch.bool)).sum()
    return [slope[:, 0] for slope in torch.autograd.grad(loss, (R_P, R_N))]


def test_E_PNP_8_gradient_with_three_positives_before_is_flatter_not_equal():
    R_N = [0, 1, 2, 5, 10]
    _, three = ap_slopes([3] * 5, R_N)
    assert three.tolist() == pytest.approx([0.25, 0.16, 0.111, 0.049, 0.020], abs=5e-4)
    _, none = ap_slopes([0] * 5, R_N)
    assert float(three[0] / three[-1]) == pytest.approx(12.25)  # "12x"
    assert float(none[0] / none[-1]) == pytest.approx(121)  # "120x"


def test_E_PNP_9_ap_rewards_positives_that_move_above():
    R_P, R_N = (g.flatten() for g in torch.meshgrid(torch.linspace(0, 9, 19), torch.linspace(0, 99, 23), indexing="ij"))
    slope, _ = ap_slopes(R_P, R_N)
    R_P, R_N = R_P.double(), R_N.double()
    torch.testing.assert_close(slope, -R_N / (1 + R_P + R_N) ** 2, rtol=1e-10, atol=1e-14)
    assert (slope <= 0).all()
    assert (slope[R_N > 0] < 0).all()


@pytest.mark.parametrize("alpha", [1.0, 2.0, 4.0, 50.0])
def test_E_PNP_12_largest_slope_of_Dq_is_alpha(alpha):
    R = torch.cat([torch.zeros(1), torch.logspace(-6, 4, 200)]).double()
    slope = pnp_derivative(R, "Dq", alpha=alpha).abs()
    assert slope.max() == slope[0] == alpha


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_E_SL_1_the_outer_argument_is_k_minus_rank(k):
    order = torch.tensor([0, 3, 1, 4, 5, 2])  # query 0, then the others, best first
    S = torch.zeros(6, 6, dtype=torch.float64)
    S[0, order] = torch.linspace(1, 0, 6, dtype=torch.float64)
    labels = torch.tensor([7, 7, 7, 0, 1, 2])  # positives 1 and 2 stand at ranks 2 and 5
    loss = ranking_loss_from_similarities(S, labels, paper_head((k,), (1.0,)), Rules(1e-4), reduction="none")[0]
    recall = (1 / (1 + math.exp(-(k - 2))) + 1 / (1 + math.exp(-(k - 5)))) / 2
    assert float(loss) == pytest.approx(1 - recall, abs=1e-12)


@pytest.mark.parametrize(("P", "floor"), [(1, 0.1635), (3, 0.2705), (9, 0.5003)])
def test_E_SL_3_perfect_ranking_has_a_floor(P, floor):
    # Class 0 on a fan of angles, such that the neighbours of every member have distinct similarities; the others far.
    angles = 0.02 * torch.tensor([2.0**i for i in range(P + 1)], dtype=torch.float64) / 2 ** max(P - 4, 0)
    own = torch.stack([angles.cos(), angles.sin(), *[torch.zeros_like(angles)] * 2], 1)
    far = torch.tensor([[0, 0, 1, 0], [0, 0, 0, 1]], dtype=torch.float64).repeat_interleave(P + 1, 0)
    labels = torch.arange(3).repeat_interleave(P + 1)
    rows = torch.cat([own, far])
    each = functional.recall_at_k(rows, labels, tau_sim=1e-9, reduction="none")
    assert each[: P + 1].tolist() == pytest.approx([floor] * (P + 1), abs=5e-5)
    ranks = torch.arange(1, P + 1, dtype=torch.float64)
    exact = torch.stack([torch.sigmoid(ranks - k) for k in (1, 2, 4, 8, 16)]).mean()
    assert each[: P + 1].tolist() == pytest.approx([float(exact)] * (P + 1), abs=1e-9)
    tied = (1 + (P - 1) / 2 - torch.tensor([1.0, 2, 4, 8, 16], dtype=torch.float64)).sigmoid().mean()
    assert each[P + 1 :].tolist() == pytest.approx([float(tied)] * (2 * P + 2), abs=1e-9)  # identical members


def test_E_SL_3_floor_at_one_is_a_half_and_the_released_code_recalls_less():
    labels = torch.arange(4).repeat_interleave(2)
    rows = torch.cat([torch.eye(8), 2 * torch.eye(4).repeat_interleave(2, 0)], 1).double()  # cosine .8 within a class
    paper = functional.recall_at_k(rows, labels, ks=(1,), tau_sim=1e-3)
    official = functional.recall_at_k(rows, labels, ks=(1,), tau_sim=1e-3, convention="official")
    assert 1 - float(paper) == pytest.approx(0.5, abs=1e-9)
    assert 1 - float(official) == pytest.approx(1 / (1 + math.e), abs=1e-9)  # .269: the code's k is the paper's k − 1


# Facts of the released code


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("M", [2, 3, 5])
def test_official_pnp_is_a_fraction_of_the_paper_at_a_small_temperature_only(variant, M):
    labels = torch.arange(6).repeat(M)

    def ratio(dim, tau):
        rows, options = random_rows(6 * M, dim), {"variant": variant, "alpha": ALPHA, "b": B, "tau": tau}
        paper, official = (functional.pnp(rows, labels, convention=c, **options) for c in ("paper", "official"))
        return float(official / paper)

    # in many dimensions no negative comes near the query itself, so R_q ≈ 0
    assert ratio(64, 0.01) == pytest.approx((M - 1) / M, rel=1e-8)
    assert abs(ratio(6, 0.1) - (M - 1) / M) > 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_official_recall_caps_its_hits_at_k(method):
    names = [0] * 6 + [1] * 3
    x = random_rows(9).requires_grad_()
    ks, taus = (1, 3), (50.0, 50.0)  # an outer sigmoid so flat that all five positives count about a half
    each = functional.recall_at_k(
        x,
        torch.tensor(names),
        ks=ks,
        tau_rank=taus,
        tau_sim=0.1,
        convention="official",
        reduction="none",
        method=method,
    )
    G = soft_steps(cosines(x), names, 0.1)
    expected = reduced(recall_at_k_losses(G, names, ks, taus, "official"), "none")
    torch.testing.assert_close(each, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(*(torch.autograd.grad(y.sum(), x)[0] for y in (each, expected)), rtol=1e-9, atol=1e-11)
    at_one = functional.recall_at_k(
        x, torch.tensor(names), ks=(1,), tau_rank=50.0, tau_sim=0.1, convention="official", reduction="none"
    )
    assert at_one[:6].tolist() == [0] * 6  # more than one hit, capped at one


@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (2, 6), (6, 2)])
def test_perfect_clusters_have_no_smooth_ap_loss(shape):
    classes, size = shape
    rows, labels = torch.eye(classes).repeat(size, 1), torch.arange(classes).repeat(size)
    for convention in ("paper", "official"):
        for method in METHODS:
            loss = functional.smooth_ap(rows, labels, convention=convention, method=method)
            assert float(loss) == pytest.approx(0, abs=1e-12)


@both_conventions
@pytest.mark.parametrize("name", [name for name in NAMES if name != "rs@k"])
def test_one_class_gives_zero_and_no_gradient(name, convention):
    for method in METHODS:
        rows = random_rows(5).requires_grad_()
        loss = labkit_loss(name, rows, torch.zeros(5, dtype=torch.int64), convention=convention, method=method)
        loss.backward()
        assert loss == 0
        assert (rows.grad == 0).all()


# An independent library


@pytest.mark.peer
@pytest.mark.parametrize("variant", ["Ds", "Dq", "Iu", "Ib", "O"])
@pytest.mark.parametrize("batch", [batch for batch in BATCHES if batch != "negative and huge ids"])
def test_official_pnp_equals_pytorch_metric_learning(variant, batch):
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    labels = torch.tensor(BATCHES[batch])
    for tau in (0.05, 0.1):  # theirs cuts the exponent at ±50
        theirs = losses.PNPLoss(b=3, alpha=2, anneal=tau, variant=variant)
        x = random_rows(len(labels), 5, seed=4).requires_grad_()
        ours = functional.pnp(x, labels, variant=variant, alpha=2.0, b=3.0, tau=tau, convention="official")
        torch.testing.assert_close(ours, theirs(x, labels), rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(
            *(torch.autograd.grad(loss, x)[0] for loss in (ours, theirs(x, labels))), rtol=1e-8, atol=1e-10
        )


@pytest.mark.peer
def test_official_smooth_ap_equals_pytorch_metric_learning_only_where_that_is_right():
    losses = pytest.importorskip("pytorch_metric_learning.losses")
    theirs = losses.SmoothAPLoss(temperature=0.01)

    def both(rows, labels):
        return float(functional.smooth_ap(rows, labels, convention="official")), float(theirs(rows, labels))

    sorted_labels = torch.arange(3).repeat_interleave(3)
    for seed in range(3):
        ours, other = both(random_rows(9, 8, seed), sorted_labels)
        assert ours == pytest.approx(other, abs=1e-6)  # theirs is stored in fp32
    # theirs takes samples per class for the number of classes, and position for label
    ours, other = both(torch.eye(4, dtype=torch.float64).repeat_interleave(3, 0), torch.arange(4).repeat_interleave(3))
    assert ours == pytest.approx(0, abs=1e-12)
    assert other == pytest.approx(0.2974, abs=1e-3)
    ours, other = both(random_rows(12, 8), torch.arange(4).repeat_interleave(3))
    assert abs(ours - other) > 1e-3
    ours, other = both(random_rows(9, 8), torch.arange(3).repeat(3))
    assert abs(ours - other) > 1e-3


def test_mean_over_positives_of_nothing_is_zero():
    values, mask = torch.ones(2, 3), torch.tensor([[True, False, True], [False] * 3])
    assert mean_over_positives(values, mask).tolist() == [1, 0]
