"""Compare runs: works in every situation, counts what it shows, exports what the tables say."""

import pytest

from dashboard.parts.text import figure_names
from labkit.base.paths import RECORDED
from labkit.runs import find_runs, table
from labkit.runs.variant import Variant


def test_the_page_opens_and_says_what_to_do(page, situation):
    opened = page("compare")
    assert not opened.exception
    if situation == "none":
        assert "labkit train toy" in opened.info[0].value
        return
    assert any("configurations" in caption.value for caption in opened.caption)
    if situation == "corrupt":
        assert "cannot be used" in opened.expander[0].label
        (left_out,) = [box.value for box in opened.warning if box.value.startswith("Left out")]
        assert r"summary\.json is missing" in left_out  # which run, and why
        assert r"toy\_pnp\-ib\_layout=ring\_s0 \(run\.json is not whole JSON" in left_out


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_the_numbers_are_those_of_the_comparison(page):
    opened = page("compare", preset="toy", metric="MAP@R", varied="true")
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
    exported = page("compare", preset="toy", groups="pnp-dq, layout=ring", view="Export")
    commands = exported.code[0].value
    assert "pnp-dq" in commands
    assert "contrastive" not in commands


@pytest.mark.parametrize("situation", ["many"], indirect=True)
@pytest.mark.parametrize(
    ("view", "kind"),
    [
        ("Differences", "plotly_chart"),
        ("During training", "plotly_chart"),
        ("All metrics", "plotly_chart"),
        ("Cost", "plotly_chart"),
        ("Export", "download_button"),
    ],
)
def test_the_tab_of_the_url_is_drawn_and_no_other(page, view, kind):
    opened = page("compare", preset="toy", view=view)
    assert not opened.exception
    assert len(opened.get(kind)) == (6 if view == "Export" else 1)
    assert not opened.dataframe


def test_names_say_loss_and_settings_and_long_ones_only_what_differs():
    long = {"classes": 16, "model.name": "small-resnet", "pool": "avg", "steps": 1000}
    first, second = (Variant("omniglot", "softmax", long | {"model.last": last}) for last in ("rbr", "bn"))
    ks, *others = (
        Variant("omniglot", "recall-at-k", {"ks": (1, 2)}),
        *(Variant("omniglot", "x" * n) for n in (500, 501)),
    )
    shown = figure_names([first, second, ks, *others])
    assert shown[first.name] == "Softmax, last block rbr, …"
    assert shown[second.name] == "Softmax, last block bn, …"
    assert shown[ks.name] == "RS@k, k in {1, 2}"
    assert len(set(shown.values())) == len(shown) == 5
    assert max(map(len, shown.values())) < 45


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_runs_with_settings_of_their_own_are_shown_when_asked_for(page):
    opened = page("compare", preset="omniglot")
    names = list(opened.dataframe[0].value["configuration"])
    assert "PNP-D_q" in names
    assert not any(", " in name for name in names)
    assert opened.selectbox(key="baseline").value == "omniglot_smooth-ap"
    if any(toggle.key == "varied" for toggle in opened.toggle):
        opened.toggle(key="varied").set_value(True).run()
        assert len(opened.dataframe[0].value) > len(names)


@pytest.mark.parametrize("situation", ["many"], indirect=True)
def test_own_runs_are_listed_first_and_never_hidden(page, mine):
    opened = page("compare", preset="omniglot")
    assert not opened.exception
    assert any(toggle.key == "varied" for toggle in opened.toggle)
    shown = opened.dataframe[0].value
    assert list(shown["yours"]) == ["✓"] + [""] * (len(shown) - 1)
    assert "Mine" in shown["configuration"].iloc[0]
