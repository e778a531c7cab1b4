"""The Embeddings page under a real cursor: hover, lasso, click, links and two runs, against numpy."""

import io
import json
import re
from base64 import b64decode
from urllib.parse import parse_qs, urlencode, urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect
from test_embedding_explorer import draw_lasso, places, random_polygon, within

from labkit.runs.read import RECORDED, read_run
from labkit.widgets.embedding import explorer_data
from labkit.widgets.embedding.data import nearest
from labkit.widgets.embedding.groups import first_neighbours

pytestmark = pytest.mark.browser
RUN = "fashion-mnist-3d_sgsl_label_smoothing=0.1_s0"
OTHER = RUN.replace("sgsl", "softmax")
MOST = 60  # pictures in the grid


@pytest.fixture(scope="module")
def data():
    return explorer_data(read_run(RECORDED / "fashion-3d" / RUN))


def visit(page, dashboard, explorers=1, **query):
    """Open the page and wait until the explorers are there and keep their place."""
    page.set_viewport_size({"width": query.pop("width", 1280), "height": 1500})
    page.goto(f"{dashboard}/embeddings?{urlencode({'run': RUN} | query, doseq=True)}")
    page.locator(".labkit-embedding[data-pictures=shown]").nth(explorers - 1).wait_for(timeout=60_000)
    settle(page)


def settle(page):
    before = None
    while before != (box := page.locator(".stage").first.bounding_box()):
        before = box
        page.wait_for_timeout(250)


def wait_for_grid(page, ids, which=""):
    """Until the grid holds these samples in this order."""
    found = (
        "ids => JSON.stringify([...document.querySelectorAll('.labkit-grid figure%s')].map(e => e.dataset.id)) === ids"
    )
    page.wait_for_function(found % which, arg=json.dumps(ids, separators=(",", ":")))


def strip(page, number=0):
    """Ids of the neighbours that one explorer shows."""
    titles = page.locator(".strip").nth(number).locator("button").evaluate_all("all => all.map(e => e.title)")
    return [title.split(", ")[1] for title in titles]


def in_url(page):
    return parse_qs(urlsplit(page.url).query)


def test_hover_shows_the_right_image_after_filtering(page, dashboard, data):
    visit(page, dashboard, find="sandal, bag")
    expect(page.get_by_text("Showing 200 of 1,000 points, 2 of 10 classes")).to_be_visible()
    expect(page.locator(".line .soft")).to_have_text("200 of 1,000 points match")
    at, random, sheet = places(page, data), np.random.default_rng(0), data.sheet.open()
    kept = np.flatnonzero(np.isin(data.labels, [data.classes.index(name) for name in ("Sandal", "Bag")]))
    for wish in random.choice(kept, 12, replace=False):
        spot = np.round(at[wish])
        i = int(kept[np.linalg.norm(at[kept] - spot, axis=1).argmin()])
        page.mouse.move(*spot)
        card = page.locator(".card")
        assert card.get_attribute("data-id") == data.ids[i]
        assert card.locator("strong").text_content() == data.classes[data.labels[i]]
        shown = card.locator("canvas").evaluate("c => c.toDataURL().split(',')[1]")
        mine = Image.open(io.BytesIO(b64decode(shown))).convert("RGB").resize((8, 8))
        own = sheet.crop(data.sheet.box(int(data.cells[i]))).resize((8, 8))
        assert np.abs(np.asarray(mine, float) - np.asarray(own, float)).mean() < 8
    far = [i for i in range(len(at)) if np.linalg.norm(at[kept] - at[i], axis=1).min() > 20]
    page.mouse.move(*np.round(at[far[0]]))  # a point of the background says nothing
    assert page.locator(".card").is_hidden()


@pytest.mark.parametrize("width", [1280, 1013])
def test_a_lasso_gives_the_grid_that_numpy_gives(page, dashboard, data, width):
    visit(page, dashboard, width=width)
    random = np.random.default_rng(width)
    for size in (40, 60, 90):
        settle(page)  # a longer page gets a scroll bar, which takes of the width
        at = places(page, data)
        polygon = random_polygon(random, at[random.integers(len(at))], size)
        polygon = np.clip(polygon, at.min(axis=0) - 20, at.max(axis=0) + 20).round()
        rows = np.flatnonzero(within(polygon, at))
        assert len(rows) > 1
        draw_lasso(page, polygon)
        expect(page.get_by_text(f"Showing {min(MOST, len(rows))} of {len(rows):,} selected")).to_be_visible()
        wait_for_grid(page, [data.ids[i] for i in rows[:MOST]])
    near, _ = first_neighbours(data, rows[:MOST])
    wrong = [data.ids[i] for i, j in zip(rows, near) if data.labels[i] != data.labels[j]]
    wait_for_grid(page, wrong, ".other")
    image = page.locator(".labkit-grid i").first.evaluate("e => getComputedStyle(e).backgroundImage")
    assert image.startswith('url("data:image/webp')


