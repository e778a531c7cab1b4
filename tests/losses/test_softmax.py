import copy
import math
import warnings

import pytest
import torch
from torch.nn import functional as F

from labkit import losses
from labkit.losses import softmax as S

# labels, number of classes
BATCHES = {
    "shuffled": ([2, 0, 1, 1, 0, 2, 3, 3, 0, 1], 4),
    "classes missing": ([5, 1, 1, 5, 2, 1, 1], 7),
    "one class": ([3] * 5, 5),
    "two classes": ([1, 0, 0, 1, 1], 2),
    "one sample": ([2], 4),
    "one sample of two classes": ([0], 2),
    "only class": ([0, 0, 0], 1),
}
NAMES = ("softmax", "norm_softmax", "sgsl", "softmax_sgsl", "center", "ring")
all_losses = pytest.mark.parametrize("name", NAMES)
OPTIONS = [
    ("softmax", {}),
    ("softmax", {"label_smoothing": 0.3}),
    ("norm_softmax", {}),
    ("norm_softmax", {"scale": 1.0, "label_smoothing": 0.2}),
    ("sgsl", {}),
    ("sgsl", {"gamma": 1.0}),
    ("sgsl", {"gamma": 0.05}),  # arguments of the softplus beyond 20
    ("softmax_sgsl", {"gate": math.inf}),
    ("softmax_sgsl", {"gate": 0.0, "label_smoothing": 0.0}),
    ("softmax_sgsl", {"gate": math.inf, "gamma": 5.0, "beta": 0.3, "label_smoothing": 0.4, "convention": "official"}),
    ("center", {}),
    ("ring", {}),
    ("ring", {"radius": 2.5}),
]
with_options = pytest.mark.parametrize(("name", "options"), OPTIONS)


def random_rows(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def call(name, embeddings, labels, weight, **options):
    """All six functions under one signature; ring has neither labels nor class vectors."""
    if name == "ring":
        return S.ring(embeddings, options.pop("radius", 1.0), **options)
    return getattr(S, name)(embeddings, labels, weight, **options)


# The printed formulas once more, as loops over float64 scalars; torch scalars, so that autograd differentiates them.


def dot(a, b):
    return sum(u * v for u, v in zip(a, b))


def cosine(a, b):
    return dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()


def naive_cross_entropy(logits, label, epsilon):
    """−Σ_j q_j log p_j with q = 1−ε for the own class and ε/(C−1) for each other one."""
    total = sum(torch.exp(v) for v in logits)
    log_p = [torch.log(torch.exp(v) / total) for v in logits]
    if len(logits) == 1:
        return -log_p[0]
    return -sum((1 - epsilon if c == label else epsilon / (len(logits) - 1)) * v for c, v in enumerate(log_p))


def naive_softmax(f, y, W, label_smoothing=0.0):
    return [naive_cross_entropy([dot(w, v) for w in W], c, label_smoothing) for v, c in zip(f, y)]


def naive_norm_softmax(f, y, W, scale=16.0, label_smoothing=0.0):
    return [naive_cross_entropy([scale * cosine(w, v) for w in W], c, label_smoothing) for v, c in zip(f, y)]


def naive_sgsl(f, y, W, gamma=30.0):
    """Eq. 6 with ^T for ^2 (E-SG-1); Ŵ takes no gradient."""
    each = []
    for v, c in zip(f, y):
        cos = [cosine(w.detach(), v) for w in W]
        others = [u for j, u in enumerate(cos) if j != c]
        if not others:
            each.append(0 * cos[0])
            continue
        lse = torch.log(sum(torch.exp(gamma * u) for u in others)) / gamma
        each.append(torch.log(1 + torch.exp(lse - cos[c])))
    return each


def naive_softmax_sgsl(f, y, W, gamma=30.0, beta=1.0, gate=3.0, label_smoothing=0.1, convention="paper"):
    each = naive_softmax(f, y, W, label_smoothing)
    joins = sum(each) / len(each) < gate
    return [a + beta * b for a, b in zip(each, naive_sgsl(f, y, W, gamma))] if joins else each


def naive_center(f, y, centers):
    return [sum((a - b) ** 2 for a, b in zip(v, centers[c])) / 2 for v, c in zip(f, y)]


def naive_ring(f, y, W, radius=1.0):
    return [(dot(v, v).sqrt() - radius) ** 2 / 2 for v in f]


NAIVE = {name: globals()[f"naive_{name}"] for name in NAMES}


@with_options
def test_equals_the_printed_formula(name, options):
    for batch, (labels, classes) in BATCHES.items():
        y = torch.tensor(labels)
        leaves = [2 * random_rows(len(labels), 4, seed=len(batch)), random_rows(classes, 4, seed=len(batch) + 50)]
        ours, theirs = ([leaf.clone().requires_grad_() for leaf in leaves] for _ in range(2))
        each = torch.stack(NAIVE[name](theirs[0], labels, theirs[1], **options))
        value, expected = call(name, ours[0], y, ours[1], **options), each.mean()
        torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-13)
        slopes = (torch.autograd.grad(v, x, allow_unused=True) for v, x in ((value, ours), (expected, theirs)))
        for slope, exact in zip(*slopes):
            assert (slope is None) == (exact is None)  # neither for W behind the stop-gradient
            if exact is not None:
                torch.testing.assert_close(slope, exact, rtol=1e-10, atol=1e-12)
        terms = call(name, leaves[0], y, leaves[1], reduction="none", **options)
        torch.testing.assert_close(terms, each.detach(), rtol=1e-12, atol=1e-13)
        total = call(name, leaves[0], y, leaves[1], reduction="sum", **options)
        torch.testing.assert_close(total, each.detach().sum(), rtol=1e-12, atol=1e-13)


