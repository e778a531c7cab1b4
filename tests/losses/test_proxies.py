import math

import pytest
import torch
from torch.nn.functional import normalize

from labkit.losses import proxies as P
from labkit.losses.class_similarity import class_similarities, proxy_regularizer

NAMES = ("proxy_nca", "proxy_anchor", "soft_triple", "mpa", "mpa_data_wise", "mpa_all_pairs")
LOSSES = {name: getattr(P, name) for name in NAMES}
ONE_CENTER = ("proxy_nca", "proxy_anchor")
PER_CLASS = ("proxy_anchor", "mpa")  # reduction="none" gives (C,): their terms belong to classes, not to samples
REGULARIZED = ("soft_triple", "mpa", "mpa_data_wise", "mpa_all_pairs")
all_losses = pytest.mark.parametrize("name", NAMES)

# labels, number of classes
BATCHES = {
    "shuffled": ([2, 0, 1, 1, 0, 2, 3, 3, 0, 1], 4),
    "classes missing": ([5, 1, 1, 5, 2, 1, 1], 7),
    "one class": ([3] * 5, 5),
    "two classes": ([1, 0, 0, 1, 1], 2),
    "one of two classes": ([1, 1, 1], 2),
    "one sample": ([2], 4),
    "one sample of two classes": ([0], 2),
    "a class each": ([3, 1, 0, 2], 4),
    "only class": ([0, 0, 0], 1),
}
OPTIONS = [
    *((name, {}) for name in NAMES),
    ("proxy_nca", {"convention": "official"}),
    ("proxy_nca", {"scale": 1.5}),
    ("proxy_anchor", {"alpha": 4.0, "delta": 0.3}),
    ("soft_triple", {"lam": 3.0, "delta": 0.2, "gamma": 1.0, "tau": 0.0}),
    ("soft_triple", {"convention": "official", "tau": 1.0}),
    *((name, {"alpha": 5.0, "delta": 0.0, "gamma": 0.5, "tau": 2.0}) for name in NAMES[3:]),
]
with_options = pytest.mark.parametrize(("name", "options"), OPTIONS)


