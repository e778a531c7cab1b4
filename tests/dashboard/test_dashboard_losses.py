"""Losses: every card opens with its playground, search and filter work, mistakes in a formula are told."""

import pytest
from streamlit.testing.v1 import AppTest

from labkit.data.papers import errata
from labkit.losses import CATALOG


def titles(page: AppTest) -> list[str]:
    return [expander.label.split("**")[1] for expander in page.expander if "**" in expander.label]


def plots(page: AppTest) -> list[str]:
    return [element.proto.spec for element in page.get("plotly_chart")]


@pytest.fixture
def losses(page):
    return page("losses")


def test_the_page_needs_no_runs(losses, situation):
    assert not losses.exception
    assert sorted(titles(losses)) == sorted(card.title for card in CATALOG.values())
    assert f"Showing {len(CATALOG)} of {len(CATALOG)} losses" in " ".join(c.value for c in losses.caption)


@pytest.mark.parametrize("situation", ["none"], indirect=True)
@pytest.mark.parametrize("name", CATALOG)
def test_every_card_opens_with_its_playground(page, name):
    opened = page("losses", loss=CATALOG[name].title)
    assert not opened.exception
    assert opened.selectbox(key="loss").value == name
    assert plots(opened)
    assert CATALOG[name].latex in opened.latex[0].value


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_search_and_family_narrow_the_list(losses):
    losses.text_input(key="find").input("saeki").run()
    assert titles(losses) == ["MPA", "MPA-DW", "MPA-AP"]
    losses.text_input(key="find").input("E-PNP-1").run()
    assert "PNP-I_u" in titles(losses)
    losses.text_input(key="find").input("").run()
    losses.selectbox(key="family").select("pair").run()
    assert len(titles(losses)) == sum(card.family == "pair" for card in CATALOG.values())
    losses.text_input(key="find").input("<b>no such loss</b>").run()
    assert not losses.exception
    assert titles(losses) == []
    assert "Clear the search box" in losses.warning[0].value


@pytest.mark.parametrize("situation", ["none"], indirect=True)
@pytest.mark.parametrize(
    ("formula", "told"),
    [
        ("1/(1+R", "bracket"),
        ("x + 1", "“x” is not allowed"),
        ("<img src=x onerror=alert(1)>", "is not a formula"),
        ("__import__('os')", "is not allowed"),
        ("log(R)", "at R \\= 0"),
        ("R+" * 120 + "R", "at most 200"),
    ],
)
def test_a_mistake_in_a_formula_is_told_as_text(page, formula, told):
    opened = page("losses", loss="PNP-Dq", view="Derivative designer", formula=formula)
    assert not opened.exception
    assert told.replace("\\= ", "= ") in opened.error[0].value.replace("\\", "")
    assert "<img" not in opened.error[0].value.replace("\\<", "")


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_the_designer_draws_and_trains_when_asked(page):
    opened = page("losses", loss="PNP-Dq", view="Derivative designer", formula="1/(1+R)**3")
    before = len(plots(opened))
    next(button for button in opened.button if button.label == "Train the toy").click().run()
    assert not opened.exception
    assert len(plots(opened)) == before + 1
    assert any("trained just now" in caption.value for caption in opened.caption)
    opened.text_input(key="formula").input("R").run()
    assert len(plots(opened)) == before  # what was trained belongs to another derivative


@pytest.mark.parametrize("situation", ["none"], indirect=True)
@pytest.mark.parametrize(
    ("loss", "slider", "value"),
    [("PNP-Dq", "alpha", 4.0), ("ProxyAnchor", "angle", 200), ("Triplet", "other", 100), ("Softmax", "length", 2.0)],
)
def test_a_slider_changes_the_figure(page, loss, slider, value):
    opened = page("losses", loss=loss)
    before = plots(opened)
    opened.slider(key=slider).set_value(value).run()
    assert not opened.exception
    assert plots(opened) != before


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_the_tab_of_the_url_is_drawn_and_another_loss_has_its_own(page):
    opened = page("losses", loss="PNP-Dq", view="On the circle")
    assert opened.slider(key="angle").value == 60
    assert not [slider for slider in opened.slider if slider.key == "alpha"]
    opened.selectbox(key="loss").select("recall-at-k").run()
    assert not opened.exception
    opened = page("losses", loss="PNP-Dq", view="no such tab")
    assert not opened.exception
    assert opened.slider(key="alpha").value == 1.0


def test_every_erratum_on_a_card_has_a_text():
    known = errata()
    assert {erratum for card in CATALOG.values() for erratum in card.errata} <= set(known)
    assert all(len(text) > 20 for text in known.values())


@pytest.mark.parametrize("situation", ["none"], indirect=True)
@pytest.mark.parametrize("said", ["PNP-Ib", "pnp-ib", "PNP-I_b"])
def test_old_addresses_lead_to_the_loss(page, said):
    assert page("losses", loss=said).selectbox(key="loss").value == "pnp-ib"


@pytest.mark.parametrize("situation", ["none"], indirect=True)
def test_a_proxy_loss_has_sliders_for_its_own_options(page):
    opened = page("losses", loss="SoftTriple")
    sliders = {slider.key for slider in opened.select_slider}
    assert {"circle-lam", "circle-gamma", "circle-delta", "circle-tau"} <= sliders
    opened.select_slider(key="circle-lam").set_value(16.0).run()
    assert not opened.exception
    assert not opened.error
