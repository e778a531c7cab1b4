import csv
import io
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_folders import info_of, make_run, summary_of

from labkit.base.words import is_share, with_interval
from labkit.runs import RunError, Variant, curves, find_runs, paired_difference, table, to_csv, to_latex
from labkit.runs.compare import bootstrap_interval, escape_latex, t_interval

VALUES = st.lists(st.floats(0, 1), min_size=2, max_size=6)


def make_groups(root, groups, **changes):
    """Runs of several groups: a value for each seed."""
    for group, values in groups.items():
        for seed, value in enumerate(values):
            make_run(root, f"{group}-s{seed}", value=value, **changes)
    return find_runs(root)


def test_a_group_has_the_mean_sd_and_t_interval_of_its_seeds(tmp_path):
    frame = table(make_groups(tmp_path, {"a": [0.5, 0.6, 0.7]}))
    row = frame.iloc[0]
    assert (row["group"], row["n"], row["seeds"]) == ("toy_a", 3, (0, 1, 2))
    assert (row["title"], row["variant"]) == ("a", Variant("toy", "a"))
    assert row["values"] == pytest.approx((0.5, 0.6, 0.7))
    assert (row["mean"], row["sd"]) == pytest.approx((0.6, 0.1))
    half = 4.302653 * 0.1 / math.sqrt(3)  # Student's t, two degrees of freedom
    assert (row["low"], row["high"]) == pytest.approx((0.6 - half, 0.6 + half), rel=1e-6)
    assert row["low"] < row["bootstrap_low"] < row["mean"] < row["bootstrap_high"] < row["high"]


def test_one_seed_has_no_interval(tmp_path):
    row = table(make_groups(tmp_path, {"a": [0.5]})).iloc[0]
    assert row["mean"] == 0.5
    assert np.isnan([row[name] for name in ("sd", "low", "high", "bootstrap_low", "bootstrap_high")]).all()


def test_no_runs_make_an_empty_table_with_all_columns():
    frame = table([])
    assert frame.empty
    assert "mean" in frame.columns
    assert to_csv(frame).startswith("group,title,preset,loss,n,mean")


def test_groups_come_by_preset_and_then_from_the_best_down(tmp_path):
    make_groups(tmp_path / "1", {"low": [0.1, 0.2], "high": [0.8, 0.9]})
    make_groups(tmp_path / "2", {"other": [0.99]}, preset="emoji")
    assert table(find_runs(tmp_path))["title"].tolist() == ["other", "high", "low"]


def test_other_splits_and_metrics_are_read_and_unknown_ones_refused(tmp_path):
    runs = make_groups(tmp_path, {"a": [0.5, 0.5]})
    assert table(runs, "R@1", "validation")["mean"].tolist() == pytest.approx([0.6])
    assert table(runs, "MAP@R")["mean"].tolist() == pytest.approx([0.25])
    assert table(runs, "nothing").empty
    with pytest.raises(ValueError, match="split must be one of 'test', 'validation', 'test_last'; got 'train'"):
        table(runs, split="train")


def test_runs_that_did_not_finish_do_not_count(tmp_path):
    make_groups(tmp_path, {"a": [0.5, 0.6]})
    make_run(tmp_path, "a-s2", status="failed")
    make_run(tmp_path, "a-s3").joinpath("run.json").write_text("{")
    assert table(find_runs(tmp_path)).iloc[0]["n"] == 2


def test_a_seed_that_is_there_twice_counts_once_and_is_noted(tmp_path):
    make_run(tmp_path / "old", "a-s0", value=0.1, started="2024-01-01T00:00:00+00:00")
    make_run(tmp_path / "new", "a-s0", value=0.9, started="2025-01-01T00:00:00+00:00")
    frame = table(find_runs(tmp_path / "new", tmp_path / "old"))
    assert frame.iloc[0]["values"] == (0.9,)
    assert "seed 0 is there twice" in frame.attrs["notes"][0]


