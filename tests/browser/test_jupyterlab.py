"""A lesson's explorer in a real JupyterLab: it is drawn, answers its slider, and keeps the reader's zoom."""

import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import nbformat
import pytest
from conftest import free_port

ROOT = Path(__file__).parents[2]
CELLS = (
    "import labkit\nlabkit.start()",
    "from labkit.figures.sigmoids import smoothed_step\nfrom labkit.widgets.explorer import Control\n"
    "tau = Control('tau', 'temperature τ', (0.01, 0.05, 0.2), 0.05)\n"
    "labkit.explore(smoothed_step, [tau], [{'tau': 0.01}, {'tau': 0.2}], 'Steps and sigmoids.')",
    "second = labkit.explore(smoothed_step, [tau], [{'tau': 0.2}], 'The same again.')",
    "labkit.predict('Is G(0) one half?', ['yes', 'no'], 'yes', 'For every τ.')",
    "def soft_rank(similarity, tau):\n    raise NotImplementedError\nlabkit.check.soft_rank(soft_rank)",
)


@pytest.fixture
def lab(tmp_path):
    """The address of JupyterLab on a folder with one small lesson."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "lesson.ipynb")
    port = free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}"]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={tmp_path}", "--IdentityProvider.token=test"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    environment |= {"JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"), "JUPYTERLAB_WORKSPACES_DIR": str(tmp_path / "w")}
    server = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token=test", timeout=1)
                break
            except OSError:
                assert server.poll() is None, "JupyterLab stopped"
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/lab/tree/lesson.ipynb?token=test&reset"
    finally:
        os.killpg(server.pid, 15)  # its kernel, too
        server.wait(30)


@pytest.mark.browser
@pytest.mark.timeout(240)
def test_an_explorer_answers_in_jupyterlab(lab, page):
    page.goto(lab)
    page.wait_for_selector(".jp-Notebook", timeout=90_000)
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=90_000)  # before that it asks which kernel to take
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    plots = page.locator(".js-plotly-plot")
    plots.nth(1).wait_for(timeout=120_000)
    first = plots.first
    first.locator("text=τ = 0.05").wait_for(timeout=30_000)
    zoom = "plot => plot._fullLayout.xaxis.range[0]"
    first.evaluate("plot => globalThis.labkitPlotly.relayout(plot, {'xaxis.range': [-0.2, 0.2]})")
    handle = page.locator(".noUi-handle").first
    handle.focus()
    handle.press("ArrowRight")
    first.locator("text=τ = 0.2").wait_for(timeout=30_000)
    assert first.evaluate(zoom) == -0.2
    assert plots.count() == 2
    assert page.get_by_text("Commit my guess").count() == 1
    assert page.get_by_text("Not written yet").count() == 1
    assert page.locator("img[alt='Steps and sigmoids.']").count() == 1
