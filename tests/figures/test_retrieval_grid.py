"""The retrieval row: marks and frames go together, texts are escaped; ranks are drawn where they are."""

import base64
import io

import pytest
from PIL import Image

from labkit.explorers.embedding.sheet import Sheet
from labkit.figures.retrieval_grid import Cell, positive_ranks, row_html


def test_marks_come_with_their_frames():
    html = row_html([Cell("query", "q", "id q"), Cell("✓", "a", "b", place="1"), Cell("✗", "c", "d", place="2")], "row")
    first, hit, miss = html.split('role="listitem"')[1:]
    assert "dotted" in first
    assert "solid" in hit
    assert "1 ✓" in hit
    assert "dashed" in miss
    assert "2 ✗" in miss


@pytest.mark.parametrize("picture", ["", "data:image/png;base64,AAAA"])
def test_texts_are_escaped_wherever_they_go(picture):
    evil = "\"><script>alert('1')</script>"
    html = row_html([Cell("query", evil, evil, picture=picture), Cell("✓", evil * 20, evil, evil, "1", picture)], evil)
    assert "<script" not in html
    assert 'title=""' not in html
    assert html.count("&lt;script") >= 4


def test_pictures_are_the_cells_of_the_sheet():
    image = Image.new("RGB", (4, 4), "red")
    image.paste("blue", (2, 2, 4, 4))
    file = io.BytesIO()
    image.save(file, "PNG")
    sheet = Sheet(file.getvalue(), 2, 2)
    red, none, blue = sheet.pictures([0, -1, 3])
    assert none == ""
    for address, color in ((red, (255, 0, 0)), (blue, (0, 0, 255))):
        picture = Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))).convert("RGB")
        assert picture.size == (2, 2)
        assert max(abs(a - b) for a, b in zip(picture.getpixel((0, 0)), color)) < 12


def test_ranks_are_drawn_one_row_a_run():
    fig = positive_ranks({"first": [1, 4, 90], "<b>second</b>": [2]}, 1199)
    assert [list(trace.x) for trace in fig.data] == [[1, 4, 90], [2]]
    assert fig.data[0].marker.symbol != fig.data[1].marker.symbol
    assert [note.text for note in fig.layout.annotations] == ["first", "&lt;b&gt;second&lt;/b&gt;"]
    assert max(fig.layout.xaxis.tickvals) == 1000
