"""Dragged explorers and questions in a page without Python: pointer, keys, the numbers of labkit, nothing spoiled."""

import re

import pytest
import torch

from labkit.data.word_images import LETTERS
from labkit.explorers.drag import COURSE
from labkit.explorers.hosts import DRAG, PREDICT, book_html
from labkit.explorers.lessons import learned_surrogates, many_centres
from labkit.explorers.lessons.proxies import START, scene
from labkit.figures.circle import CLASSES, PROXIES
from labkit.figures.lessons import proxies, sgsl, start_here
from labkit.figures.lessons.recall_at_k import GALLERY, recalls, surrogates
from labkit.lessons.predict import spec
from labkit.lessons.predictions import QUESTIONS
from labkit.metrics import rotated_iou
from labkit.surrogates import encode_words
from labkit.surrogates.pocket import SLOTS, box_surrogate, learning, word_surrogate

ITEMS = [{"name": name, "s": s, "positive": positive} for name, (s, positive) in GALLERY.items()]
STRIP = {"kind": "strip", "items": ITEMS, "loss": "RS@k", "menu": list(COURSE), "curves": True}
CIRCLE = {
    "kind": "circle",
    "items": [{"angle": angle, "positive": positive} for angle, positive in start_here.ITEMS],
    "query": 38.0,
    "margin": start_here.MARGIN,
}
# the value stands in the second text after the bar's name
VALUE = """name => {
  const texts = [...document.querySelectorAll('svg text')].map(t => t.textContent);
  return Number(texts[texts.indexOf(name) + 1]);
}"""


@pytest.fixture
def show(page):
    """Open a page with some HTML."""

    def opened(body):
        page.set_content(f"<!doctype html><body><main>{body}</main>")
        return page

    return opened


@pytest.mark.browser
def test_an_item_is_dragged_and_every_number_is_that_of_python(show):
    settings = {"k": 4, "tau": 0.05, "tauRank": 1}
    page = show(book_html(DRAG, [STRIP | {"settings": settings}], [{}], "still"))
    item = page.locator('[data-handle="4"]')  # P2
    item.wait_for()
    assert page.get_by_text("still", exact=True).count() == 0
    box = item.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y, steps=4)
    page.mouse.up()
    moved = float(item.get_attribute("aria-valuenow"))
    assert moved > 0.6
    item.press("ArrowRight")
    page.wait_for_function("v => document.querySelector('[data-handle=\"4\"]').ariaValueNow > v", arg=moved)
    values = {item["name"]: item["s"] for item in ITEMS} | {"P2": float(item.get_attribute("aria-valuenow"))}
    s, positive = torch.tensor(list(values.values())).double(), torch.tensor([item["positive"] for item in ITEMS])
    assert page.evaluate(VALUE, "recall@4") == pytest.approx(float(recalls(s, positive, [4])), abs=6e-4)
    assert page.evaluate(VALUE, "rs@4") == pytest.approx(float(surrogates(s, positive, [4], 1.0, 0.05)), abs=6e-4)


@pytest.mark.browser
def test_every_loss_of_the_course_says_who_is_pulled(show):
    page = show(book_html(DRAG, [STRIP], [{}]))
    menu = page.get_by_label("loss")
    said = set()
    for name in COURSE:
        menu.select_option(label=name)
        page.wait_for_timeout(60)
        said.add(page.locator(".words").inner_text())
    assert len(said) == len(COURSE)
    assert not any("NaN" in text for text in said)


@pytest.mark.browser
def test_the_query_turns_and_the_loss_is_that_of_the_figure(show):
    page = show(book_html(DRAG, [CIRCLE], [{}]))
    query = page.locator('[data-handle="query"]')
    query.wait_for()
    for _ in range(4):
        query.press("ArrowUp")
        page.wait_for_timeout(60)
    assert query.get_attribute("aria-valuenow") == "42"
    for name, value in start_here.measured(42.0).items():
        assert page.evaluate(VALUE, name) == pytest.approx(value, abs=6e-4)


@pytest.mark.browser
@pytest.mark.parametrize(("name", "said"), [("9.1", "Not as you said"), ("4.1", "As you said")])
def test_what_follows_is_covered_until_a_guess_is_committed(show, name, said):
    asked = book_html(PREDICT, [{"spec": spec(name, QUESTIONS[name], {})}], [{}])
    page = show(f'<div class="shown">{asked}</div><pre class="printed">spoiler</pre><section><h2>Next</h2></section>')
    page.locator(".labkit-covered").wait_for()
    commit = page.get_by_role("button", name="Commit my guess")
    assert commit.is_disabled()
    if name == "9.1":
        page.get_by_role("radio").first.check()
    else:
        page.get_by_role("spinbutton").fill("0.5")
    commit.click()
    page.get_by_text(said).wait_for()
    assert page.locator(".labkit-covered").count() == 0