# Softmax and label smoothing


def test_softmax_is_cross_entropy_and_the_softplus_form_of_eq_5():  # E-SG-1: LSE over j ≠ y
    x, y, W = 0.3 * random_rows(8, 5), torch.tensor([0, 3, 1, 1, 2, 0, 3, 2]), random_rows(4, 5, seed=1)
    logits = x @ W.T
    torch.testing.assert_close(S.softmax(x, y, W), F.cross_entropy(logits, y), rtol=1e-14, atol=0)
    own = logits[torch.arange(8), y]
    rest = torch.stack([torch.cat([row[:c], row[c + 1 :]]) for row, c in zip(logits, y)])
    eq_5 = F.softplus(torch.logsumexp(rest, 1) - own).mean()
    torch.testing.assert_close(S.softmax(x, y, W), eq_5, rtol=1e-10, atol=0)
    over_all = F.softplus(torch.logsumexp(logits, 1) - own).mean()
    assert (S.softmax(x, y, W) - over_all).abs() > 0.1


@pytest.mark.parametrize(("classes", "epsilon"), [(2, 0.1), (2, 0.5), (5, 0.8), (7, 0.4), (100, 0.1), (100, 0.99)])
def test_label_smoothing_spreads_over_the_other_classes(classes, epsilon):
    x, W, y = random_rows(6, 4), random_rows(classes, 4, seed=1), torch.arange(6) % classes
    target = torch.full((6, classes), epsilon / (classes - 1), dtype=torch.float64)
    target[torch.arange(6), y] = 1 - epsilon
    expected = -(target * torch.log_softmax(x @ W.T, 1)).sum(1)
    actual = S.softmax(x, y, W, label_smoothing=epsilon, reduction="none")
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-13)
    torch_way = F.cross_entropy(x @ W.T, y, label_smoothing=epsilon * classes / (classes - 1))
    torch.testing.assert_close(actual.mean(), torch_way, rtol=1e-12, atol=0)


def at_the_optimum(classes, epsilon):
    """One feature a class, with probability 1−ε for its own: W = I, logits (a, 0, …, 0)."""
    return math.log((1 - epsilon) * (classes - 1) / epsilon) * torch.eye(classes, dtype=torch.float64)


