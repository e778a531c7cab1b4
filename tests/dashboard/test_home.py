"""Home, run by Streamlit's own test driver: the catalogue is there, search and filter work, strange input is shown."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labkit.losses import CATALOG
from labkit.papers import errata

HOME = Path(__file__).parents[2] / "dashboard" / "home.py"


@pytest.fixture
def home() -> AppTest:
    return AppTest.from_file(str(HOME), default_timeout=30).run()


def titles(page: AppTest) -> list[str]:
    return [expander.label.split("**")[1] for expander in page.expander]


def test_every_loss_has_its_card(home):
    assert not home.exception
    assert sorted(titles(home)) == sorted(card.title for card in CATALOG.values())
    assert f"Showing {len(CATALOG)} of {len(CATALOG)} losses" in home.caption[0].value


def test_search_and_family_narrow_the_list(home):
    home.text_input(key="find").input("saeki").run()
    assert titles(home) == ["MPA", "MPA-DW", "MPA-AP"]
    home.text_input(key="find").input("E-PNP-1").run()
    assert "PNP-Iu" in titles(home)
    home.text_input(key="find").input("").run()
    home.selectbox(key="family").select("pair").run()
    assert len(titles(home)) == sum(card.family == "pair" for card in CATALOG.values())


def test_nothing_found_says_what_to_do(home):
    home.text_input(key="find").input("<b>no such loss</b>").run()
    assert not home.exception
    assert titles(home) == []
    assert "Clear the search box" in home.warning[0].value


def test_every_erratum_on_a_card_has_a_text():
    known = errata()
    assert {erratum for card in CATALOG.values() for erratum in card.errata} <= set(known)
    assert all(len(text) > 20 for text in known.values())
