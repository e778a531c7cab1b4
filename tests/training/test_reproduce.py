"""The papers' tables as runs: every row has one, or a reason; a table of a miniature data set runs to its end."""

import miniatures
import pytest

from labkit.__main__ import main
from labkit.data.papers import tables
from labkit.training.config import load_config
from labkit.training.reproduce import jobs_of, rows_of, settings_of

MAIN = [("pnp", "1"), ("pnp", "2"), ("pnp", "3"), ("mpa", "4"), ("sgsl", "1"), ("sgsl", "3"), ("slides", "rsk-results")]
TINY = [
    *("data.check=false", "data.validation=0.34", "model.name=small-cnn", "model.dim=8", "model.in_channels=3"),
    *("model.size=16", "images.resize=20", "images.crop=16", "images.workers=0", "classes=2", "per_class=2"),
    *("epochs=0", "steps=3", "evaluate_every=3", "nmi=false"),
]


@pytest.mark.parametrize(("paper", "table"), MAIN)
def test_every_row_has_a_run_that_can_be_configured_or_a_reason(paper, table):
    rows = rows_of(paper, table)
    frame = tables(paper)
    assert sum(len(row.printed) for row in rows) == (frame["table"] == table).sum()
    for row in rows:
        assert (row.variant is None) == bool(row.why_not), row
        if row.variant:
            load_config(row.variant.preset, row.variant.loss, settings_of(row.variant))


def test_rows_become_the_settings_that_they_name():
    found = {(row.dataset, row.method): row.variant for row in rows_of("sgsl", "4")}
    assert found["Cars196", "Softmax + RBR + SGSL (γ = 10)"].settings == {
        "model.dim": 2048,
        "gamma": 10,
        "model.last": "rbr",
    }
    batches = {row.method: row for row in rows_of("pnp", "3")}
    assert batches["PNP-Dq (BS 384)"].variant.settings == {"batch.classes": 96}
    assert batches["PNP-Dq (BS 112)"].variant.settings == {}
    assert "does not say" in batches["Smooth-AP"].why_not


def test_rows_with_the_same_run_share_it():
    rows = rows_of("pnp", "1")
    assert len(jobs_of([*rows, *rows], [0, 1], {})) == len(rows)


def test_a_table_runs_on_a_miniature_and_stands_beside_the_papers_numbers(tmp_path, monkeypatch, capsys):
    miniatures.sop(tmp_path / "data")
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "data"))
    words = ["reproduce", "pnp", "1", "PNP-O", "--runs", str(tmp_path / "runs"), "--device", "cpu", "--threads", "1"]
    assert main([*words, "--set", *TINY]) == 0
    assert "here     –" in capsys.readouterr().out
    assert main([*words, "--run", "--set", *TINY]) == 0
    out = capsys.readouterr().out
    assert "paper  77.9  here" in out
    assert "(1 seed)" in out
    assert main([*words, "--run", "--set", *TINY]) == 0
    assert "1 of 1 runs are finished already" in capsys.readouterr().out


def test_an_unknown_table_or_row_is_named(capsys):
    assert main(["reproduce", "pnp", "12"]) != 0
    assert "table must be one of" in capsys.readouterr().err
    assert main(["reproduce", "pnp", "1", "Nobody"]) != 0
    assert "no row of table 1 contains Nobody" in capsys.readouterr().err
