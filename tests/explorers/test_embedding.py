"""The embedding explorer without a browser: data, ids, neighbours, pictures, and what each surface is given."""

import base64
import json
import re
import shutil
import struct
from dataclasses import replace

import numpy as np
import pytest
import torch

from labkit.base.paths import RECORDED
from labkit.explorers.embedding import explore_embeddings, explorer_data
from labkit.explorers.embedding.data import MOST_COLORS, Grouping, nearest, subset, with_neighbours
from labkit.explorers.embedding.packed import places
from labkit.explorers.embedding.picture import still
from labkit.explorers.embedding.sheet import NO_SHEET, cut
from labkit.explorers.embedding.widget import EmbeddingExplorer, book_page
from labkit.explorers.packing import SHAPES
from labkit.figures import style
from labkit.runs.contents import read_embeddings, read_samples
from labkit.runs.project import project, write_projection
from labkit.runs.read import read_run
from labkit.runs.schema import RunError

FASHION = RECORDED / "fashion-3d" / "fashion-mnist-3d_sgsl_label_smoothing=0.1_s0"
TOY = RECORDED / "toy-ring" / "toy_pnp-dq_layout=ring_s0"
OMNIGLOT = RECORDED / "omniglot" / "omniglot_pnp-dq_s0"
HOSTILE = '<img src=x onerror="alert(1)"></script> $\\frac$'


@pytest.fixture(scope="module")
def fashion():
    return explorer_data(read_run(FASHION))


@pytest.fixture(scope="module")
def omniglot(tmp_path_factory):
    run = read_run(shutil.copytree(OMNIGLOT, tmp_path_factory.mktemp("runs") / OMNIGLOT.name))
    project(run, ["pca"])
    return explorer_data(run)


