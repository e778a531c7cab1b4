"""Journeys: from the list of runs to a comparison, and from a file of one's own to its points."""

import os

import numpy as np
import pytest
from conftest import served
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_ticked_runs_are_compared(page, dashboard):
    page.goto(f"{dashboard}/runs?preset=emoji&sort=R%401")
    table = page.locator("[data-testid=stDataFrame] canvas").first
    table.wait_for(timeout=30_000)
    box = table.bounding_box()
    for row in (1, 2, 3, 4, 5):  # seeds of more than one configuration
        page.mouse.click(box["x"] + 18, box["y"] + 35 * row + 18)
        expect(page.get_by_role("heading", name=f"{row} ticked")).to_be_visible(timeout=20_000)
    page.get_by_role("link", name="Compare the").click()
    expect(page.get_by_role("heading", name="Compare runs")).to_be_visible(timeout=20_000)
    expect(page.get_by_role("combobox", name="preset")).to_have_value("emoji", timeout=20_000)
    assert "groups=emoji_" in page.url


def test_a_file_of_ones_own_becomes_points(page, tmp_path):
    random = np.random.default_rng(0)
    np.savez(tmp_path / "mine.npz", embeddings=random.standard_normal((60, 5)), labels=np.arange(60) % 3)
    environment = os.environ | {"LABKIT_RUNS": str(tmp_path / "runs")}
    with served("-m", "labkit", "dashboard", "--no-token", "--headless", "--port", environment=environment) as address:
        page.goto(f"{address}/embeddings")
        page.get_by_text("Bring your own embeddings").click(timeout=30_000)
        page.locator("input[type=file]").set_input_files(tmp_path / "mine.npz")
        page.get_by_role("button", name="Make it a run").click(timeout=20_000)
        expect(page.get_by_text("PCA, 60 points, 3 classes")).to_be_visible(timeout=60_000)
    assert (tmp_path / "runs" / "mine_mine_s0" / "summary.json").is_file()
