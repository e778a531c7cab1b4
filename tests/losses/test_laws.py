"""What every loss of the catalogue must obey, whatever its family: one test a law, over every card and every form."""

import copy
import functools
import inspect
import itertools
import math
import pickle
import warnings

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from labkit.losses import CATALOG
from labkit.losses.options import bounds_of

CLASSES, DIM = 5, 8
LABELS = torch.tensor([2, 0, 3, 1, 1, 0, 2, 3, 0, 1, 2, 3, 0, 0, 4])  # shuffled, unequal, a singleton
RANKED = ("ranking", "pair")  # families that need a positive for a query, and take any labels
SEE_LENGTH = ("softmax", "sgsl", "center", "ring", "n-pair")  # losses of features that are not brought to length 1
FORMS = {
    "convention": ("paper", "official"),
    "method": ("auto", "plain", "streamed", "dense"),
    "form": ("squared", "linear"),
    "simix_space": ("embedding", "similarity"),
    "negatives": ("all", "pairs"),
}
MORE = {  # options that switch a part of the formula on or off
    "ranked-list": [{"temperature": 0.0}],
    "multi-similarity": [{"epsilon": None}],
    "soft-triple": [{"tau": 0.0}],
    "mpa": [{"centers": 1}, {"tau": 0.0}],
    "softmax": [{"label_smoothing": 0.3}],
    "norm-softmax": [{"scale": 1.0, "label_smoothing": 0.2, "learn_scale": True}],
    "sgsl-alone": [{"gamma": 0.05}],  # arguments of the softplus beyond 20
    "sgsl": [{"gate": math.inf}, {"gate": 0.0, "label_smoothing": 0.0}],
    "blackbox-recall": [{"weight": "loglog"}],
    "recall-at-k": [{"ks": (1, 3), "tau_rank": (0.5, 2.0)}],
}


JUMPS = ("blackbox-ap", "blackbox-recall")  # piecewise constant: test_blackbox.py holds their derivative


OTHER = {  # figures with which other terms are active: for gradcheck
    "contrastive": [{"margin": 1.3}, {"margin": 1.3, "form": "linear"}],
    "triplet": [{"margin": 1.0}],
    "lifted-structure": [{"margin": 0.1}],
    "ranked-list": [{"margin": 1.0, "alpha": 1.4, "temperature": 0.0, "balance": 0.5}],
    "multi-similarity": [{"alpha": 4.0, "beta": 10.0, "base": 1.0, "epsilon": 0.4}],
    "margin": [{"beta": 0.8, "margin": 0.6}],
    "n-pair": [{"l2": 0.5, "negatives": "pairs"}],
    "fast-ap": [{"bins": 3}],
    "listwise-ap": [{"bins": 7, "convention": "official"}],
    "proxy-nca": [{"scale": 1.5}],
    "proxy-anchor": [{"alpha": 4.0, "delta": 0.3}],
    "soft-triple": [{"lam": 3.0, "delta": 0.2, "gamma": 1.0, "tau": 0.0}, {"convention": "official", "tau": 1.0}],
    **{name: [{"alpha": 5.0, "delta": 0.0, "gamma": 0.5, "tau": 2.0}] for name in ("mpa", "mpa-dw", "mpa-ap")},
    "sgsl-alone": [{"gamma": 1.0}],
    "sgsl": [{"gate": math.inf, "gamma": 5.0, "beta": 0.3, "label_smoothing": 0.4, "convention": "official"}],
    "ring": [{"radius": 2.5}],
}


def forms(card):
    """Every way of computing a loss, and the options that change its formula."""
    names = [name for name in FORMS if name in card.options and (name != "simix_space" or card.name.endswith("simix"))]
    for values in itertools.product(*(FORMS[name] for name in names)):
        options = dict(zip(names, values))
        if options.get("simix_space") != "similarity" or options["method"] == "auto":  # that space has one method
            yield options
    yield from MORE.get(card.name, ())


