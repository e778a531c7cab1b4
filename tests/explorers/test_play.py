"""The retrieval and the ranking to play with, driven without a browser."""

import pytest
import torch

from labkit.data import load
from labkit.explorers.lessons import metrics_that_disagree as ranking
from labkit.explorers.lessons.start_here import QUERIES, explore_retrieval, query_items
from labkit.figures.lessons.metrics_that_disagree import metrics_of_a_list
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


def test_two_clicks_swap_two_items_and_every_metric_follows(displayed):
    live = ranking.explore_ranking()
    live.clicked(0)
    assert "▸" in live.items[0].description
    live.clicked(1)
    assert live.relevance == [0, 1, 1, 0, 0, 0, 1, 0, 0, 1]
    shown = dict(zip(live.figure.data[0].y, live.figure.data[0].x))
    for name, value in metrics_of_a_list(tuple(live.relevance), 10, 4).items():
        assert shown[name] == pytest.approx(100 * value)
    live.k.value = 1
    shown = dict(zip(live.figure.data[0].y, live.figure.data[0].x))
    assert shown["recall@k, any hit"] == 0
