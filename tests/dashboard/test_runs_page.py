"""Runs: every run in a table, filtered by what the address says; ticked ones are noted, and own ones deleted."""

import json

import pytest

from dashboard.parts.links import LABELS, address_of
from dashboard.parts.run_table import COLUMNS, Filters, columns_of, in_order, passing
from labkit.base.paths import RECORDED
from labkit.runs import find_runs
from labkit.runs.notes import Notes

TICKED = """
from dashboard.pages.runs import show_ticked
from dashboard.parts.runs import all_runs
from labkit.runs.notes import Notes
runs = [run for run in all_runs() if not run.problems]
show_ticked(runs, {str(run.path): Notes() for run in runs})
"""
ASKED = """
from dashboard.pages.runs import ask
from dashboard.parts.runs import all_runs
if all_runs():
    ask(all_runs())
"""


def test_all_runs_are_listed_or_their_absence_explained(page, situation):
    opened = page("runs")
    assert not opened.exception
    if situation == "none":
        assert "labkit train toy" in opened.info[0].value
        return
    assert any(opened.dataframe[0].value["name"].str.contains("PNP-D_q"))
    if situation == "corrupt":
        assert "cannot be used" in opened.expander[0].label
        assert "<img src=x" not in " ".join(element.value for element in opened.markdown)


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_filters_columns_and_order_are_in_the_address(page):
    opened = page("runs", preset="omniglot", columns=["name", "R@1", "loss"], sort="R@1", find="alpha=4.0 seed")
    assert not opened.exception
    table = opened.dataframe[0].value
    assert [name for name in table if name not in LABELS.values()] == ["name", "R@1", "loss"]
    assert next(iter(table)) == "name"  # the links stand beside it, where a narrow window shows them
    shown = [value for value in table["R@1"] if value == value]
    assert shown == sorted(shown, reverse=True)
    wanted = [run for run in find_runs(RECORDED) if run.preset == "omniglot" and run.variant.settings.get("alpha") == 4]
    assert 0 < len(wanted) <= len(table)
    opened.text_input(key="find").input("no-such-run").run()
    assert "No run passes" in opened.warning[0].value
    opened.text_input(key="find").input("=3").run()
    assert "KEY=VALUE" in opened.error[0].value


@pytest.mark.parametrize("situation", ["one"], indirect=True)
def test_ticked_runs_are_noted_and_deleted_when_asked(situation, monkeypatch):
    from streamlit.testing.v1 import AppTest

    from dashboard.parts.runs import all_runs

    opened = AppTest.from_string(TICKED, default_timeout=60).run()
    assert not opened.exception
    (run,) = all_runs()
    assert [link.proto.page for link in opened.get("page_link")] == ["embeddings", "retrieval", "compare", "run"]
    opened.text_area[0].input("looks right")
    opened.button[0].click().run()
    assert json.loads((run.path / "notes.json").read_text()) == {"tags": [], "note": "looks right"}
    assert any("Delete 1 of your runs" in button.label for button in opened.button)
    assert run.path.is_dir()
    asked = AppTest.from_string(ASKED, default_timeout=60).run()
    assert str(run) in asked.markdown[0].value.replace("\\", "")  # the name for people
    cancel, delete = asked.button
    assert (cancel.label, delete.label) == ("Cancel", "Delete 1 for good")
    cancel.click().run()
    assert run.path.is_dir()
    asked.button[1].click().run()
    assert not asked.exception
    assert not run.path.exists()
    monkeypatch.setenv("LABKIT_READ_ONLY", "1")
    monkeypatch.setenv("LABKIT_RUNS", str(RECORDED / "toy-ring"))
    opened = AppTest.from_string(TICKED, default_timeout=60).run()
    assert not opened.exception
    assert not opened.button


def test_what_passes_the_filters():
    runs = find_runs(RECORDED / "toy-ring")
    notes = {str(runs[0].path): Notes(("best",), "a remark")}
    assert passing(runs, Filters(tags=("best",)), notes) == passing(runs, Filters(words="REMARK"), notes) == runs[:1]
    assert passing(runs, Filters(own=True), notes) == []
    day = runs[0].record.started[:10]
    assert runs[0] in passing(runs, Filters(first=day, last=day), notes)
    assert passing(runs, Filters(first="2999-01-01"), notes) == []
    for column in COLUMNS:
        assert len(in_order(runs, column, True, notes)) == len(runs)
        assert len(columns_of(runs, [column], notes)[column]) == len(runs)
    assert address_of("run", runs[0]) == f"run?run={runs[0].id.replace('=', '%3D')}"
