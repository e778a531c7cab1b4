"""One run, and Papers: they open in every situation and show what is in the files."""

import pytest

from labkit.base.paths import RECORDED
from labkit.data.papers import PAPERS, pivot, tables
from labkit.runs import find_runs


def test_a_run_is_shown_or_its_absence_explained(page, situation):
    opened = page("run")
    assert not opened.exception
    if situation == "none":
        assert "labkit train toy" in opened.info[0].value
    else:
        assert opened.selectbox(key="run").value
        assert "Status: **" in opened.caption[0].value


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_it_opens_on_the_best_run_with_pictures_or_on_the_newest_own(page, request):
    pictured = [run for run in find_runs(RECORDED) if run.preset == "emoji"]
    best = max(run.value("R@1") or 0.0 for run in pictured)
    opened = page("run")
    assert opened.selectbox(key="run").value in [run.id for run in pictured if run.value("R@1") == best]
    mine = request.getfixturevalue("mine")
    for name in ("run", "embeddings"):
        opened = page(name)
        assert not opened.exception
        assert opened.selectbox(key="run").options[0] == "omniglot: Mine (mine.py), τ = 0.5, seed 0"
    assert page("run").selectbox(key="run").value == mine


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_a_run_of_the_url_shows_its_numbers_and_command(page):
    opened = page("run", run="toy_pnp-dq_layout=ring_s0", view="Files and export")
    assert opened.selectbox(key="run").value == "toy_pnp-dq_layout=ring_s0"
    assert "--loss pnp-dq" in opened.code[0].value
    assert any(metric.label == "test R@1" for metric in opened.metric)
    for view, value in (("Settings", "ring"), ("Provenance", "cpu")):
        opened = page("run", run="toy_pnp-dq_layout=ring_s0", view=view)
        assert value in set(opened.dataframe[0].value["value"])


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_a_run_can_be_exported(page):
    opened = page("run", run="toy_pnp-dq_layout=ring_s0", view="Files and export")
    opened.button[0].click().run()
    assert not opened.exception


@pytest.mark.parametrize("situation", ["corrupt"], indirect=True)
@pytest.mark.parametrize("view", ["Curves", "Settings", "Provenance", "Files and export"])
def test_every_readable_run_of_a_spoilt_folder_opens(page, view):
    opened = page("run", view=view)
    for name in opened.selectbox(key="run").options:
        opened.selectbox(key="run").select(name).run()
        assert not opened.exception


def test_papers_open_without_any_run(page, situation):
    opened = page("papers")
    assert not opened.exception
    assert "Showing" in " ".join(caption.value for caption in opened.caption)


@pytest.mark.parametrize("situation", ["many"], indirect=True)
@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_of_every_paper_is_shown(page, paper):
    opened = page("papers", paper=f"{paper}: {PAPERS[paper].title}")
    assert opened.selectbox(key="paper").value == paper
    for table in tables(paper)["table"].unique():
        opened.selectbox(key="table").select(table).run()
        assert not opened.exception
        assert len(opened.dataframe[0].value)
        marked = pivot(paper, table, column="errata").fillna("").ne("").to_numpy().sum()
        assert opened.dataframe[0].proto.arrow_data.styler.display_values.count("†".encode()) == marked
    opened.text_input(key="find").input("<b>nobody</b>").run()
    assert "No method matches" in opened.warning[0].value
