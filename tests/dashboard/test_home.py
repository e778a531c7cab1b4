"""Home: what there is to see, counted; it opens without runs and with broken ones; its links lead to pages."""

from urllib.parse import parse_qsl

import pytest

from dashboard.parts.before_after import before_and_after
from labkit.base.paths import RECORDED
from labkit.base.words import VERDICTS
from labkit.runs import find_runs
from labkit.runs.claims import findings


def test_home_opens_and_says_what_this_is(page, situation):
    opened = page("app")
    assert not opened.exception
    assert opened.title[0].value == "Train on what you measure"
    if situation == "none":
        assert "labkit train toy" in opened.info[0].value
    if situation == "corrupt":
        assert "cannot be used" in opened.expander[0].label


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_runs_seeds_and_devices_are_counted(page):
    opened = page("app")
    runs = [run for run in find_runs(RECORDED) if not run.problems]
    table = opened.dataframe[0].value.set_index("preset")
    assert table["runs"].sum() == len(runs)
    assert table.loc["toy", "runs"] == sum(run.preset == "toy" for run in runs)
    assert table.loc["toy", "seeds"] == 10
    said = " ".join(element.value for element in (*opened.markdown, *opened.caption))
    assert f"{len(runs)} runs. Made on: **cpu " in said
    assert "No GPU was used" in said


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_claims_are_those_of_the_runs(page):
    opened = page("app")
    found = [finding.verdict for finding in findings(find_runs(RECORDED))]
    shown = {metric.label.partition(" ")[2]: int(metric.value) for metric in opened.metric}
    assert shown == {verdict: found.count(verdict) for verdict in VERDICTS}


@pytest.mark.parametrize("situation", ["one"], indirect=True)
def test_three_things_to_try_lead_to_pages(page):
    opened = page("app")
    links = [element.proto.page for element in opened.get("page_link")]
    assert links == ["retrieval", "losses", "compare", "playground", "papers"]


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_a_network_before_and_after_training_is_shown_with_its_numbers(page):
    opened = page("app")
    assert not opened.exception
    runs = [run for run in find_runs(RECORDED) if run.preset == "emoji"]
    before, after = before_and_after(runs)
    assert before.loss == "untrained"
    assert after.value("R@1") > before.value("R@1")
    said = " ".join(element.value for element in opened.caption)
    for run in (before, after):
        assert f"**{100 * run.value('R@1'):.0f} %**" in said
    (link,) = [element.proto for element in opened.get("page_link") if element.proto.page == "embeddings"]
    opened = page("embeddings", **dict(parse_qsl(link.query_string)))
    assert not opened.exception
    assert opened.selectbox(key="run").value == after.id
    assert opened.selectbox(key="beside").value == before.id
    assert before_and_after([after]) is None
