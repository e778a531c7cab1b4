import csv
import functools
import inspect
import re
from pathlib import Path

import pytest
import torch
from torch import nn

from labkit import losses
from labkit.losses import CATALOG, Card

LABELS = torch.tensor([2, 0, 3, 1, 1, 0, 2, 3, 0, 1, 2, 3])
all_cards = pytest.mark.parametrize("card", CATALOG.values(), ids=lambda card: card.name)


def embeddings(dtype=torch.float32):
    return torch.randn(12, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)


def build(card, **options):
    torch.manual_seed(0)
    return card.build(num_classes=5, dim=8, **options)


@all_cards
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_every_card_builds_a_loss_that_trains(card, dtype):
    loss, x = build(card), embeddings(dtype).requires_grad_()
    assert isinstance(loss, nn.Module)
    value = loss(x, LABELS)
    value.backward()
    assert value.shape == ()
    assert torch.isfinite(value)
    assert torch.isfinite(x.grad).all()
    assert x.grad.abs().max() > 0
    for parameter in loss.parameters():
        assert not parameter.requires_grad or torch.isfinite(parameter.grad).all()
    assert any(True for _ in loss.parameters()) == card.needs_classes


@all_cards
def test_order_of_the_batch_does_not_matter(card):
    if card.name == "recall-at-k-simix":
        pytest.skip("mixes at random")
    order = torch.randperm(12, generator=torch.Generator().manual_seed(1))
    x, loss = embeddings(torch.float64), build(card).double()
    torch.testing.assert_close(loss(x[order], LABELS[order]), loss(x, LABELS), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(loss(x, LABELS.to(torch.uint8)), loss(x, LABELS), rtol=0, atol=0)


@all_cards
def test_a_few_steps_lower_the_loss(card):
    loss, x = build(card), nn.Parameter(embeddings())
    parameters = [p for p in loss.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD([x, *parameters], lr=0.01)

    def value():
        torch.manual_seed(0)  # SiMix draws its weights
        return loss(x, LABELS)

    before = value().item()
    for _ in range(20):
        optimizer.zero_grad()
        value().backward()
        optimizer.step()
    assert value().item() < before


@all_cards
def test_reductions_and_parts(card):
    x = embeddings()
    each = build(card, reduction="none")(x, LABELS)
    sizes = {"mpa": 5, "proxy-anchor": 5, "recall-at-k-simix": 24}  # classes; samples and as many virtual ones
    assert each.shape == (sizes.get(card.name, 12),)
    assert torch.isfinite(build(card, reduction="sum")(x, LABELS))
    with pytest.raises(ValueError, match="^reduction"):
        build(card, reduction="average")
    loss = build(card)
    if "return_parts" in inspect.signature(loss.forward).parameters:
        torch.manual_seed(0)
        value, _ = loss(x, LABELS, return_parts=True)
        torch.manual_seed(0)
        torch.testing.assert_close(loss(x, LABELS), value)


def actual_defaults(factory):
    """Option -> default of what the factory calls, with what a partial binds counted as its default."""
    bound, args = {}, ()
    if isinstance(factory, functools.partial):
        factory, args, bound = factory.func, factory.args, factory.keywords
    signature = inspect.signature(factory)
    defaults = {name: p.default for name, p in signature.parameters.items() if p.default is not p.empty}
    return defaults | signature.bind_partial(*args, **bound).arguments


@all_cards
def test_defaults_on_the_card_are_those_of_the_module(card):
    actual = actual_defaults(card.factory)
    for option, (value, source) in card.defaults.items():
        assert actual[option] == value
        assert type(actual[option]) is type(value)
        assert source.strip()


@all_cards
def test_defaults_on_the_card_are_complete(card):
    shared = {
        "reduction",
        "method",
        "convention",
        "simix",
        "simix_space",
        "variant",
        "learn_scale",
    }  # switches, not figures
    unused = {"alpha", "b"} if card.name.startswith("pnp") else set()  # each PNP variant has its own
    unused |= {"label_smoothing"} if card.name == "norm-softmax" else set()
    assert set(actual_defaults(card.factory)) - shared - unused <= set(card.defaults)


@all_cards
def test_options_override_the_defaults(card):
    for option, (value, _) in card.defaults.items():
        if option == "g":
            continue
        other = value + 1 if isinstance(value, int) else value / 2 if value and isinstance(value, float) else value
        loss = build(card, **{option: other})
        if option not in ("centers", "scale", "radius"):  # these live in parameters
            assert loss.options[option] == other
            if not isinstance(other, tuple):
                assert f"{option}={other!r}" in repr(loss)


@all_cards
def test_repr_names_the_loss(card):
    text = repr(build(card))
    kind = card.factory.func if isinstance(card.factory, functools.partial) else card.factory
    assert text.startswith(f"{kind.__name__}(")
    assert "reduction='mean'" in text


@all_cards
def test_build_asks_for_the_sizes_it_needs(card):
    if not card.needs_classes:
        assert isinstance(card.build(), nn.Module)
        return
    for sizes in ({}, {"dim": 8}, {"num_classes": 5}):
        with pytest.raises(ValueError, match="num_classes"):
            card.build(**sizes)


@all_cards
def test_card_is_filled_in(card):
    assert isinstance(card, Card)
    for field in ("name", "title", "family", "latex", "paper", "equation"):
        assert getattr(card, field).strip() == getattr(card, field) != ""
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", card.name)
    assert card.family in ("ranking", "proxy", "softmax", "pair")
    assert card.needs_classes == (card.family in ("proxy", "softmax"))
    assert re.search(r"\b(19|20)\d\d\b", card.paper)
    assert len(set(card.errata)) == len(card.errata)
    assert all(re.fullmatch(r"E-(PNP|MPA|SG|SL)-[1-9]\d?", erratum) for erratum in card.errata)


def test_errata_on_the_cards_exist():
    table = Path(__file__).parents[2] / "data" / "papers" / "errata.csv"
    if not table.exists():
        pytest.skip("no table of errata")
    with table.open(encoding="utf-8") as file:
        known = {row["id"] for row in csv.DictReader(file)}
    assert {erratum for card in CATALOG.values() for erratum in card.errata} <= known


def test_names_and_titles_are_unique():
    assert all(name == card.name for name, card in CATALOG.items())
    titles = [card.title for card in CATALOG.values()]
    assert len(set(titles)) == len(titles)
    assert len({card.latex for card in CATALOG.values()}) == len(titles)


def test_every_module_has_a_card():
    modules = {value for name in losses.__all__ if inspect.isclass(value := getattr(losses, name))} - {Card}
    on_cards = {getattr(card.factory, "func", card.factory) for card in CATALOG.values()}
    assert modules == on_cards
    assert sorted(losses.__all__) == sorted(set(losses.__all__))


def test_every_exported_function_exists_and_is_documented():
    for name in losses.functional.__all__:
        assert inspect.getdoc(getattr(losses.functional, name))
    for name in losses.__all__:
        assert inspect.getdoc(getattr(losses, name))


# Commands that KaTeX knows and the cards may use; a slip of the pen such as \sumi is not among them.
COMMANDS = {
    *(r"\frac", r"\tfrac", r"\sum", r"\int", r"\log", r"\cos", r"\in", r"\neq", r"\sim", r"\lVert", r"\rVert"),
    *(r"\alpha", r"\beta", r"\gamma", r"\delta", r"\tau", r"\lambda", r"\sigma"),
    *(r"\text", r"\mathrm", r"\mathbb", r"\left", r"\right", r"\big", r"\Big", r"\begin", r"\end"),
    *(r"\quad", r"\,", "\\ ", "\\\\"),
}
SIZES = (r"\big", r"\Big")


@all_cards
def test_latex_is_well_formed(card):
    latex = card.latex
    depth = 0
    for character in re.sub(r"\\[{}]", "", latex):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    assert latex.count("$") == 0
    commands = re.findall(r"\\(?:[A-Za-z]+|.)", latex)
    assert set(commands) <= COMMANDS
    assert commands.count(r"\left") == commands.count(r"\right")
    assert re.findall(r"\\begin\{(\w+)\}", latex) == re.findall(r"\\end\{(\w+)\}", latex)
    for size in SIZES:  # \Big( … \Big) come in pairs
        marks = re.findall(re.escape(size) + r"(?![A-Za-z])(.)", latex)
        assert sum(mark in "([" for mark in marks) == sum(mark in ")]" for mark in marks) == len(marks) / 2
    assert not re.search(r"[\^_]\s*[\^_}]", latex)
    assert not re.search(r"\\[tT]?frac(?!\{)", latex)
    plain = re.sub(r"\\text\{[^}]*\}", "", latex)
    assert plain.isascii()


@all_cards
def test_latex_draws(card):
    mathtext = pytest.importorskip("matplotlib.mathtext")
    known = re.sub(r"\\[bB]ig(?![A-Za-z])", "", card.latex)  # mathtext lacks a few of KaTeX's names
    for name, stand_in in ((r"\lVert", r"\|"), (r"\rVert", r"\|"), (r"\tfrac", r"\frac")):
        known = known.replace(name, stand_in)
    # nor has it environments: the rows of cases are drawn one by one
    for row in re.split(r"\\begin\{cases\}|\\\\|&|\\end\{cases\}", known):
        if row.strip():
            mathtext.MathTextParser("path").parse(f"${row}$")


def test_options_that_a_card_fixes_can_be_given_anew():
    assert CATALOG["pnp-dq"].build(variant="O").options["variant"] == "O"
    mine = CATALOG["from-derivative"].build(g=torch.ones_like)
    assert mine.value(torch.tensor(3.0)) == pytest.approx(3.0)


def test_center_and_ring_have_the_parts_of_their_softmax():
    e, labels = torch.randn(12, 5), torch.arange(12) % 4
    for name in ("center", "ring"):
        module = CATALOG[name].build(4, 5)
        value, parts = module(e, labels, return_parts=True)
        assert value == module(e, labels)
        assert parts.cosine.shape == (12, 4)
