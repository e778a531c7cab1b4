"""The benchmarks run (at small sizes; times are not judged here) and what they compare computes the same thing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from pytorch_metric_learning.losses import PNPLoss

from benchmarks import browser, measure, peers
from labkit.losses import functional

ROOT = Path(__file__).parents[1]
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc, which only Linux has")


@pytest.fixture
def batch():
    torch.manual_seed(0)
    return torch.nn.functional.normalize(torch.randn(24, 8, dtype=torch.float64)), torch.arange(24) % 6


def test_peers_compute_what_labkit_computes(batch):
    e, labels = batch
    official = {"convention": "official"}
    torch.testing.assert_close(peers.recall_loop(e, labels), functional.recall_at_k(e, labels, **official))
    torch.testing.assert_close(peers.smooth_ap_cube(e, labels), functional.smooth_ap(e, labels, **official))
    peer = PNPLoss(b=2, alpha=4, anneal=0.01, variant="Dq")
    torch.testing.assert_close(peer(e, labels), functional.pnp(e, labels, alpha=4.0, **official), rtol=0, atol=1e-7)
    w = torch.nn.functional.normalize(torch.randn(5, 3, 8, dtype=torch.float64), dim=-1)
    own = functional.proxy_regularizer(w, epsilon=1e-5)
    torch.testing.assert_close(peers.full_matrix_regularizer(w), own)


@LINUX
def test_extra_memory_sees_what_is_allocated():
    megabytes = measure.extra_memory(lambda: torch.ones(25 * 2**20 // 4).sum())
    assert 24 < megabytes < 40


def test_exponent_of_a_cube():
    assert measure.exponent([1, 2, 4, 8], [1.0, 8.0, 64.0, 512.0]) == pytest.approx(3)


@LINUX
def test_a_quick_run_prints_and_writes(tmp_path):
    command = [sys.executable, "-m", "labkit", "bench", "rsk", "regularizer", "--quick"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "RS@k" in shown
    assert "reached" not in shown
    written = [sys.executable, "-m", "benchmarks", "regularizer", "--quick", "--results", str(tmp_path)]
    subprocess.run(written, cwd=ROOT, capture_output=True, check=True)
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["rows"][0]["name"] == "regularizer"
    assert "one thread" in results["machine"]
    assert "(CK)²" in (tmp_path / "table.md").read_text()


@LINUX
@pytest.mark.browser
@pytest.mark.skipif(browser.chromium() is None, reason="Chromium is not installed")
def test_pages_of_the_dashboard_are_measured_and_written(tmp_path):
    command = [sys.executable, "-m", "benchmarks", "dashboard", "--quick", "--results", str(tmp_path)]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = json.loads((tmp_path / "dashboard.json").read_text())
    (page,) = found["pages"]
    assert page["cold_s"] > page["answers"]["lasso → pictures"] > 0
    assert 20 < page["payload_kb"] < 1500
    assert page["pictures_kb"] > 100  # the sheet of pictures was told from the rest
    (points,) = found["explorer"]
    assert points["pan_ms"] > 0
    assert "no GPU" in found["provenance"]["machine"]
    table = (tmp_path / "dashboard.md").read_text()
    assert table.strip() in shown
    assert "| Embeddings | " in table


def test_an_unknown_name_is_refused():
    command = [sys.executable, "-m", "benchmarks", "nope"]
    assert "unknown benchmark" in subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stderr
