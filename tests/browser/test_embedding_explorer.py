"""The embedding explorer under a real cursor: lassos, hovers, clicks and keys against numpy, alone and in Streamlit."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import import_module
from PIL import Image

from labkit.explorers.embedding.data import ExplorerData, nearest
from labkit.explorers.embedding.packed import places as where
from labkit.explorers.embedding.sheet import Sheet
from labkit.explorers.embedding.widget import book_page

pytestmark = pytest.mark.browser
MARGIN = 26  # of viewport.js
# widths of the explorer's column and device pixels in one of CSS; five lassos in each: forty
LOOKS = [(640, 1), (901, 1.5), (1024, 1.25), (1130, 1), (619.3125, 1), (803.77, 1.5), (742.4, 2), (1111.1, 1.25)]
LASSOS = 5


def make_data(n=900, classes=5, seed=0, name="synthetic"):
    """Points with a sheet whose pictures all differ in colour."""
    random = np.random.default_rng(seed)
    cells = np.stack([np.arange(n) % 16 * 16, np.arange(n) // 16 % 16 * 16, np.arange(n) // 256 * 80], axis=1)
    sheet = Image.new("RGB", (32 * 8, -(-n // 32) * 8))
    for i, color in enumerate(cells):
        sheet.paste(tuple(int(c) for c in color), (i % 32 * 8, i // 32 * 8, i % 32 * 8 + 8, i // 32 * 8 + 8))
    file = io.BytesIO()
    sheet.save(file, "PNG")
    embeddings = random.normal(size=(n, 6)).astype(np.float32)
    return ExplorerData(
        title=name,
        method="pca",
        total=n,
        ids=tuple(f"s{i:04d}" for i in range(n)),
        xy=(random.normal(size=(n, 2)) * [3, 1] + [100, -7]).astype(np.float32),
        labels=random.integers(0, classes, n).astype(np.int32),
        classes=tuple(f"class {k}" for k in range(classes)),
        embeddings=embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True),
        cells=np.arange(n, dtype=np.int32),
        sheet=Sheet(file.getvalue(), 8, 32),
        near=np.zeros((n, 0), np.int32),
        similarity=np.zeros((n, 0), np.float32),
    )


@pytest.fixture(scope="module")
def data():
    return make_data()


def put(page, *panels, width=619.3125, height=460, look=""):
    """The explorers in an otherwise empty page, at an odd place of an odd width."""
    style = f"margin: 13.37px 0 0 21.7px; width: {width}px"
    page.set_content(f'<body style="margin: 0; {look}"><div style="{style}">{book_page(panels, height)}</div></body>')
    page.locator(".labkit-embedding[data-pictures=shown]").nth(len(panels) - 1).wait_for()
    page.wait_for_timeout(100)


def places(page, data, number=0):
    """Where every point is on the page in the first view: computed here, from the stage's box alone."""
    box = (
        page.locator(".stage")
        .nth(number)
        .evaluate("e => (({x, y, width, height}) => [x, y, width, height])(e.getBoundingClientRect())")
    )
    x, y, width, height = box[0] + 1, box[1] + 1, box[2] - 2, box[3] - 2  # within the border
    xy = where(data)
    low, high = xy.min(axis=0), xy.max(axis=0)
    scale = min((width - 2 * MARGIN) / (high - low)[0], (height - 2 * MARGIN) / (high - low)[1])
    offset = (xy - (low + high) / 2) * scale
    return np.stack([x + width / 2 + offset[:, 0], y + height / 2 - offset[:, 1]], axis=1)


def take_look(page, column, width, scale, viewport=(1480, 1260)):
    """The same page on another screen: a column of some width, and so many device pixels in one of CSS."""
    screen = {"width": viewport[0], "height": viewport[1], "deviceScaleFactor": scale, "mobile": False}
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", screen)
    style = f"{column} {{ width: {width}px !important; min-width: 0 !important; max-width: none !important; }}"
    page.evaluate(
        "text => (document.getElementById('look') ?? Object.assign(document.head.appendChild("
        "document.createElement('style')), { id: 'look' })).textContent = text",
        style,
    )
    settle(page)


