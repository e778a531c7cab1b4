"""Run folders of every kind a page can meet, and pages run by Streamlit's own test driver."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.reliability.pages import forget, open_page

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "data" / "runs"
HOSTILE = "<img src=x onerror=alert(1)> **bold** `code` $x$ 🙂" + "x" * 400


def copy(topic: str, name: str, target: Path) -> Path:
    return Path(shutil.copytree(RECORDED / topic / name, target / name))


@pytest.fixture(params=["none", "one", "many", "corrupt"])
def situation(request, tmp_path, monkeypatch):
    """The runs folder of a user who has no, one or many runs, or some that are broken."""
    folder = tmp_path / "runs"
    folder.mkdir()
    if request.param in ("one", "corrupt"):
        copy("toy-ring", "toy_pnp-dq_layout=ring_s0", folder)
    if request.param == "many":
        folder = RECORDED
    if request.param == "corrupt":
        spoil(folder)
    monkeypatch.setenv("LABKIT_RUNS", str(folder))
    return request.param


def spoil(folder: Path) -> None:
    """Half-written, foreign, hostile and empty run folders."""
    half = copy("toy-ring", "toy_pnp-ib_layout=ring_s0", folder)
    (half / "run.json").write_text('{"id": "toy')
    missing = copy("toy-ring", "toy_pnp-o_layout=ring_s0", folder)
    (missing / "summary.json").unlink()
    cut = copy("toy-ring", "toy_pnp-ds_layout=ring_s0", folder)
    for name in ("embeddings.safetensors", "samples.parquet", "metrics.jsonl"):
        content = (cut / name).read_bytes()
        (cut / name).write_bytes(content[: len(content) // 2])
    named = copy("toy-ring", "toy_smooth-ap_layout=ring_s0", folder)
    info = json.loads((named / "run.json").read_text())
    (named / "run.json").write_text(json.dumps(info | {"group": HOSTILE, "loss": HOSTILE, "device_name": HOSTILE}))
    foreign = folder / "foreign_s0"
    foreign.mkdir()
    (foreign / "run.json").write_text('{"made_by": "another tool"}')
    (folder / "empty_s0").mkdir()
    os.symlink("/etc", folder / "link_s0")


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """Beside the recorded runs, one of the user's own: a loss of a file with a setting, on the preset omniglot."""
    folder = tmp_path / "mine"
    folder.mkdir()
    own = copy("omniglot", "omniglot_pnp-dq_s0", folder)
    own = own.rename(own.with_name("omniglot_mine.py+Mine_tau=0.5_s0"))
    info = json.loads((own / "run.json").read_text())
    chosen = {"id": own.name, "group": own.name[:-3], "loss": "mine.py:Mine", "overrides": {"tau": "0.5"}}
    (own / "run.json").write_text(json.dumps(info | chosen))
    monkeypatch.setenv("LABKIT_RUNS", os.pathsep.join([str(RECORDED), str(folder)]))
    return own.name


@pytest.fixture
def page(situation):
    """Open a page in this situation; errors are shown, not hidden."""
    forget()
    return open_page
