"""The film in a page without Python: menus change the run, slider and button go through training, a drag turns."""

import numpy as np
import pytest
from conftest import import_module

from labkit.explorers.film.packed import packed, reel
from labkit.explorers.hosts import FILM, book_html
from labkit.explorers.lessons.many_centres import toy_film
from labkit.explorers.lessons.sgsl import sphere_film

pytestmark = pytest.mark.browser
MENUS = [{"label": "loss", "values": ["softmax", "softmax + SGSL"], "start": "softmax"}]


def put(page, films, menus, **values):
    content = reel({key: packed(film) for key, film in films.items()}, menus)
    html = book_html(FILM, [{"height": 420, **values}], [{"films": content}])
    page.set_content(f'<body style="background: #fff; color: #222"><div style="width: 640px">{html}</div></body>')
    page.locator(".film[data-step]").wait_for()


def data(page, name):
    return page.locator(".film").get_attribute(f"data-{name}")


def test_menu_slider_button_and_drag(page):
    films = {(loss,): sphere_film(loss, "0.0") for (loss,) in [("softmax",), ("softmax + SGSL",)]}
    put(page, films, MENUS)
    steps = films["softmax",].steps
    assert data(page, "step") == str(steps[-1])
    page.get_by_label("loss").select_option("softmax + SGSL")
    assert page.locator(".film strong").text_content() == films["softmax + SGSL",].title
    slider = page.get_by_label("Training step")
    slider.focus()
    page.keyboard.press("Home")
    page.locator(".film[data-step='0']").wait_for()
    assert page.locator(".words").text_content().startswith("step 0, R@1 of test")
    page.keyboard.press("ArrowRight")
    page.locator(f".film[data-step='{steps[1]}']").wait_for()
    page.get_by_role("button", name="Play").click()
    page.wait_for_function("Number(document.querySelector('.film').dataset.step) > 20")
    page.get_by_role("button", name="Pause").click()
    box = page.locator(".stage").bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 50, middle[1] + 25, steps=3)
    page.mouse.up()
    page.locator(".film[data-turn='25'][data-tilt='45']").wait_for()
    assert page.locator(".labkit-films > div").evaluate("e => [e.model.get('turn'), e.model.get('tilt')]") == [25, 45]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_points_are_where_their_directions_are(browser, scheme):
    context = browser.new_context(color_scheme=scheme)
    page, film = context.new_page(), toy_film("pnp-dq", "ring")
    put(page, {(): film}, [], step=0)
    ink = "c => { const { data, width, height } = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
    ink += " return [width, height, [...data].filter((_, k) => k % 4 === 3)]; }"
    width, height, alpha = page.locator(".stage canvas").evaluate(ink)
    covered = np.array(alpha).reshape(height, width) > 60
    far = min(width, height) / 2 - 34
    for i in range(0, len(film.labels), 7):
        radius = far * ((1.0 if film.unseen[i] else 0.6) + 0.06 * np.cos(2.4 * i))
        x, y = film.unit[0, i]
        column, row = round(width / 2 + radius * x), round(height / 2 - radius * y)
        assert covered[row - 3 : row + 4, column - 3 : column + 4].any()
    context.close()


def test_between_two_frames_points_go_straight_and_stay_on_the_sphere(page):
    film = sphere_film("softmax", "0.0")
    found = import_module(
        page,
        "film/reel.js",
        """({ openReel, pointsAt, frameAt, stepAt }, bytes) => {
            const film = openReel(Uint8Array.from(bytes)).film([]);
            const middle = stepAt(film, 3.25), ends = [stepAt(film, 0), stepAt(film, 99)];
            return { frame: frameAt(film, middle), points: [...pointsAt(film, middle)], ends };
        }""",
        list(reel({(): packed(film, 2)}, [])),
    )
    rows = film.some(2)
    straight = 0.75 * film.unit[3][rows] + 0.25 * film.unit[4][rows]
    straight /= np.linalg.norm(straight, axis=1, keepdims=True)
    assert found["frame"] == [3, pytest.approx(0.25)]
    np.testing.assert_allclose(np.reshape(found["points"], (-1, 3)), straight, atol=1e-4)
    assert found["ends"] == [film.steps[0], film.steps[-1]]