@pytest.mark.browser
def test_a_curve_is_drawn_and_the_truth_laid_over(show):
    asked = book_html(PREDICT, [{"spec": spec("6.2", QUESTIONS["6.2"], {})}], [{}])
    page = show(f'<div class="shown">{asked}</div>')
    box = page.locator("svg").bounding_box()
    page.mouse.move(box["x"] + 55, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 15, box["y"] + 60, steps=8)
    page.mouse.up()
    page.get_by_role("button", name="Commit my guess").click()
    page.locator("path.truth").wait_for()
    assert "away" in page.locator(".said").inner_text()


@pytest.mark.browser
def test_the_virtual_sample_and_the_soft_maximum_follow(show):
    cosines = list(sgsl.OTHERS["two near classes"])
    values = [{"kind": "mix", "x": 90, "z": 0, "a": 0.7}, {"kind": "maximum", "cosines": cosines, "gamma": 5}]
    page = show("".join(book_html(DRAG, [one], [{}]) for one in values))
    sample = page.locator('[data-handle="v"]')
    sample.press("ArrowUp")
    page.get_by_text("v = 0.71 x + 0.29 z").wait_for()
    assert page.evaluate(VALUE, "s(v, x)") == 0.71
    page.locator('[data-handle="0"]').press("Shift+ArrowRight")
    page.get_by_text(f"soft maximum {sgsl.lse([cosines[0] + 0.1, *cosines[1:]], 5.0):.2f}").wait_for()


@pytest.mark.browser
@pytest.mark.parametrize(
    ("loss", "centers"),
    [(loss, 1) for loss in proxies.ONE_PROXY] + [("SoftTriple", 3), ("MPA", 2), ("MPA-DW", 2), ("MPA-AP", 3)],
)
def test_samples_and_proxies_are_dragged_and_the_weights_are_those_of_python(show, loss, centers):
    page = show(book_html(DRAG, [scene(loss, centers)], [{}]))
    sample, proxy = page.locator('[data-handle="x0"]'), page.locator('[data-handle="w0"]')
    box, ring = sample.bounding_box(), page.locator("circle.axis").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(ring["x"] + ring["width"] / 2 - 60, ring["y"] + ring["height"] / 2 - 10, steps=3)
    page.mouse.up()
    proxy.press("Shift+ArrowUp")
    page.wait_for_function("() => document.querySelector('[data-handle=\"x0\"]').ariaValueNow < 180")
    angle = int(sample.get_attribute("aria-valuenow"))
    assert angle != START
    x, labels, w = proxies.scene(angle, centers)
    w[0, 0] = proxies.on_circle([PROXIES[0] + proxies.SPREAD[centers][0] + 10])[0]
    value, _, _, slope = proxies.gradients(loss, x, labels, w)
    page.get_by_text(f"L = {value:.3f}").wait_for()
    for c, name in enumerate(CLASSES):
        said = page.evaluate(
            "name => { const all = [...document.querySelectorAll('svg text')].map(t => t.textContent);"
            " return all[all.indexOf(name) + 1]; }",
            f"∂L/∂S(x, {name})",
        )
        assert float(said.replace("−", "-")) == pytest.approx(slope[0, c].item(), abs=6e-4)


@pytest.fixture
def explored(show, monkeypatch):
    """An explorer of lesson 10, as the book has it."""
    monkeypatch.setenv("LABKIT_BUILD", "book")

    def opened(explore):
        shown = []
        monkeypatch.setattr("labkit.explorers.drag.display_html", shown.append)
        explore()
        return show(shown[0])

    return opened


@pytest.mark.browser
def test_words_are_typed_and_slots_dragged_and_both_distances_are_those_of_python(explored):
    page = explored(learned_surrogates.explore_letters)
    page.get_by_label("read").fill("Cart?")  # only letters count, in lower case
    page.get_by_label("truth").fill("card")
    page.get_by_label("sure").fill("5")
    page.get_by_text("Decoded: “cart”").wait_for()
    z, y = encode_words(["cart", "card"], LETTERS, SLOTS).unbind(0)
    assert page.evaluate(VALUE, "e, edits") == 1
    estimate = word_surrogate()(z[None], y[None]).item()
    assert page.evaluate(VALUE, "ê, surrogate") == pytest.approx(estimate, abs=6e-4)
    for _ in range(6):
        page.locator('[data-handle="3"]').press("Shift+ArrowUp" if _ == 0 else "ArrowUp")
    page.get_by_text("Decoded: “card”").wait_for()
    assert page.evaluate(VALUE, "e, edits") == 0
    share = float(page.locator('[data-handle="3"]').get_attribute("aria-valuenow"))
    assert 0.5 < share < 1
    estimate = word_surrogate()(((1 - share) * z + share * y)[None], y[None]).item()
    assert page.evaluate(VALUE, "ê, surrogate") == pytest.approx(estimate, abs=6e-4)


