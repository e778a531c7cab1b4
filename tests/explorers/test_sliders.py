"""Explorers: every control redraws, errors are not swallowed, the book gets all figures, the twin is beneath."""

import json
import re

import numpy as np
import plotly.graph_objects as go
import pytest

from labkit.explorers import sliders as module
from labkit.explorers.live import LiveFigure, spec
from labkit.explorers.sliders import Control, Explorer, book_html, explore, thinned
from labkit.figures import style
from labkit.lessons import show as showing

X = np.linspace(0, 1, 5)
POWER = Control("power", "power p", (1.0, 2.0, 3.0, 4.0), 2.0)
KIND = Control("kind", "drawn as", ("line", "points"), "line", menu=True)


def draw(power, kind="line"):
    if power == 4.0:
        raise RuntimeError("cannot draw")
    mode = "lines" if kind == "line" else "markers"
    return style.figure(go.Scatter(x=X, y=X**power, mode=mode), x="x", y="y", title=f"p = {power}")


@pytest.fixture
def displayed(monkeypatch):
    """What would be shown."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: found.extend(things))
    return found


def test_a_moved_slider_redraws_in_place():
    live = Explorer(draw, [POWER, KIND])
    live.controls["power"].value = 3.0
    assert live.live.widget.spec == spec(draw(3.0))
    assert json.loads(live.live.widget.spec)["layout"]["uirevision"] == "kept"  # the reader's view stays
    np.testing.assert_allclose(live.figure.data[0].y, X**3)
    assert live.figure.layout.title.text == "p = 3.0"
    live.controls["kind"].value = "points"
    assert live.figure.data[0].mode == "markers"


def test_an_error_in_the_figure_is_raised_not_swallowed():
    live = Explorer(draw, [POWER])
    with pytest.raises(RuntimeError, match="cannot draw"):
        live.controls["power"].value = 4.0


def test_another_number_of_traces_is_drawn_anew():
    def several(power):
        return style.figure(*(go.Scatter(x=X, y=X * i) for i in range(int(power))))

    live = Explorer(several, [POWER])
    live.controls["power"].value = 3.0
    assert len(live.figure.data) == 3


def test_a_control_must_start_at_one_of_its_values():
    with pytest.raises(ValueError, match="starts at 9"):
        Control("a", "a", (1, 2), 9)


def test_live_shows_the_widget_and_the_picture_waits_for_a_page_without_one(displayed):
    live = explore(draw, [POWER], [{"power": 1.0}, {"power": 3.0}], "Powers of x.")
    assert live is not None
    assert "application/vnd.jupyter.widget-view+json" in displayed[0]
    assert 'alt="Powers of x."' in displayed[0]["text/html"]
    assert "Powers of x." in displayed[1].data
    assert "<img" not in displayed[1].data


def test_a_built_notebook_holds_only_the_picture(displayed, monkeypatch):
    monkeypatch.setenv("LABKIT_BUILD", "notebook")
    assert explore(draw, [POWER], [{"power": 1.0}], "Powers of x.") is None
    assert len(displayed) == 1
    assert "image/png;base64" in displayed[0].data


def test_the_book_holds_every_figure(monkeypatch):
    html = book_html(draw, [Control("power", "p", (1.0, 2.0, 3.0), 2.0), KIND])
    spec = json.loads(re.search(r'json">(.*)</script>', html)[1])
    assert len(spec["frames"]) == 6
    assert spec["frames"]["3|points"]["data"][0]["mode"] == "markers"
    assert spec["controls"][0]["start"] == "2"


def test_long_controls_are_thinned_for_the_book_and_keep_their_start(monkeypatch):
    monkeypatch.setattr(module, "MOST_FRAMES", 30)
    long = [Control("a", "a", tuple(range(21)), 7), Control("b", "b", tuple(range(9)), 3)]
    kept = thinned(long)
    assert len(kept[0].values) * len(kept[1].values) <= 30
    assert 7 in kept[0].values
    assert 3 in kept[1].values


@pytest.mark.parametrize("build", ["live", "notebook", "book"])
def test_show_always_says_what_is_to_be_seen(displayed, monkeypatch, build):
    monkeypatch.setenv("LABKIT_BUILD", build)
    showing.show(draw(2.0), 'A <curve> & "more".')
    texts = [thing.data for thing in displayed if hasattr(thing, "data") and isinstance(thing.data, str)]
    assert any("A &lt;curve&gt; &amp;" in text for text in texts)
    assert not any("<curve>" in text for text in texts)


def test_show_refuses_a_figure_without_words():
    with pytest.raises(ValueError, match="alt"):
        showing.show(draw(2.0), "  ")


def test_plotly_goes_to_the_page_once():
    first, second = LiveFigure(draw(1.0)), LiveFigure(draw(2.0))
    assert first.widget.library is second.widget.library
    assert len(first.widget.get_state()["library"]) < 100  # a reference, not the code
    assert len(first.widget.library.code) > 1_000_000