@pytest.mark.parametrize(("classes", "epsilon"), [(2, 0.1), (10, 0.1), (10, 0.4), (100, 0.4), (5, 0.8)])
def test_smoothed_floor_is_attained_and_never_passed(classes, epsilon):
    floor = S.smoothed_floor(epsilon, classes)
    f, W, y = at_the_optimum(classes, epsilon).requires_grad_(), torch.eye(classes).double(), torch.arange(classes)
    value = S.softmax(f, y, W, label_smoothing=epsilon)
    value.backward()
    assert value.item() == pytest.approx(floor, rel=1e-12)
    assert f.grad.abs().max() < 1e-14
    for seed in range(20):
        near = f.detach() + 0.3 * random_rows(classes, classes, seed=seed)
        assert S.softmax(near, y, W, label_smoothing=epsilon) > floor


def test_smoothed_floor_of_the_benchmarks():
    assert S.smoothed_floor(0.4, 100) == pytest.approx(2.511, abs=5e-4)  # CUB
    assert S.smoothed_floor(0.4, 11318) == pytest.approx(4.41, abs=5e-3)  # SOP: above the gate of 3
    assert S.smoothed_floor(0.0, 100) == S.smoothed_floor(0.0, 1) == S.smoothed_floor(0.3, 1) == 0
    # the least likely own class still allowed: the uniform distribution
    assert S.smoothed_floor(0.75, 4) == pytest.approx(math.log(4), rel=1e-14)


@pytest.mark.parametrize("convention", ["paper", "official"])
def test_sgsl_warns_when_its_gate_can_never_open(convention):
    with pytest.warns(UserWarning, match=r"4\.41.*gate=3\.0 never opens"):
        losses.SGSL(11318, 4, label_smoothing=0.4, convention=convention)
    with pytest.warns(UserWarning, match="never opens"):
        losses.SGSL(100, 4, label_smoothing=0.4, gate=S.smoothed_floor(0.4, 100), convention=convention)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        losses.SGSL(100, 4, label_smoothing=0.4, convention=convention)
        losses.SGSL(11318, 4, convention=convention)  # ε = 0.1
        losses.SGSL(11318, 4, label_smoothing=0.4, gate=4.5, convention=convention)


def test_a_gate_below_the_floor_stays_closed_at_the_optimum():
    for gate, opens in ((2.5, False), (2.52, True)):
        f, W, y = at_the_optimum(100, 0.4), torch.eye(100).double(), torch.arange(100)
        _, parts = S.softmax_sgsl(f, y, W, gate=gate, label_smoothing=0.4, return_parts=True)
        assert bool(parts.gate_open) is opens


# NormSoftmax


def simplex(classes):
    return torch.eye(classes, dtype=torch.float64) - 1 / classes


@pytest.mark.parametrize("classes", [2, 3, 10, 136])
@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_norm_softmax_floor_is_attained_at_a_regular_simplex(classes, scale):
    f, W, y = 3 * simplex(classes), simplex(classes), torch.arange(classes)
    floor = S.norm_softmax_floor(classes, scale)
    f.requires_grad_()
    W.requires_grad_()
    value = S.norm_softmax(f, y, W, scale=scale)
    value.backward()
    assert value.item() == pytest.approx(floor, rel=1e-12)
    assert max(f.grad.abs().max(), W.grad.abs().max()) < 1e-12  # stalled


