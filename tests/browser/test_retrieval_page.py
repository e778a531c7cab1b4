"""Retrieval as a person meets it: another query, another grid, as numpy has it; links; strange texts."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

from labkit.base.paths import RECORDED
from labkit.runs import open_run, read_embeddings, read_samples

pytestmark = pytest.mark.browser
APP = Path(__file__).parents[2] / "streamlit_app.py"
RUN = "omniglot_pnp-dq_s0"
CELL = "[role=listitem]"  # the menu of pages is a list, too, of <li>
ADDRESS = f"retrieval?data=omniglot&runs={RUN}&order=as+recorded"


def naive_top(query: str, count: int) -> list[str]:
    """The query and its nearest other points, in plain numpy."""
    run = open_run(RUN, RECORDED)
    x, ids = read_embeddings(run).double().numpy(), list(read_samples(run)["id"])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    order = np.argsort(-(x @ x[ids.index(query)]), kind="stable")
    return [query, *[ids[i] for i in order if ids[i] != query][:count]]


def expect_grid(page, query: str, count: int = 10) -> None:
    """The grid holds what numpy finds, in that order."""
    wanted = naive_top(query, count)
    cells = page.locator(CELL)
    expect(cells.first).to_have_attribute("title", f"{query.rpartition('/')[0]}, {query}", timeout=20_000)
    expect(cells).to_have_count(count + 1)
    titles = [cell.get_attribute("title") for cell in cells.all()]
    assert [title.split(", ")[1] for title in titles] == wanted
    for cell, found in zip(cells.all()[1:], wanted[1:]):
        same = found.rpartition("/")[0] == query.rpartition("/")[0]
        expect(cell).to_contain_text("✓" if same else "✗")
        assert ("solid" if same else "dashed") in cell.locator("img").get_attribute("style")


def test_another_query_gives_another_grid_and_the_link_restores_it(page, dashboard):
    page.goto(f"{dashboard}/{ADDRESS}&query=Angelic/character01/01")
    expect_grid(page, "Angelic/character01/01")
    page.get_by_role("button", name="Next", exact=True).click()
    expect_grid(page, "Angelic/character01/02")
    menu = page.get_by_label("Query:")
    menu.click()
    menu.fill("Atlantean/character11/07")
    menu.press("Enter")
    expect_grid(page, "Atlantean/character11/07")
    page.wait_for_url("**query=Atlantean**")
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    expect_grid(page, "Atlantean/character11/07")


def test_pictures_are_drawn_and_random_stays_within_the_class(page, dashboard):
    page.goto(f"{dashboard}/retrieval?data=emoji&class=panda&order=as+recorded")
    query = page.locator(CELL).first
    expect(query).to_contain_text("panda", timeout=20_000)
    page.wait_for_function("[...document.querySelectorAll('[role=listitem] img')].every(i => i.naturalWidth == 32)")
    page.get_by_role("button", name="Random").click()
    expect(query).to_contain_text("panda")


def test_strange_texts_are_shown_as_text(page, serve, tmp_path, monkeypatch):
    name = "toy_pnp-dq_layout=ring_s0"
    shutil.copytree(RECORDED / "toy-ring" / name, tmp_path / "runs" / name)
    path = tmp_path / "runs" / name / "samples.parquet"
    samples = pd.read_parquet(path)
    samples["class_name"] = "<img src=x onerror=document.title='hit'>"
    samples["id"] = "<b onclick=1>\"'" + samples["id"]
    samples.to_parquet(path, index=False)
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    page.goto(f"{serve(APP)}/retrieval")
    cells = page.locator(CELL)
    expect(cells.first).to_contain_text("<img src=x onerror=", timeout=20_000)
    assert page.locator("[role=listitem] img").count() == 0
    assert "hit" not in page.title()