def test_seeds_on_different_data_or_settings_are_noted(tmp_path):
    make_run(tmp_path, "a-s0")
    make_run(tmp_path, "a-s1", data=info_of("a-s1")["data"] | {"sha256": "c"}, config={"optimizer": {"lr": 1}})
    assert [("data" in note, "settings" in note) for note in table(find_runs(tmp_path)).attrs["notes"]] == [
        (True, False),
        (False, True),
    ]


@given(VALUES)
def test_both_intervals_hold_the_mean_and_stay_the_same_when_asked_again(values):
    values = np.array(values)
    for interval in (t_interval, bootstrap_interval):
        low, high = interval(values)
        assert low - 1e-9 <= values.mean() <= high + 1e-9
        assert interval(values) == (low, high)
    low, high = bootstrap_interval(values)
    assert values.min() - 1e-9 <= low <= high <= values.max() + 1e-9


def test_the_t_interval_holds_the_mean_as_often_as_it_says():
    draws = np.random.default_rng(0).standard_normal((2000, 3))
    inside = np.mean([low <= 0 <= high for low, high in map(t_interval, draws)])
    assert 0.935 < inside < 0.965


def test_pairs_cancel_what_the_seed_does_to_both(tmp_path):
    runs = make_groups(tmp_path, {"base": [0.1, 0.5, 0.9], "better": [0.12, 0.53, 0.92, 0.99]})
    found = paired_difference(runs, "toy_better", "toy_base")
    assert found.seeds == (0, 1, 2)
    assert found.differences == pytest.approx((0.02, 0.03, 0.02))
    assert (found.wins, found.losses) == (3, 0)
    assert 0 < found.low < found.mean < found.high
    back = paired_difference(runs, Variant("toy", "base"), Variant("toy", "better"))
    assert (back.mean, back.low, back.wins, back.losses) == pytest.approx((-found.mean, -found.high, 0, 3))


def test_one_pair_has_a_mean_and_no_interval_and_a_tie_is_neither_won_nor_lost(tmp_path):
    found = paired_difference(make_groups(tmp_path, {"a": [0.5], "b": [0.5]}), "toy_a", "toy_b")
    assert (found.mean, found.wins, found.losses) == (0.0, 0, 0)
    assert math.isnan(found.low)


def test_pairs_that_cannot_be_made_say_why(tmp_path):
    make_run(tmp_path, "a-s0")
    make_run(tmp_path, "b-s1")
    runs = find_runs(tmp_path)
    with pytest.raises(RunError, match="baseline: no finished runs of 'toy_c'.*groups with them: toy_a, toy_b"):
        paired_difference(runs, "toy_a", "toy_c")
    with pytest.raises(RunError, match=r"toy: a \(seeds \[0\]\) and toy: b \(seeds \[1\]\) share no seed"):
        paired_difference(runs, "toy_a", "toy_b")


def test_curves_are_one_row_a_point(tmp_path):
    folder = make_run(tmp_path, "a-s1")
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"step": 100, "split": "train", "R@1": 0.75}\n')
    runs = find_runs(tmp_path)
    assert curves(runs, split="train")["value"].tolist() == [0.75]
    validation, loss = curves(runs), curves(runs, "loss")
    assert validation.to_dict("list") == {
        "id": ["a-s1"] * 2,
        "group": ["toy_a"] * 2,
        "title": ["a"] * 2,
        "loss": ["a"] * 2,
        "seed": [1, 1],
        "step": [100, 200],
        "value": [0.25, 0.5],
    }
    assert loss["step"].tolist() == list(range(0, 200, 20))
    assert curves([]).empty


def test_csv_keeps_every_digit_and_disarms_formulas(tmp_path):
    runs = make_groups(tmp_path, {"=1+1": [1 / 3, 0.1], "a,b": [0.5]}, preset="@sum")
    rows = {row["loss"]: row for row in csv.DictReader(io.StringIO(to_csv(table(runs))))}
    assert rows.keys() == {"'=1+1", "a,b"}
    assert [float(value) for value in rows["'=1+1"]["values"].split()] == [1 / 3, 0.1]
    assert rows["a,b"]["low"] == ""
    assert rows["a,b"]["preset"] == "'@sum"
    assert rows["'=1+1"]["title"] == "'=1+1"


