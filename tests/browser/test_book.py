"""The book works from a file: figures answer their sliders, formulas are drawn, nothing asks the network."""

import pytest

from labkit.book import build_book
from labkit.book.build import document, without_dead_links

HAS_INK = "word => getComputedStyle(word).fill === getComputedStyle(document.body).color"
LESSON = r"""# %% [markdown]
# # A small lesson
# The sigmoid is $G(x; \tau) = \frac{1}{1 + e^{-x / \tau}}$, and `$HOME` is code.
#
# $$L_{AP} = 1 - \frac{1}{|S_P|} \sum_{i \in S_P} \frac{1 + R(i, S_P)}{1 + R(i, S_P) + R(i, S_N)}$$
#
# | a | b |
# |---|---|
# | 1 | <2 |

# %%
import numpy as np
import plotly.graph_objects as go

import labkit
from labkit.explorers.sliders import Control

x = np.linspace(-1, 1, 41)


def draw(tau, kind="line"):
    y = 1 / (1 + np.exp(-x / tau))
    trace = go.Scatter(x=x, y=y, mode="lines" if kind == "line" else "markers", line=labkit.style.line(0), name="G")
    return labkit.style.figure(trace, x="s", y="G(s; τ)", title=f"τ = {tau}")


tau = Control("tau", "temperature τ", (0.01, 0.1, 1.0), 0.1)
kind = Control("kind", "drawn as", ("line", "points"), "line", menu=True)
labkit.explore(draw, [tau, kind], [{"tau": 0.01}, {"tau": 1.0}], "Sigmoids.")

# %%
labkit.show(draw(0.5), "One sigmoid.")

# %%
labkit.predict("9.1")

# %%
print("printed <b>")
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lessons")
    (folder / "01_small.py").write_text(LESSON)
    (folder / "02_next.py").write_text("# %% [markdown]\n# # Next\n\n# %%\nprint(1)\n")
    target = folder / "book"
    assert build_book(folder, target) == 0
    return target


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_book_works_from_a_file(browser, book, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1100, "height": 900})
    page = context.new_page()
    asked, errors = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((book / "index.html").as_uri())
    page.get_by_text("A small lesson").click()
    page.wait_for_selector(".labkit-explorer .main-svg")
    assert page.locator(".labkit-explorer .gtitle").text_content() == "τ = 0.1"
    slider = page.get_by_label("temperature τ")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('.labkit-explorer .gtitle').textContent === 'τ = 1.0'")
    page.get_by_label("drawn as").select_option("points")
    page.wait_for_selector(".labkit-explorer .scatterlayer .point")
    assert page.locator(".labkit-figure .main-svg").count() >= 1
    for other in ("dark", "light", scheme):  # words in figures have the page's colour, also when it changes
        page.emulate_media(color_scheme=other)
        page.wait_for_function("[...document.querySelectorAll('.gtitle')].every(HAS_INK)".replace("HAS_INK", HAS_INK))
    assert page.locator(".labkit-explorer .gtitle").text_content() == "τ = 1.0"
    assert page.locator("math").count() == 2
    assert page.locator("math").nth(1).bounding_box()["height"] > 30
    covered = page.locator("pre.labkit-covered", has_text="printed <b>")  # it follows a question
    covered.wait_for(state="attached")
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Commit my guess").click()
    covered.wait_for(state="detached")
    assert page.locator("pre.printed", has_text="printed <b>").count() == 1
    assert page.locator("code", has_text="$HOME").count() == 1
    page.get_by_text("Next →").first.click()
    assert page.title() == "Next"
    assert not errors
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    context.close()


def test_a_lesson_that_fails_is_counted_and_the_rest_is_written(tmp_path, capsys):
    (tmp_path / "01_bad.py").write_text("# %%\n1 / 0\n")
    (tmp_path / "02_good.py").write_text("# %% [markdown]\n# # Good\n")
    assert build_book(tmp_path, tmp_path / "book") == 1
    assert (tmp_path / "book" / "02_good.html").exists()
    assert "01_bad.py failed" in capsys.readouterr().err


@pytest.mark.browser
def test_an_id_of_an_erratum_says_what_it_is_by_pointer_and_by_key(page):
    page.set_content(document("x", '<section class="text"><p>As in E-PNP-1, not E-XX-99.</p></section>'))
    card = page.locator(".erratum")
    assert card.count() == 1
    assert not card.locator(".tip").is_visible()
    card.hover()
    assert "not the antiderivative" in card.locator(".tip").inner_text()
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")
    assert card.locator(".tip").is_visible()


def test_a_part_of_the_book_has_no_dead_links(tmp_path):
    text = '<a href="03_a.html#x">three</a> and <a href="04_b.html">four</a>'
    assert without_dead_links(text, tmp_path, {"04_b"}) == 'three and <a href="04_b.html">four</a>'
