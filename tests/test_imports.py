import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import labkit
from benchmarks.imports import edges, picture, rooms

ROOT = Path(labkit.__file__).parents[1]
HEAVY = {"streamlit", "plotly", "matplotlib", "umap", "sklearn", "scipy", "pandas", "numba", "IPython", "ipywidgets"}


def run(code):
    """In a process of its own: this one has imported too much already."""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("module", ["labkit", "labkit.losses", "labkit.metrics"])
def test_the_core_loads_none_of_the_heavy_packages(module):
    code = f"import {module}, sys; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    assert HEAVY.isdisjoint(run(code))


def test_a_loss_and_its_gradient_need_none_either():
    code = """
import sys, torch
from labkit import losses
x = torch.randn(6, 4, requires_grad=True)
for card in losses.CATALOG.values():
    card.build(num_classes=3, dim=4)(x, torch.tensor([0, 0, 1, 1, 2, 2])).backward()
print(*sorted({name.partition('.')[0] for name in sys.modules}))
"""
    assert HEAVY.isdisjoint(run(code))


def test_pages_that_only_read_runs_do_without_torch():
    code = """
import sys
import labkit.figures.comparison, labkit.figures.results, labkit.figures.retrieval_grid, labkit.data.papers
import labkit.runs.claims, labkit.runs.retrieval
import labkit.explorers.embedding.grid, labkit.explorers.embedding.groups, labkit.explorers.embedding.streamlit
from labkit.base.paths import RECORDED
from labkit.runs.read import read_run
from labkit.explorers.embedding import explorer_data
run = read_run(RECORDED / "toy-ring" / "toy_pnp-dq_layout=ring_s0")
explorer_data(run)
labkit.runs.retrieval.per_query(labkit.runs.retrieval.read_points(run))
print(*sorted({name.partition('.')[0] for name in sys.modules}))
"""
    assert {"torch", "sklearn", "umap", "scipy", "matplotlib", "IPython"}.isdisjoint(run(code))


def test_the_contracts_of_the_house_are_kept(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))  # the linter puts the current folder in front
    kept = lint_imports(no_cache=True, no_logo=True)
    assert kept == 0, capsys.readouterr().out


def test_the_picture_of_imports_frames_what_the_contract_forbids():
    found = edges()
    assert found["losses", "base"] > 5
    assert ("base", "losses") not in found
    order = ["benchmarks", "dashboard", *rooms()]
    assert {room for pair in found for room in pair} <= set(order)
    drawn = picture(order, {("losses", "base"): 3, ("base", "losses"): 1})
    assert drawn.count('stroke-width="3"') == 1
    assert "losses imports base (3)" in drawn
