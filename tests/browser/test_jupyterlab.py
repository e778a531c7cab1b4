"""Explorers in a real JupyterLab: drawn, answering a slider, keeping the reader's zoom; forty lassos against numpy."""

import json
from pathlib import Path

import nbformat
import numpy as np
import pytest
from conftest import jupyterlab
from test_embedding_explorer import LASSOS, LOOKS, draw_lasso, make_data, places, some_lasso, take_look

CELLS = (
    "import labkit\nlabkit.start()",
    "from labkit.figures.lessons.smoothing_a_rank import smoothed_step\nfrom labkit.explorers.sliders import Control\n"
    "tau = Control('tau', 'temperature τ', (0.01, 0.05, 0.2), 0.05)\n"
    "labkit.explore(smoothed_step, [tau], [{'tau': 0.01}, {'tau': 0.2}], 'Steps and sigmoids.')",
    "second = labkit.explore(smoothed_step, [tau], [{'tau': 0.2}], 'The same again.')",
    "labkit.explore(smoothed_step, [tau], [{'tau': 0.2}], 'A still picture.', live=False)",
    "labkit.predict('9.1')",
    "def soft_rank(similarity, tau):\n    raise NotImplementedError\nlabkit.check.soft_rank(soft_rank)",
)
SPACE = (
    "import labkit, plotly.graph_objects as go\nfrom labkit.figures import style\n"
    "from labkit.explorers.sliders import Control\n"
    "def draw(n):\n"
    "    points = go.Scatter3d(x=[0, 1, n], y=[0, n, 1], z=[0, 1, 1], mode='markers')\n"
    "    return style.figure(points, title=f'n = {n}')\n"
    "labkit.explore(draw, [Control('n', 'n', (1, 2, 3), 1)], [{'n': 1}], 'Three points.')",
)
# what Python holds stands in the page as text
POINTS = (
    f"import json, sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    "from test_embedding_explorer import make_data\nfrom labkit.explorers.embedding.widget import EmbeddingExplorer\n"
    "import ipywidgets\nlive, said = EmbeddingExplorer([make_data()]), ipywidgets.Label()\n"
    "said.add_class('python-has')\n"
    "live.widgets[0].observe(lambda change: setattr(said, 'value', json.dumps(change['new'])), 'selected')\n"
    "display(live.box, said)",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address of JupyterLab on a folder with one small lesson, and points to catch."""
    tmp_path = tmp_path_factory.mktemp("lab")
    for name, cells in (("lesson", CELLS), ("space", SPACE), ("points", POINTS)):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    command = ["-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"]
    with jupyterlab(*command, f"--ServerApp.root_dir={tmp_path}", settings=tmp_path) as address:
        yield f"{address}/lab/tree/%s.ipynb?token=test&reset"


def run_all(page, address):
    page.goto(address)
    page.wait_for_selector(".jp-Notebook", timeout=90_000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=90_000)  # before that it asks which kernel to take
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_an_explorer_answers_in_jupyterlab(lab, page):
    run_all(page, lab % "lesson")
    plots = page.locator(".js-plotly-plot")
    plots.nth(1).wait_for(timeout=120_000)
    first = plots.first
    first.locator("text=τ = 0.05").wait_for(timeout=30_000)
    zoom = "plot => plot._fullLayout.xaxis.range[0]"
    first.evaluate("plot => globalThis.labkitPlotly.relayout(plot, {'xaxis.range': [-0.2, 0.2]})")
    handle = page.locator(".noUi-handle").first
    handle.focus()
    handle.press("ArrowRight")
    first.locator("text=τ = 0.2").wait_for(timeout=30_000)
    assert first.evaluate(zoom) == -0.2
    assert plots.count() == 2
    height = "plot => plot.offsetHeight"
    before, width, window = first.evaluate(height), first.evaluate("plot => plot._fullLayout.width"), page.viewport_size
    page.set_viewport_size({"width": window["width"] - 300, "height": window["height"]})
    page.wait_for_function("([plot, width]) => plot._fullLayout.width < width", arg=[first.element_handle(), width])
    assert first.evaluate(height) == before > 300  # it does not collapse when the page becomes narrower
    page.set_viewport_size(window)
    ink = """plot => {
        const rgb = (color) => color.match(/\\d+/g).slice(0, 3).join();
        return rgb(getComputedStyle(plot.querySelector(".gtitle")).fill) === rgb(getComputedStyle(plot).color);
    }"""
    assert first.evaluate(ink)
    light = first.evaluate("plot => getComputedStyle(plot).color")
    page.get_by_role("menuitem", name="Settings", exact=True).click()
    page.get_by_text("Theme", exact=True).click()
    page.get_by_text("JupyterLab Dark", exact=True).click()
    page.wait_for_function(f"plot => getComputedStyle(plot).color !== '{light}'", arg=first.element_handle())
    page.wait_for_function(ink, arg=first.element_handle())
    assert "invert" in page.locator("img.labkit-lines").first.evaluate("image => getComputedStyle(image).filter")
    assert page.get_by_text("Commit my guess").count() == 1
    assert page.get_by_text("Not written yet").count() == 1
    assert page.locator("img[alt='Steps and sigmoids.']").count() == 0  # no still picture beside the live one


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_a_turned_figure_stays_turned_when_it_is_drawn_anew(lab, page):
    run_all(page, lab % "space")
    plot = page.locator(".js-plotly-plot").first
    plot.locator("canvas").first.wait_for(timeout=120_000)
    plot.scroll_into_view_if_needed()
    eye = "plot => Object.values(plot._fullLayout.scene._scene.getCamera().eye)"
    start, box = plot.evaluate(eye), plot.bounding_box()
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 80, middle[1] + 20, steps=8)
    page.mouse.up()
    page.wait_for_function(f"([plot, eye]) => ({eye})(plot).join() !== eye.join()", arg=[plot.element_handle(), start])
    page.wait_for_timeout(500)
    turned = plot.evaluate(eye)
    handle = page.locator(".noUi-handle").first
    handle.focus()
    handle.press("ArrowRight")
    plot.locator("text=n = 2").wait_for(timeout=30_000)
    assert plot.evaluate(eye) == pytest.approx(turned, abs=0.02)


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_forty_lassos_on_eight_screens_select_in_python_what_numpy_selects(lab, page):
    page.set_viewport_size({"width": 1480, "height": 1260})
    run_all(page, lab % "points")
    page.locator(".labkit-embedding[data-pictures=shown]").wait_for(timeout=120_000)
    data, random = make_data(), np.random.default_rng(1)
    for width, scale in LOOKS:
        take_look(page, ".labkit-embedding", width, scale)
        page.locator(".stage").scroll_into_view_if_needed()
        at = places(page, data)
        for _ in range(LASSOS):
            polygon, rows = some_lasso(random, at)
            draw_lasso(page, polygon)
            page.wait_for_function(
                "text => document.querySelector('.python-has').innerText === text",
                arg=json.dumps([data.ids[i] for i in rows]),
            )