def settle(page):
    """Until the explorer keeps its place."""
    before = None
    while before != (box := page.locator(".stage").first.bounding_box()):
        before = box
        page.wait_for_timeout(200)


def some_lasso(random, at, sizes=(30, 90)):
    """A polygon round a point, and the rows that numpy finds in it: some, but not too many to look at each."""
    while True:
        polygon = random_polygon(random, at[random.integers(len(at))], random.uniform(*sizes))
        polygon = np.clip(polygon, at.min(axis=0) - 20, at.max(axis=0) + 20).round()
        rows = np.flatnonzero(within(polygon, at))
        if 1 < len(rows) <= 60:
            return polygon, rows


def within(polygon, points):
    """Which points lie in a polygon: crossings of a ray, written anew for all points at once."""
    odd = np.zeros(len(points), bool)
    for (x0, y0), (x1, y1) in zip(polygon, np.roll(polygon, 1, axis=0)):
        crossed = (y0 > points[:, 1]) != (y1 > points[:, 1])
        if y0 != y1:
            odd ^= crossed & (points[:, 0] < (x1 - x0) * (points[:, 1] - y0) / (y1 - y0) + x0)
    return odd


def selected(page, number=0):
    return page.locator(".labkit-embeddings > div").nth(number).evaluate("e => e.model.get('selected')")


def draw_lasso(page, polygon, shift=True):
    if shift:
        page.keyboard.down("Shift")
    page.mouse.move(*polygon[0])
    page.mouse.down()
    for corner in polygon[1:]:
        page.mouse.move(*corner)
    page.mouse.up()
    if shift:
        page.keyboard.up("Shift")


def random_polygon(random, middle, largest):
    """Corners round a middle, on whole pixels, as a mouse gives them."""
    angles = np.sort(random.uniform(0, 2 * np.pi, random.integers(5, 14)))
    radii = random.uniform(0.3, 1.0, len(angles)) * largest
    return np.round(middle + np.stack([np.cos(angles), np.sin(angles)], axis=1) * radii[:, None])


@pytest.mark.parametrize("width", [619.3125, 803.77])
def test_ten_lassos_at_a_fractional_width_select_what_numpy_selects(page, data, width):
    put(page, data, width=width)
    at, random = places(page, data), np.random.default_rng(int(width))
    page.get_by_role("button", name="Lasso:").click()  # the tool for five, Shift for five
    for number in range(10):
        if number == 5:
            page.get_by_role("button", name="Move:").click()
        polygon = random_polygon(random, at[random.integers(len(at))], 130)
        polygon = np.clip(polygon, at.min(axis=0) - 20, at.max(axis=0) + 20).round()
        draw_lasso(page, polygon, shift=number >= 5)
        expected = [data.ids[i] for i in np.flatnonzero(within(polygon, at))]
        assert selected(page) == expected
        page.keyboard.press("Escape")
        assert selected(page) == []


def test_many_points_are_caught_where_python_has_them(page, data, monkeypatch):
    monkeypatch.setattr("labkit.explorers.embedding.packed.MANY", 500)  # a few, sent as many would be
    data = replace(data)  # without the bytes that were packed before
    assert not np.array_equal(where(data), data.xy)
    put(page, data)
    at, random = places(page, data), np.random.default_rng(2)
    for _ in range(5):
        polygon = random_polygon(random, np.median(at, axis=0), 90)
        draw_lasso(page, polygon)
        assert selected(page) == [data.ids[i] for i in np.flatnonzero(within(polygon, at))]


def test_a_dense_screen_is_drawn_dense_and_selects_the_same(browser, data):
    context = browser.new_context(device_scale_factor=1.5, viewport={"width": 900, "height": 800})
    page = context.new_page()
    put(page, data)
    at, random = places(page, data), np.random.default_rng(8)
    assert page.locator(".stage canvas").first.evaluate("c => c.width") == round((619.3125 - 10 - 2) * 1.5)
    polygon = random_polygon(random, np.median(at, axis=0), 100)
    draw_lasso(page, polygon)
    assert selected(page) == [data.ids[i] for i in np.flatnonzero(within(polygon, at))]
    context.close()