def random_rows(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def skips(name, options, classes):
    return name == "proxy_nca" and classes == 1 and options.get("convention") != "official"


def sweep(name, options):
    """Batches and numbers of centres that the loss allows, with embeddings and proxies that are not unit vectors."""
    for batch, (labels, classes) in BATCHES.items():
        if skips(name, options, classes):
            continue
        for centers in (1,) if name in ONE_CENTER else (1, 2, 5):
            seed = len(batch) + centers
            x = 3 * random_rows(len(labels), 6, seed=seed)
            yield torch.tensor(labels), x, random_rows(classes, centers, 6, seed=seed + 100)


# The printed formulas once more, as loops over float64 scalars; torch scalars, so that autograd differentiates them.


def log(x):
    return torch.log(torch.as_tensor(x, dtype=torch.float64))


def unit(v):
    return v / (v * v).sum().sqrt()


def naive_similarity(x, centers, gamma):
    """Eq. 1 for one sample and one class."""
    s = [(x * w).sum() for w in centers]
    total = sum(torch.exp(v / gamma) for v in s)
    return sum(torch.exp(v / gamma) / total * v for v in s)


def naive_regularizer(w, epsilon=0.0):
    """Eq. 3."""
    classes, centers = len(w), len(w[0])
    total = torch.zeros((), dtype=torch.float64)
    for j in range(classes):
        for t in range(centers):
            for s in range(t + 1, centers):
                total = total + torch.sqrt(2 - 2 * (w[j][s] * w[j][t]).sum() + epsilon)
    return total / (classes * centers * (centers - 1)) if centers > 1 else total


def naive_proxy_nca(x, y, w, scale=9.0, convention="paper"):
    each = []
    for i, label in enumerate(y):
        e = [torch.exp(-scale * (x[i] - p[0]).square().sum()) for p in w]
        rest = [v for c, v in enumerate(e) if c != label or convention == "official"]
        each.append(-log(e[label] / sum(rest)))
    return each, sum(each) / len(each)


def naive_soft_triple(S, y, lam=20.0, delta=0.01):
    each = []
    for row, label in zip(S, y):
        own = torch.exp(lam * (row[label] - delta))
        each.append(-log(own / (own + sum(torch.exp(lam * v) for c, v in enumerate(row) if c != label))))
    return each, sum(each) / len(each)


def naive_mpa(S, y, alpha=32.0, delta=0.1):
    classes, samples = range(len(S[0])), range(len(y))
    pull = [log(1 + sum(torch.exp(-alpha * (S[i][c] - delta)) for i in samples if y[i] == c)) for c in classes]
    push = [log(1 + sum(torch.exp(alpha * (S[i][c] + delta)) for i in samples if y[i] != c)) for c in classes]
    each = [a + b for a, b in zip(pull, push)]
    return each, sum(pull[c] for c in set(y)) / len(set(y)) + sum(push) / len(classes)


def naive_mpa_data_wise(S, y, alpha=32.0, delta=0.1):
    each = []
    for row, label in zip(S, y):
        others = sum(torch.exp(alpha * (v + delta)) for c, v in enumerate(row) if c != label)
        each.append(log(1 + torch.exp(-alpha * (row[label] - delta))) + log(1 + others))
    return each, sum(each) / len(each)


def naive_mpa_all_pairs(S, y, alpha=32.0, delta=0.1):
    each = []
    for row, label in zip(S, y):
        primed = [delta - v if c == label else v + delta for c, v in enumerate(row)]  # Eq. 15
        each.append(log(1 + sum(torch.exp(alpha * v) for v in primed)))
    return each, sum(each) / len(each)


def naive(name, x, labels, proxies, options):
    """(terms, mean similarity loss, τ·Reg)."""
    options, y = dict(options), labels.tolist()
    rows, w = [unit(v) for v in x], [[unit(v) for v in centers] for centers in proxies]
    if name == "proxy_nca":
        return *naive_proxy_nca(rows, y, w, **options), 0.0
    tau = options.pop("tau", 0.2 if name in REGULARIZED else 0.0)
    gamma = options.pop("gamma", 0.1)
    epsilon = 1e-5 if options.pop("convention", "paper") == "official" else 0.0
    S = [[naive_similarity(v, centers, gamma) for centers in w] for v in rows]
    formula = naive_mpa if name == "proxy_anchor" else globals()[f"naive_{name}"]
    return *formula(S, y, **options), tau * naive_regularizer(w, epsilon)


@with_options
def test_equals_the_printed_formula(name, options):
    for labels, x, proxies in sweep(name, options):
        ours = [x.clone().requires_grad_(), proxies.clone().requires_grad_()]
        theirs = [x.clone().requires_grad_(), proxies.clone().requires_grad_()]
        value = LOSSES[name](ours[0], labels, ours[1], **options)
        each, mean, extra = naive(name, theirs[0], labels, theirs[1], options)
        expected = mean + extra
        torch.testing.assert_close(value, expected, rtol=1e-12, atol=1e-13)
        slopes = zip(torch.autograd.grad(value, ours), torch.autograd.grad(expected, theirs))
        for slope, exact in slopes:
            torch.testing.assert_close(slope, exact, rtol=1e-10, atol=1e-11)
        terms = LOSSES[name](x, labels, proxies, reduction="none", **options)
        assert terms.shape == (len(proxies) if name in PER_CLASS else len(labels),)
        torch.testing.assert_close(terms, torch.stack(each).detach(), rtol=1e-12, atol=1e-13)
        total = LOSSES[name](x, labels, proxies, reduction="sum", **options)
        torch.testing.assert_close(total, (sum(each) + extra).detach(), rtol=1e-12, atol=1e-13)


# Eq. 1 and Eq. 3


@pytest.mark.parametrize("centers", [1, 2, 5])
@pytest.mark.parametrize("gamma", [0.01, 0.1, 1.0])
def test_class_similarity_equals_eq_1(centers, gamma):
    x, w = normalize(random_rows(4, 5)).requires_grad_(), normalize(random_rows(3, centers, 5, seed=1), dim=-1)
    w.requires_grad_()
    S = class_similarities(x, w, gamma)
    expected = torch.stack([torch.stack([naive_similarity(v, c, gamma) for c in w]) for v in x])
    torch.testing.assert_close(S, expected, rtol=1e-12, atol=1e-13)
    weight = random_rows(4, 3, seed=2)
    for one, other in zip(*(torch.autograd.grad((s * weight).sum(), (x, w)) for s in (S, expected))):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11)
    assert torch.autograd.gradcheck(lambda a, b: class_similarities(a, b, gamma), (x, w), atol=1e-4)


