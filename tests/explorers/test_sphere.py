"""The sphere player: every loss, smoothing and step can be drawn, the play button is tied to the slider."""

import json
import re

import numpy as np
import pytest

from labkit.explorers import sphere
from labkit.explorers.explorer import Control, Explorer, book_html, thinned, with_player
from labkit.explorers.sphere import LOSSES, SMOOTHING, draw, explore_sphere, film


@pytest.mark.parametrize("smoothing", SMOOTHING)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_film_can_be_shown_from_its_first_to_its_last_step(loss, smoothing):
    frames, steps, labels, names = film(loss, smoothing)
    assert frames.shape == (len(steps), len(labels), 3)
    assert steps == film("softmax", "0.0")[1]
    assert len(names) == 10
    for step in (steps[0], steps[-1]):
        fig = draw(loss, smoothing, step)
        assert f"step {step}" in fig.layout.title.text
        assert sum(len(trace.x) for trace in fig.data if trace.mode == "markers") == len(labels)


def test_live_controls_redraw_and_leave_the_view_alone():
    live = explore_sphere()
    before = np.asarray(live.figure.data[1].x)
    live.controls["step"].value = 0
    live.controls["loss"].value = "softmax"
    live.controls["smoothing"].value = "0.1"
    assert live.figure.layout.title.text.startswith("softmax, step 0")
    assert not np.array_equal(before, live.figure.data[1].x)
    assert live.figure.layout.uirevision == "sphere"  # always the same: the reader's camera stays


def test_the_play_button_runs_over_the_slider():
    control = Control("step", "step", (0, 10, 20), 20, play=True)
    live = Explorer(lambda step: draw("softmax", "0.0", 0), [control])
    play, slider = with_player(control, live.controls["step"]).children
    assert (play.min, play.max, play.value) == (0, 2, 2)
    assert slider is live.controls["step"]
    assert with_player(Control("step", "step", (0, 1), 0), slider) is slider
    assert thinned([Control("a", "a", tuple(range(500)), 3, play=True)])[0].play


def test_a_book_page_has_thinned_frames_and_the_first_and_last_step(monkeypatch):
    monkeypatch.setenv("LABKIT_BUILD", "book")
    caught = {}
    monkeypatch.setattr(sphere, "explore", lambda draw, controls, twin, alt: caught.update(controls=controls, alt=alt))
    explore_sphere()
    *menus, step = caught["controls"]
    assert step.values[0] == 0
    assert step.values[-1] == 1000
    assert thinned(caught["controls"]) == caught["controls"]
    assert caught["alt"].startswith("300 test images")
    one = [Control(c.name, c.label, (c.start,), c.start, c.menu, c.play) for c in (*menus, step)]
    spec = json.loads(re.search(r'json">(.*)</script>', book_html(draw, one))[1])
    assert spec["controls"][2]["play"]
    (frame,) = spec["frames"].values()
    assert len(json.dumps(frame)) < 20_000
    assert sum(len(t["x"]) for t in frame["data"] if t["mode"] == "markers") == 300