def test_the_lasso_is_given_in_data_coordinates(page, data):
    put(page, data)
    at = places(page, data)
    corners = np.round(at.mean(axis=0)) + [[-60, -60], [60, -60], [60, 60], [-60, 60]]
    draw_lasso(page, corners)
    polygon = np.array(page.locator(".labkit-embeddings > div").evaluate("e => e.model.get('lasso')"))
    assert selected(page) == [data.ids[i] for i in np.flatnonzero(within(polygon, data.xy.astype(float)))]


def test_points_are_drawn_where_the_cursor_finds_them(page, data):
    put(page, data)
    at = places(page, data)
    gaps = np.linalg.norm(at[:, None] - at[None], axis=2) + np.eye(len(at)) * 1e9
    lonely = np.flatnonzero(gaps.min(axis=1) > 22)
    assert len(lonely) >= 5
    for i in lonely[:8]:
        x, y = at[i]
        clip = {"x": int(x) - 10, "y": int(y) - 10, "width": 20, "height": 20}
        pixels = decode(page.screenshot(clip=clip)).astype(float)
        ink = 255 * 3 - pixels.sum(axis=2)
        ys, xs = np.mgrid[0:20, 0:20] + 0.5
        assert abs((ink * xs).sum() / ink.sum() - (x - clip["x"])) < 0.8
        assert abs((ink * ys).sum() / ink.sum() - (y - clip["y"])) < 0.8


def decode(png):
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))


