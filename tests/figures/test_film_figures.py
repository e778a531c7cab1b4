"""Frames of films, still: points lie at the angles and in the directions of their embeddings."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from labkit.explorers.lessons.many_centres import LAYOUTS, LOSSES, toy_film
from labkit.figures.film import film_figure, on_circles, printable, sphere
from labkit.figures.static import small_multiples

CENTRES = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-3.0, 0.0], [0.0, -1.0]])
LABELS = torch.arange(4).repeat_interleave(10)


def test_points_lie_at_the_angles_of_their_embeddings():
    embeddings = CENTRES.repeat_interleave(10, 0)
    fig = on_circles((embeddings, LABELS), (embeddings, LABELS), "words", "title")
    marks = [trace for trace in fig.data if trace.mode == "markers"]
    assert len(marks) == 8
    for trace, centre in zip(marks, torch.cat([CENTRES, CENTRES])):
        angle = np.arctan2(trace.y, trace.x)
        np.testing.assert_allclose(np.cos(angle - np.arctan2(*centre.flip(0).tolist())), 1, atol=1e-4)
    radius = [np.hypot(trace.x, trace.y).mean() for trace in marks]
    assert max(radius[:4]) < 0.75 < 0.9 < min(radius[4:])
    assert len({(trace.marker.color, trace.marker.symbol) for trace in marks}) == 4
    assert [trace.showlegend for trace in marks] == [False] * 4 + [True] * 4
    small_multiples([fig])


def test_the_sphere_shows_directions_with_a_colour_and_a_symbol_of_their_own():
    torch.manual_seed(0)
    labels = torch.arange(60) % 10
    points = 5 * torch.randn(60, 3)
    names = [f"class {i}" for i in range(10)]
    fig = sphere(points, labels, names, title="step 3")
    classes = [trace for trace in fig.data if trace.mode == "markers"]
    assert [trace.name for trace in classes] == names
    assert len({(trace.marker.color, trace.marker.symbol) for trace in classes}) == 10
    for number, trace in enumerate(classes):
        found = np.stack([trace.x, trace.y, trace.z], 1)
        np.testing.assert_allclose(found, normalize(points[labels == number], dim=1).numpy(), atol=6e-4)
    assert fig.layout.title.text == "step 3"
    axes = small_multiples([fig]).axes[0]
    assert axes.name == "3d"
    assert not axes.axison
    assert np.isnan(axes.lines[0].get_data_3d()[0][49])  # circles are not joined


def test_names_at_one_place_are_not_printed_over_each_other():
    centers = normalize(torch.tensor([[1.0, 0, 0], [1, 0.1, 0], [0, 1, 0]]), dim=1).numpy()
    assert printable(centers, ["a", "b", "c"]) == ["a", "", "c"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_recorded_frames_are_drawn_at_their_ends_and_between(loss, layout):
    film = toy_film(loss, layout)
    assert film.steps[0] == 0
    for frame in (0, 5, -1):
        fig = film_figure(film, frame)
        assert sum(len(trace.x) for trace in fig.data if trace.mode == "markers") <= 150
        assert len(fig.to_json()) < 10_000
