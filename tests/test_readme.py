"""What the README says is true: its code runs, its commands exist, its table is the recorded one."""

import re
from pathlib import Path

import torch

from labkit import losses

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_code_runs():
    model = torch.nn.Linear(8, 4)
    names = {
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.1),
        "images": torch.randn(32, 8),
    }
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(block, names)
    assert names["parts"].R_neg.shape == names["parts"].dL_dR.shape


def test_the_table_and_figures_are_the_recorded_ones():
    recorded = (ROOT / "benchmarks" / "results" / "table.md").read_text(encoding="utf-8")
    assert recorded.strip() in README
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link


def test_every_loss_is_named():
    listed = README.lower().replace("-", "").replace(" ", "")
    for name in losses.CATALOG:
        if not name.startswith(("pnp", "from", "recall", "sgsl")):
            assert name.replace("-", "").replace("mpadw", "mpadw") in listed, name


def test_the_files_that_contributing_names_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:labkit|dashboard|data|tests|notebooks)/[\w./]+)`", text))
    assert len(named) > 40
    placeholder = re.compile(r"NAME|NN_name|TOPIC|QUESTION")
    assert [name for name in sorted(named) if not placeholder.search(name) and not (ROOT / name).exists()] == []