def test_norm_softmax_floor_values():
    assert S.norm_softmax_floor(10) == pytest.approx(1.38, abs=5e-3)
    assert S.norm_softmax_floor(136) == pytest.approx(3.92, abs=5e-3)
    assert S.norm_softmax_floor(1) == 0
    assert S.norm_softmax_floor(10, 16.0) < 2e-7


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_norm_softmax_cannot_be_trained_below_its_floor(classes):
    loss = losses.NormSoftmax(classes, 5, scale=1.0).double()
    f, y = random_rows(classes, 5).requires_grad_(), torch.arange(classes)
    optimizer = torch.optim.LBFGS([f, loss.weight], max_iter=200, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        value = loss(f, y)
        value.backward()
        return value

    optimizer.step(closure)
    floor = S.norm_softmax_floor(classes, 1.0)
    assert floor - 1e-12 < loss(f, y).item() < floor + 1e-4


def test_norm_softmax_scale_can_be_learned():
    x, y = random_rows(6, 5), torch.tensor([0, 1, 2, 2, 1, 0])
    fixed, learned = losses.NormSoftmax(3, 5), losses.NormSoftmax(3, 5, learn_scale=True)
    learned.load_state_dict(fixed.state_dict())
    for loss in (fixed, learned):
        loss(x, y).backward()
    assert fixed.scale.grad is None
    cos = F.normalize(x) @ F.normalize(learned.weight.detach().double()).T
    p = torch.softmax(16 * cos, 1)
    expected = ((p * cos).sum(1) - cos[torch.arange(6), y]).mean()
    torch.testing.assert_close(learned.scale.grad.double(), expected, rtol=1e-5, atol=1e-6)
    assert torch.equal(fixed(x, y), learned(x, y))
    scale = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: S.norm_softmax(x, y, fixed.weight.detach().double(), scale=s), (scale,))


# SGSL alone


def sgsl_at(own, other):
    """Two classes with the cosines asked for; with one other class LSE is that cosine, whatever γ."""
    W = torch.eye(3, dtype=torch.float64)[:2]
    rest = math.sqrt(max(1 - own**2 - other**2, 0))
    return S.sgsl(torch.tensor([[own, other, rest]], dtype=torch.float64), torch.tensor([0]), W).item()


