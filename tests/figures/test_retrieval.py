"""The emoji that are shown are those that the metrics count; frames, marks and words agree."""

import base64
import io

import pytest
import torch
from PIL import Image

from labkit import metrics
from labkit.data import load
from labkit.figures import retrieval
from labkit.figures.lessons import start_here as metric_and_loss
from labkit.figures.static import small_multiples
from labkit.training import galleries


@pytest.fixture(scope="module")
def gallery():
    """A few dozen drawings, compared by pixels and by made-up embeddings."""
    data = load("emoji").test
    data = data.take((data.labels < 8).nonzero().flatten())
    made = torch.randn(len(data), 4, generator=torch.Generator().manual_seed(0))
    ways = {galleries.PIXELS: data.inputs.double().flatten(1), galleries.TRAINED: made.double()}
    unit = {name: torch.nn.functional.normalize(x, dim=1) for name, x in ways.items()}
    return galleries.Gallery(data.inputs, data.labels, data.columns["name"], data.columns["vendor"], unit)


@pytest.mark.parametrize("way", [galleries.PIXELS, galleries.TRAINED])
def test_each_list_has_the_metrics_that_evaluate_gives(gallery, way):
    query, found = metrics.per_query_metrics(gallery.ways[way], gallery.labels, ks=(1, len(gallery.labels)))
    for q, recall, ap in zip(query.tolist(), found["R@1"], found[f"MAP@{len(gallery.labels)}/relevant"]):
        shown = galleries.find(gallery, way, q)
        assert float(shown.hit[0]) == float(recall)
        assert shown.average_precision == pytest.approx(float(ap), abs=1e-6)
        assert q not in shown.order.tolist()


@pytest.mark.parametrize("query", [0, 30])
def test_marks_and_frames_say_the_same(gallery, query):
    found = galleries.find(gallery, galleries.PIXELS, query)
    picture, _, hits, misses, words, hover = retrieval.retrieved(gallery, query, galleries.PIXELS).data
    assert [("✓" in text) for text in words.text[1:]] == found.hit.tolist()
    assert sum(x is None for x in hits.x) == max(1, int(found.hit.sum()))
    assert sum(x is None for x in misses.x) == max(1, int((~found.hit).sum()))
    assert hits.line.dash == "solid"
    assert misses.line.dash == "dash"
    assert len(hover.hovertext) == 11
    drawn = Image.open(io.BytesIO(base64.b64decode(picture.source.split(",")[1])))
    assert drawn.width > 5 * retrieval.WIDE
    assert len(picture.source) < 20_000


def test_the_still_page_has_a_row_for_each_way(gallery):
    assert len(retrieval.page(gallery, [0]).axes) == 2 * 11


def test_a_missing_run_leaves_two_ways(tmp_path, capsys):
    found = galleries.emoji_gallery(root=tmp_path)
    assert list(found.ways) == [galleries.PIXELS, galleries.UNTRAINED]
    assert "Without the trained network" in capsys.readouterr().out


def test_what_lesson_1_says_about_the_panda():
    found = galleries.emoji_gallery()
    panda = next(i for i, name in enumerate(found.names) if name == "panda" and found.vendors[i] == "twemoji")
    first = {way: galleries.find(found, way, panda) for way in found.ways}
    shown = {way: [found.names[i] for i in ranking.order[:10]] for way, ranking in first.items()}
    assert shown[galleries.PIXELS][0] == "white-small-square"
    assert "panda" not in shown[galleries.PIXELS]
    assert [place for place, name in enumerate(shown[galleries.UNTRAINED], 1) if name == "panda"] == [5, 6]
    assert shown[galleries.TRAINED][0] == "panda"
    assert sorted(shown[galleries.TRAINED]) == ["dog-face"] * 5 + ["panda"] * 5


@pytest.mark.parametrize("angle", [0.0, 38.0, 42.0, 90.0])
def test_the_query_on_the_circle_is_ranked_as_measured(angle):
    fig = metric_and_loss.on_the_circle(angle)
    by_name = {trace.name: trace for trace in fig.data}
    assert ("rank 1" in by_name["positive"].text) == (metric_and_loss.measured(angle)["R@1"] == 1)
    small_multiples([fig])


def test_from_38_to_42_degrees_the_loss_falls_and_so_does_recall():
    before, after = metric_and_loss.measured(38.0), metric_and_loss.measured(42.0)
    assert after["pair loss"] < before["pair loss"]
    assert (before["R@1"], after["R@1"]) == (1, 0)


def test_curves_and_paths_can_be_drawn():
    small_multiples([metric_and_loss.turning(step=5)])
    fig = metric_and_loss.loss_against_metric({"down": [(0.2, 0.5), (0.1, 0.5)], "up": [(0.2, 0.5), (0.3, 0.7)]})
    assert list(fig.data[1].y) == [50, 70]
    small_multiples([fig])