@pytest.mark.browser
def test_a_box_that_leaves_its_target_has_no_gradient_of_iou_and_comes_home_on_the_surrogate(explored):
    page = explored(learned_surrogates.explore_boxes)
    page.get_by_text("exactly 0").wait_for()
    assert page.evaluate(VALUE, "e = 1 − IoU") == 1
    page.get_by_role("button", name="Descend on IoU").click()
    page.wait_for_timeout(300)
    assert page.evaluate(VALUE, "e = 1 − IoU") == 1
    centre = page.locator('[data-handle="box"]')
    before = centre.get_attribute("aria-valuetext")
    page.locator('[data-handle="turn"]').press("ArrowUp")
    page.get_by_role("button", name="As at the start").click()
    x, y = map(float, re.findall(r"[-\d.]+", before))
    box, target = (
        torch.tensor([given], dtype=torch.float64) for given in ([x, y, 0.5, 0.3, 2.5], [0.5, 0.5, 0.5, 0.3, 0.0])
    )
    assert rotated_iou(box, target).item() == 0
    estimate = box_surrogate().double()(box, target).item()
    assert page.evaluate(VALUE, "ê, surrogate") == pytest.approx(estimate, abs=6e-4)
    page.get_by_role("button", name="Descend on ê").click()
    page.get_by_text("1 − IoU pulls").wait_for()  # they overlap
    assert page.evaluate(VALUE, "e = 1 − IoU") < 1


@pytest.mark.browser
def test_the_film_of_a_surrogate_is_dragged_and_played(explored):
    page = explored(learned_surrogates.explore_learning)
    film, last = learning(), len(learning().steps) - 1
    time = page.locator('[data-handle="time"]')
    time.press("ArrowLeft")
    page.get_by_text(f"Step {film.steps[last - 1]}, λ = 0.1").wait_for()
    error = abs(film.estimates[0, last - 1] - film.exact).mean()
    assert f"mean |ê − e| {error:.2f}" in page.locator(".words").inner_text()
    page.get_by_label("λ").select_option(label="0")
    page.get_by_text("λ = 0:").wait_for()
    page.get_by_role("button", name="Play").click()
    page.get_by_text(f"Step {film.steps[last]}, λ = 0:").wait_for()


@pytest.mark.browser
def test_the_base_is_dragged_and_its_arms_are_shown(show):
    arms = [{"name": "LS-ED", "control": False, "gain": 12.0, "low": 3.0, "high": 21.0}]
    late = [{"name": "LS-ED", "control": False, "gain": 2.0, "low": -3.0, "high": 7.0}]
    bases = [{"name": "15 %", "arms": arms, "said": "early"}, {"name": "100 %", "arms": late, "said": "late"}]
    values = {"kind": "gain", "bases": bases, "unit": "edits", "curve": "LS-ED", "digits": 1, "start": 1}
    page = show(book_html(DRAG, [values], [{}]))
    page.get_by_text("late", exact=True).wait_for()
    assert page.get_by_text("+2.0").count() == 2  # in the curve and in the row
    page.locator('[data-handle="base"]').press("ArrowLeft")
    page.get_by_text("early", exact=True).wait_for()
    assert page.get_by_text("+12.0").count() == 2


@pytest.mark.browser
def test_the_ring_and_the_circle_answer_each_other_and_a_fold_is_told(explored):
    page = explored(many_centres.explore_fold)
    words, place = page.locator(".words"), page.get_by_role("slider", name="place on the ring")
    place.wait_for()
    assert "a fold" in words.inner_text()
    held = many_centres.fold_values()
    direction = page.get_by_role("slider", name="direction of the embedding")
    before = place.get_attribute("aria-valuenow")
    direction.press("ArrowUp")
    page.wait_for_function("old => document.querySelector('[data-handle=place]').ariaValueNow !== old", arg=before)
    sample = page.locator('[data-sample="40"]').first
    sample.dispatch_event("click")
    turned = held["films"]["PNP-I_b"][-1][40]
    page.wait_for_function(
        "at => document.querySelector('[data-handle=direction]').ariaValueNow == at", arg=str(turned)
    )
    near = sum(abs((angle - turned + 180) % 360 - 180) <= 7 for angle in held["films"]["PNP-I_b"][-1])
    assert page.locator(".sample.hit").count() == 2 * near  # in both pictures
    page.get_by_label("loss").select_option(label="PNP-D_q")
    page.wait_for_function("document.querySelector('.words').textContent.includes('One stretch')")
