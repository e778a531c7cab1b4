"""The gallery explorer: an item stays where it is put, and another one takes over the slider."""

import pytest

from labkit.explorers.lessons.recall_at_k import SimilarityExplorer, explore_similarities
from labkit.figures.lessons.recall_at_k import GALLERY


def place(live, name):
    """Where an item is drawn."""
    kind = 0 if GALLERY[name][1] else 2
    names = [n for n, (_, positive) in GALLERY.items() if positive == GALLERY[name][1]]
    return live.figure.data[kind].x[names.index(name)]


def test_items_stay_where_they_are_put():
    live = SimilarityExplorer()
    live.controls["similarity"].value = 0.95
    assert place(live, "P2") == 0.95
    live.controls["item"].value = "N5"
    assert live.controls["similarity"].value == GALLERY["N5"][0]
    live.controls["similarity"].value = 0.0
    assert place(live, "N5") == 0.0
    assert place(live, "P2") == 0.95
    live.controls["item"].value = "P2"
    assert live.controls["similarity"].value == 0.95


@pytest.mark.parametrize("name", ["similarity", "tau_rank", "tau_sim"])
def test_every_slider_redraws_at_both_ends(name):
    live = SimilarityExplorer()
    options = [value for _, value in live.controls[name].options]
    titles = set()
    for value in (options[0], options[-1]):
        live.controls[name].value = value
        titles.add(live.figure.layout.title.text)
    assert len(titles) == 2


def test_every_item_is_where_the_slider_can_be():
    assert {s for s, _ in GALLERY.values()} <= {
        value for _, value in SimilarityExplorer().controls["similarity"].options
    }


@pytest.mark.parametrize(("build", "shown"), [("live", 2), ("notebook", 1), ("book", 1)])
def test_it_is_shown_in_every_mode(monkeypatch, build, shown):
    found = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: found.extend(things))
    monkeypatch.setenv("LABKIT_BUILD", build)
    assert (explore_similarities() is not None) == (build == "live")
    assert len(found) == shown