def test_softplus_is_a_coarse_hinge():  # E-SG-3
    W = torch.tensor([[1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    opposite = S.sgsl(W[:1], torch.tensor([0]), W).item()
    values = [opposite, sgsl_at(1.0, 0.0), sgsl_at(0.5, 0.5), sgsl_at(0.0, 1.0)]
    assert values == pytest.approx([0.127, 0.313, 0.693, 1.313], abs=5e-4)
    assert values == pytest.approx([math.log1p(math.exp(v)) for v in (-2, -1, 0, 1)], rel=1e-12)


@pytest.mark.parametrize(("classes", "gamma", "gap"), [(100, 30.0, 0.153), (11318, 30.0, 0.311), (100, 1.0, 4.60)])
def test_gap_between_lse_and_the_maximum(classes, gamma, gap):  # E-SG-3
    assert math.log(classes - 1) / gamma == pytest.approx(gap, abs=6e-3)
    y = torch.tensor([0])
    equal = torch.full((1, classes), 0.2, dtype=torch.float64)  # the bound is attained where all others are equal
    random = torch.rand(1, classes, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for cos, attained in ((equal, True), (random, False)):
        value = S.sgsl_of_cosines(cos, y, gamma).item()
        lse = math.log(math.expm1(value)) + cos[0, 0].item()  # the softplus undone
        above = lse - cos[0, 1:].max().item()
        bound = math.log(classes - 1) / gamma
        assert 0 <= above <= bound + 1e-12
        assert (above == pytest.approx(bound, rel=1e-9)) is attained
    # so that SGSL never reaches 0: two classes apart, γ = 30
    W = torch.tensor([[1.0, 0.0], [-1.0, 0.0]])
    assert S.sgsl(W, torch.tensor([0, 1]), W) > 0.126


def test_at_gamma_1_sgsl_is_cross_entropy_on_cosines():  # E-SG-4
    f, y, W = random_rows(9, 6), torch.arange(9) % 5, random_rows(5, 6, seed=1)
    cos = F.normalize(f) @ F.normalize(W).T
    torch.testing.assert_close(S.sgsl(f, y, W, gamma=1.0), F.cross_entropy(cos, y), rtol=1e-12, atol=0)
    torch.testing.assert_close(S.sgsl(f, y, W, gamma=1.0), S.norm_softmax(f, y, W, scale=1.0), rtol=1e-12, atol=0)


@pytest.mark.parametrize("gamma", [1.0, 30.0, 1000.0])
def test_gamma_acts_inside_the_lse_only(gamma):  # E-SG-4
    f, y, W = random_rows(9, 6), torch.arange(9) % 5, random_rows(5, 6, seed=1)
    _, parts = S.sgsl(f, y, W, gamma=gamma, return_parts=True)
    own = parts.dL_dcos[torch.arange(9), y]
    torch.testing.assert_close(parts.dL_dcos.sum(1), torch.zeros(9, dtype=torch.float64), rtol=0, atol=1e-14)
    each = S.sgsl(f, y, W, gamma=gamma, reduction="none")
    torch.testing.assert_close(own, -(1 - torch.exp(-each)) / 9)  # −σ(LSE − cos_y)/N: no factor γ
    assert own.abs().max() < 1 / 9
    _, scaled = S.norm_softmax(f, y, W, scale=gamma, return_parts=True)
    if gamma > 1:
        assert scaled.dL_dcos.abs().max() > 1


def test_sgsl_has_no_gradient_through_the_class_vectors():
    f, y = random_rows(4, 6).requires_grad_(), torch.tensor([0, 2, 1, 1])
    W = random_rows(3, 6, seed=1).requires_grad_()
    S.sgsl(f, y, W).backward()
    assert W.grad is None
    assert f.grad.abs().max() > 0
    alone = losses.SGSLAlone(3, 6)
    assert not alone.weight.requires_grad
    by_softmax, together = (torch.autograd.grad(loss, W)[0] for loss in (S.softmax(f, y, W), open_sgsl(f, y, W)))
    assert by_softmax.abs().max() > 0
    torch.testing.assert_close(together, by_softmax, rtol=0, atol=0)


def open_sgsl(f, y, W, **options):
    return S.softmax_sgsl(f, y, W, **({"gate": math.inf, "label_smoothing": 0.0} | options))


# Softmax + SGSL and its gate


def test_total_is_softmax_plus_beta_times_sgsl():  # Eqs 7, 10
    f, y, W = random_rows(4, 6), torch.tensor([0, 2, 1, 1]), random_rows(3, 6, seed=1)
    base, metric = S.softmax(f, y, W, label_smoothing=0.2), S.sgsl(f, y, W, gamma=10.0)
    for beta in (0.0, 0.5, 1.0, 3.0):
        total = open_sgsl(f, y, W, beta=beta, gamma=10.0, label_smoothing=0.2)
        torch.testing.assert_close(total, base + beta * metric, rtol=1e-14, atol=0)  # smoothing on the softmax only
    closed, parts = open_sgsl(f, y, W, gate=base.item() - 1e-6, gamma=10.0, label_smoothing=0.2, return_parts=True)
    torch.testing.assert_close(closed, base, rtol=1e-14, atol=0)
    assert not parts.gate_open
    torch.testing.assert_close(parts.softmax, base)
    torch.testing.assert_close(parts.sgsl, metric)  # known although it does not take part


@pytest.mark.parametrize("is_open", [True, False])
def test_gradients_with_the_gate_open_and_closed(is_open):
    y, leaves = torch.tensor([0, 2, 1, 1]), [random_rows(4, 6), random_rows(3, 6, seed=1)]
    for leaf in leaves:
        leaf.requires_grad_()
    total = open_sgsl(leaves[0], y, leaves[1], gate=math.inf if is_open else 0.0)
    expected = S.softmax(leaves[0], y, leaves[1])
    expected = expected + S.sgsl(leaves[0], y, leaves[1]) if is_open else expected
    for ours, theirs in zip(torch.autograd.grad(total, leaves), torch.autograd.grad(expected, leaves)):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-15)


EASY, HARD = 5.0, -5.0  # class vectors times this as features: softmax loss about 0, and about 10
LABELS = torch.tensor([0, 1, 2, 3])


def gated(convention="paper", **options):
    loss = losses.SGSL(4, 8, label_smoothing=0.0, convention=convention, **options).double()
    loss.weight.data = torch.eye(4, 8, dtype=torch.float64)
    return loss


def joins(loss, strength):
    f = strength * loss.weight.detach()
    value, parts = loss(f, LABELS, return_parts=True)
    base, metric = S.softmax(f, LABELS, loss.weight), S.sgsl(f, LABELS, loss.weight)
    torch.testing.assert_close(value, base + metric if parts.gate_open else base, rtol=1e-14, atol=0)
    torch.testing.assert_close(loss(f, LABELS), value, rtol=0, atol=0)
    return bool(parts.gate_open)


@pytest.mark.parametrize(("convention", "expected"), [("paper", [0, 1, 1, 1]), ("official", [0, 1, 0, 1])])
def test_gate_latches_in_the_paper_and_is_asked_anew_as_released(convention, expected):
    loss = gated(convention)
    assert [joins(loss, strength) for strength in (HARD, EASY, HARD, EASY)] == expected


def test_evaluation_does_not_open_the_gate():
    loss = gated().eval()
    assert joins(loss, EASY)  # what the loss of this batch would be
    assert not loss.gate_open
    loss.train()
    assert not joins(loss, HARD)
    assert joins(loss, EASY)
    assert loss.gate_open
    assert joins(loss.eval(), HARD)


def test_state_dict_keeps_the_gate():
    loss = gated()
    assert joins(loss, EASY)
    assert set(loss.state_dict()) == {"weight", "gate_open"}
    twin = gated()
    twin.load_state_dict(loss.state_dict())
    assert joins(twin, HARD)
    assert joins(copy.deepcopy(loss), HARD)
    fresh = gated()
    assert not joins(fresh, HARD)


def test_gate_asks_for_the_smoothed_loss_below_it():
    f, y, W = random_rows(4, 6), torch.tensor([0, 2, 1, 1]), random_rows(3, 6, seed=1)
    smoothed = S.softmax(f, y, W, label_smoothing=0.3).item()
    for gate, opens in ((smoothed, False), (math.nextafter(smoothed, math.inf) + 1e-9, True)):
        state = torch.zeros((), dtype=torch.bool)
        _, parts = S.softmax_sgsl(f, y, W, gate=gate, gate_open=state, label_smoothing=0.3, return_parts=True)
        assert bool(parts.gate_open) is bool(state) is opens
    state = torch.zeros((), dtype=torch.bool)
    S.softmax_sgsl(f, y, W, gate=math.inf, gate_open=state, convention="official")
    assert not state


def test_a_later_change_of_the_gate_does_not_reach_an_earlier_graph():
    loss = gated()
    f = (HARD * loss.weight.detach()).requires_grad_()
    early = loss(f, LABELS)
    joins(loss, EASY)
    (slope,) = torch.autograd.grad(early, f)
    (expected,) = torch.autograd.grad(S.softmax(f, LABELS, loss.weight), f)
    assert torch.equal(slope, expected)


# Center and Ring loss


def test_center_loss_moves_features_and_centers_towards_each_other():
    x, y, centers = random_rows(5, 3).requires_grad_(), torch.tensor([0, 2, 2, 0, 0]), random_rows(4, 3, seed=1)
    centers.requires_grad_()
    S.center(x, y, centers).backward()
    torch.testing.assert_close(x.grad, (x - centers[y]).detach() / 5)
    for c in range(4):
        members = x.detach()[y == c]
        torch.testing.assert_close(centers.grad[c], (centers[c].detach() - members).sum(0) / 5)
    assert (centers.grad[[1, 3]] == 0).all()


def test_ring_loss_pulls_norms_and_radius_together():
    x, radius = random_rows(5, 3).requires_grad_(), torch.tensor(1.5, dtype=torch.float64, requires_grad=True)
    S.ring(x, radius).backward()
    norm = x.detach().norm(dim=1)
    torch.testing.assert_close(radius.grad, (1.5 - norm).mean())
    torch.testing.assert_close(x.grad, ((norm - 1.5) / norm)[:, None] * x.detach() / 5)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_center_and_ring_modules_include_the_softmax(reduction):
    x, y = random_rows(5, 3, dtype=torch.float32), torch.tensor([0, 2, 2, 0, 0])
    center = losses.CenterLoss(4, 3, weight=0.7, reduction=reduction)
    ring = losses.RingLoss(4, 3, weight=0.7, radius=2.0, reduction=reduction)
    for loss, extra in (
        (center, S.center(x, y, center.centers, reduction=reduction)),
        (ring, S.ring(x, ring.radius, reduction=reduction)),
    ):
        base = S.softmax(x, y, loss.classifier, reduction=reduction)
        torch.testing.assert_close(loss(x, y), base + 0.7 * extra)
        loss(x, y).sum().backward()
        assert all(parameter.grad.abs().max() > 0 for parameter in loss.parameters())
    assert ring.radius == 2


# Parts


@pytest.mark.parametrize("name", ["softmax", "norm_softmax", "sgsl", "softmax_sgsl"])
def test_parts(name):
    y, x, W = torch.tensor([2, 0, 0, 3, 2]), random_rows(5, 6).requires_grad_(), random_rows(4, 6, seed=1)
    value, parts = call(name, x, y, W, return_parts=True)
    cos = F.normalize(x) @ F.normalize(W).T
    torch.testing.assert_close(parts.cosine, cos.detach())
    assert not any(part.requires_grad for part in vars(parts).values())
    if name in ("norm_softmax", "sgsl"):
        (expected,) = torch.autograd.grad(value, x)
        torch.testing.assert_close(torch.autograd.grad((cos * parts.dL_dcos).sum(), x)[0], expected)
        assert (parts.softmax if name == "norm_softmax" else parts.sgsl) == pytest.approx(value.item())
    elif name == "softmax":
        assert (parts.dL_dcos == 0).all()
        torch.testing.assert_close(parts.softmax, value.detach())
    else:
        torch.testing.assert_close(parts.dL_dcos, S.sgsl(x, y, W, return_parts=True)[1].dL_dcos)
    for reduction in ("sum", "none"):
        with torch.no_grad():
            _, again = call(name, x, y, W, return_parts=True, reduction=reduction)
        for key, part in vars(parts).items():
            torch.testing.assert_close(getattr(again, key), part)


# Precision, devices


@all_losses
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["trained", "wrong", "zero", "one zero", "zero weights"])
def test_no_overflow(name, dtype, kind):
    y, W = torch.tensor([4, 1, 1, 4, 2, 0]), torch.eye(6, 8)
    x = {"trained": 1e4 * W[y], "wrong": -1e4 * W[y], "zero": torch.zeros(6, 8)}.get(kind, random_rows(6, 8))
    x = x * torch.tensor([0, 1, 1, 1, 1, 1])[:, None] if kind == "one zero" else x
    W = torch.zeros_like(W) if kind == "zero weights" else W
    sharp = {"norm_softmax": {"scale": 1e4}, "sgsl": {"gamma": 1e4}, "softmax_sgsl": {"gamma": 1e4, "gate": math.inf}}
    for options in ({}, sharp.get(name, {})):
        leaves = [x.detach().to(dtype).requires_grad_(), W.clone().requires_grad_()]
        value = call(name, leaves[0], y, leaves[1], **options)
        value.backward()
        assert torch.isfinite(value)
        assert all(torch.isfinite(leaf.grad).all() for leaf in leaves if leaf.grad is not None)


# Modules


# Bad input

GOOD, GOOD_LABELS, GOOD_WEIGHT = random_rows(4, 3), torch.tensor([0, 2, 1, 1]), random_rows(3, 3, seed=1)
BAD_WEIGHTS = [
    GOOD_WEIGHT.tolist(),
    None,
    GOOD_WEIGHT.long(),
    GOOD_WEIGHT[0],
    GOOD_WEIGHT[:, None],
    GOOD_WEIGHT[:, :2],
    GOOD_WEIGHT[:0],
    torch.full((3, 3), math.nan),
]


@all_losses
@pytest.mark.parametrize("weight", BAD_WEIGHTS)
def test_bad_class_vectors_are_named(name, weight):
    if name == "ring":
        return  # it has none
    with pytest.raises(ValueError, match="^centers" if name == "center" else "^weight"):
        call(name, GOOD, GOOD_LABELS, weight)


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan, math.inf, "1", True, None])
def test_a_bad_radius_is_named(radius):
    for call in (lambda: S.ring(GOOD, radius), lambda: losses.RingLoss(3, 3, radius=radius)):
        with pytest.raises(ValueError, match="^radius"):
            call()


