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
from test_embedding_explorer import (
    LASSOS,
    LOOKS,
    draw_lasso,
    places,
    random_polygon,
    settle,
    some_lasso,
    take_look,
    within,
)

from labkit.base.paths import RECORDED
from labkit.explorers.embedding import explorer_data
from labkit.explorers.embedding.data import nearest
from labkit.explorers.embedding.groups import first_neighbours
from labkit.runs.read import read_run

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


def wait_for_grid(page, ids, which=""):
    """Until the grid holds these samples in this order."""
    items = f"[...document.querySelectorAll('.labkit-grid [role=listitem]{which}')].map(e => e.dataset.id)"
    page.wait_for_function(f"ids => JSON.stringify({items}) === ids", arg=json.dumps(ids, separators=(",", ":")))


def strip(page, number=0):
    """Ids of the neighbours that one explorer shows."""
    titles = page.locator(".strip").nth(number).locator("button").evaluate_all("all => all.map(e => e.title)")
    return [title.split(", ")[1] for title in titles]


def in_url(page):
    return parse_qs(urlsplit(page.url).query)


def test_hover_shows_the_right_image_after_filtering(page, dashboard, data):
    visit(page, dashboard, find="sandal, bag")
    expect(
        page.get_by_text("Showing 200 of the 1,000 recorded points of 10,000 test items, 2 of 10 classes")
    ).to_be_visible()
    expect(page.locator(".line .soft")).to_contain_text("200 of 1,000 points match")
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


def test_forty_lassos_on_eight_screens_give_the_grids_that_numpy_gives(page, dashboard, data):
    visit(page, dashboard, width=1480)
    page.add_style_tag(content="[data-testid=stMain] { overflow-y: scroll }")  # its bar takes of the width: always
    random = np.random.default_rng(0)
    for width, scale in LOOKS:
        take_look(page, "[data-testid=stMainBlockContainer]", width, scale)
        at = places(page, data)
        for _ in range(LASSOS):
            polygon, rows = some_lasso(random, at)
            draw_lasso(page, polygon)
            wait_for_grid(page, [data.ids[i] for i in rows])
        assert page.locator(".stage canvas").first.evaluate("c => c.width / c.clientWidth") == pytest.approx(
            scale, 0.01
        )
    expect(page.get_by_text(f"1 to {len(rows)} of {len(rows)} selected")).to_be_visible()
    near, _ = first_neighbours(data, rows[:MOST])
    wrong = [data.ids[i] for i, j in zip(rows, near) if data.labels[i] != data.labels[j]]
    wait_for_grid(page, wrong, ".other")
    assert len(rows) <= MOST
    assert page.locator(".labkit-grid img").first.get_attribute("src").startswith("data:image/webp")


def test_a_lasso_leaves_out_what_the_search_leaves_out(page, dashboard, data):
    visit(page, dashboard, find="trouser")
    at = places(page, data)
    (left, top), (right, bottom) = at.min(axis=0) - 15, at.max(axis=0) + 15
    draw_lasso(page, np.round([[left, top], [right, top], [right, bottom], [left, bottom]]))
    expect(page.get_by_text("1 to 60 of 100 selected")).to_be_visible()
    expect(page.locator(".labkit-grid [role=listitem]").first).to_contain_text("Trouser")
    page.wait_for_url(re.compile("selected="))
    page.reload()  # many are packed into the address, too
    expect(page.get_by_text("1 to 60 of 100 selected")).to_be_visible(timeout=60_000)


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
    for menu, name in (("^Run", RUN), ("^Beside", OTHER)):
        title = str(read_run(RECORDED / "fashion-3d" / name))
        expect(page.get_by_role("combobox", name=re.compile(menu))).to_have_value(title)
    expect(page.get_by_role("textbox", name="Find classes")).to_have_value("shirt")
    expect(page.get_by_text("1 to 2 of 2 selected")).to_have_count(2)
    wait_for_grid(page, chosen * 2)
    assert in_url(page)["selected"] == chosen


def view_of(page, number=0):
    return page.locator(".film").nth(number).evaluate("e => [e.dataset.step, e.dataset.turn, e.dataset.tilt]")


def drawn(page):
    """How many pixels of the first film are coloured."""
    pixels = "c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
    count = (
        f"c => {{ const d = ({pixels})(c); let n = 0; for (let k = 3; k < d.length; k += 4) n += d[k] > 0; return n; }}"
    )
    return page.locator(".film .stage canvas").first.evaluate(count)


def test_two_spheres_go_through_training_as_they_were_turned_and_the_link_restores_it(page, dashboard):
    page.set_viewport_size({"width": 1280, "height": 1300})
    page.goto(f"{dashboard}/embeddings?{urlencode({'run': RUN, 'beside': OTHER, 'view': 'During training'})}")
    page.locator(".film[data-frames='40']").nth(1).wait_for(timeout=60_000)
    expect(page.locator(".film .words").first).to_contain_text("step 1,000, R@1 of test")
    assert view_of(page) == ["1000", "45", "35"]
    assert drawn(page) > 2000
    box = page.locator(".film .stage").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y + 25, steps=3)
    page.mouse.up()
    page.wait_for_url(re.compile("turn=25&tilt=45"))
    page.locator(".film input[type=range]").first.focus()
    page.keyboard.press("Home")
    page.wait_for_url(re.compile("step=0"))
    page.wait_for_timeout(300)
    assert view_of(page, 0) == view_of(page, 1) == ["0", "25", "45"]  # Python's answer has changed nothing
    page.reload()
    page.locator(".film[data-frames='40']").nth(1).wait_for(timeout=60_000)
    expect(page.locator(".film .words").first).to_contain_text("step 0, R@1 of test")
    assert view_of(page, 0) == view_of(page, 1) == ["0", "25", "45"]


def test_a_film_plays_to_its_end_and_can_be_paused(page, dashboard):
    page.goto(f"{dashboard}/embeddings?{urlencode({'run': RUN, 'view': 'During training', 'step': 900})}")
    page.locator(".film[data-frames='40']").wait_for(timeout=60_000)
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=15_000)  # it has come to its end
    assert view_of(page)[0] == "1000"
    page.get_by_role("button", name="Play").click()  # from the beginning
    page.wait_for_timeout(700)
    page.get_by_role("button", name="Pause").click()
    step = int(view_of(page)[0])
    assert 0 < step < 1000
    page.wait_for_url(re.compile(f"step={step}\\b"))


@pytest.mark.parametrize(("width", "beneath"), [(1440, False), (1024, True), (700, True)])
def test_two_explorers_stand_beneath_each_other_where_there_is_little_room(page, dashboard, width, beneath):
    visit(page, dashboard, explorers=2, beside=OTHER, width=width)
    first, second = (page.locator(".stage").nth(number).bounding_box() for number in (0, 1))
    assert (second["y"] > first["y"] + first["height"]) == beneath
    assert first["width"] > 340
    assert page.evaluate("document.documentElement.scrollWidth") <= width
