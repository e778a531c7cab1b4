"""Losses as a person meets them: search, cards, equations, a slider that moves a figure, a formula that is wrong."""

import pytest
from playwright.sync_api import expect

from labkit.figures.lessons.proxies import gradient_arrows
from labkit.losses import CATALOG

pytestmark = pytest.mark.browser


def test_search_lives_in_the_address_and_cards_open(page, dashboard):
    page.goto(f"{dashboard}/losses?find=mpa-ap")
    page.get_by_text("Showing 1 of").wait_for()
    card = page.locator("details").filter(has_text="MPA-AP")
    card.locator("summary").first.click()
    card.locator(".katex").first.wait_for()  # the equation is typeset
    card.get_by_text("Released code:").first.wait_for()


def test_a_search_changes_the_address(page, dashboard):
    page.goto(f"{dashboard}/losses")
    page.get_by_text("Showing").wait_for()
    page.get_by_label("Find a loss").fill("smooth")
    page.get_by_label("Find a loss").press("Enter")
    page.wait_for_url("**find=smooth**")
    page.locator("summary", has_text="Smooth-AP").first.wait_for()


def test_no_equation_fails_to_typeset(page, dashboard):
    page.goto(f"{dashboard}/losses")
    page.locator("summary").nth(len(CATALOG) - 1).wait_for()
    page.locator("summary").evaluate_all("all => all.forEach(one => one.click())")
    page.locator("details .katex").nth(len(CATALOG) - 1).wait_for()
    assert page.locator(".katex-error").count() == 0


def test_a_slider_moves_the_figure_and_the_link_restores_it(page, dashboard):
    before, after = (gradient_arrows(angle, "ProxyAnchor", 2).layout.title.text for angle in (60, 80))
    assert before != after
    page.goto(f"{dashboard}/losses?loss=ProxyAnchor")
    title = page.locator(".gtitle").first
    expect(title).to_have_text(before, timeout=20_000)
    slider = page.locator("[data-testid=stSlider] [role=slider], [data-testid=stSlider] input[type=range]").first
    slider.focus()
    for _ in range(4):
        slider.press("ArrowRight")
    expect(title).to_have_text(after, timeout=20_000)
    page.wait_for_url("**angle=80**")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect(title).to_have_text(after, timeout=20_000)


def test_a_wrong_formula_is_told_as_text_and_a_right_one_trains(page, dashboard):
    page.goto(f"{dashboard}/losses?loss=PNP-D_q")
    page.get_by_role("tab", name="Derivative designer").click()
    field = page.get_by_role("textbox", name="a formula of R")
    field.fill("<img src=x onerror=alert(1)>")
    field.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="is not a formula")).to_contain_text("<img src=x")
    assert page.locator("[role=alert] img").count() == 0
    field.fill("1/(1+R)**3")
    field.press("Enter")
    page.get_by_role("button", name="Train the toy").click()
    page.get_by_text("trained just now").wait_for()


def test_the_tab_is_in_the_address_and_a_link_opens_it(page, dashboard):
    page.goto(f"{dashboard}/losses?view=Derivative+designer")
    formula = page.get_by_role("textbox", name="a formula of R")
    formula.wait_for(timeout=60_000)
    page.get_by_role("tab", name="On the circle").click()
    page.wait_for_url("**view=On**")
    expect(formula).to_be_hidden()
    page.get_by_text("angle of x, class A (degrees)").wait_for()


@pytest.mark.parametrize(("scheme", "fill"), [("light", "rgb(89, 89, 89)"), ("dark", "rgb(196, 196, 196)")])
def test_words_of_a_figure_have_contrast_on_either_page(browser, dashboard, scheme, fill):
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{dashboard}/losses")
    tick = page.locator(".xtick text").first
    tick.wait_for(timeout=60_000)
    assert tick.evaluate("e => getComputedStyle(e).fill") == fill
    context.close()
