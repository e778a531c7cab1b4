"""The player: every control moves the points; the book gets at most 200 small figures; it shows in every form."""

import json
import re

import pytest

from labkit.explorers import player
from labkit.explorers.explorer import MOST_FRAMES, thinned
from labkit.explorers.player import Player, book_controls, explore_training, frame_of_book
from labkit.figures.toy_frames import NAMES, frames_of


def test_playing_and_stepping_move_the_points_in_place():
    live = Player()
    before = live.figure.data[-1].x
    live.play.value = 10
    assert live.frame.value == 10
    assert live.figure.data[-1].x != before
    assert f"step {frames_of('pnp-dq', 'ring').steps[10]}:" in live.figure.layout.title.text
    live.frame.value = live.frame.max
    assert "step 600" in live.figure.layout.title.text


@pytest.mark.parametrize("layout", player.LAYOUTS)
def test_every_loss_and_layout_plays_at_both_ends(layout):
    live = Player()
    live.layout.value = layout
    for loss in NAMES:
        live.loss.value = loss
        for frame in (live.frame.max, 0):
            live.frame.value = frame
            assert live.figure.layout.title.text.startswith(f"{NAMES[loss]}, {layout}, step ")


def test_the_book_keeps_first_and_last_step_and_not_too_many_figures():
    controls = book_controls()
    count = 1
    for control in controls:
        count *= len(control.values)
    assert count <= MOST_FRAMES
    assert [c.values for c in thinned(controls)] == [c.values for c in controls]
    assert controls[2].values[0] == 0
    assert controls[2].values[-1] == 600
    assert "PNP-D_s, random, step 600" in frame_of_book("PNP-D_s", "random", 600).layout.title.text


@pytest.mark.parametrize("build", ["live", "notebook", "book"])
def test_it_shows_in_every_form(monkeypatch, build):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: shown.extend(things))
    monkeypatch.setenv("LABKIT_BUILD", build)
    monkeypatch.setattr(player, "IN_BOOK", ("pnp-ib", "pnp-dq"))
    live = explore_training()
    if build == "book":
        assert len(json.loads(re.search(r'json">(.*)</script>', shown[0].data)[1])["frames"]) == 80
    else:
        assert "image/png;base64" in shown[-1].data
        assert (live is not None) == (build == "live")
