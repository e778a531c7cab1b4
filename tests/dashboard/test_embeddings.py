"""Embeddings: opens in every situation, counts what it shows, and its tables are what numpy finds."""

import io

import numpy as np
import pandas as pd
import pytest

from dashboard.parts.address import for_address, from_address
from dashboard.parts.points import as_csv
from labkit.base.paths import RECORDED
from labkit.explorers.embedding import explorer_data
from labkit.explorers.embedding.choice import projections_of
from labkit.explorers.embedding.groups import CLASS, CORRECT
from labkit.runs.read import find_runs, read_run

FASHION = "fashion-mnist-3d_sgsl_label_smoothing=0.1_s0"
TOY = "toy_pnp-dq_layout=ring_s0"
many = pytest.mark.parametrize("situation", ["many"], indirect=True)


def said(opened):
    return " ".join(caption.value for caption in opened.caption)


def test_the_page_opens_and_says_what_to_do(page, situation):
    opened = page("embeddings")
    assert not opened.exception
    if situation == "none":
        assert "labkit project ID" in opened.info[0].value
        return
    assert "points" in said(opened)


@pytest.mark.parametrize("situation", ["corrupt"], indirect=True)
@pytest.mark.parametrize("view", ["Points", "During training"])
def test_every_run_of_a_spoilt_folder_opens_or_says_why_not(page, view, tmp_path):
    opened = page("embeddings", view=view)
    offered = [run.id for run in find_runs(tmp_path) if not run.problems and projections_of(run)]
    assert len(offered) == len(opened.selectbox(key="run").options)
    for name in offered:
        opened.selectbox(key="run").select(name).run()
        assert not opened.exception
        assert opened.selectbox(key="run").value == name
        damaged = name.startswith("toy_pnp-ds")
        assert bool(opened.error) == damaged
        assert not damaged or "damaged" in opened.error[0].value


@pytest.mark.parametrize("situation", ["one"], indirect=True)
def test_a_run_without_a_projection_gets_one_by_a_button(page, tmp_path):
    (tmp_path / "runs" / TOY / "projections" / "pca.parquet").unlink()
    opened = page("embeddings")
    assert not opened.exception
    opened.button[0].click().run()
    assert not opened.exception
    assert opened.selectbox(key="run").value == TOY


@many
def test_numbers_of_some_points_do_not_look_like_the_runs(page):
    run = read_run(RECORDED / "omniglot" / "omniglot_pnp-dq_s0")
    opened = page("embeddings", run=run.id, colour=CORRECT)
    assert f"of the 1,200 recorded points of {run.record.data.test:,} test items" in said(opened)
    assert f"The run's test R@1, among all test items, is {100 * run.value('R@1'):.1f} %" in said(opened)
    data = explorer_data(run)
    cosines = data.embeddings @ data.embeddings.T
    np.fill_diagonal(cosines, -np.inf)
    right = (data.labels[cosines.argmax(axis=1)] == data.labels).mean()
    assert f"Queries answered right, among the points shown: {100 * right:.1f} %" in said(opened)


@many
def test_the_url_restores_all_settings(page):
    other = FASHION.replace("sgsl", "softmax")
    opened = page(
        "embeddings",
        run=FASHION,
        beside=other,
        projection="PCA",
        colour=CORRECT,
        find="sandal, BOOT",
        selected=["test-00019", "test-00003", "nobody"],
    )
    assert not opened.exception
    values = {name: opened.selectbox(key=name).value for name in ("run", "beside", "projection", "colour")}
    assert values == {"run": FASHION, "beside": other, "projection": "pca", "colour": CORRECT}
    assert opened.text_input(key="find").value == "sandal, BOOT"
    assert opened.session_state["points.selected"] == ["test-00019", "test-00003"]
    assert "Showing 200 of the 1,000 recorded points of 10,000 test items, 2 of 10 classes" in said(opened)


@many
def test_nonsense_in_the_url_is_ignored(page):
    opened = page("embeddings", run="../../etc", beside="<b>", colour="nothing", selected="x" * 400, find="<script>")
    assert not opened.exception
    assert "There is no run" in opened.warning[0].value
    assert "Clear the search box" in opened.warning[1].value
    assert opened.session_state["points.selected"] == []