@pytest.mark.parametrize("name", ["softmax", "norm_softmax", "softmax_sgsl"])
@pytest.mark.parametrize("smoothing", [0.67, 1])
def test_label_smoothing_must_leave_the_own_class_the_likeliest(name, smoothing):
    module = {"softmax": losses.Softmax, "norm_softmax": losses.NormSoftmax, "softmax_sgsl": losses.SGSL}[name]
    for make in (
        lambda: call(name, GOOD, GOOD_LABELS, GOOD_WEIGHT, label_smoothing=smoothing),
        lambda: module(3, 3, label_smoothing=smoothing),
    ):
        with pytest.raises(ValueError, match="^label_smoothing"):
            make()


def test_floors_check_their_arguments():
    for epsilon in (-0.1, 0.95, math.nan, "0"):
        with pytest.raises(ValueError, match="^label_smoothing"):
            S.smoothed_floor(epsilon, 10)
    with pytest.raises(ValueError, match="^scale"):
        S.norm_softmax_floor(10, 0.0)


@pytest.mark.peer
@pytest.mark.parametrize(("labels", "classes"), BATCHES.values())
def test_norm_softmax_equals_pytorch_metric_learning(labels, classes):
    pml = pytest.importorskip("pytorch_metric_learning.losses")
    x, y = F.normalize(random_rows(len(labels), 5)).requires_grad_(), torch.tensor(labels)  # theirs leaves x as it is
    theirs = pml.NormalizedSoftmaxLoss(classes, 5, temperature=1 / 16)
    W = random_rows(classes, 5, seed=1).requires_grad_()
    theirs.W = torch.nn.Parameter(W.detach().T.contiguous())
    ours, other = S.norm_softmax(x, y, W), theirs(x, y)
    torch.testing.assert_close(ours, other, rtol=1e-10, atol=1e-12)
    slope, by_other = torch.autograd.grad(ours, W)[0], torch.autograd.grad(other, theirs.W)[0].T
    torch.testing.assert_close(slope, by_other, rtol=1e-9, atol=1e-11)