def test_class_similarity_lies_between_mean_and_maximum():
    x, w = normalize(random_rows(6, 5)), normalize(random_rows(4, 7, 5, seed=1), dim=-1)
    s = torch.einsum("nd,ckd->nck", x, w)
    torch.testing.assert_close(class_similarities(x, w, 1e-5), s.amax(-1), rtol=0, atol=1e-9)
    torch.testing.assert_close(class_similarities(x, w, 1e9), s.mean(-1), rtol=0, atol=1e-9)
    S = class_similarities(x, w, 0.1)
    assert ((s.mean(-1) < S) & (s.amax(-1) > S)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_class_similarity_at_tiny_gamma_is_finite(dtype):
    x, w = normalize(random_rows(6, 5, dtype=dtype)), normalize(random_rows(4, 3, 5, seed=1, dtype=dtype), dim=-1)
    x.requires_grad_()
    S = class_similarities(x, w, 1e-30)
    S.sum().backward()
    assert torch.isfinite(S).all()
    assert torch.isfinite(x.grad).all()


@pytest.mark.parametrize(("classes", "centers"), [(1, 2), (3, 2), (2, 5), (4, 10)])
@pytest.mark.parametrize("epsilon", [0.0, 1e-5])
def test_regularizer_equals_eq_3(classes, centers, epsilon):
    free = random_rows(classes, centers, 6).requires_grad_()  # the gradient counts where w stays on the sphere
    w = normalize(free, dim=-1)
    value, expected = proxy_regularizer(w, epsilon=epsilon), naive_regularizer(list(w), epsilon)
    torch.testing.assert_close(value, expected, rtol=1e-13, atol=0)
    slopes = (torch.autograd.grad(v, free, retain_graph=True)[0] for v in (value, expected))
    torch.testing.assert_close(*slopes, rtol=1e-10, atol=1e-12)


def test_regularizer_is_half_of_the_mean_distance():  # E-MPA-2
    w = normalize(random_rows(3, 4, 5), dim=-1)
    lengths = [math.dist(w[c, s], w[c, t]) for c in range(3) for s in range(4) for t in range(s)]
    assert float(proxy_regularizer(w)) == pytest.approx(sum(lengths) / len(lengths) / 2, rel=1e-13)


def test_regularizer_of_one_center_is_zero_with_zero_gradient():  # E-MPA-2: 0/0 as printed
    w = random_rows(4, 1, 5).requires_grad_()
    value = proxy_regularizer(w)
    value.backward()
    assert value == 0
    assert (w.grad == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("spread", [0.0, 1e-9, 1e-4])
def test_regularizer_of_coincident_centers_is_finite(dtype, spread):  # E-MPA-2: the formula's gradient is infinite
    proxies = (random_rows(3, 1, 5) + spread * random_rows(3, 4, 5, seed=1)).to(dtype).requires_grad_()
    value = proxy_regularizer(normalize(proxies, dim=-1))
    value.backward()
    assert 0 <= value < 1e-3
    assert proxies.grad.abs().max() < 1
    for name in REGULARIZED:
        proxies.grad = None
        LOSSES[name](random_rows(4, 5, dtype=dtype), torch.tensor([0, 1, 1, 2]), proxies).backward()
        assert torch.isfinite(proxies.grad).all()


def test_regularizer_as_printed_has_an_infinite_gradient():  # E-MPA-2
    w = torch.tensor([[0.6, 0.8], [0.6, 0.8]], dtype=torch.float64, requires_grad=True)
    torch.sqrt(2 - 2 * (w[0] * w[1]).sum()).backward()
    assert torch.isinf(w.grad).all()


@pytest.mark.parametrize("name", REGULARIZED)
def test_regularizer_is_added_with_tau(name):
    labels, x, proxies = torch.tensor([0, 2, 1]), random_rows(3, 5), random_rows(4, 3, 5, seed=1)
    plain = LOSSES[name](x, labels, proxies, tau=0.0)
    value, parts = LOSSES[name](x, labels, proxies, tau=0.7, return_parts=True)
    regularizer = proxy_regularizer(normalize(proxies, dim=-1))
    torch.testing.assert_close(value - plain, 0.7 * regularizer)
    torch.testing.assert_close(parts.regularizer, regularizer)


# Published gradients with respect to S


def with_similarities(S):
    """Embeddings and proxies (one a class) whose similarities are the S asked for; rows of S of norm 1 at most."""
    S = torch.as_tensor(S, dtype=torch.float64)
    rest = (1 - S.square().sum(1, keepdim=True)).sqrt()
    return torch.cat([S, rest], 1), torch.eye(S.shape[1], S.shape[1] + 1, dtype=torch.float64)


def slopes(name, S, y, **options):
    """∂L/∂S from the parts of the loss."""
    x, proxies = with_similarities(S)
    _, parts = LOSSES[name](x, torch.tensor(y), proxies, return_parts=True, **options)
    torch.testing.assert_close(parts.similarity, torch.as_tensor(S, dtype=torch.float64), rtol=0, atol=1e-14)
    return parts.dL_dS


def random_similarities(n, classes, seed=0):
    return (0.25 * random_rows(n, classes, seed=seed)).clamp(-0.35, 0.35).tolist()


def eq_5_corrected(row, label, lam, delta):
    """E-MPA-1."""

    def l_R_plus(a, b):
        return math.exp(lam * (row[a] - row[b] - delta))

    others = [c for c in range(len(row)) if c != label]
    out = [lam / (l_R_plus(label, c) + sum(math.exp(lam * (row[k] - row[c])) for k in others)) for c in range(len(row))]
    out[label] = -lam / (1 + 1 / sum(1 / l_R_plus(label, c) for c in others))
    return out


def eq_5_printed(row, label, lam, delta):
    def l_R_plus(a, b):
        return math.exp(lam * (row[a] - row[b] - delta))

    others = [c for c in range(len(row)) if c != label]
    out = [
        -lam / (l_R_plus(label, c) + sum(math.exp(lam * (row[c] - row[k])) for k in others)) for c in range(len(row))
    ]
    out[label] = lam / (sum(l_R_plus(label, c) for c in others) + 1)
    return out


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_soft_triple_gradient_is_eq_5_corrected(classes):  # E-MPA-1
    for seed in range(5):
        S, y = random_similarities(4, classes, seed), [seed % classes, 0, classes - 1, 1]
        expected = [eq_5_corrected(row, label, 20.0, 0.01) for row, label in zip(S, y)]
        ours = slopes("soft_triple", S, y)
        torch.testing.assert_close(ours, torch.tensor(expected, dtype=torch.float64) / 4, rtol=1e-11, atol=1e-14)


def test_eq_5_as_printed_has_the_wrong_sign_and_for_more_classes_the_wrong_form():  # E-MPA-1
    row = [0.1, -0.05]
    expected = -torch.tensor([eq_5_printed(row, 0, 20.0, 0.01)], dtype=torch.float64)
    torch.testing.assert_close(slopes("soft_triple", [row], [0]), expected, rtol=1e-12, atol=0)
    # the example of the erratum: similarities recovered from its gradient [-λ(1-p_y), λ p_c]
    published = [-19.73, 13.44, 1.48, 4.77, 0.035]
    p = [1 + published[0] / 20] + [v / 20 for v in published[1:]]
    row = [math.log(p[0]) / 20 + 0.01] + [math.log(v) / 20 for v in p[1:]]
    middle = sum(row) / 5
    row = [v - middle for v in row]
    ours = slopes("soft_triple", [row], [0])[0].tolist()
    assert ours == pytest.approx(published, rel=2e-3)
    printed = eq_5_printed(row, 0, 20.0, 0.01)
    assert printed == pytest.approx([2.22, -0.051, -0.46, -0.14, -2.28], rel=0.03)
    assert all(a * b < 0 for a, b in zip(ours, printed))
    assert max(abs(a + b) for a, b in zip(ours, printed)) > 10


def test_soft_triple_gradient_does_not_see_the_similarity_itself():
    S, y = torch.tensor(random_similarities(4, 4), dtype=torch.float64), [0, 3, 1, 1]
    torch.testing.assert_close(slopes("soft_triple", S, y), slopes("soft_triple", S + 0.1, y), rtol=1e-9, atol=1e-12)
    for name in ("mpa", "mpa_data_wise", "mpa_all_pairs"):
        assert (slopes(name, S, y) - slopes(name, S + 0.1, y)).abs().max() > 0.1


@pytest.mark.parametrize("name", ["mpa", "proxy_anchor"])
@pytest.mark.parametrize(("labels", "classes"), BATCHES.values())
@pytest.mark.parametrize("equation", [8, 9])
def test_mpa_gradient_is_eqs_8_and_9(name, labels, classes, equation):
    alpha, delta, S = 32.0, 0.1, random_similarities(len(labels), classes)
    present = len(set(labels))
    expected = torch.zeros(len(labels), classes, dtype=torch.float64)
    for i, row in enumerate(S):
        for c, own in enumerate(row):
            same = [S[k][c] for k, label in enumerate(labels) if label == c]
            other = [S[k][c] for k, label in enumerate(labels) if label != c]
            if equation == 8 and labels[i] == c:
                total = sum(math.exp(-alpha * (v - delta)) for v in same)
                value = -alpha * math.exp(-alpha * (own - delta)) / (1 + total) / present
            elif equation == 8:
                total = sum(math.exp(alpha * (v + delta)) for v in other)
                value = alpha * math.exp(alpha * (own + delta)) / (1 + total) / classes
            elif labels[i] == c:
                relations = sum(math.exp(-alpha * (v - own)) for v in same)
                value = -alpha / (math.exp(-alpha * (delta - own)) + relations) / present
            else:
                relations = sum(math.exp(alpha * (v - own)) for v in other)
                value = alpha / (math.exp(-alpha * (own + delta)) + relations) / classes
            expected[i, c] = value
    torch.testing.assert_close(slopes(name, S, labels), expected, rtol=1e-11, atol=1e-14)


def eq_14(row, label, alpha, delta, printed=False):
    out = []
    for c, own in enumerate(row):
        if c == label:
            out.append(-alpha / (math.exp(-alpha * (delta - own)) + 1))
        else:  # printed: S_DR = S(x, c') − S(x, c') = 0
            S_DR = [0.0 if printed else v - own for k, v in enumerate(row) if k != label]
            out.append(alpha / (math.exp(-alpha * (own + delta)) + sum(math.exp(alpha * v) for v in S_DR)))
    return out


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_mpa_data_wise_gradient_is_eq_14_corrected(classes):  # E-MPA-5
    S, y = random_similarities(6, classes), [0, classes - 1, 0, classes // 2, 0, 0]
    ours = 6 * slopes("mpa_data_wise", S, y)
    for printed in (False, True):
        rows = [eq_14(row, label, 32.0, 0.1, printed) for row, label in zip(S, y)]
        gap = (ours - torch.tensor(rows, dtype=torch.float64)).abs().max()
        assert gap > 1 if printed and classes > 2 else gap < 1e-11  # with one negative the misprint does not show


@pytest.mark.parametrize("classes", [1, 2, 5])
def test_mpa_all_pairs_gradient_is_eq_18(classes):
    alpha, delta = 32.0, 0.1
    S, y = random_similarities(6, classes), [0, classes - 1, 0, classes // 2, 0, 0]
    ours = slopes("mpa_all_pairs", S, y)
    for row, label, actual in zip(S, y, ours.tolist()):
        primed = [delta - v if c == label else v + delta for c, v in enumerate(row)]
        expected = [alpha / (math.exp(-alpha * v) + sum(math.exp(alpha * (u - v)) for u in primed)) / 6 for v in primed]
        expected[label] *= -1  # dS'/dS
        assert actual == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("delta", [0.0, 0.1, 0.4])
def test_positive_negative_relation_of_all_pairs_is_a_sum(delta):  # E-MPA-6
    own, other, alpha = 0.2, -0.15, 8.0
    for a, b in ((own, other), (own + 0.1, other - 0.1)):  # moving them apart changes nothing
        down, up = slopes("mpa_all_pairs", [[a, b]], [0], alpha=alpha, delta=delta)[0].tolist()
        assert -down / up == pytest.approx(math.exp(-alpha * (own + other)), rel=1e-12)  # the margins cancel
    down, up = slopes("mpa_all_pairs", [[own + 0.1, other + 0.1]], [0], alpha=alpha, delta=delta)[0].tolist()
    assert -down / up == pytest.approx(math.exp(-alpha * (own + other + 0.2)), rel=1e-12)  # moving both does


@pytest.mark.parametrize(
    "values", [[0.3], [-1.0, 2.0, 0.5], [30.0, -40.0, 31.0], [-600.0, -601.0], [700.0, 699.0, 0.0]]
)
def test_softplus_of_a_sum_has_the_gradient_of_eq_11(values):
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    value = P.segment_log1p_sum_exp(x, torch.full((len(values),), 1), 3)
    assert value[0] == value[2] == 0  # classes without samples
    expected = math.log1p(sum(math.exp(v) for v in values))
    assert value[1].item() == pytest.approx(expected, rel=1e-14, abs=1e-16)
    (slope,) = torch.autograd.grad(value.sum(), x)
    eq_11 = [1 / (math.exp(-v) + sum(math.exp(u - v) for u in values)) for v in values]
    assert slope.tolist() == pytest.approx(eq_11, rel=1e-12)


@pytest.mark.parametrize("x", [-40.0, -1.0, 0.0, 19.0, 20.5, 25.0, 36.0, 50.0, 1e4])
def test_log1p_exp_is_exact_in_double(x):  # torch's softplus drops e^-x beyond 20: 2e-9, with a gradient of just 1
    alpha = max(abs(x), 1.0)
    S, y = [[-x / alpha * 0.5, x / alpha * 0.5]], [0]
    options = {"alpha": 2 * alpha, "delta": 0.0}
    expected = x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))
    vectors, proxies = with_similarities(S)
    for name in ("mpa", "mpa_data_wise"):
        terms = 1.5 if name == "mpa" else 2  # 1/|C+| + 1/|C-| with |C-| = 2
        value = LOSSES[name](vectors, torch.tensor(y), proxies, **options)
        assert float(value) == pytest.approx(terms * expected, rel=1e-14)
        slope = slopes(name, S, y, **options)[0, 1] * (2 if name == "mpa" else 1) / (2 * alpha)
        assert float(slope) == pytest.approx(1 / (1 + math.exp(-x)) if x > -700 else 0.0, rel=1e-14)
    value = LOSSES["mpa_all_pairs"](vectors, torch.tensor(y), proxies, **options)
    both = x + math.log(2 + math.exp(-x)) if x > 0 else math.log1p(2 * math.exp(x))
    assert float(value) == pytest.approx(both, rel=1e-14)


@pytest.mark.parametrize("name", ["soft_triple", "mpa_data_wise", "mpa_all_pairs"])
def test_sum_is_the_mean_times_the_batch_apart_from_the_regularizer(name):  # E-MPA-3
    labels, x, proxies = torch.tensor([0, 2, 1, 1, 3]), random_rows(5, 6), random_rows(4, 3, 6, seed=1)
    regularizer = 0.2 * proxy_regularizer(normalize(proxies, dim=-1))
    mean, total = (LOSSES[name](x, labels, proxies, reduction=how) - regularizer for how in ("mean", "sum"))
    torch.testing.assert_close(total, 5 * mean, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ["mpa", "proxy_anchor"])
def test_negative_term_is_divided_by_all_classes(name):  # E-MPA-4: it differs for a batch of one class
    S = [[0.3, -0.1, 0.2, 0.05], [0.1, 0.2, -0.3, 0.15]]
    x, proxies = with_similarities(S)
    pull = math.log(1 + sum(math.exp(-32 * (row[0] - 0.1)) for row in S))
    push = sum(math.log(1 + sum(math.exp(32 * (row[c] + 0.1)) for row in S)) for c in (1, 2, 3))
    value = float(LOSSES[name](x, torch.tensor([0, 0]), proxies))
    assert value == pytest.approx(pull + push / 4, rel=1e-13)
    assert value != pytest.approx(pull + push / 3, rel=0.01)


@pytest.mark.parametrize(("labels", "classes"), BATCHES.values())
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_mpa_with_one_center_is_proxy_anchor(labels, classes, reduction):  # E-MPA-16
    y, leaves = torch.tensor(labels), []
    for name, options in (("mpa", {"tau": 0.0}), ("mpa", {"gamma": 0.7}), ("proxy_anchor", {})):
        x, proxies = random_rows(len(labels), 6).requires_grad_(), random_rows(classes, 6, seed=1).requires_grad_()
        value = LOSSES[name](x, y, proxies[:, None] if name == "mpa" else proxies, reduction=reduction, **options)
        leaves.append((value, *torch.autograd.grad(value.sum(), (x, proxies))))
    for one, other in ((leaves[0], leaves[2]), (leaves[1], leaves[2])):
        assert all(torch.equal(a, b) for a, b in zip(one, other))


def test_official_proxy_nca_has_the_positive_in_the_denominator():
    x, proxies = random_rows(6, 5), random_rows(4, 5, seed=1)
    labels = torch.tensor([0, 1, 1, 3, 2, 0])
    logits = 18 * normalize(x) @ normalize(proxies).T
    official = P.proxy_nca(x, labels, proxies, convention="official")
    torch.testing.assert_close(official, torch.nn.functional.cross_entropy(logits, labels))
    perfect = P.proxy_nca(proxies[labels], labels, proxies)
    assert perfect < 0 < P.proxy_nca(proxies[labels], labels, proxies, convention="official")


@all_losses
def test_parts_tell_value_and_gradient(name):
    labels, centers = torch.tensor([2, 0, 0, 3, 2]), 1 if name in ONE_CENTER else 3
    x, proxies = random_rows(5, 6).requires_grad_(), random_rows(5, centers, 6, seed=1)
    options = {"tau": 0.0} if name in REGULARIZED else {}
    value, parts = LOSSES[name](x, labels, proxies, return_parts=True, **options)
    S = class_similarities(normalize(x), normalize(proxies, dim=-1), 0.1)
    torch.testing.assert_close(parts.similarity, S.detach())
    (expected,) = torch.autograd.grad(value, x)
    torch.testing.assert_close(torch.autograd.grad((S * parts.dL_dS).sum(), x)[0], expected, rtol=1e-9, atol=1e-12)
    assert not any(part.requires_grad for part in vars(parts).values())
    with torch.no_grad():
        same, again = LOSSES[name](x, labels, proxies, return_parts=True, reduction="sum", **options)
    assert not same.requires_grad
    torch.testing.assert_close(again.dL_dS, parts.dL_dS)


# Precision, devices


SHARP = {
    "proxy_nca": {"scale": 1e4},
    "proxy_anchor": {"alpha": 1e4},
    "soft_triple": {"lam": 1e4},
    "mpa": {"alpha": 1e4},
    "mpa_data_wise": {"alpha": 1e4},
    "mpa_all_pairs": {"alpha": 1e4},
}


@all_losses
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["trained", "opposite", "wrong class", "zero", "one zero", "zero proxies", "random"])
def test_no_overflow(name, dtype, kind):
    labels, classes = torch.tensor([4, 1, 1, 4, 2, 0]), 6
    centers = 1 if name in ONE_CENTER else 3
    proxies = torch.eye(classes, 8)[:, None].repeat(1, centers, 1)  # coincident centres
    x = {
        "trained": proxies[labels, 0],
        "opposite": -proxies[labels, 0],
        "wrong class": proxies[(labels + 1) % classes, 0],
        "zero": torch.zeros(6, 8),
        "one zero": random_rows(6, 8) * torch.tensor([0, 1, 1, 1, 1, 1])[:, None],
    }.get(kind, random_rows(6, 8))
    proxies = torch.zeros_like(proxies) if kind == "zero proxies" else proxies
    for options in ({}, SHARP[name]):
        leaves = [x.detach().to(dtype).requires_grad_(), proxies.clone().requires_grad_()]
        for reduction in ("mean", "none"):
            value = LOSSES[name](leaves[0], labels, leaves[1], reduction=reduction, **options)
            value.sum().backward()
            assert torch.isfinite(value).all()
            assert all(torch.isfinite(leaf.grad).all() for leaf in leaves)


@all_losses
def test_trained_data_give_no_gradient_at_a_sharp_scale(name):
    proxies, labels = torch.eye(4), torch.tensor([0, 1, 3, 3])
    x = (4 * proxies[labels] - 1).requires_grad_()  # cosines: .87 with the own proxy, −.29 with the others
    options = SHARP[name] | ({"tau": 0.0} if name in REGULARIZED else {})
    options |= {"convention": "official"} if name == "proxy_nca" else {}  # the paper's form has no floor
    LOSSES[name](x, labels, proxies, **options).backward()
    assert (x.grad == 0).all()


# Modules


# Bad input

GOOD, GOOD_LABELS, GOOD_PROXIES = random_rows(4, 3), torch.tensor([0, 2, 1, 1]), random_rows(3, 3, seed=1)
BAD_PROXIES = [
    GOOD_PROXIES.tolist(),
    None,
    GOOD_PROXIES.long(),
    GOOD_PROXIES[0],
    GOOD_PROXIES[0, 0],
    GOOD_PROXIES[None, None],
    GOOD_PROXIES[:, :2],
    GOOD_PROXIES[:, None, :2],
    GOOD_PROXIES[:0],
    torch.full((3, 3), math.nan),
    torch.full((3, 1, 3), math.inf),
]


@all_losses
@pytest.mark.parametrize("proxies", BAD_PROXIES)
def test_bad_proxies_are_named(name, proxies):
    with pytest.raises(ValueError, match="^proxies"):
        LOSSES[name](GOOD, GOOD_LABELS, proxies)


@pytest.mark.parametrize("name", ONE_CENTER)
def test_losses_with_one_proxy_a_class_refuse_more(name):
    with pytest.raises(ValueError, match="^proxies"):
        LOSSES[name](GOOD, GOOD_LABELS, random_rows(3, 2, 3))
    one = LOSSES[name](GOOD, GOOD_LABELS, GOOD_PROXIES[:, None])
    assert torch.equal(one, LOSSES[name](GOOD, GOOD_LABELS, GOOD_PROXIES))


def test_proxy_nca_needs_two_classes():
    with pytest.raises(ValueError, match="^proxies.*two classes"):
        P.proxy_nca(GOOD, GOOD_LABELS * 0, GOOD_PROXIES[:1])
    assert P.proxy_nca(GOOD, GOOD_LABELS * 0, GOOD_PROXIES[:1], convention="official") == 0


def test_centers_must_be_a_cube():
    for w in (GOOD_PROXIES, GOOD_PROXIES[0], GOOD_PROXIES[None, None]):
        with pytest.raises(ValueError, match="^w must"):
            proxy_regularizer(w)
        with pytest.raises(ValueError, match="^w must"):
            class_similarities(GOOD, w)


# pytorch-metric-learning


def peer(name, proxies, **options):
    """The same loss from pytorch-metric-learning; its parameter and ours are the same leaf, up to its layout."""
    pml = pytest.importorskip("pytorch_metric_learning.losses")
    from pytorch_metric_learning.regularizers import SparseCentersRegularizer

    classes, centers, dim = proxies.shape
    if name == "soft_triple":
        tau = options.get("tau", 0.2)
        regularized = centers > 1 and tau > 0
        loss = pml.SoftTripleLoss(
            classes,
            dim,
            centers_per_class=centers,
            la=20,
            gamma=0.1,
            margin=0.01,
            weight_regularizer=SparseCentersRegularizer(classes, centers) if regularized else None,
            weight_reg_weight=tau,
        )
        loss.fc = torch.nn.Parameter(proxies.reshape(classes * centers, dim).T.contiguous())
        return loss, loss.fc
    if name == "proxy_anchor":
        loss = pml.ProxyAnchorLoss(classes, dim, margin=0.1, alpha=32)
    else:
        loss = pml.ProxyNCALoss(classes, dim, softmax_scale=9)
    loss.proxies = torch.nn.Parameter(proxies[:, 0].clone())
    return loss, loss.proxies


@pytest.mark.peer
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("proxy_anchor", {}),
        ("soft_triple", {}),
        ("soft_triple", {"tau": 0.0}),
        ("proxy_nca", {"convention": "official"}),
    ],
)
def test_equals_pytorch_metric_learning(name, options):
    for labels, x, proxies in sweep(name, options):
        theirs, parameter = peer(name, proxies, **options)
        leaves = [x.requires_grad_(), proxies.requires_grad_()]
        ours = LOSSES[name](x, labels, proxies, **options)
        other = theirs(x, labels)
        torch.testing.assert_close(ours, other, rtol=1e-10, atol=1e-12)
        slope, by_proxy = torch.autograd.grad(ours, leaves)
        other_slope, by_parameter = torch.autograd.grad(other, (x, parameter))
        if name == "soft_triple":
            by_parameter = by_parameter.T
        torch.testing.assert_close(slope, other_slope, rtol=1e-8, atol=1e-10)
        torch.testing.assert_close(by_proxy.reshape(by_parameter.shape), by_parameter, rtol=1e-8, atol=1e-10)
