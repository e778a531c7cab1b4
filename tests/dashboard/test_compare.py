"""Compare runs: works in every situation, counts what it shows, exports what the tables say."""

import pytest

from labkit.runs import find_runs, table
from labkit.runs.read import RECORDED


def test_the_page_opens_and_says_what_to_do(page, situation):
    opened = page("compare")
    assert not opened.exception
    if situation == "none":
        assert "labkit train toy" in opened.info[0].value
        return
    assert any("configurations" in caption.value for caption in opened.caption)
    if situation == "corrupt":
        assert "cannot be used" in opened.expander[0].label


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_the_numbers_are_those_of_the_comparison(page):
    opened = page("compare", preset="toy", metric="MAP@R")
    runs = [run for run in find_runs(RECORDED) if run.preset == "toy"]
    frame = table(runs, "MAP@R")
    shown = opened.dataframe[0].value
    assert len(shown) == len(frame)
    assert list(shown["seeds"]) == list(frame["n"])
    assert shown["MAP@R"].iloc[0] == f"{100 * frame['mean'].iloc[0]:.1f} %"


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_the_url_chooses_preset_metric_and_baseline(page):
    opened = page("compare", preset="toy", metric="NMI", baseline="untrained, layout=ring")
    assert opened.selectbox(key="preset").value == "toy"
    assert opened.selectbox(key="metric").value == "NMI"
    assert opened.selectbox(key="baseline").value == "toy_untrained_layout=ring"


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_choosing_configurations_narrows_everything(page):
    opened = page("compare", preset="toy")
    opened.multiselect(key="groups").select("toy_pnp-dq_layout=ring").run()
    assert not opened.exception
    assert len(opened.dataframe[0].value) <= 2
    commands = opened.code[0].value
    assert "pnp-dq" in commands
    assert "contrastive" not in commands