def test_released_mean_is_over_losses_that_are_not_zero():  # E-SGSL-A
    f, W, y = torch.tensor([[50.0, 0.0], [1.0, 0.9]]).double(), torch.eye(2).double(), torch.zeros(2).long()
    how = {"label_smoothing": 0.0, "gate": -1.0}
    each = [math.log1p(math.exp(-50)), math.log1p(math.exp(-0.1))]
    assert S.softmax_sgsl(f, y, W, **how).item() == pytest.approx(sum(each) / 2)
    assert S.softmax_sgsl(f, y, W, **how, convention="official").item() == pytest.approx(each[1])
    assert S.softmax_sgsl(f[:1], y[:1], W, **how, convention="official") == 0


def test_released_gate_is_open_at_the_gate_itself():  # E-SGSL-A
    f, y, W = random_rows(4, 6), torch.tensor([0, 2, 1, 1]), random_rows(3, 6, seed=1)
    mean = S.softmax_sgsl(f, y, W, gate=0.0, convention="official", return_parts=True)[1].softmax.item()
    for convention, gate, opens in (
        ("official", mean, True),
        ("official", math.nextafter(mean, 0), False),
        ("paper", mean, False),
    ):
        _, parts = S.softmax_sgsl(f, y, W, gate=gate, convention=convention, return_parts=True)
        assert bool(parts.gate_open) is opens