@many
def test_neighbours_and_table_are_those_of_numpy(page):
    data = explorer_data(read_run(RECORDED / "fashion-3d" / FASHION))
    cosines = data.embeddings @ data.embeddings.T
    np.fill_diagonal(cosines, -np.inf)
    opened = page("embeddings", run=FASHION, selected=data.ids[5], find=data.classes[3])
    order = np.argsort(-cosines[5], kind="stable")[:10]
    near, table = (frame.value for frame in opened.dataframe)
    assert list(near["id"]) == [data.ids[i] for i in order]
    assert list(near["cosine similarity"]) == [f"{cosines[5, i]:.3f}" for i in order]
    rows = np.flatnonzero(data.labels == 3)
    assert list(table["id"]) == [data.ids[i] for i in rows]
    right = data.labels[cosines[rows].argmax(axis=1)] == 3
    assert list(table["correct"]) == ["✓" if r else "✗" for r in right]


@many
def test_a_sample_can_be_chosen_by_its_id_alone(page):
    opened = page("embeddings", run=FASHION)
    opened.text_input(key="sample").input("test-00003").run()
    assert not opened.exception
    assert "Nearest neighbours of **Trouser**" in opened.markdown[0].value
    opened.text_input(key="sample").input("<b>nobody</b>").run()
    assert "No sample here has the id" in opened.warning[0].value


@many
def test_another_run_of_other_data_is_not_offered_beside(page):
    opened = page("embeddings", run=TOY)
    beside = opened.selectbox(key="beside").options
    assert len(beside) > 2
    assert all(name == "none" or (name.startswith("toy: ") and "random layout" not in name) for name in beside)
    opened.selectbox(key="run").select(FASHION).run()
    assert opened.query_params["run"] == FASHION
    assert opened.selectbox(key="beside").value == "none"
    assert opened.selectbox(key="colour").value == CLASS
    assert not opened.exception


@many
@pytest.mark.parametrize(("run", "columns"), [(TOY, 3), (FASHION, 3)])
def test_training_shows_the_stored_steps(page, run, columns):
    opened = page("embeddings", run=run, view="During training", step="12", turn="-30", tilt="no number")
    assert not opened.exception
    assert opened.session_state["film.view"] == {"step": 12, "turn": -30, "tilt": 35}
    table = opened.dataframe[0].value
    assert table.shape == (40, columns)
    assert table["step"].is_monotonic_increasing


@many
def test_the_page_begins_with_a_run_that_shows_something(page):
    opened = page("embeddings")
    assert opened.selectbox(key="run").value.startswith("emoji_pnp-dq")
    assert opened.selectbox(key="projection").value == "umap"


@many
def test_training_is_there_only_where_frames_are(page):
    assert not page("embeddings", run="omniglot_pnp-dq_s0").tabs
    assert [tab.label for tab in page("embeddings", run=TOY).tabs] == ["Points", "During training"]


@many
def test_many_selected_are_in_the_address_page_by_page_and_as_csv(page):
    data = explorer_data(read_run(RECORDED / "fashion-3d" / FASHION))
    chosen = data.ids[100:230]
    opened = page("embeddings", run=FASHION, selected=for_address(chosen, data.ids))
    assert not opened.exception
    assert sorted(opened.session_state["points.selected"]) == sorted(chosen)
    assert "1 to 60 of 130 selected" in opened.markdown[0].value
    opened.number_input[0].set_value(3).run()
    assert "121 to 130 of 130 selected" in opened.markdown[0].value
    table = pd.read_csv(io.StringIO(as_csv(data, [data.row[name] for name in chosen])))
    assert list(table["id"]) == list(chosen)
    assert (table["class"] == [data.classes[data.labels[data.row[name]]] for name in chosen]).all()


@pytest.mark.parametrize("count", [0, 1, 20, 21, 999])
def test_a_selection_survives_the_address(count):
    ids = [f"s{i:04}" for i in range(1000)]
    chosen = ids[-count:] if count else []
    assert sorted(from_address(for_address(chosen, ids), ids)) == chosen
    if count > 20:
        packed = for_address(chosen, ids)
        assert from_address(packed, ids[:-1]) == []
        assert from_address([packed[0][:9] + "!!!"], ids) == []
