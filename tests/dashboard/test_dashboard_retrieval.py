"""Retrieval: it opens in every situation, shows what numpy finds, and shows strange texts as text."""

import re

import numpy as np
import pandas as pd
import pytest

from labkit.base.paths import RECORDED
from labkit.runs import find_runs, open_run, read_embeddings, read_samples

RUN, TITLE = "omniglot_pnp-dq_s0", "omniglot: PNP-D_q, seed 0"
QUERY = "Atlantean/character11/07"


def naive_order(run_id: str, query: str) -> list[str]:
    """Ids of a run's other test points by falling cosine, in plain numpy."""
    run = open_run(run_id, RECORDED)
    samples = read_samples(run)
    x = read_embeddings(run).double().numpy()
    keep = (samples["split"] == "test").to_numpy()
    x, ids = x[keep] / np.linalg.norm(x[keep], axis=1, keepdims=True), list(samples["id"][keep])
    place = ids.index(query)
    order = np.argsort(-(x @ x[place]), kind="stable")
    return [ids[i] for i in order if i != place]


def grids(page) -> list[str]:
    return [element.proto.body for element in page.get("html")]


def shown_ids(grid: str) -> list[str]:
    """The ids under the cursor, query first."""
    titles = re.findall(r'role="listitem" title="([^"]*)"', grid)
    return [title.split(", ")[1] for title in titles]


def test_the_page_opens_and_says_what_to_do(page, situation):
    opened = page("retrieval")
    assert not opened.exception
    if situation == "none":
        assert "labkit train toy" in opened.info[0].value
        return
    assert any("recorded points" in caption.value for caption in opened.caption)
    assert grids(opened)


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_the_address_chooses_the_query_and_the_grid_is_what_numpy_finds(page):
    opened = page("retrieval", data="omniglot", runs=RUN, query=QUERY, top="12")
    assert opened.selectbox(key="query").value == QUERY
    (grid,) = grids(opened)
    assert shown_ids(grid) == [QUERY, *naive_order(RUN, QUERY)[:12]]
    assert "among the 1,200 recorded points of 13,180 test items" in " ".join(c.value for c in opened.caption)
    assert grid.count("data:image/webp;base64,") == 13


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_every_data_set_opens_and_those_without_pictures_show_names(page):
    opened = page("retrieval")
    for data in opened.selectbox(key="data").options:
        opened.selectbox(key="data").select(data).run()
        assert not opened.exception
        assert len(grids(opened)) == 2
        assert ("data:image" in grids(opened)[0]) == (not data.startswith("toy"))


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_hardest_first_next_random_and_class(page):
    opened = page("retrieval", data="omniglot", runs=RUN)
    everything = opened.dataframe[1].value
    aps = everything[f"AP of {TITLE} (%)"]
    assert list(aps) == sorted(aps)
    assert opened.selectbox(key="query").value == everything["id"].iloc[0]
    next(button for button in opened.button if button.label == "Next").click().run()
    assert opened.selectbox(key="query").value == everything["id"].iloc[1]
    name = everything["class"].iloc[7]
    opened.selectbox(key="class").select(name).run()
    own = set(everything["id"][everything["class"] == name])
    assert {called.removeprefix(f"{name}, ") for called in opened.selectbox(key="query").options} == own
    next(button for button in opened.button if button.label == "Random").click().run()
    assert not opened.exception
    assert opened.selectbox(key="query").value in own
    opened.selectbox(key="order").select("easiest first").run()
    aps = opened.dataframe[1].value[f"AP of {TITLE} (%)"]
    assert list(aps) == sorted(aps, reverse=True)


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_three_runs_of_one_query_stand_beneath_each_other(page):
    opened = page("retrieval", data="omniglot", query=QUERY)
    runs = [run for run in find_runs(RECORDED) if run.preset == "omniglot" and run.has("embeddings.safetensors")]
    opened.multiselect(key="runs").set_value([run.id for run in runs[:3]]).run()
    assert not opened.exception
    assert opened.query_params["runs"] == [run.id for run in runs[:3]]
    numbers = opened.dataframe[0].value
    assert list(numbers["run"]) == [str(run) for run in runs[:3]]
    assert [shown_ids(grid)[0] for grid in grids(opened)] == [opened.selectbox(key="query").value] * 3


@pytest.mark.parametrize("situation", ["one"], indirect=True)
def test_strange_texts_of_samples_are_escaped(page, tmp_path):
    path = tmp_path / "runs" / "toy_pnp-dq_layout=ring_s0" / "samples.parquet"
    samples = pd.read_parquet(path)
    samples["class_name"] = "<img src=x onerror=alert(1)>\"'" + samples["class_name"] + "🙂" * 200
    samples["id"] = "<b>" + samples["id"] + '"</b>'
    samples.to_parquet(path, index=False)
    opened = page("retrieval")
    assert not opened.exception
    assert "<img" not in grids(opened)[0]
    assert "<b>test" not in grids(opened)[0]
    assert "&lt;img src=x" in grids(opened)[0]
