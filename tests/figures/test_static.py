"""The static twin shows what the plotly figure holds: same data, colours, dashes, scales, labels."""

import numpy as np
import plotly.graph_objects as go
import pytest

from labkit.figures import style
from labkit.figures.static import small_multiples
from labkit.figures.static_traces import plain


def curves(power=2.0):
    x = np.linspace(0.1, 3, 20)
    return style.figure(
        go.Scatter(x=x, y=x**power, name="power", line=style.line(0)),
        go.Scatter(x=x, y=x, name="identity", line=style.line(1)),
        go.Scatter(x=[1], y=[1], mode="markers", name="both", marker=style.marker(2)),
        x="x (metres)",
        y="y",
        title=f"power {power}",
    )


def test_lines_points_and_labels_are_carried_over():
    page = small_multiples([curves(2.0), curves(3.0)], ["a", "b"])
    first, second = page.axes
    assert first.get_title() == "a"
    assert first.get_xlabel() == "x (metres)"
    np.testing.assert_allclose(second.lines[0].get_ydata(), np.linspace(0.1, 3, 20) ** 3)
    assert first.lines[0].get_color() == style.COLORS[0]
    assert first.lines[1].get_linestyle() == "--"
    assert len(first.collections) == 1
    assert [t.get_text() for t in page.legends[0].get_texts()] == ["power", "identity", "both"]


def test_scales_ranges_and_hidden_traces_are_respected():
    fig = style.figure(go.Scatter(x=[1, 10], y=[1, 5]), go.Scatter(x=[1], y=[1], visible=False))
    fig.update_xaxes(type="log", range=[0, 2])
    fig.update_yaxes(autorange="reversed")
    (axes,) = small_multiples([fig]).axes
    assert axes.get_xscale() == "log"
    assert axes.get_xlim() == pytest.approx((1, 100))
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert len(axes.lines) == 1


def test_bars_heatmaps_and_space_are_drawn():
    figures = [
        style.figure(go.Bar(x=["a", "b"], y=[1, 2])),
        style.figure(go.Bar(y=["a", "b"], x=[1, 2], orientation="h")),
        style.figure(go.Heatmap(z=[[1, 2], [3, 4]])),
        style.figure(go.Scatter3d(x=[0, 1], y=[0, 1], z=[0, 1], mode="markers")),
        style.figure(go.Scatter(x=[0], y=[0], mode="text", text=["<b>here</b>"])),
    ]
    page = small_multiples(figures)
    page.savefig("/dev/null", format="png")
    assert len(page.axes) == 5
    assert page.axes[3].name == "3d"
    assert page.axes[4].texts[0].get_text() == "here"


def test_no_figures_are_refused_and_tags_become_text():
    with pytest.raises(ValueError, match="figures"):
        small_multiples([])
    assert plain("<b>a</b><br>b") == "a\nb"


def test_every_colour_has_a_second_cue_of_its_own():
    assert len({(style.line(i)["dash"], style.line(i)["color"]) for i in range(7)}) == 7
    assert len(set(style.MARKERS)) == len(style.COLORS)


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_reads_on_white_and_on_black():
    grey = luminance(style.TEXT)
    assert 1.05 / (grey + 0.05) >= 4.5
    assert (grey + 0.05) / 0.05 >= 4.5


def test_a_legend_with_long_names_is_not_cut_off():
    names = ("any hit (reported)", "hits / |P| (slides' formula)", "hits / min(k, |P|) (released code)")
    page = small_multiples([style.figure(*(go.Scatter(x=[0, 1], y=[0, 1], name=name) for name in names))], columns=1)
    page.canvas.draw()
    box, whole = page.legends[0].get_window_extent(), page.bbox
    assert box.x0 >= whole.x0
    assert box.x1 <= whole.x1


def test_one_name_with_two_looks_is_explained_in_each_panel():
    def panel(number):
        return style.figure(go.Scatter(x=[1], y=[1], mode="markers", name="softmax", marker=style.marker(number)))

    assert len(small_multiples([panel(0), panel(0)]).legends) == 1
    page = small_multiples([panel(0), panel(1)])
    assert not page.legends
    assert all(axes.get_legend().get_texts()[0].get_text() == "softmax" for axes in page.axes)


def test_a_filled_area_is_filled_and_a_legend_shows_line_and_mark():
    line = go.Scatter(
        x=[0, 1],
        y=[1, 2],
        fill="tozeroy",
        mode="lines+markers",
        name="area",
        line=style.line(1),
        marker=style.marker(1),
    )
    page = small_multiples([style.figure(line)])
    filled = page.axes[0].collections[0].get_paths()[0].vertices
    assert filled[:, 1].min() == 0
    assert filled[:, 1].max() == 2
    page.canvas.draw()
    (entry,) = [box for box in page.legends[0].findobj() if type(box).__name__ == "DrawingArea"]
    assert {type(part).__name__ for part in entry.get_children()} == {"Line2D", "PathCollection"}


def test_names_of_points_stay_inside_and_off_one_another():
    def texts(*places):
        x, y = zip(*places)
        named = go.Scatter(x=x, y=y, mode="markers+text", text=[f"loss number {i}" for i in range(len(x))])
        fig = style.figure(named)
        fig.update_xaxes(range=[0, 1])
        fig.update_yaxes(range=[0, 1])
        page = small_multiples([fig])
        page.canvas.draw()
        frame = page.axes[0].get_window_extent()
        boxes = [text.get_window_extent() for text in page.axes[0].texts]
        assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        return len(boxes)

    assert texts((0.99, 0.5), (0.01, 0.99)) == 2
    assert texts((0.5, 0.5), (0.5, 0.5)) == 2
    assert texts(*[(0.5, 0.5)] * 7) == 4  # for the others there is no room