CASES = [(card, options) for card in CATALOG.values() for options in forms(card)]
all_cards = pytest.mark.parametrize("card", CATALOG.values(), ids=lambda card: card.name)
all_forms = pytest.mark.parametrize(
    ("card", "options"), CASES, ids=[f"{card.name} {' '.join(map(str, options.values()))}" for card, options in CASES]
)
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def rows(n=15, dim=DIM, seed=0, dtype=torch.float64):
    return torch.randn(n, dim, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def build(card, dtype=torch.float64, classes=CLASSES, dim=DIM, **options):
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a gate that cannot open
        return card.build(classes, dim, **options).to(dtype)


def value(loss, x, labels=LABELS, **how):
    """The loss of a batch; SiMix draws the same weights each time."""
    torch.manual_seed(0)
    return loss(x, labels, **how)


def smooth(options):
    """A temperature at which the loss changes visibly within the steps of gradcheck."""
    return {name: 0.2 for name in ("tau", "tau_sim") if name in options}


@all_forms
def test_it_trains(card, options):
    loss, x = build(card, torch.float32, **options), nn.Parameter(rows(dtype=torch.float32))
    learned = [p for p in loss.parameters() if p.requires_grad]
    rate = 1.0 if card.name in JUMPS else 0.01  # a step must be long enough to change the order
    optimizer = torch.optim.SGD([x, *learned], lr=rate)
    before, largest = value(loss, x).item(), 0.0
    for _ in range(20):
        optimizer.zero_grad()
        value(loss, x).backward()
        optimizer.step()
        largest = max(largest, x.grad.abs().max().item())
    assert largest > 0
    assert value(loss, x).item() < before
    assert any(True for _ in loss.parameters()) == card.needs_classes


@all_forms
@given(labels=st.lists(st.integers(0, CLASSES - 1), min_size=2, max_size=14), seed=st.integers(0, 10**6))
@settings(max_examples=8, deadline=None)
def test_order_of_samples_and_names_of_classes_do_not_matter(card, options, labels, seed):
    if "simix" in card.name or options.get("negatives") == "pairs":
        return  # mixes at random; takes the first two of a class
    if card.family in RANKED and len(set(labels)) == len(labels):
        labels = [labels[0], *labels]
    labels, x, loss = torch.tensor(labels), rows(len(labels), seed=seed), build(card, **options)
    draw = torch.Generator().manual_seed(seed)
    order, names = torch.randperm(len(labels), generator=draw), torch.randperm(CLASSES, generator=draw)
    renamed = copy.deepcopy(loss)
    for parameter in renamed.parameters():
        if parameter.shape[:1] == (CLASSES,):
            parameter.data = parameter.data[names.argsort()]
    new = names if card.needs_classes else torch.randint(-(2**62), 2**62, (CLASSES,), generator=draw)
    moved = renamed(x[order], new[labels[order]])
    torch.testing.assert_close(moved, loss(x, labels), rtol=1e-9, atol=1e-11)
    renamed.options["reduction"] = loss.options["reduction"] = "none"
    each, again = loss(x, labels), renamed(x[order], new[labels[order]])
    where = order if card.name not in ("mpa", "proxy-anchor") else names.argsort()  # their terms belong to classes
    torch.testing.assert_close(again, each[where], rtol=1e-9, atol=1e-11)
    loss.options["reduction"] = "mean"
    if card.name not in SEE_LENGTH:
        lengths = 10 ** (8 * torch.rand(len(labels), 1, generator=draw, dtype=torch.float64) - 4)
        torch.testing.assert_close(loss(x * lengths, labels), loss(x, labels), rtol=1e-9, atol=1e-11)


@all_forms
def test_any_integer_labels(card, options):
    loss = build(card, **options)
    for dtype in (torch.int32, torch.int16, torch.int8, torch.uint8):
        assert value(loss, rows(), LABELS.to(dtype)) == value(loss, rows())


@pytest.mark.parametrize(
    ("card", "options"), [*CASES, *((CATALOG[name], options) for name, others in OTHER.items() for options in others)]
)
def test_gradcheck(card, options):
    if card.name in JUMPS or (card.name == "ranked-list" and "temperature" not in options):
        return  # its weights are constants for the gradient
    for labels, reduction in (([1, 0, 0, 4, 1, 1], "mean"), ([1, 0, 0, 4, 1, 1], "none"), ([2, 2, 2, 2], "mean")):
        x, labels = rows(len(labels), 3, seed=3).requires_grad_(), torch.tensor(labels)
        few = {"centers": 2} if "centers" in card.options else {}
        loss = build(card, dim=3, reduction=reduction, **few | smooth(card.options) | options)
        learned = [p for p in loss.parameters() if p.requires_grad and not (loss.extras().keys() & {"gate_open"})]
        assert torch.autograd.gradcheck(
            lambda x, *_, loss=loss, y=labels: value(loss, x, y), (x, *learned), rtol=1e-5, atol=1e-6
        )


@all_forms
def test_reductions_and_parts(card, options):
    x = rows()
    losses = {how: build(card, reduction=how, **options) for how in ("mean", "sum", "none")}
    mean, total, each = (value(loss, x) for loss in losses.values())
    assert mean.shape == total.shape == ()
    whole = {"mpa": CLASSES, "proxy-anchor": CLASSES, "recall-at-k-simix": len(LABELS) + 19}  # classes; virtual samples
    assert each.shape == (whole.get(card.name, len(LABELS)),)
    skipped = 1 if card.family == "ranking" else 0
    if card.family == "ranking" or card.name in ("softmax", "norm-softmax", "sgsl-alone", "sgsl", "proxy-nca"):
        torch.testing.assert_close(mean, each.sum() / (len(each) - skipped), rtol=1e-12, atol=1e-13)
    if options.get("simix_space") == "similarity":
        torch.testing.assert_close(total, each.sum(), rtol=1e-12, atol=1e-13)
        return  # no parts there
    again, parts = value(losses["mean"], x, return_parts=True)
    torch.testing.assert_close(again, mean, rtol=1e-12, atol=0)
    extra = losses["sum"].options.get("tau", 0) * getattr(parts, "regularizer", 0)  # belongs to no sample
    torch.testing.assert_close(total, each.sum() + extra, rtol=1e-12, atol=1e-13)
    assert not any(part.requires_grad for part in vars(parts).values() if torch.is_tensor(part))
    with torch.no_grad():
        _, same = value(losses["sum"], x, return_parts=True)
    with torch.inference_mode():
        _, there = value(losses["sum"], x.clone(), LABELS.clone(), return_parts=True)
    for name, part in vars(parts).items():
        torch.testing.assert_close(getattr(same, name), part)
        torch.testing.assert_close(getattr(there, name), part)


# Precision and devices


@all_forms
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_low_precision_is_close_to_double(card, options, dtype):
    if "simix" in card.name:
        return  # its weights are drawn in the working precision: test_simix.py mixes by hand
    loss, x = build(card, torch.float32, **options), rows(dtype=dtype).requires_grad_()
    exact, wide = copy.deepcopy(loss).double(), x.detach().double().requires_grad_()
    low, high = loss(x, LABELS), exact(wide, LABELS)
    low.backward()
    high.backward()
    assert (low.dtype, x.grad.dtype) == (torch.float32, dtype)
    assert low.item() == pytest.approx(high.item(), rel=2e-5, abs=1e-7)
    found = [(x.grad, wide.grad)]
    found += [(p.grad, q.grad) for p, q in zip(loss.parameters(), exact.parameters()) if q.grad is not None]
    for grad, reference in found:  # a similarity is true to 1e-7, in units of τ to 1e-5; then the gradient is rounded
        step = max(2e-5, torch.finfo(grad.dtype).eps)
        torch.testing.assert_close(
            grad.double(), reference, rtol=2 * step, atol=2 * step * float(reference.abs().max())
        )


@all_forms
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_changes_nothing(card, options, dtype):
    results = []
    for enabled in (False, True):
        loss, x = build(card, torch.float32, **options), rows(dtype=dtype).requires_grad_()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            found = value(loss, x)
        found.backward()
        assert found.dtype == torch.float32
        results.append([found, x.grad, *(p.grad for p in loss.parameters() if p.grad is not None)])
    assert len(results[0]) == len(results[1])
    assert all(torch.equal(a, b) for a, b in zip(*results))


@all_forms
@pytest.mark.parametrize("labels_device", ["cpu", "meta"])
def test_meta_device(card, options, labels_device):
    if "simix" in card.name and labels_device == "meta":
        return  # how many samples there are depends on the labels' values
    labels = LABELS.to(labels_device)
    for reduction in ("mean", "sum", "none"):
        loss = build(card, reduction=reduction, **options).to("meta")
        x = torch.empty(len(LABELS), DIM, device="meta", requires_grad=True)
        found = loss(x, labels)
        assert found.dim() == (reduction == "none")
        found.sum().backward()
        assert (x.grad.shape, x.grad.device.type) == (x.shape, "meta")
        assert all(p.grad.shape == p.shape for p in loss.parameters() if p.requires_grad)
    if options.get("simix_space") != "similarity" and (labels_device == "cpu" or card.needs_classes):
        _, parts = loss(x, labels, return_parts=True)
        assert {part.device.type for part in vars(parts).values() if torch.is_tensor(part)} == {"meta"}


def special_rows(kind, labels, dtype):
    x = rows(len(labels), dtype=dtype)
    if kind == "collapse":
        return x[:1].expand_as(x).clone()
    if kind == "near collapse":
        return x[:1] + 1e-5 * x
    if kind == "zero vectors":
        return torch.zeros_like(x)
    if kind == "one zero vector":
        x[0] = 0
        return x
    if kind == "antipodes":
        return torch.where(torch.arange(len(labels))[:, None] % 2 == 0, x[:1], -x[:1])
    if kind == "huge":
        return x * (torch.finfo(dtype).max / 8)
    return torch.eye(DIM, dtype=dtype)[labels]  # perfect separation


@all_forms
@pytest.mark.parametrize(
    "kind",
    ["collapse", "near collapse", "zero vectors", "one zero vector", "antipodes", "huge", "perfect separation"],
)
def test_finite_at_special_points(card, options, kind):
    if kind == "huge" and card.name in SEE_LENGTH:
        return
    if options.get("method", "auto") != "auto" and card.name not in ("pnp-dq", "smooth-ap", "recall-at-k"):
        return  # the methods of these three are those of the others
    for labels, dtype in itertools.product((LABELS, torch.zeros(5).long()), DTYPES):
        loss, x = build(card, torch.float32, **options), special_rows(kind, labels, dtype).requires_grad_()
        found = value(loss, x, labels)
        found.backward()
        assert torch.isfinite(found)
        assert torch.isfinite(x.grad).all()
        assert x.grad.abs().max() < {"ranking": 1000, "pair": 100}.get(card.family, math.inf)  # 1/(4τ) for each count
        assert all(torch.isfinite(p.grad).all() for p in loss.parameters() if p.grad is not None)


# Bad input and options

GOOD = rows(4)
GOOD_LABELS = torch.tensor([0, 0, 1, 1])
BAD_INPUT = [
    ("embeddings", GOOD.tolist(), GOOD_LABELS),
    ("embeddings", GOOD.long(), GOOD_LABELS),
    ("embeddings", GOOD[0], GOOD_LABELS),
    ("embeddings", GOOD[None], GOOD_LABELS),
    ("embeddings", GOOD[:0], GOOD_LABELS[:0]),
    ("embeddings", GOOD[:, :0], GOOD_LABELS),
    ("embeddings", torch.full((4, DIM), math.nan), GOOD_LABELS),
    ("embeddings", torch.full((4, DIM), -math.inf), GOOD_LABELS),
    ("labels", GOOD, GOOD_LABELS.tolist()),
    ("labels", GOOD, None),
    ("labels", GOOD, GOOD_LABELS.float()),
    ("labels", GOOD, GOOD_LABELS.bool()),
    ("labels", GOOD, GOOD_LABELS[:3]),
    ("labels", GOOD, GOOD_LABELS[None]),
    ("labels", GOOD, torch.tensor(0)),
]


@all_forms
def test_bad_input_is_named(card, options):
    loss = build(card, **options)
    for argument, embeddings, labels in BAD_INPUT:
        with pytest.raises(ValueError, match=f"^{argument}"):
            loss(embeddings, labels)
    if card.needs_classes:
        for labels in (GOOD_LABELS - 1, GOOD_LABELS + CLASSES - 1):
            with pytest.raises(ValueError, match="^labels must lie in 0..4"):
                loss(GOOD, labels)
    if card.family in RANKED:
        for n in (1, 4):
            with pytest.raises(ValueError, match="^labels: no "):
                loss(rows(n), torch.arange(n))


@all_forms
def test_a_batch_without_positives_is_zero_with_a_graph_on_request(card, options):
    if card.family not in RANKED:
        return  # they need none
    for reduction, shape in (("mean", ()), ("sum", ()), ("none", (4,))):
        loss, x = build(card, empty="zero", reduction=reduction, **options), GOOD.clone().requires_grad_()
        found = loss(x, torch.arange(4))
        found.sum().backward()
        assert found.shape == shape
        assert not found.any()
        assert torch.equal(x.grad, torch.zeros_like(x))
        assert torch.equal(
            value(loss, GOOD, GOOD_LABELS), value(build(card, reduction=reduction, **options), GOOD, GOOD_LABELS)
        )
    with pytest.raises(ValueError, match="^labels: no "):
        loss(x, torch.arange(4), return_parts=True)


@all_cards
def test_what_comes_after_labels_has_a_name(card):
    loss = build(card)
    with pytest.raises(TypeError, match="positional"):
        loss(GOOD, GOOD_LABELS, (torch.tensor([0]), torch.tensor([1]), torch.tensor([2])))
    with pytest.raises(ValueError, match="^indices_tuple"):
        loss(GOOD, GOOD_LABELS, indices_tuple=(torch.tensor([0]), torch.tensor([1]), torch.tensor([2])))


NO_NUMBERS = (math.nan, "1", True)
BAD_VALUES = {  # by the words of an option's bound
    "above 0": (*NO_NUMBERS, -1.0, 0.0, math.inf, None),
    "0 or above": (*NO_NUMBERS, -1.0, math.inf, None),
    "0 or above, or None": (*NO_NUMBERS, -1.0, math.inf),
    "above 0, one or several": (*NO_NUMBERS, -1.0, 0.0, None, (1.0, -1.0), "12"),
    "any number": (*NO_NUMBERS, None),
    "on or off": (1, "yes", None),
    "1 or above": (*NO_NUMBERS, 0, -1, 2.5, None),
    "each 1 or above": ((), (0,), (1, 1.5), (1, None), 3, None, "12"),
}


@all_cards
def test_bad_options_are_named_by_module_and_function(card):
    loss = build(card)
    for name, bound in bounds_of(loss.function).items():
        for bad in BAD_VALUES.get(bound.words, ("no such word", None, 1)):
            with pytest.raises(ValueError, match=f"^{name}"):
                build(card, **{name: bad})
            with pytest.raises(ValueError, match=f"^{name}"):
                loss.function(GOOD, GOOD_LABELS, **loss.extras() | {name: bad})
    with pytest.raises(TypeError, match="no_such_option"):
        build(card, no_such_option=1)


@all_cards
@pytest.mark.parametrize("bad", [0, -1, 2.0, "3", True, None])
def test_sizes_must_be_whole_and_positive(card, bad):
    if not card.needs_classes:
        assert isinstance(card.build(), nn.Module)  # it asks for none
        return
    sizes = {"num_classes": 3, "dim": 4} | ({"centers": 2} if "centers" in card.options else {})
    for size in sizes:
        with pytest.raises(ValueError, match=f"^{size}"):
            card.factory(**sizes | {size: bad})
    for missing in ({}, {"dim": 8}, {"num_classes": 5}):
        with pytest.raises(ValueError, match="num_classes"):
            card.build(**missing)


# Module and function


@all_cards
def test_a_module_is_its_function_with_the_functions_defaults(card):
    loss, x = build(card), rows()
    fixed = {name: card.options[name].default for name in fixed_options(card)}
    torch.manual_seed(0)
    assert torch.equal(loss.function(x, LABELS, **loss.extras(), **fixed), value(loss, x))
    named = inspect.signature(loss.function).parameters
    for name in bounds_of(loss.function).keys() - fixed.keys():
        assert card.options[name].default == named[name].default
    kind = getattr(card.factory, "func", card.factory)
    assert repr(loss).startswith(f"{kind.__name__}(")
    assert all(f"{name}={chosen!r}" in repr(loss) for name, chosen in loss.options.items())


def fixed_options(card):
    """What a card chooses for its Module: the variant of PNP, SiMix."""
    return set(card.factory.keywords) - {"g"} if isinstance(card.factory, functools.partial) else set()


@all_forms
def test_a_module_can_be_saved_copied_and_moved(card, options):
    loss, x = build(card, **options), rows()
    before = value(loss, x)
    twin = build(card, **options)
    for parameter in twin.parameters():
        nn.init.zeros_(parameter)
    twin.load_state_dict(loss.state_dict())
    assert torch.equal(value(twin, x), before)
    assert torch.equal(value(copy.deepcopy(loss), x), before)
    assert torch.equal(value(pickle.loads(pickle.dumps(loss)), x), before)  # noqa: S301 (what it loads, it made)
    assert loss.to("cpu") is loss
    assert bool(loss.state_dict()) == card.needs_classes


@all_cards
def test_options_override_the_defaults(card):
    for name, (default, _) in card.defaults.items():
        if name == "g":
            continue
        other = default + 1 if isinstance(default, int) else default / 2 if isinstance(default, float) else default
        loss = build(card, **{name: other})
        if name in loss.options:
            assert loss.options[name] == other
        else:  # these live in parameters
            assert name in ("centers", "scale", "radius")
            assert loss.proxies.shape[1] == other if name == "centers" else getattr(loss, name) == other
