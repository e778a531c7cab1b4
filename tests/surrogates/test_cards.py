"""Every way to tune a reader has a card: equation, source, what is ours, and errata that exist."""

from labkit.base.titles import TITLES
from labkit.commands.losses import show_way
from labkit.data.papers import errata
from labkit.losses import CATALOG
from labkit.surrogates.cards import BY_NAME, CARDS
from labkit.surrogates.word_config import ARMS


def test_every_way_has_a_card_with_its_parts():
    assert set(BY_NAME) == (set(ARMS) - {"untrained"}) | {"ls-iou"}
    assert len(BY_NAME) == len(CARDS)
    assert not set(BY_NAME) & set(CATALOG)
    for card in CARDS:
        assert card.latex.count("{") == card.latex.count("}")
        assert card.source
        assert card.ours
        assert set(card.errata) <= set(errata())
        assert card.title == TITLES.get(card.name, "LS-IoU")
        assert card.options == ARMS.get(card.name, {})


def test_the_command_shows_equation_source_and_what_is_ours(capsys):
    assert show_way(BY_NAME["feds"], errata()) == 0
    told = capsys.readouterr().out
    for part in ("FEDS", r"\varepsilon", "ICDAR 2021", "ours:", "epsilon = 1.0", "E-SL-8"):
        assert part in told