def test_a_lasso_leaves_out_what_the_search_leaves_out(page, dashboard, data):
    visit(page, dashboard, find="trouser")
    at = places(page, data)
    (left, top), (right, bottom) = at.min(axis=0) - 15, at.max(axis=0) + 15
    draw_lasso(page, np.round([[left, top], [right, top], [right, bottom], [left, bottom]]))
    expect(page.get_by_text("Showing 60 of 100 selected")).to_be_visible()
    expect(page.locator(".labkit-grid figure span:last-child").first).to_have_text("Trouser")
    assert "selected" not in in_url(page)  # too many for an address


def test_a_click_gives_the_neighbours_that_numpy_gives_and_the_link_restores_them(page, dashboard, data):
    visit(page, dashboard, colour="nearest neighbour right or wrong")
    at = places(page, data)
    spot = np.round(at[123])
    i = int(np.linalg.norm(at - spot, axis=1).argmin())
    page.mouse.click(*spot)
    name, found = data.ids[i], nearest(data, data.ids[i])
    expect(page.locator(".strip button")).to_have_count(10)
    assert strip(page) == found["ids"]
    cosines = page.locator(".strip small").all_text_contents()
    assert cosines == [f"{value:.3f}" for value in found["similarities"]]
    same = sum(data.labels[data.row[other]] == data.labels[i] for other in found["ids"])
    expect(page.get_by_text(f"by cosine similarity: {same} of 10 are of its class")).to_be_visible()
    page.wait_for_url(re.compile("selected="))
    assert in_url(page)["selected"] == [name]
    page.reload()
    expect(page.locator(".strip button")).to_have_count(10, timeout=60_000)
    assert strip(page) == found["ids"]
    expect(page.locator(".legend button").first).to_contain_text("✓ of its class")


def test_two_runs_are_linked(page, dashboard, data):
    visit(page, dashboard, explorers=2, beside=OTHER)
    other = explorer_data(read_run(RECORDED / "fashion-3d" / OTHER))
    at = places(page, data)
    polygon = random_polygon(np.random.default_rng(1), np.median(at, axis=0), 60)
    draw_lasso(page, polygon)
    rows = np.flatnonzero(within(polygon, at))
    for number in (0, 1):
        expect(page.locator(".labkit-embedding").nth(number)).to_have_attribute("data-selected", str(len(rows)))
    expect(page.locator(".labkit-grid")).to_have_count(2)
    second = places(page, other, 1)
    spot = np.round(second[7])
    page.mouse.click(*spot)
    name = other.ids[int(np.linalg.norm(second - spot, axis=1).argmin())]
    expect(page.locator(".strip button")).to_have_count(20)
    assert strip(page, 0) == nearest(data, name)["ids"]
    assert strip(page, 1) == nearest(other, name)["ids"]


def test_a_link_restores_the_whole_view(page, dashboard, data):
    chosen = [data.ids[3], data.ids[77]]
    visit(page, dashboard, explorers=2, beside=OTHER, find="shirt", selected=chosen)
    expect(page.get_by_role("combobox", name=re.compile("^Run"))).to_have_value(RUN)
    expect(page.get_by_role("combobox", name=re.compile("^Beside"))).to_have_value(OTHER)
    expect(page.get_by_role("textbox", name="Find classes by name")).to_have_value("shirt")
    expect(page.get_by_text("Showing 2 of 2 selected")).to_have_count(2)
    wait_for_grid(page, chosen * 2)
    assert in_url(page)["selected"] == chosen


def test_training_is_a_slider_over_a_sphere(page, dashboard):
    page.goto(f"{dashboard}/embeddings?{urlencode({'run': RUN, 'view': 'During training'})}")
    expect(page.locator(".gtitle", has_text="step 1000, R@1")).to_be_visible(timeout=60_000)
    page.locator("[data-testid=stSlider] [role=slider], [data-testid=stSlider] input[type=range]").first.focus()
    page.keyboard.press("Home")
    expect(page.locator(".gtitle", has_text="step 0, R@1")).to_be_visible(timeout=15_000)
    page.wait_for_url(re.compile("step=0"))