def test_forty_hovers_show_the_right_picture_and_label(page, data):
    put(page, data)
    at, random = places(page, data), np.random.default_rng(3)
    sheet = decode(data.sheet.data)
    for wish in random.choice(len(at), 40, replace=False):
        spot = np.round(at[wish] + random.uniform(-2, 2, 2))
        i = int(np.linalg.norm(at - spot, axis=1).argmin())
        page.mouse.move(*spot)
        card = page.locator(".card")
        assert card.get_attribute("data-id") == data.ids[i]
        assert card.locator("strong").text_content() == data.classes[data.labels[i]]
        shown = card.locator("canvas").evaluate("c => [...c.getContext('2d').getImageData(80, 80, 1, 1).data]")
        assert shown[:3] == sheet[i // 32 * 8 + 4, i % 32 * 8 + 4].tolist()
    page.mouse.move(2, 2)
    assert page.locator(".card").is_hidden()


def test_twenty_clicks_select_after_pan_and_zoom_too(page, data):
    put(page, data)
    at, random = places(page, data), np.random.default_rng(4)
    middle = np.round(np.median(at, axis=0))
    for number, wish in enumerate(random.choice(np.flatnonzero(np.abs(at - middle).max(axis=1) < 60), 20)):
        if number == 10:
            page.mouse.move(*middle)
            page.mouse.wheel(0, -200)
            page.mouse.down()
            page.mouse.move(*(middle + 12))
            page.mouse.move(*(middle + [37, -21]))
            page.mouse.up()
            at = (at - middle) * np.exp(0.4) + middle + [37, -21]
        spot = np.round(at[wish])
        page.mouse.click(*spot)
        assert selected(page) == [data.ids[np.linalg.norm(at - spot, axis=1).argmin()]]


def test_a_click_shows_the_nearest_in_the_embedding(page, data):
    put(page, data)
    at = places(page, data)
    page.mouse.click(*np.round(at[7]))
    i = data.row[selected(page)[0]]
    found = nearest(data, data.ids[i])["ids"]
    shown = [title.split(", ")[1] for title in page.locator(".strip button").evaluate_all("b => b.map(e => e.title)")]
    assert shown == found
    same = sum(data.labels[data.row[name]] == data.labels[i] for name in found)
    assert f"of its 10 nearest in the embedding, {same} " in page.locator(".said").text_content()
    assert page.locator(".strip button.same").count() == same
    page.locator(".strip button").nth(2).click()
    assert selected(page) == [found[2]]


def test_the_keyboard_does_what_the_mouse_does(page, data):
    put(page, data)
    at = places(page, data)
    page.locator(".stage").focus()
    assert page.locator(".stage").evaluate("e => getComputedStyle(e).outlineStyle") == "solid"
    page.keyboard.press("ArrowRight")
    now = page.locator(".card").get_attribute("data-id")
    middle = data.xy.astype(float).min(axis=0) / 2 + data.xy.astype(float).max(axis=0) / 2
    assert data.row[now] == np.linalg.norm(data.xy - middle, axis=1).argmin()
    for key, axis, sign in (("ArrowRight", 0, 1), ("ArrowUp", 1, -1), ("ArrowLeft", 0, -1), ("ArrowDown", 1, 1)):
        before = at[data.row[now]]
        page.keyboard.press(key)
        now = page.locator(".card").get_attribute("data-id")
        step = at[data.row[now]] - before
        assert step[axis] * sign > 0
        assert abs(step[axis]) >= abs(step[1 - axis]) - 1e-6
    assert now in page.locator(".heard").text_content()
    page.keyboard.press("Enter")
    assert selected(page) == [now]
    page.keyboard.press("ArrowRight")
    second = page.locator(".card").get_attribute("data-id")
    page.keyboard.press("Shift+Enter")
    assert selected(page) == [now, second]
    page.keyboard.press("Escape")
    assert selected(page) == []
    page.keyboard.press("+")
    page.wait_for_function("document.querySelector('.line .soft').textContent.includes('in view')")
    page.keyboard.press("0")
    page.wait_for_function("document.querySelector('.line .soft').textContent === ''")


def test_a_pair_selects_and_points_together(page, data):
    other = make_data(seed=9, name="other")
    put(page, data, other, width=1100.6)
    at, random = places(page, data), np.random.default_rng(5)
    polygon = random_polygon(random, np.median(at, axis=0), 90)
    draw_lasso(page, polygon)
    expected = [data.ids[i] for i in np.flatnonzero(within(polygon, at))]
    assert selected(page, 0) == selected(page, 1) == expected
    page.mouse.move(*np.round(at[11]))
    name = page.locator(".card").first.get_attribute("data-id")
    assert page.locator(".labkit-embedding").nth(1).get_attribute("data-linked") == name
    second = places(page, other, 1)
    page.mouse.click(*np.round(second[3]))
    assert selected(page, 0) == selected(page, 1) != expected


def test_a_selection_from_outside_is_drawn_and_not_sent_back(page, data):
    put(page, data)
    page.evaluate("""() => {
        const model = document.querySelector('.labkit-embeddings > div').model;
        window.saved = 0;
        model.save_changes = () => window.saved++;
        model.set('selected', ['s0001', 's0500', 'nobody']);
    }""")
    page.locator(".labkit-embedding[data-selected='2']").wait_for()
    assert page.locator(".strip button").count() == 2
    assert page.evaluate("window.saved") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_host_first(browser, data, theme, scheme):
    context = browser.new_context(color_scheme=scheme, viewport={"width": 900, "height": 800})
    page = context.new_page()
    ground, ink = ("#16181b", "#e6e6e6") if theme == "dark" else ("#ffffff", "#222222")
    put(page, data, look=f"background: {ground}; color: {ink}")
    root = page.locator(".labkit-embedding")
    assert root.get_attribute("data-theme") == theme
    flipped = "light" if theme == "dark" else "dark"
    page.evaluate(
        "look => document.body.setAttribute('style', look)", f"background: {'#fff' if flipped == 'light' else '#111'}"
    )
    page.locator(f".labkit-embedding[data-theme={flipped}]").wait_for()
    context.close()


def test_a_page_without_colours_follows_the_system(browser, data):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    put(page, data, look="color-scheme: light dark")
    assert page.locator(".labkit-embedding").get_attribute("data-theme") == "dark"
    context.close()


def test_many_classes_are_grey_until_one_is_chosen(page):
    put(page, make_data(classes=40))
    menu = page.locator(".legend select")
    menu.select_option("7")
    page.wait_for_timeout(100)
    pixels = decode(page.locator(".stage").screenshot()).reshape(-1, 3).astype(int)
    assert (np.abs(pixels - [0, 114, 178]).max(axis=1) < 12).sum() > 200
    page.locator(".stage").focus()
    page.keyboard.press("Escape")
    assert menu.input_value() == "-1"


def test_hostile_names_stay_text(page):
    bad = '<img src=x onerror="window.hurt = 1"></script><script>window.hurt = 1</script>'
    data = make_data(n=60, classes=2, name=bad)
    data = replace(data, classes=(bad, "b"), ids=(bad, *data.ids[1:]))
    put(page, data)
    page.mouse.click(*np.round(places(page, data)[0]))
    page.wait_for_timeout(200)
    assert page.evaluate("window.hurt") is None
    assert page.locator(".labkit-embedding img").count() == 0
    assert page.locator(".title strong").text_content() == bad


def test_what_is_rendered_before_it_is_attached_gets_its_colours(page, data):
    # JupyterLab does so with all but the first widget of a row
    put(page, data, look="background: #fff; color: #222")
    page.evaluate("""() => {
        const box = document.querySelector('.labkit-embeddings');
        window.model = box.querySelector(':scope > div').model;
        box.querySelector(':scope > div').remove();
    }""")
    import_module(
        page,
        "embedding/explorer.js",
        """({ render }) => {
        const el = Object.assign(document.createElement('div'), { model: window.model });
        render({ model: window.model, el });
        setTimeout(() => document.querySelector('.labkit-embeddings').append(el), 200);
    }""",
    )
    page.locator(".labkit-embedding[data-theme=light][data-pictures=shown]").wait_for()
    assert page.locator(".stage").evaluate("e => getComputedStyle(e).borderTopColor") != "rgb(34, 34, 34)"
    page.mouse.click(*np.round(places(page, data)[5]))
    assert len(selected(page)) == 1


def test_leaving_cleans_up(page, data):
    put(page, data)
    page.evaluate("""() => {
        window.counts = {};
        window.probe = { get: () => undefined, set() {}, save_changes() {},
          on: (name) => { counts[name] = (counts[name] ?? 0) + 1; }, off: (name) => { counts[name] -= 1; } };
    }""")
    import_module(
        page,
        "embedding/explorer.js",
        """({ render }) => {
        window.leave = render({ model: window.probe, el: document.body });
    }""",
    )
    assert page.locator(".labkit-embedding").count() == 2
    assert set(page.evaluate("Object.values(counts)")) == {1}
    page.evaluate("leave()")
    assert page.locator(".labkit-embedding").count() == 1
    assert set(page.evaluate("Object.values(counts)")) == {0}


APP = """
import json, sys
sys.path.insert(0, {here!r})
import streamlit as st
from test_embedding_explorer import make_data
from labkit.explorers.embedding.streamlit import embedding_explorer, selection_key

panels = [make_data(), make_data(seed=9, name="other")]
st.set_page_config(layout="wide")
if st.button("push"):
    st.session_state[selection_key("demo")] = ["s0001", "s0002", "s0003"]
if st.button("above"):
    st.write("something", "above")
found = embedding_explorer(*panels, key="demo")
st.code(json.dumps(found))
if st.button("unrelated"):
    st.write("rerun", "done")
"""


def test_in_streamlit_python_sees_the_lasso_and_a_rerun_keeps_the_view(page, serve, tmp_path, data):
    script = tmp_path / "app.py"
    script.write_text(APP.format(here=str(Path(__file__).parent)))
    page.goto(serve(script))
    page.locator(".labkit-embedding[data-pictures=shown]").nth(1).wait_for(timeout=60_000)
    page.wait_for_timeout(500)  # the page settles its width
    at, random = places(page, data), np.random.default_rng(6)

    def wait_for_python(ids):
        said = "text => document.querySelector('[data-testid=stCode]')?.innerText === text"
        page.wait_for_function(said, arg=json.dumps(ids))

    for _ in range(3):
        polygon = random_polygon(random, np.median(at, axis=0), 80)
        draw_lasso(page, polygon)
        expected = [data.ids[i] for i in np.flatnonzero(within(polygon, at))]
        wait_for_python(expected)
    assert page.locator(".labkit-embedding").nth(1).get_attribute("data-selected") == str(len(expected))

    for size in (60, 90, 75):  # faster than Python answers: its late echoes change nothing
        polygon = random_polygon(random, np.median(at, axis=0), size)
        draw_lasso(page, polygon)
    expected = [data.ids[i] for i in np.flatnonzero(within(polygon, at))]
    wait_for_python(expected)
    page.wait_for_timeout(500)
    for number in (0, 1):
        assert page.locator(".labkit-embedding").nth(number).get_attribute("data-selected") == str(len(expected))

    middle = np.round(np.median(at, axis=0))
    page.mouse.move(*middle)
    page.mouse.wheel(0, -200)
    note = page.locator(".line .soft").first
    note.filter(has_text="in view").wait_for()
    seen = note.text_content()
    page.locator(".labkit-embedding").first.evaluate("e => { e.mark = 'the same'; }")
    page.get_by_role("button", name="unrelated").click()
    page.get_by_text("rerun done").wait_for()
    page.wait_for_timeout(300)
    assert page.locator(".labkit-embedding").first.evaluate("e => e.mark") == "the same"
    assert note.text_content() == seen
    assert page.locator(".labkit-embedding").first.get_attribute("data-selected") == str(len(expected))
    wait_for_python(expected)

    page.get_by_role("button", name="above").click()  # Streamlit mounts what comes after it anew
    page.get_by_text("something above").wait_for()
    page.locator(f".labkit-embedding[data-selected='{len(expected)}']").nth(1).wait_for()
    note.filter(has_text=seen).wait_for()
    wait_for_python(expected)

    page.get_by_role("button", name="push").click()
    page.locator(".labkit-embedding[data-selected='3']").nth(1).wait_for()
    wait_for_python(["s0001", "s0002", "s0003"])
    note.filter(has_text=seen).wait_for()

    page.locator(".strip button").first.click()
    wait_for_python(["s0001"])
    near = page.get_by_text("of its 10 nearest in the embedding")
    near.nth(1).wait_for()  # Python answered both explorers, each in its own space
    assert page.locator(".strip button").count() == 20


CROWD = """(module, [xy, groups]) => {
  const looks = [{ red: 255, green: 0, blue: 0 }, { red: 0, green: 0, blue: 255 }], [width, height] = [200, 100];
  const view = { width, height, x: 0, y: 0, scale: 1, toData: (px, py) => [px - width / 2, height / 2 - py] };
  const image = { data: new Uint8ClampedArray(4 * width * height), width, height };
  const points = { xy, groups, names: ["a", "b"] }, rows = groups.map((_, i) => i);
  const layers = [[[], (k) => looks[k], 0.2], [rows, (k) => looks[k], 1]];
  const counts = module.crowd(image, layers, points, view, "rgb(255, 255, 255)");
  const at = (x, y) => [...image.data.slice(4 * ((height / 2 - y) * width + width / 2 + x)).slice(0, 3)];
  const many = Float32Array.from({ length: 2 * 50000 }, () => 0);
  const crowded = [30000, 50000].map((n) =>
    module.isCrowded(Uint32Array.from({ length: n }, (_, i) => i), { xy: many }, view));
  return { counts, thick: at(10, 10), mixed: at(-20, -20), single: at(60, 30), empty: at(0, 40), crowded };
}"""


def test_many_points_are_drawn_as_their_density(page):
    xy = [10.5, 9.5] * 40 + [-19.5, -20.5] * 2 + [60.5, 29.5, 500.0, 0.0]
    groups = [0] * 40 + [0, 1] + [1, 1]
    found = import_module(page, "embedding/density.js", CROWD, [xy, groups])
    assert found["counts"] == [0, 43]  # one is not in view
    assert found["thick"] == [255, 0, 0]
    assert found["empty"] == [255, 255, 255]
    assert found["mixed"][0] == found["mixed"][2] > found["mixed"][1]  # as much of the one as of the other
    assert found["single"][2] == 255
    assert 0 < found["single"][0] < 255  # fainter than the thickest, and yet seen
    assert found["crowded"] == [False, True]
