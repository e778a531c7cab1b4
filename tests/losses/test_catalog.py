import csv
import inspect
import re
from pathlib import Path

import pytest
import torch

from labkit import losses
from labkit.losses import CATALOG, Card

all_cards = pytest.mark.parametrize("card", CATALOG.values(), ids=lambda card: card.name)


@all_cards
def test_the_source_of_every_figure_is_on_the_card(card):
    switches = {"reduction", "empty", "validate", "method", "chunk", "convention", "simix", "simix_space", "variant"}
    switches |= {"learn_scale"}
    unused = {"alpha", "b"} if card.name.startswith("pnp") else set()  # each PNP variant has its own
    unused |= {"label_smoothing"} if card.name == "norm-softmax" else set()
    figures = card.options.keys() - switches - {"num_classes", "dim"}
    assert card.sources.keys() <= figures
    assert figures - unused <= card.sources.keys()
    assert all(source.strip() for source in card.sources.values())


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
    assert all(re.fullmatch(r"E-(PNP|MPA|SG|SL)-[1-9]\d?|E-SGSL-[A-Z]", erratum) for erratum in card.errata)


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
    modules = {value for name in losses.__all__ if inspect.isclass(value := getattr(losses, name))}
    modules -= {Card, losses.CrossBatchMemory}  # a frame around a loss
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


def test_a_mistyped_loss_is_told_with_the_closest():
    with pytest.raises(KeyError, match=r"no loss 'fstap'; did you mean fast-ap\?"):
        CATALOG["fstap"]
    assert CATALOG.get("fstap") is None
    with pytest.raises(TypeError, match="foo: no option of FastAP"):
        losses.FastAP(foo=3)
