"""The retrieval and the ranking to play with, driven without a browser."""

import pytest
import torch

from labkit.data import load
from labkit.explorers.lessons import metrics_that_disagree as ranking
from labkit.explorers.lessons.start_here import QUERIES, explore_circle, explore_retrieval, query_items
from labkit.training import galleries


@pytest.fixture(scope="module")
def gallery():
    """All drawings of the queries, by pixels and by their mirror image."""
    data = load("emoji").test
    names = set(QUERIES)
    data = data.take(torch.tensor([i for i, name in enumerate(data.columns["name"]) if name in names]))
    ways = {"pixels": data.inputs.float().flatten(1), "mirrored": data.inputs.flip(3).float().flatten(1)}
    unit = {name: torch.nn.functional.normalize(x, dim=1) for name, x in ways.items()}
    return galleries.Gallery(data.inputs, data.labels, data.columns["name"], data.columns["vendor"], unit)


@pytest.fixture
def displayed(monkeypatch):
    """What would be shown."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: found.extend(things))
    return found


def test_every_query_is_there(gallery):
    assert tuple(query_items(gallery)) == QUERIES


def test_query_and_way_redraw_the_live_form(gallery, displayed):
    live = explore_retrieval(gallery)
    assert displayed[0].children[0] is live.box
    assert "<img alt=" in displayed[-1].data
    first = live.figure.layout.title.text, live.figure.data[0].source
    live.controls["query"].value = "taxi"
    live.controls["way"].value = "pixels"
    assert live.figure.layout.title.text != first[0]
    assert live.figure.data[0].source != first[1]
    assert live.figure.data[4].text[0] == "query"


@pytest.mark.parametrize(("build", "sign"), [("notebook", "image/png;base64"), ("book", "labkit-explorer")])
def test_built_forms_show_pictures_or_all_figures(gallery, displayed, monkeypatch, build, sign):
    monkeypatch.setenv("LABKIT_BUILD", build)
    assert explore_retrieval(gallery, still=("taxi",), start="taxi") is None
    assert len(displayed) == 1
    assert sign in displayed[0].data
    assert "✓" in displayed[0].data


@pytest.mark.parametrize("build", ["live", "book", "notebook"])
def test_a_ranking_and_a_circle_to_drag_are_there_in_every_mode(displayed, monkeypatch, build):
    monkeypatch.setenv("LABKIT_BUILD", build)
    ranking.explore_ranking()
    explore_circle()
    for shown in displayed:
        assert ("labkit-drags" in shown.data) == (build != "notebook")
        assert ("<img alt=" in shown.data) == (build != "book")
        assert ("Run this cell to make it live" in shown.data) == (build == "live")
    assert ("data:image/webp" in displayed[0].data) == (build != "notebook")