def test_latex_is_escaped_and_in_per_cent(tmp_path):
    runs = make_groups(tmp_path, {"a_b": [0.5, 0.5]}, loss=r"50% & \input{x} ~^#$")
    text = to_latex(table(runs))
    assert r"preset & configuration & seeds & R@1 (\%) \\" in text
    line = next(line for line in text.splitlines() if line.startswith("toy"))
    assert line.startswith(r"toy & 50\% \& \textbackslash{}input\{x\} \textasciitilde{}\textasciicircum{}\#\$ & 2 & $")
    assert line.endswith(r"$50.00 \pm 0.00$ \\")
    assert "$0.9000" in to_latex(table(runs, "intra"))


@given(st.text())
def test_escaped_text_holds_no_bare_special_character(text):
    bare = escape_latex(text)
    for word in (
        r"\textbackslash{}",
        r"\textasciitilde{}",
        r"\textasciicircum{}",
        *(f"\\{mark}" for mark in "&%$#_{}"),
    ):
        bare = bare.replace(word, "")
    assert not set(bare) & set("&%$#_{}\\~^")


def test_shares_are_told_from_other_metrics():
    assert all(map(is_share, ("R@1", "MAP@R", "nDCG@10", "NMI", "MRR", "R-precision", "recall-capped@1")))
    assert not any(map(is_share, ("loss", "lr", "intra", "CSC")))
    assert with_interval(0.5, 0.4, 0.6, 100) == "50.00 ± 10.00"
    assert with_interval(0.5, math.nan, math.nan, 1) == "0.5000"


DAMAGE = {
    "summary.json": ("summary.json", lambda content: content[: len(content) // 2]),
    "summary.json: test": ("summary.json", lambda content: json.dumps(summary_of(test=[1]))),
    "run.json": ("run.json", lambda content: content[:30]),
    "run.json: overrides": ("run.json", lambda content: changed(content, overrides=["lr=0.001"])),
    "run.json: preset": ("run.json", lambda content: changed(content, preset=7)),
    "run.json: loss": ("run.json", lambda content: changed(content, loss=None)),
    "run.json: seed": ("run.json", lambda content: changed(content, seed=10**400)),
}


def changed(content, **changes):
    return json.dumps(json.loads(content) | changes)


@pytest.mark.parametrize("named", DAMAGE)
def test_a_damaged_run_is_left_out_and_named_with_file_and_field(tmp_path, named):
    make_groups(tmp_path, {"a": [0.5, 0.6, 0.7]})
    file, damage = DAMAGE[named]
    path = tmp_path / "a-s1" / file
    path.write_text(damage(path.read_text()))
    frame = table(find_runs(tmp_path))
    assert frame["seeds"].tolist() == [(0, 2)]
    (note,) = frame.attrs["notes"]
    assert note.startswith("a-s1 is left out")
    assert named in note


def test_settings_that_cannot_be_read_make_no_other_configuration(tmp_path):
    make_groups(tmp_path, {"a": [0.5, 0.6]})
    make_run(tmp_path, "a-s2", value=0.9, overrides="lr=0.001 steps=20")
    frame = table(find_runs(tmp_path))
    assert frame["values"].tolist() == [pytest.approx((0.5, 0.6))]
    assert "run.json: overrides must be an object" in frame.attrs["notes"][0]


def test_a_metric_that_came_out_as_nan_is_noted(tmp_path):
    make_groups(tmp_path, {"a": [0.5, 0.6]})
    (tmp_path / "a-s1" / "summary.json").write_text(json.dumps(summary_of(test={"R@1": None})))
    frame = table(find_runs(tmp_path))
    assert frame["seeds"].tolist() == [(0,)]
    assert frame.attrs["notes"] == ["a-s1 is left out: R@1 on test came out as no number (summary.json)"]
    assert not table(find_runs(tmp_path), "nothing").attrs["notes"]  # nobody measured it
