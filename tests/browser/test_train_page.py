"""Training as a person does it: start, watch, close the page, come back, stop, resume, and a setting that is wrong."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from labkit.base.paths import RECORDED
from labkit.runs.process import is_alive
from labkit.runs.read import find_runs
from labkit.training.waiting import read_queue

pytestmark = pytest.mark.browser
APP = Path(__file__).parents[2] / "streamlit_app.py"
LONG = 60_000  # milliseconds; a busy machine needs a while to load torch


@pytest.fixture
def root(tmp_path, monkeypatch):
    """The user's runs folder; whatever trains there is ended afterwards, and nothing is left."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("LABKIT_RUNS", f"{RECORDED}{os.pathsep}{folder}")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield folder
    queue = read_queue(folder)
    for pid, started in [(queue.worker, queue.worker_started), *((e.pid, e.pid_started) for e in queue.entries)]:
        if pid and is_alive(pid, started):
            os.kill(pid, signal.SIGKILL)
            pytest.fail(f"process {pid} was left behind")


def steps_done(page) -> int:
    found = re.search(r"step ([\d,]+) of", page.locator("[data-testid=stProgress]").first.inner_text())
    return int(found[1].replace(",", "")) if found else 0


def wait_for_steps(page, more_than: int) -> int:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if (done := steps_done(page)) > more_than:
            return done
        page.wait_for_timeout(200)
    raise AssertionError(f"no step after {more_than}")


def test_training_starts_progresses_stops_and_resumes_while_the_page_comes_and_goes(page, serve, root):
    address = serve(APP)
    page.goto(f"{address}/train?settings=steps%3D100000+log_every%3D5+checkpoint_every%3D50+nmi%3Dfalse")
    page.get_by_role("button", name="Start").click()
    page.get_by_text("running: step").wait_for(timeout=LONG)
    done = wait_for_steps(page, 0)
    page.locator(".js-plotly-plot").first.wait_for()

    page.goto("about:blank")  # the page is closed, the training is not
    page.goto(f"{address}/train")
    page.get_by_text("running: step").wait_for(timeout=LONG)
    wait_for_steps(page, done)

    asked = time.monotonic()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_text("interrupted: step").wait_for(timeout=10_000)
    assert time.monotonic() - asked < 10
    (run,) = find_runs(root)
    assert run.status == "interrupted"
    page.get_by_text(re.compile(r"0 training, 0 waiting, 1 ended")).wait_for()

    info = json.loads((run.path / "run.json").read_text())
    info["config"]["train"]["steps"] = 20 * (stopped_at(run) // 20) + 40  # so that the rest is short
    (run.path / "run.json").write_text(json.dumps(info))
    page.get_by_role("button", name="Resume").click()
    page.get_by_text("finished: step").wait_for(timeout=LONG)
    page.get_by_text("Test classes:").wait_for()
    page.get_by_text("unseen classes, as directions").wait_for()
    (run,) = find_runs(root)
    assert run.status == "finished"
    assert len(run.record.resumed) == 1
    deadline = time.monotonic() + 10
    while read_queue(root).working and time.monotonic() < deadline:
        page.wait_for_timeout(100)
    assert not read_queue(root).working


def stopped_at(run) -> int:
    return max(json.loads(line)["step"] for line in (run.path / "metrics.jsonl").read_text().splitlines())


def test_a_wrong_setting_is_told_and_a_waiting_run_is_removed(page, serve, root):
    page.goto(f"{serve(APP)}/train?seeds=0+1&settings=steps%3D100000")
    line = page.get_by_role("textbox", name="Other settings")
    line.fill("tua=0.1")
    line.press("Enter")
    page.get_by_text("did you mean tau?").wait_for()
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    assert not (root / "queue.json").exists()
    line.fill("steps=100000")
    line.press("Enter")
    page.get_by_role("button", name="Start 2 runs").click()
    page.get_by_text("1 training, 1 waiting").wait_for(timeout=LONG)
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("1 training, 0 waiting").wait_for()
    page.get_by_role("button", name="Stop all").click()
    page.get_by_text("0 training, 0 waiting, 1 ended").wait_for(timeout=LONG)
    assert not read_queue(root).working