@pytest.fixture
def displayed(monkeypatch):
    """What would be shown."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda *things, **how: found.extend(things))
    return found


def unpacked(packed):
    """The packed points, read the way points.js reads them."""
    (length,) = struct.unpack_from("<I", packed)
    head = json.loads(packed[4 : 4 + length])
    n, at, arrays = head["n"], 4 + length, {}
    shapes = {"xy": (n, 2), "near": (n, head["k"]), "similarity": (n, head["k"])}
    for name, kind, count in head["arrays"]:
        arrays[name] = np.frombuffer(packed, f"<{kind}", count, at).reshape(shapes.get(name, (n,)))
        at += count * arrays[name].itemsize
    assert at == len(packed)
    ids, before = [], ""
    for shared, rest in zip(arrays["shared"], head["ids"]):
        ids.append(before := before[:shared] + rest)
    return head | {"ids": ids}, arrays | {"cells": arrays["cells"].astype(int) - 1}


def test_every_point_keeps_its_id_class_embedding_and_picture(fashion):
    run = read_run(FASHION)
    samples = read_samples(run).set_index("id")
    embeddings = dict(zip(read_samples(run)["id"], torch.nn.functional.normalize(read_embeddings(run)).numpy()))
    assert len(fashion) == 1000
    assert (fashion.xy.dtype, fashion.labels.dtype, fashion.cells.dtype) == (np.float32, np.int32, np.int32)
    for i in range(0, 1000, 37):
        name = fashion.ids[i]
        assert fashion.classes[fashion.labels[i]] == samples.loc[name, "class_name"]
        np.testing.assert_allclose(fashion.embeddings[i], embeddings[name], atol=1e-6)
    index = json.loads((RECORDED / "sprites" / "fashion-mnist.json").read_text())
    assert [index["ids"][cell] for cell in fashion.cells] == list(fashion.ids)


def test_a_shuffled_projection_changes_nothing_but_the_order(tmp_path, fashion):
    path = shutil.copytree(FASHION, tmp_path / FASHION.name)
    order = np.random.default_rng(0).permutation(1000)[:700]
    ids = np.array(fashion.ids, object)[order]
    write_projection(path / "projections" / "pca.parquet", ids, fashion.xy[order], {})
    found = explorer_data(read_run(path))
    assert found.ids == tuple(ids)
    assert found.subtitle == "PCA, 700 of 1,000 points, 10 classes"
    np.testing.assert_array_equal(found.embeddings, fashion.embeddings[order])
    np.testing.assert_array_equal(found.cells, fashion.cells[order])
    assert [found.classes[k] for k in found.labels] == [fashion.classes[k] for k in fashion.labels[order]]


def test_a_label_of_another_split_is_another_class():
    toy = explorer_data(read_run(TOY))
    assert len(toy.classes) == 8
    samples = read_samples(read_run(TOY)).set_index("id")
    assert [toy.classes[k] for k in toy.labels] == list(samples.loc[list(toy.ids), "class_name"])
    assert toy.sheet is NO_SHEET
    assert (toy.cells == -1).all()


def test_packed_bytes_hold_everything(fashion):
    head, arrays = unpacked(with_neighbours(fashion, 4).packed)
    assert tuple(head["ids"]) == fashion.ids
    assert head["k"] == 4
    np.testing.assert_array_equal(arrays["xy"], fashion.xy)
    np.testing.assert_array_equal(arrays["labels"], fashion.labels)
    np.testing.assert_array_equal(arrays["cells"], fashion.cells)
    np.testing.assert_array_equal(arrays["near"], with_neighbours(fashion, 4).near)
    assert len(set(zip(head["colors"], head["shapes"]))) == len(set(head["shapes"])) == 10


def test_sixty_thousand_points_fit_and_are_where_python_says(fashion):
    n, random = 60_000, np.random.default_rng(0)
    many = replace(
        fashion,
        ids=tuple(f"test-{i:05d}" for i in range(n)),
        xy=random.normal(size=(n, 2)).astype(np.float32),
        labels=random.integers(0, 10, n).astype(np.int32),
        cells=np.arange(n, dtype=np.int32),
        near=np.zeros((n, 0), np.int32),
        similarity=np.zeros((n, 0), np.float32),
        total=n,
    )
    many = replace(many, grouping=Grouping("half", (many.xy[:, 0] > 0).astype(np.int32), ("left", "right")))
    assert 2 * len(many.packed) < 1_600_000  # two explorers of one page
    head, arrays = unpacked(many.packed)
    assert tuple(head["ids"]) == many.ids
    shown = np.array(head["grid"]["low"]) + arrays["xy"] * np.array(head["grid"]["step"])
    np.testing.assert_array_equal(shown, places(many))
    assert np.abs(shown - many.xy).max() < np.ptp(many.xy) / 2**16
    np.testing.assert_array_equal(places(fashion), fashion.xy)


@pytest.mark.parametrize(
    "ids", [("", "a", "a", "ab"), ("🙂1", "🙂2", "x" * 300 + "1", "x" * 300 + "2"), ('"', '"\\\n', "é€")]
)
def test_ids_of_every_kind_come_back(fashion, ids):
    few = replace(subset(fashion, np.arange(len(ids))), ids=ids)
    head, _ = unpacked(few.packed)
    assert tuple(head["ids"]) == ids


def test_more_than_ten_classes_have_no_colours(omniglot):
    head, _ = unpacked(omniglot.packed)
    assert len(omniglot.classes) == 60
    assert head["colors"] is head["shapes"] is None
    assert len(SHAPES) >= MOST_COLORS
    assert SHAPES[: len(style.MARKERS)] == style.MARKERS


def test_neighbours_are_those_of_a_naive_search(omniglot):
    table = with_neighbours(omniglot, 6)
    for i in range(0, len(omniglot), 97):
        cosines = [float(omniglot.embeddings[i] @ other) for other in omniglot.embeddings]
        order = sorted((j for j in range(len(cosines)) if j != i), key=lambda j: -cosines[j])[:6]
        answer = nearest(omniglot, omniglot.ids[i], 6)
        np.testing.assert_allclose(answer["similarities"], [cosines[j] for j in order], atol=1e-5)
        assert set(answer["ids"]) == {omniglot.ids[j] for j in order}
        assert [omniglot.ids[j] for j in table.near[i]] == answer["ids"]
        np.testing.assert_allclose(table.similarity[i], answer["similarities"], atol=1e-5)


def test_an_unknown_id_has_no_neighbours(fashion):
    assert nearest(fashion, "nobody") == {}


def test_a_limit_takes_evenly_from_all_classes(fashion):
    few = explorer_data(read_run(FASHION), limit=200)
    assert np.bincount(few.labels).tolist() == [20] * 10
    assert few.subtitle == "PCA, 200 of 1,000 points, 10 classes"
    for i, name in enumerate(few.ids):
        np.testing.assert_array_equal(few.xy[i], fashion.xy[fashion.row[name]])


def test_a_cut_sheet_fits_and_keeps_every_picture_its_own(fashion):
    few = explorer_data(read_run(FASHION), limit=300, sheet_limit=40_000)
    assert 0 < len(few.sheet.data) <= 40_000
    small, large = few.sheet.open(), fashion.sheet.open()
    for i in range(0, 300, 41):
        mine = np.asarray(small.crop(few.sheet.box(int(few.cells[i]))).resize((8, 8)), float)
        cell = int(fashion.cells[fashion.row[few.ids[i]]])
        whole = np.asarray(large.crop(fashion.sheet.box(cell)).resize((8, 8)), float)
        assert np.abs(mine - whole).mean() < 25


def test_a_sheet_that_cannot_be_made_small_enough_is_left_out(fashion):
    cells, sheet = cut(fashion.sheet, fashion.cells, 50)
    assert sheet is NO_SHEET
    assert (cells == -1).all()


def test_what_is_wrong_with_a_run_is_said(tmp_path, fashion):
    with pytest.raises(RunError, match="no umap projection yet"):
        explorer_data(read_run(FASHION), "umap")
    path = shutil.copytree(FASHION, tmp_path / FASHION.name)
    write_projection(path / "projections" / "pca.parquet", np.array(["a", "b"], object), fashion.xy[:2], {})
    with pytest.raises(RunError, match="'a', which is no sample"):
        explorer_data(read_run(path))
    names = np.array(fashion.ids[:2], object)
    write_projection(path / "projections" / "pca.parquet", names, fashion.xy[:2] * np.nan, {})
    with pytest.raises(RunError, match="NaN"):
        explorer_data(read_run(path))


def test_a_built_notebook_holds_a_picture_with_words(displayed, monkeypatch):
    monkeypatch.setenv("LABKIT_BUILD", "notebook")
    assert explore_embeddings(read_run(FASHION), compare=read_run(FASHION)) is None
    (shown,) = displayed
    assert "image/png;base64" in shown.data
    assert 'alt="PCA, 1,000 points, 10 classes of the run fashion-mnist-3d' in shown.data
    assert len(shown.data) < 180_000


def test_the_picture_colours_all_classes_or_a_few(fashion, omniglot):
    assert len(still([fashion]).legends[0].get_texts()) == 10
    page = still([omniglot, omniglot])
    assert len(page.axes) == 2
    assert len(page.legends[0].get_texts()) == 5


def test_the_book_gets_points_pictures_and_script_in_one_piece(displayed, monkeypatch):
    monkeypatch.setenv("LABKIT_BUILD", "book")
    assert explore_embeddings(read_run(FASHION), compare=read_run(FASHION), alt="Two <runs>.") is None
    html = displayed[0].data
    assert "Two &lt;runs&gt;." in html
    spec = json.loads(re.search(r'json">(.*?)</script>', html)[1])
    first, second = spec["models"]
    assert first == second  # a run beside itself: all bytes are there once
    assert len(spec["bytes"]) == 2
    assert first["values"]["group"] != ""
    head, arrays = unpacked(base64.b64decode(spec["bytes"][first["bytes"]["points"]]))
    assert len(head["ids"]) == 1000
    assert arrays["near"].shape == (1000, 10)
    assert "http" not in html.replace("http://www.w3.org", "")


def test_hostile_names_reach_no_markup(fashion):
    data = replace(fashion, title=HOSTILE, classes=(HOSTILE, *fashion.classes[1:]), ids=(HOSTILE, *fashion.ids[1:]))
    html = book_page([data])
    assert "onerror" not in html  # only in base64
    assert html.count("</script>") == 2
    still([data]).savefig("/dev/null", format="png")  # dollar signs are no formula
    assert "innerHTML" not in html


def test_the_widget_sends_bytes_and_answers_a_selection(fashion):
    live = EmbeddingExplorer([fashion, fashion])
    first, second = live.widgets
    assert first.points == fashion.packed
    assert first.sheet == fashion.sheet.data
    assert first.group == second.group != ""
    name = fashion.ids[5]
    second.selected = [name]  # as the page sets it
    assert live.selected == first.selected == [name]
    assert first.near == nearest(fashion, name)
    live.selected = fashion.ids[:3]
    assert second.selected == list(fashion.ids[:3])
    assert second.near == {}


def test_live_shows_the_widget_and_says_what_it_is(displayed):
    live = explore_embeddings(read_run(TOY))
    assert displayed[0] is live.box
    assert "600 points" in displayed[1].data
